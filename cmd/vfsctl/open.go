package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

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

// open opens the database on the branch that the flags name.
func (a *app) open(ctx context.Context, use access) (*vfs.FS, error) {
	options := vfs.Options{Branch: a.branch, MustExist: use != creates}
	if a.absent() && (use != creates || !a.onMain()) {
		return nil, &noDatabase{path: a.db, branch: a.branch}
	}

	path := a.db
	if a.making != nil {
		path = a.making.path
	}
	fsys, err := vfs.Open(ctx, path, &options)
	if use == reads && isReadOnly(err) {
		// A reader likes to write, because its lease keeps what it streams from being collected. It can do without.
		options.ReadOnly = true
		fsys, err = vfs.Open(ctx, path, &options)
	}
	if errors.Is(err, fs.ErrNotExist) && a.branch != "" {
		return nil, a.noBranch(ctx, err)
	}
	return fsys, err
}

// onMain reports whether the command stands on the branch that a new database has.
func (a *app) onMain() bool { return a.branch == "" || a.branch == vfs.MainBranch }

// absent reports whether there is no database, or an empty file that may become one.
func (a *app) absent() bool {
	info, err := os.Stat(a.db)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// isReadOnly reports whether a database that cannot be opened to write may still be opened to read.
func isReadOnly(err error) bool {
	return errors.Is(err, syscall.EMLINK) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EROFS)
}

// resolve finds the tree that a person names: a snapshot, or branch@snapshot. A branch is not meant: it has a head that
// moves.
func (a *app) resolve(ctx context.Context, store *vfs.FS, ref string) (*vfs.FS, error) {
	if strings.Contains(ref, "@") {
		tree, err := a.named(ctx, store, ref)
		if err != nil {
			return nil, err
		}
		return tree.Tree(), nil
	}
	s, err := snapshot.Open(ctx, store, ref)
	if err != nil {
		return nil, noTree(ctx, store, "snapshot", ref, err)
	}
	return s.FS, nil
}
