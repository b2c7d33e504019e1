package vfs_test

import (
	"strings"
	"syscall"
	"testing"

	"vfsdb/vfs"
)

// Link and Symlink make names where there are none.
func TestLink(t *testing.T) {
	ctx := t.Context()
	link := func(from, to string) func(*vfs.FS) error {
		return func(fsys *vfs.FS) error { return fsys.Link(ctx, from, to) }
	}
	symlink := func(target, name string) func(*vfs.FS) error {
		return func(fsys *vfs.FS) error { return fsys.Symlink(ctx, target, name) }
	}
	testVerbs(t, []verbCase{
		{"link", link("a", "l"), nil},
		{"link a directory", link("dir", "l"), syscall.EPERM},
		{"link over a file", link("a", "b"), syscall.EEXIST},
		{"link what is not there", link("none", "l"), syscall.ENOENT},
		{"symlink", symlink("anywhere", "s"), nil},
		{"symlink over a file", symlink("x", "a"), syscall.EEXIST},
		{"symlink to nothing", symlink("", "s"), syscall.ENOENT},
		{"symlink to 4096 bytes", symlink(strings.Repeat("x", 4096), "s"), nil},
		{"symlink to 4097 bytes", symlink(strings.Repeat("x", 4097), "s"), syscall.ENAMETOOLONG},
		{"symlink to NUL", symlink("a\x00", "s"), syscall.EINVAL},
	})
}
