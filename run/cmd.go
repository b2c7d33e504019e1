package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"vfsdb/journal"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A Cmd is a command that is to run in a branch. It runs once.
type Cmd struct {
	Stdin  io.Reader // nil is no input
	Stdout io.Writer // nil drops the output. If Stdout and Stderr are the same, one goroutine at a time writes
	Stderr io.Writer

	// Result is what the run did. Run sets it, also where it returns an error, as soon as the command has run.
	Result *Result

	ctx  context.Context
	fsys *vfs.FS
	o    Options
	name string
	args []string
	ran  bool
	task *task // set by Run
}

// Command returns the command to run a program of the host in a branch, which fsys is the head of. A name without a slash
// is found in the PATH of the command's environment, another one from its working directory. If ctx ends, the command is
// ended as by a timeout, and the error is that of ctx.
func Command(ctx context.Context, fsys *vfs.FS, o Options, name string, args ...string) *Cmd {
	return &Cmd{ctx: ctx, fsys: fsys, o: o, name: name, args: args}
}

// Run runs the command, waits for its end and brings what it changed into the branch, in one commit.
//
// Another exit code than 0 is an [ExitError], a command that cannot be started a [StartError], a way that the host does not
// allow an [UnableError]. Whatever the exit code, a result that conflicts with what others changed meanwhile is a
// [ConflictError], one whose branch was deleted a [MovedError], and one that could not be stored a [KeptError]. A tree that is not the whole head of a branch is EINVAL.
func (c *Cmd) Run() error {
	err := c.run()
	for _, known := range []any{new(*ExitError), new(*StartError), new(*UnableError), new(*MovedError), new(*ConflictError), new(*KeptError)} {
		if err == nil || errors.As(err, known) {
			return err
		}
	}
	return fmt.Errorf("run %s: %w", c.name, err)
}

// Clean waits until the directories of the host that Run has used are removed and the kernel has freed what it knows of the
// tree, and returns the error of that. To call it is optional: both happen beside the program. If the program ends before that,
// the next run removes the rest. Clean does nothing before Run has returned.
func (c *Cmd) Clean() error {
	if c.task == nil || c.task.removed == nil {
		return nil
	}
	return c.task.removed()
}

// Output runs the command and returns what it wrote to its standard output.
func (c *Cmd) Output() ([]byte, error) {
	var out bytes.Buffer
	c.Stdout = &out
	err := c.Run()
	return out.Bytes(), err
}

func (c *Cmd) run() error {
	switch {
	case c.ran:
		return fmt.Errorf("%w: it ran already", syscall.EINVAL)
	case c.name == "":
		return fmt.Errorf("%w: no command", syscall.EINVAL)
	case c.fsys.Frozen() || c.fsys.Store().ReadOnly():
		return syscall.EROFS
	case !c.fsys.Whole():
		return fmt.Errorf("%w: a run is of a whole branch", syscall.EINVAL)
	case c.o.Base != "" && c.o.Via != Auto && c.o.Via != Overlay:
		return fmt.Errorf("%w: only overlay runs over a directory of the host", syscall.EINVAL)
	}
	c.ran = true

	collectRunDirs()
	held, release, err := (*tree.Tree)(c.fsys).Hold(c.ctx)
	if err != nil {
		return err
	}
	defer release()
	t := &task{
		fsys: c.fsys, moment: (*vfs.FS)(held), o: c.o, name: c.name, args: c.args, stdin: c.Stdin, stdout: c.Stdout, stderr: c.Stderr,
		shared: sharesGroup(c.Stdin),
	}
	defer func() { c.task = t }()
	return c.runTask(t)
}

// runTask runs the command on a frozen moment.
func (c *Cmd) runTask(t *task) (err error) {
	if t.o.Confine {
		var remove func() error
		if t.temp, remove, err = scratch(tempPrefix); err != nil {
			return err
		}
		defer func() { _ = remove() }() // what is left waits for the next run
	}
	var s session
	var via Via
	var declined []UnableError
	err = t.interruptible(c.ctx, func(ctx context.Context) (err error) {
		s, via, declined, err = t.open(ctx)
		return err
	})
	if s != nil {
		defer func() { err = errors.Join(err, s.close()) }()
	}
	if err != nil {
		return err
	}
	if t.o.Chosen != nil {
		t.o.Chosen(via, declined)
	}
	call := cmp.Or(t.o.Call, journal.CallOf(c.ctx))
	if call == nil {
		call = &vfs.Call{Tool: "run"}
	}
	began := time.Now()
	if call.Began.IsZero() {
		call.Began = began
	}

	out, err := s.run(c.ctx)
	if err != nil {
		return err
	}
	r := &Result{Command: t.commandLine(), Engine: via, Declined: declined, TimedOut: out.timedOut, Took: time.Since(began)}
	r.ExitCode, r.Signal = out.exit()
	c.Result = r

	// The changes of the command are stored even if ctx has ended.
	b := &bringer{t: t, s: s, call: call, result: r}
	err = b.bring(context.WithoutCancel(c.ctx))
	if t.o.Keep && r.Kept == "" {
		r.Kept = s.kept()
	}
	switch {
	case err != nil:
		return err
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case r.ExitCode != 0:
		return &ExitError{r.ExitCode, r.Signal, r.TimedOut}
	}
	return nil
}
