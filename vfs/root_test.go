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

// Results stand in the order of the files; all or nothing on request.
func TestMany(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "dir/", "old")
	files := []vfs.FileData{
		{Name: "a", Data: []byte("1"), Perm: 0o600},
		{Name: "dir", Data: []byte("2"), Perm: 0o600},
		{Name: "none/x", Data: []byte("3"), Perm: 0o600},
		{Name: "old", Data: []byte("4"), Perm: 0o600},
	}
	before := vfstest.Dump(t, fsys)
	_, err := fsys.PutMany(ctx, files, true)
	require.ErrorIs(t, err, syscall.EISDIR)
	require.Equal(t, before, vfstest.Dump(t, fsys))

	results, err := fsys.PutMany(ctx, files, false)
	require.NoError(t, err)
	for i, want := range []error{nil, syscall.EISDIR, fs.ErrNotExist, nil} {
		require.ErrorIs(t, results[i], want, files[i].Name)
	}
	got, err := fsys.GetMany(ctx, []string{"old", "none/x", "a"})
	require.NoError(t, err)
	require.Equal(t, "4", string(got[0].Data))
	require.ErrorIs(t, got[1].Err, fs.ErrNotExist)
	require.Equal(t, "1", string(got[2].Data))
	sum, err := fsys.Sum(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, sum, got[2].Sum)
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
