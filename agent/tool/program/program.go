package program

import (
	"context"
	"time"

	"vfsdb/vfs"
)

// A Runner runs a program of the host with a branch as its working directory, and brings what it changed back into the
// branch, in one commit. A program that fails is a [Result], as is one that was ended because it took too long: what
// either changed is brought back too. An error means that nothing ran, or that the changes could not be brought back.
// It is safe for concurrent use.
type Runner func(ctx context.Context, fsys *vfs.FS, r Request) (*Result, error)

// A Request is a command, and its bounds.
type Request struct {
	Command string        // of a POSIX shell
	Dir     string        // where it starts, from the root of the branch; "" is the root
	Timeout time.Duration // after which it is ended
	Output  int           // bytes of output to keep: the first half and the last

	Env       []string // names of variables of the host that it gets beside the few that all programs need
	NoNetwork bool
	Confine   bool // it may write in the branch and a directory for temporary files alone
}

// A Result is the output of a program, its exit code, and the branch that has its changes.
type Result struct {
	Output    string // of both streams, in the order of the writes, as valid UTF-8
	Truncated bool   // Output is not all
	ExitCode  int    // 128 and the signal's number if a signal ended it
	TimedOut  bool

	// Branch has what the program changed, merged with the changes of others in the meantime. If the branch was deleted, or
	// could not be merged with, Moved is true: Branch is then a new one, made from the branch as the program found it.
	Branch string
	Moved  bool

	// Conflicts are the paths that the program and others have changed in different ways. They stay as the others have them,
	// and the conflicts of the branch have what the program made.
	Conflicts []string
}
