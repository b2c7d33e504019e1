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

	"vfsdb/vfs"
)

// Each runs fn for each of several arguments. A failure is told and does not keep the others back: what remains is
// partly done, unless nothing was.
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

// An Access is what a command does with the database.
type Access int

const (
	Reads   Access = iota // one tree: a branch's head, or with --at a snapshot
	Writes                // a branch's head; --at is refused
	Creates               // writes, and makes the database where there is none
)

// A Call is one run of a command on a tree.
type Call struct {
	context.Context
	Cmd  *cobra.Command
	Args []string
	FS   *vfs.FS // the tree that the flags name
}

// Arg returns an argument, or def where it was left out.
func (c *Call) Arg(i int, def string) string {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return def
}

// On makes the body of a command: it opens the database, finds the tree, runs fn and closes.
func (a *App) On(use Access, fn func(c *Call) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		a.started = true
		ctx := cmd.Context()
		if use != Reads && a.At != "" {
			return Usage(cmd, "%s changes files, and with --at the tree is read-only", cmd.Name())
		}
		if use != Reads {
			ctx = vfs.WithCall(ctx, &vfs.Call{Began: time.Now(), Actor: userName(), Tool: cmd.CommandPath()})
		}
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
		return fn(&Call{Context: ctx, Cmd: cmd, Args: args, FS: fsys})
	}
}

// userName is who runs the program, for the log.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// WithSource makes the body of a command that reads its first argument from the host. It looks at that first: a slip of
// the pen creates no database.
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

// Creating reports whether the command makes the database. A failure leaves nothing of it.
func (a *App) Creating() bool { return a.making != nil }
