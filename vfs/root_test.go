package vfs_test

import (
	"context"
	"io/fs"
	"os"
	"reflect"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// FS has every verb of os.Root, with a context in front where the verb does something.
func TestVerbsOfRoot(t *testing.T) {
	ours, root := reflect.TypeFor[*vfs.FS](), reflect.TypeFor[*os.Root]()
	names := map[string]string{"FS": "IOFS"} // the one that goes by another name
	plain := map[string]bool{"Name": true, "Close": true}
	require.GreaterOrEqual(t, root.NumMethod(), 23)
	for i := range root.NumMethod() {
		theirs := root.Method(i)
		name := theirs.Name
		if other, ok := names[name]; ok {
			name = other
		}
		m, ok := ours.MethodByName(name)
		require.True(t, ok, "os.Root has %s", theirs.Name)
		skip := 1
		if !plain[name] {
			require.Equal(t, reflect.TypeFor[context.Context](), m.Type.In(1), name)
			skip = 2
		}
		for arg := 1; arg < theirs.Type.NumIn(); arg++ {
			require.Equal(t, theirs.Type.In(arg), m.Type.In(arg+skip-1), "%s, argument %d", name, arg)
		}
	}
}

// Many writes are one commit. An error that is returned undoes them all; one that is passed over refuses one file.
func TestMany(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "dir/", "old")
	files := []struct{ name, data string }{{"a", "1"}, {"dir", "2"}, {"none/x", "3"}, {"old", "4"}}
	before := vfstest.Dump(t, fsys)
	err := fsys.Update(ctx, func(tx *vfs.Tx) error {
		for _, file := range files {
			if err := tx.WriteFile(file.name, []byte(file.data), 0o600); err != nil {
				return err
			}
		}
		return nil
	})
	require.ErrorIs(t, err, syscall.EISDIR)
	require.Equal(t, before, vfstest.Dump(t, fsys))

	results := make([]error, len(files))
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		for i, file := range files {
			results[i] = tx.WriteFile(file.name, []byte(file.data), 0o600)
		}
		return nil
	}))
	for i, want := range []error{nil, syscall.EISDIR, fs.ErrNotExist, nil} {
		require.ErrorIs(t, results[i], want, files[i].name)
	}
	require.NoError(t, fsys.View(ctx, func(tx *vfs.Tx) error {
		got, err := tx.ReadFile("old")
		require.NoError(t, err)
		require.Equal(t, "4", string(got))
		_, err = tx.ReadFile("none/x")
		require.ErrorIs(t, err, fs.ErrNotExist)
		got, err = tx.ReadFile("a")
		require.NoError(t, err)
		require.Equal(t, "1", string(got))
		sum, err := tx.Sum("a")
		require.NoError(t, err)
		require.Equal(t, vfs.SumOf(got), sum)
		return nil
	}))
}

// Where the directory of an OpenRoot is gone, no directories are made on the way to a file either, and that is the
// reason given.
func TestMkdirAllInWhatIsGone(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/e/")
	sub, err := fsys.OpenRoot(ctx, "d/e")
	require.NoError(t, err)
	require.NoError(t, fsys.RemoveAll(ctx, "d"))
	require.ErrorIs(t, sub.MkdirAll(ctx, "x/y", 0o755), syscall.ENOENT)
	require.ErrorIs(t, sub.WriteFile(ctx, "x/y", nil, 0o644, vfs.Parents()), syscall.ENOENT)
}
