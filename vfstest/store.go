package vfstest

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"vfsdb/check"
	"vfsdb/vfs"
)

// New makes a store with files and directories. The content of a file is its path. A path that ends in a slash is a
// directory. Missing directories above a path are made. At the end of the test the store is checked and closed.
func New(t testing.TB, paths ...string) *vfs.FS {
	t.Helper()
	return filled(t, func(tx *vfs.Tx) error {
		for _, name := range paths {
			if err := put(tx, name, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// FromMap is [New] with the content of each file. The content of a name that ends in a slash is ignored.
func FromMap(t testing.TB, files map[string]string) *vfs.FS {
	t.Helper()
	return filled(t, func(tx *vfs.Tx) error {
		for name, content := range files {
			if err := put(tx, name, content); err != nil {
				return err
			}
		}
		return nil
	})
}

// FromFS is [New] with a copy of src: a [testing/fstest.MapFS], for example, or a directory of testdata by [os.DirFS].
// Files keep their permissions, and get 0644 if they have none. Directories get 0755, because many an fs.FS makes
// theirs up. Symlinks are copied as they are. Files of other types are left out. Times are those of the copy.
func FromFS(t testing.TB, src fs.FS) *vfs.FS {
	t.Helper()
	return filled(t, func(tx *vfs.Tx) error {
		return fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || name == "." {
				return err
			}
			return copyEntry(tx, src, name, d)
		})
	})
}

// filled makes a store and fills it in one commit. The store is relaxed: no test here is about power loss.
func filled(t testing.TB, fill func(tx *vfs.Tx) error) *vfs.FS {
	t.Helper()
	fsys := Open(t, filepath.Join(t.TempDir(), "test.db"), &vfs.Options{Relaxed: true})
	if err := fsys.Update(t.Context(), fill); err != nil {
		t.Fatalf("vfstest: %v", err)
	}
	return fsys
}

// put makes one file or directory.
func put(tx *vfs.Tx, name, content string) error {
	if strings.HasSuffix(name, "/") {
		return tx.MkdirAll(name, 0o755)
	}
	return tx.WriteFile(name, []byte(content), 0o644, vfs.Parents())
}

// copyEntry copies one entry of src.
func copyEntry(tx *vfs.Tx, src fs.FS, name string, d fs.DirEntry) error {
	switch d.Type() {
	case fs.ModeDir:
		return tx.Mkdir(name, 0o755)
	case fs.ModeSymlink:
		target, err := fs.ReadLink(src, name)
		if err != nil {
			return err
		}
		return tx.Symlink(target, name)

	case 0: // a regular file
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := fs.ReadFile(src, name)
		if err != nil {
			return err
		}
		return tx.WriteFile(name, data, cmp.Or(info.Mode().Perm(), 0o644))
	}
	return nil
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

// Check fails the test if [check.Run] finds a fault. A closed store is opened again for it.
func Check(t testing.TB, fsys *vfs.FS) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // a cleanup has a cancelled context
	report, err := check.Run(ctx, fsys, nil)
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

func checkFile(ctx context.Context, name string) (*check.Report, error) {
	fsys, err := vfs.Open(ctx, name, &vfs.Options{MustExist: true})
	if err != nil {
		return nil, err
	}
	report, err := check.Run(ctx, fsys, nil)
	return report, errors.Join(err, fsys.Close())
}
