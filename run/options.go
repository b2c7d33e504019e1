package run

import (
	"os"
	"time"

	"vfsdb/vfs"
)

// A Via is a way to show a tree to a command.
type Via string

// The ways. Auto takes Overlay where the host allows it, else Copy.
const (
	Auto    Via = ""
	Overlay Via = "overlay"
	Copy    Via = "copy"
	Live    Via = "live"
)

// Options say how a command runs. The zero value is the best way that the host allows, with the environment of the
// process and without a time limit.
type Options struct {
	// Via names one way. Without it the best one that works is taken.
	Via Via

	// Dir is the directory of the tree that the command starts in. "" is the root.
	Dir string

	// Env are variables, as K=V, which replace those of the process.
	Env []string

	// CleanEnv takes from the environment of the process only PATH, HOME, USER, LOGNAME, SHELL, TERM, TZ, TMPDIR, LANG
	// and those of LC_.
	CleanEnv bool

	// Timeout ends the command after this time: with SIGTERM, and ten seconds later with SIGKILL. Its changes until
	// then are brought back. 0 is no limit.
	Timeout time.Duration

	// NetworkNone gives the command a network of its own, with a loopback and nothing else. A host that does not allow
	// that is an [UnableError].
	NetworkNone bool

	// Confine lets the command and all its children write only below the tree, its temporary directory and AllowWrite.
	// A host that cannot do that is an [UnableError].
	Confine    bool
	AllowWrite []string

	// ReadOnly drops what the command changed.
	ReadOnly bool

	// Keep leaves the directory of the run on the host, as Result.Kept names it.
	Keep bool

	// Cache is the directory of the host for the trees of Copy. "" is vfsdb/copy below the cache of the user.
	Cache string

	// Base is a directory of the host that the command sees in place of the branch. It stays as it is. The branch must be
	// empty: it gets the files that the command changed, as they were there, with a snapshot that has the name of the branch
	// and "-base"; then what the command made of them. If others change the branch meanwhile, nothing is merged: the result is a
	// new branch, and Run returns a [MovedError]. Overlay alone has it.
	Base string

	// Signals are passed on to the command until it ends.
	Signals <-chan os.Signal

	// Chosen is called with the way that was taken, and the better ones that the host does not allow, before the command
	// starts. nil: nobody asks.
	Chosen func(via Via, declined []UnableError)

	// Left is called if a run by Live, whose command has ended, waits for programs that the command has left in the tree. A
	// signal, or the end of the context, ends the wait: that is EBUSY, and what those programs write until this process ends
	// is in the branch. nil: nobody asks.
	Left func()

	// Call is what the log shows of the run. Run fills in the command, the exit code and the duration. nil is the
	// call of the context, see [vfs.WithCall], or else a call of the tool "run".
	Call *vfs.Call
}
