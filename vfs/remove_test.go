package vfs_test

import (
	"syscall"
	"testing"

	"vfsdb/vfs"
)

// Remove takes away a name, and RemoveAll all that is below it.
func TestRemove(t *testing.T) {
	ctx := t.Context()
	remove := func(name string) func(*vfs.FS) error {
		return func(fsys *vfs.FS) error { return fsys.Remove(ctx, name) }
	}
	removeAll := func(name string) func(*vfs.FS) error {
		return func(fsys *vfs.FS) error { return fsys.RemoveAll(ctx, name) }
	}
	testVerbs(t, []verbCase{
		{"remove a file", remove("a"), nil},
		{"remove an empty directory", remove("empty"), nil},
		{"remove a full directory", remove("dir"), syscall.ENOTEMPTY},
		{"remove a link to a directory", remove("todir"), nil},
		{"remove what is not there", remove("none"), syscall.ENOENT},
		{"remove the root", remove("/"), syscall.EPERM},
		{"remove by dotdot", remove("dir/sub/.."), syscall.ENOTEMPTY},
		{"remove all", removeAll("dir"), nil},
		{"remove all of a link", removeAll("todir"), nil},
		{"remove all of nothing", removeAll("none/none"), nil},
		{"remove all below a file", removeAll("a/x"), syscall.ENOTDIR},
		{"remove all of the root", removeAll("."), syscall.EPERM},
	})
}
