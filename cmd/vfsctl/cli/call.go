package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// An Access is the access that a command needs to the database.
type Access int

const (
	// The accesses.
	Reads   Access = iota // of one tree: a branch's head, or with --at a snapshot
	Writes                // to a branch's head; --at is refused
	Creates               // as Writes, and a database that does not exist is created
)

// A Call is one run of a command on a tree.
type Call struct {
	context.Context
	Cmd  *cobra.Command
	Args []string
	FS   *vfs.FS // the tree that the flags name
	Dir  string  // where paths begin: the root, or in a shell its directory
	Gone error   // of OnTrees: why FS is not the branch that was asked for
}

// Arg returns an argument, or def if it was left out.
func (c *Call) Arg(i int, def string) string {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return def
}

// Of finds the file of an argument that is PATH or REF:PATH, as [snapshot.ResolvePath] does. It returns the call on the tree
// of the file, and the path there.
func (c *Call) Of(arg string) (*Call, string, error) {
	tree, name, err := c.Find(arg)
	if err != nil {
		return nil, "", err
	}
	there := *c
	there.FS = tree.Tree()
	return &there, name, nil
}

// Find finds the file of an argument, as [Call.Of] does, and returns the tree.
func (c *Call) Find(arg string) (snapshot.Tree, string, error) {
	tree, name, err := snapshot.ResolvePath(c, c.FS, arg)
	return tree, name, noRef(c, c.FS, err)
}

// On makes the body of a command. The body opens the database, finds the tree, runs fn and closes the database.
func (a *App) On(use Access, fn func(c *Call) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		a.started = true
		ctx := cmd.Context()
		if use != Reads && a.At != "" {
			return Usage(cmd, "%s changes files, and with --at the tree is read-only", cmd.Name())
		}

		var call *vfs.Call
		if use != Reads {
			call = &vfs.Call{Began: time.Now(), Actor: UserName(), Tool: cmd.CommandPath()}
			ctx = vfs.WithCall(ctx, call)
		}

		// A new database is made under another name. It gets its own only if the command succeeds.
		if _, missing := os.Stat(a.DB); use == Creates && errors.Is(missing, fs.ErrNotExist) && a.onMain() {
			if a.making, err = beginCreation(a.DB); err != nil {
				return err
			}
			defer func() { err = a.making.named(a.making.end(err)) }()
		}

		store, err := a.Open(ctx, use)
		if err != nil {
			return err
		}
		defer func() {
			if closed := store.Close(); err == nil {
				err = closed
			}
		}()

		fsys := store
		if a.At != "" {
			if fsys, err = a.resolve(ctx, store, a.At); err != nil {
				return err
			}
		}

		if args, err = a.resolveArgs(ctx, fsys, cmd, args); err != nil {
			return err
		}
		if call != nil {
			call.Command = Words(cmd, args)
		}
		c := &Call{Context: ctx, Cmd: cmd, Args: args, FS: fsys, Dir: a.dir()}
		err = c.adviseRef(use, fn(c))
		if call != nil {
			err = ended(ctx, fsys, call, err)
		}
		return err
	}
}

// OnStore makes the body of a command about the whole database, as [App.On] does for a tree. It ignores $VFS_BRANCH and what
// switch has remembered, which may name a branch that is gone.
func (a *App) OnStore(use Access, fn func(c *Call) error) func(*cobra.Command, []string) error {
	body := a.On(use, fn)
	return func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("branch") {
			a.NoBranch()
		}
		return body(cmd, args)
	}
}

// OnTrees is On for a command whose arguments name trees. If it has as many as it needs, the branch to stand on may be gone.
func (a *App) OnTrees(needs int, fn func(c *Call) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ran := false
		err := a.On(Reads, func(c *Call) error {
			ran = true
			return fn(c)
		})(cmd, args)
		if ran || len(args) < needs || cmd.Flags().Changed("branch") || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return a.OnStore(Reads, func(c *Call) error {
			c.Gone = err
			return fn(c)
		})(cmd, args)
	}
}

// UserName is the name of the user who runs the program. The log records it.
func UserName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// WithSource makes the body of a command that reads its first argument from the host. It checks the flags and looks for
// that file before body runs, so a slip of the pen creates no database.
func (a *App) WithSource(check func(cmd *cobra.Command) error, body func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.started = true
		if err := check(cmd); err != nil {
			return err
		}
		if args[0] != "-" {
			if _, err := os.Stat(args[0]); err != nil {
				return err
			}
		}
		return body(cmd, args)
	}
}

// Plain makes the body of a command that needs no database.
func (a *App) Plain(fn func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.started = true
		return fn(cmd, args)
	}
}

// Each runs fn for each argument. With several arguments a failure is reported and the next argument follows; the exit
// code is then [ExitPartly], or [ExitFailed] if all have failed.
func (a *App) Each(ctx context.Context, args []string, fn func(arg string) error) error {
	failed := 0
	for _, arg := range args {
		err := fn(arg)
		if err == nil {
			continue
		}
		if len(args) == 1 || ctx.Err() != nil || errors.Is(err, syscall.EPIPE) || errors.Is(err, vfs.ErrCorrupt) {
			return err
		}
		a.Warn("%v", err)
		failed++
	}

	switch failed {
	case 0:
		return nil
	case len(args):
		return ExitFailed
	}
	return ExitPartly
}
