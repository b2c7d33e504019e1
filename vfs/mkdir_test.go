package vfs_test

import (
	"syscall"
	"testing"

	"vfsdb/vfs"
)

// Mkdir makes one directory, and MkdirAll those that are missing.
func TestMkdir(t *testing.T) {
	ctx := t.Context()
	mkdir := func(name string) func(*vfs.FS) error {
		return func(fsys *vfs.FS) error { return fsys.Mkdir(ctx, name, 0o755) }
	}
	mkdirAll := func(name string) func(*vfs.FS) error {
		return func(fsys *vfs.FS) error { return fsys.MkdirAll(ctx, name, 0o755) }
	}
	testVerbs(t, []verbCase{
		{"mkdir", mkdir("new"), nil},
		{"mkdir over a file", mkdir("a"), syscall.EEXIST},
		{"mkdir over a directory", mkdir("dir"), syscall.EEXIST},
		{"mkdir over a dangling link", mkdir("dangling"), syscall.EEXIST},
		{"mkdir the root", mkdir("/"), syscall.EEXIST},
		{"mkdir without a parent", mkdir("none/x"), syscall.ENOENT},
		{"mkdir below a file", mkdir("a/x"), syscall.ENOTDIR},
		{"mkdir all", mkdirAll("n/e/w"), nil},
		{"mkdir all that is there", mkdirAll("dir/sub"), nil},
		{"mkdir all through a link", mkdirAll("todir/x/y"), nil},
		{"mkdir all over a file", mkdirAll("a"), syscall.ENOTDIR},
		{"mkdir all below a file", mkdirAll("a/x"), syscall.ENOTDIR},
	})
}
