package vfs_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"vfsdb/vfs"
)

// FuzzWalk resolves any path in a tree of directories, files and symlinks, some of them loops: it never panics, fails
// only with an errno of the contract, and what it finds through a jail is in the jail.
func FuzzWalk(f *testing.F) {
	fsys, err := vfs.Open(f.Context(), filepath.Join(f.TempDir(), "a.db"), &vfs.Options{Relaxed: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { fsys.Close() })
	ctx := f.Context()
	for _, name := range []string{"out", "j/a/b/file", "j/x"} {
		if err := fsys.WriteFile(ctx, name, []byte(name), 0o644, vfs.Parents()); err != nil {
			f.Fatal(err)
		}
	}
	for name, target := range map[string]string{"j/up": "..", "j/abs": "/out", "j/loop": "loop", "j/a/l": "../x", "j/a/far": "../../../out", "j/here": "."} {
		if err := fsys.Symlink(ctx, target, name); err != nil {
			f.Fatal(err)
		}
	}
	jail, err := fsys.OpenRoot(ctx, "j")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"a/b/file", "/", "", "..", "a/../x", "loop/x", "up/up/out", "a/far", "here/here/a/l", "a\x00b", "\xff", "a/b/file/.."} {
		f.Add(seed)
	}
	allowed := []error{syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.EINVAL, syscall.EISDIR}
	f.Fuzz(func(t *testing.T, name string) {
		for _, tree := range []*vfs.FS{fsys, jail} {
			data, err := tree.ReadFile(ctx, name)
			if err == nil {
				if tree == jail && !strings.HasPrefix(string(data), "j/") {
					t.Fatalf("%q leaves the jail and reads %q", name, data)
				}
				continue
			}
			var pe *fs.PathError
			if !errors.As(err, &pe) || pe.Path != name {
				t.Fatalf("%q: %T %v", name, err, err)
			}
			known := false
			for _, want := range allowed {
				known = known || errors.Is(err, want)
			}
			if !known {
				t.Fatalf("%q: %v", name, err)
			}
		}
	})
}
