package run

import (
	"context"
	"io"
	"os"
	"strings"
	"syscall"

	"vfsdb/vfs"
)

// A task is one command on one moment of a branch, as an engine sees it.
type task struct {
	fsys   *vfs.FS // the head of the branch
	moment *vfs.FS // the frozen moment; nothing collects it until the run has ended. With a base it is empty
	o      Options
	name   string // of the program, as it was given
	args   []string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	shared bool   // the command stays in the process group of this process
	temp   string // a directory for the temporary files of a confined command, or ""

	removed func() error // waits for a removal that goes on beside; nil if there is none
}

// An engine shows a moment as a directory.
type engine interface {
	via() Via

	// open makes the directory ready. An engine that the host does not allow is an [UnableError], and then has left nothing
	// behind.
	open(ctx context.Context, t *task) (session, error)
}

// A session is one directory in which one command runs. The calls follow each other: run, then bring at most twice, then
// close.
type session interface {
	// run starts the command and waits for its end. See [task.command] and [task.supervise]. A command that could not be
	// started is a [StartError].
	run(ctx context.Context) (*outcome, error)

	// bring puts what the command changed into the head of a branch that shows the moment, in one commit. check runs
	// first in the transaction of that commit, and its error ends it, as it is. If the command changed nothing, there is no
	// commit, and check need not run.
	bring(ctx context.Context, to *vfs.FS, check func(*vfs.Tx) error) error

	// kept stops close from removing the directory on the host that has the result, and returns it. It is "" if there is
	// none. It is called at most once.
	kept() string

	// close ends all mounts and removes what is not kept. It may leave the removal to a goroutine, see [task.removed].
	close() error
}

// An outcome is the end of a command.
type outcome struct {
	state    *os.ProcessState // of the process that was the command; nil where code and signal have the end
	code     int
	signal   syscall.Signal
	timedOut bool
}

// interruptible runs fn, which a signal ends by its context: the command, which would get the signal, does not run yet.
func (t *task) interruptible(ctx context.Context, fn func(context.Context) error) error {
	under, cancel := context.WithCancel(ctx)
	defer cancel()
	over, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case _, ok := <-t.o.Signals:
			if ok {
				cancel()
			}
		case <-over:
		}
	}()

	err := fn(under)
	close(over)
	<-watched
	if err == nil {
		err = under.Err()
	}
	return err
}

// commandLine returns the command as a shell would read it.
func (t *task) commandLine() string {
	words := []string{quote(t.name)}
	for _, arg := range t.args {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

// quote returns a word as a shell would read it.
func quote(word string) string {
	plain := func(r rune) bool { return r > ' ' && r != 0x7f && !strings.ContainsRune("\\\"'`$&|;<>()*?[]{}~#!", r) }
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
