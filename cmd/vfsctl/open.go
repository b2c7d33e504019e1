package main

import (
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

// A noDatabase is the error of every command that does not create a database where there is none.
type noDatabase struct {
	path, branch string
	create       bool // the command has the flag --create
}

func (e *noDatabase) Error() string {
	if e.branch == "" {
		return e.path + ": there is no database here"
	}
	return fmt.Sprintf("%s: there is no database here, and so no branch %s", e.path, e.branch)
}

// invoke writes a command line for the database that is missing, which for mcp --workspace is not that of --db.
func (e *noDatabase) invoke(a *app, args ...string) string {
	missing := *a
	missing.db = e.path
	return missing.invoke(args...)
}
