package vfstest

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// New makes a store with the given files, which hold their own names, and directories, whose names end in a slash;
// directories above them are made too. At the end of the test the store is checked and closed.
func New(t testing.TB, files ...string) *vfs.FS {
	t.Helper()
	fsys := Open(t, filepath.Join(t.TempDir(), "test.db"), &vfs.Options{Relaxed: true})
	err := fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for _, name := range files {
			if strings.HasSuffix(name, "/") {
				if err := tx.MkdirAll(name, 0o755); err != nil {
					return err
				}
				continue
			}
			if err := tx.WriteFile(name, []byte(name), 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("vfstest: %v", err)
	}
	return fsys
}

// Open opens the store in a file. At the end of the test it is checked and closed.
func Open(t testing.TB, file string, o *vfs.Options) *vfs.FS {
	t.Helper()
	fsys, err := vfs.Open(t.Context(), file, o)
	if err != nil {
		t.Fatalf("vfstest: %v", err)
	}
	t.Cleanup(func() {
		t.Helper()
		Check(t, fsys)
		if err := fsys.Close(); err != nil {
			t.Errorf("vfstest: %v", err)
		}
	})
	return fsys
}

// Check fails the test if [vfs.Check] finds a fault. A store that was closed is opened again for it.
func Check(t testing.TB, fsys *vfs.FS) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // also in a cleanup
	report, err := vfs.Check(ctx, fsys, nil)
	if errors.Is(err, fs.ErrClosed) {
		report, err = checkFile(ctx, fsys.Name())
	}
	if err != nil {
		t.Errorf("vfstest: %v", err)
		return
	}
	for _, f := range report.Faults {
		t.Errorf("vfstest: check: %v", f)
	}
}

func checkFile(ctx context.Context, name string) (*vfs.CheckReport, error) {
	fsys, err := vfs.Open(ctx, name, &vfs.Options{MustExist: true})
	if err != nil {
		return nil, err
	}
	report, err := vfs.Check(ctx, fsys, nil)
	return report, errors.Join(err, fsys.Close())
}

// Main runs the tests of a package and fails if a goroutine is left afterwards. It is called by the package's TestMain.
func Main(m *testing.M) { goleak.VerifyTestMain(m) }

// Write makes content the content of a file, and makes the directories above it.
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

// Names lists all paths of a tree in lexical order, a slash behind those of directories.
func Names(t testing.TB, fsys *vfs.FS) []string {
	t.Helper()
	var names []string
	err := walk(context.WithoutCancel(t.Context()), fsys, func(tx *vfs.Tx, name string, info *vfs.Info) error {
		if info.IsDir() {
			name += "/"
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		t.Fatalf("vfstest: %v", err)
	}
	return names
}

// walk calls fn for everything below the root, at one moment.
func walk(ctx context.Context, fsys *vfs.FS, fn func(tx *vfs.Tx, name string, info *vfs.Info) error) error {
	return fsys.View(ctx, func(tx *vfs.Tx) error { return walkDir(tx, "", fn) })
}

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

// Branch forks a branch from a tree.
func Branch(t testing.TB, base snapshot.Tree, name string) *vfs.FS {
	t.Helper()
	fsys, err := snapshot.Branch(t.Context(), base.Tree(), base, name)
	if err != nil {
		t.Fatalf("vfstest: %v", err)
	}
	return fsys
}
