package vfs_test

import (
	"syscall"
	"testing"

	"vfsdb/vfs"
)

// Rename moves a name, and replaces what may be replaced.
func TestRename(t *testing.T) {
	ctx := t.Context()
	rename := func(from, to string, opts ...vfs.Option) func(*vfs.FS) error {
		return func(fsys *vfs.FS) error { return fsys.Rename(ctx, from, to, opts...) }
	}
	testVerbs(t, []verbCase{
		{"rename over a file", rename("a", "b"), nil},
		{"rename to itself", rename("a", "a"), nil},
		{"rename over another name of it", rename("a", "hard"), nil},
		{"rename over a file, no replace", rename("a", "b", vfs.NoReplace()), syscall.EEXIST},
		{"rename onto a directory", rename("a", "dir"), syscall.EISDIR},
		{"rename a directory onto a file", rename("dir", "a"), syscall.ENOTDIR},
		{"rename over an empty directory", rename("dir", "empty"), nil},
		{"rename over a full directory", rename("empty", "dir"), syscall.ENOTEMPTY},
		{"rename into itself", rename("dir", "dir/sub/x"), syscall.EINVAL},
		{"rename onto its parent", rename("dir/sub", "dir"), syscall.ENOTEMPTY},
		{"rename the root", rename("/", "x"), syscall.EBUSY},
		{"rename onto the root", rename("a", "/"), syscall.EBUSY},
		{"rename what is not there", rename("none", "x"), syscall.ENOENT},
		{"rename into what is not there", rename("a", "none/x"), syscall.ENOENT},
		{"rename below a file", rename("a", "b/x"), syscall.ENOTDIR},
		{"rename a dangling link", rename("dangling", "d2"), nil},
		{"rename with parents", rename("a", "p/q/r", vfs.Parents()), nil},
	})
}
