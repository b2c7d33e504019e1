package vfstest

import (
	"context"
	"path"
	"testing"

	"go.uber.org/goleak"

	"vfsdb/snapshot"
	"vfsdb/vfs"
	kit "vfsdb/vfstest"
)

// New is [kit.New].
func New(t testing.TB, files ...string) *vfs.FS {
	t.Helper()
	return kit.New(t, files...)
}

// Open is [kit.Open].
func Open(t testing.TB, file string, o *vfs.Options) *vfs.FS {
	t.Helper()
	return kit.Open(t, file, o)
}

// Check is [kit.Check].
func Check(t testing.TB, fsys *vfs.FS) {
	t.Helper()
	kit.Check(t, fsys)
}

// Names is [kit.Names].
func Names(t testing.TB, fsys *vfs.FS) []string {
	t.Helper()
	return kit.Names(t, fsys)
}

// Main runs the tests of a package and fails if a goroutine is left afterwards. TestMain of the package calls it.
func Main(m *testing.M) { goleak.VerifyTestMain(m) }

// Write gives a file a content. Missing directories above it are made.
func Write(t testing.TB, fsys *vfs.FS, name, content string) {
	t.Helper()
	if err := fsys.WriteFile(t.Context(), name, []byte(content), 0o644, vfs.Parents()); err != nil {
		t.Fatalf("vfstest: %v", err)
	}
}

// Read returns the content of a file.
func Read(t testing.TB, fsys *vfs.FS, name string) string {
	t.Helper()
	data, err := fsys.ReadFile(t.Context(), name)
	if err != nil {
		t.Fatalf("vfstest: %v", err)
	}
	return string(data)
}

// walkDir calls fn for all files below a directory, each directory before its entries.
func walkDir(tx *vfs.Tx, dir string, fn func(tx *vfs.Tx, name string, info *vfs.Info) error) error {
	entries, err := tx.ReadDir("/" + dir)
	if err != nil {
		return err
	}

	for _, e := range entries {
		name := path.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil {
			return err
		}
		if err := fn(tx, name, info.(*vfs.Info)); err != nil {
			return err
		}
		if e.IsDir() {
			if err := walkDir(tx, name, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// Snapshot names the tree as it is now.
func Snapshot(t testing.TB, fsys *vfs.FS, name string) *snapshot.Snapshot {
	t.Helper()
	s, err := snapshot.Create(t.Context(), fsys, name, nil)
	if err != nil {
		t.Fatalf("vfstest: %v", err)
	}
	return s
}

// Restore gives a head the state of another tree, and names the state before as snapshot.Restore does.
func Restore(ctx context.Context, fsys *vfs.FS, to snapshot.Tree) error {
	_, err := snapshot.Restore(ctx, fsys, to)
	return err
}

// Branch forks a branch from a tree.
func Branch(t testing.TB, base snapshot.Tree, name string) *vfs.FS {
	t.Helper()
	fsys, err := snapshot.Branch(t.Context(), base.Tree(), base, name)
	if err != nil {
		t.Fatalf("vfstest: %v", err)
	}
	return fsys
}
