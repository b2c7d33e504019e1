package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"syscall"
	"time"
	"vfsdb/vfs"

	"github.com/spf13/cobra"
)

// each runs fn for each of several arguments. A failure is told and does not keep the others back: what remains is
// partly done, unless nothing was.
func (a *app) each(ctx context.Context, args []string, fn func(arg string) error) error {
	failed := 0
	for _, arg := range args {
		err := fn(arg)
		if err == nil {
			continue
		}
		if len(args) == 1 || ctx.Err() != nil || errors.Is(err, syscall.EPIPE) || errors.Is(err, vfs.ErrCorrupt) {
			return err
		}
		a.warn("%v", err)
		failed++
	}
	switch failed {
	case 0:
		return nil
	case len(args):
		return exitFailed
	}
	return exitPartly
}

// An access is what a command does with the database.
type access int

const (
	reads   access = iota // one tree: a branch's head, or with --at a snapshot
	writes                // a branch's head; --at is refused
	creates               // writes, and makes the database where there is none
)

// A call is one run of a command on a tree.
type call struct {
	context.Context
	cmd  *cobra.Command
	args []string
	fsys *vfs.FS // the tree that the flags name
}

// arg returns an argument, or def where it was left out.
func (c *call) arg(i int, def string) string {
	if i < len(c.args) {
		return c.args[i]
	}
	return def
}

// on makes the body of a command: it opens the database, finds the tree, runs fn and closes.
func (a *app) on(use access, fn func(c *call) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		a.started = true
		ctx := cmd.Context()
		if use != reads && a.at != "" {
			return usage(cmd, "%s changes files, and with --at the tree is read-only", cmd.Name())
		}
		if use != reads {
			ctx = vfs.WithCall(ctx, &vfs.Call{Began: time.Now(), Actor: userName(), Tool: cmd.CommandPath()})
		}
		if _, missing := os.Stat(a.db); use == creates && errors.Is(missing, fs.ErrNotExist) && a.onMain() {
			if a.making, err = beginCreation(a.db); err != nil {
				return err
			}
			defer func() { err = a.making.named(a.making.end(err)) }()
		}
		store, err := a.open(ctx, use)
		if err != nil {
			return err
		}
		defer func() {
			if closed := store.Close(); err == nil {
				err = closed
			}
		}()
		fsys := store
		if a.at != "" {
			if fsys, err = a.resolve(ctx, store, a.at); err != nil {
				return err
			}
		}
		return fn(&call{Context: ctx, cmd: cmd, args: args, fsys: fsys})
	}
}

// userName is who runs the program, for the log.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// sourced makes the body of a command that reads its first argument from the host. It looks at that first: a slip of
// the pen creates no database.
func (a *app) sourced(check func(cmd *cobra.Command) error, body func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
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

// plain makes the body of a command that needs no database.
func (a *app) plain(fn func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.started = true
		return fn(cmd, args)
	}
}

// creating reports whether the command makes the database. A failure leaves nothing of it.
func (a *app) creating() bool { return a.making != nil }
