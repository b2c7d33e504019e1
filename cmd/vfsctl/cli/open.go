package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// Open opens the database on the branch that the flags name.
func (a *App) Open(ctx context.Context, use Access) (*vfs.FS, error) {
	if err := errors.Join(a.foreign, a.unclear); err != nil {
		return nil, err
	}
	if a.Absent() && (use != Creates || !a.onMain()) {
		return nil, &NoDatabaseError{path: a.DB, branch: a.Branch}
	}

	fsys, err := a.openOn(ctx, use, a.Branch)
	if a.kept != nil {
		fsys, err = a.recall(ctx, use, fsys, err)
	}
	if errors.Is(err, fs.ErrNotExist) && a.Branch != "" {
		return nil, a.noBranch(ctx, err)
	}
	return fsys, err
}

// openOn opens the database on a branch.
func (a *App) openOn(ctx context.Context, use Access, branch string) (*vfs.FS, error) {
	if s := a.here(); s != nil && a.making == nil {
		return s.store.Branch(ctx, cmp.Or(branch, vfs.MainBranch))
	}
	path := a.DB
	if a.making != nil {
		path = a.making.path
	}
	options := vfs.Options{Branch: branch, MustExist: use != Creates}
	fsys, err := vfs.Open(ctx, path, &options)
	if use == Reads && isReadOnly(err) {
		// A reader writes a lease, which keeps the content of its open files from being collected. It can do without.
		options.ReadOnly = true
		fsys, err = vfs.Open(ctx, path, &options)
	}
	return fsys, err
}

// onMain reports whether the command stands on the branch that a new database has.
func (a *App) onMain() bool { return a.Branch == "" || a.Branch == vfs.MainBranch }

// Absent reports whether there is no database, or an empty file that may become one.
func (a *App) Absent() bool {
	info, err := os.Stat(a.DB)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// isReadOnly reports whether a database that cannot be opened to write may still be opened to read.
func isReadOnly(err error) bool {
	return errors.Is(err, syscall.EMLINK) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EROFS)
}

// resolve finds the tree that --at names: a snapshot, branch@snapshot or branch@{moment}. It takes no branch, whose head moves.
func (a *App) resolve(ctx context.Context, store *vfs.FS, ref string) (*vfs.FS, error) {
	if a.placed {
		return a.shell.moment, nil
	}
	if strings.Contains(ref, "@") {
		tree, err := a.Tree(ctx, store, ref)
		if err != nil {
			return nil, err
		}
		return tree.Tree(), nil
	}
	s, err := snapshot.Open(ctx, store, ref)
	if err != nil {
		return nil, NoTree(ctx, store, "snapshot", ref, err)
	}
	return s.FS, nil
}

// A NoDatabaseError is the error of every command that does not create a database where there is none.
type NoDatabaseError struct {
	path, branch string
	Create       bool // the command has the flag --create
}

func (e *NoDatabaseError) Error() string {
	if e.branch == "" {
		return e.path + ": there is no database here"
	}
	return fmt.Sprintf("%s: there is no database here, and so no branch %s", e.path, e.branch)
}

// invoke writes a command line for the database that is missing. With mcp --workspace it is not the one of --db.
func (e *NoDatabaseError) invoke(a *App, args ...string) string {
	missing := *a
	missing.DB = e.path
	return missing.Invoke(args...)
}
