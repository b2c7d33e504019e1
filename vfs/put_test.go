package vfs_test

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// put stores content in a batch of its own and gives it a name.
func put(t *testing.T, fsys *vfs.FS, name, content string, a vfs.Attr) error {
	t.Helper()
	batch := (*tree.Tree)(fsys).NewBatch(t.Context())
	defer batch.Close()
	staged, err := batch.Add(t.Context(), bytes.NewReader([]byte(content)))
	require.NoError(t, err)
	require.NoError(t, batch.Flush())
	return fsys.Update(t.Context(), func(tx *vfs.Tx) error { return tx.Put(name, staged, a) })
}

func TestPut(t *testing.T) {
	a := vfs.Attr{Mode: fs.ModeSetuid | 0o751, Uid: 7, Gid: 8, ModTime: time.Unix(0, 0)}
	for _, tt := range []struct {
		name, path string
		want       error
		keepsIno   bool
	}{
		{"a new file", "new", nil, false},
		{"a file", "file", nil, true},
		{"a file with two names", "one", nil, false},
		{"a symlink", "link", nil, false},
		{"a fifo", "fifo", nil, false},
		{"a directory", "dir", syscall.EISDIR, true},
		{"the root", "/", syscall.EISDIR, true},
		{"no parent", "none/x", syscall.ENOENT, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t, "file", "one", "dir/x")
			require.NoError(t, fsys.Link(t.Context(), "one", "two"))
			require.NoError(t, fsys.Symlink(t.Context(), "file", "link"))
			require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error { return tx.Mknod("fifo", fs.ModeNamedPipe|0o600, 0) }))
			before, _ := fsys.Lstat(t.Context(), tt.path)
			dump := vfstest.Dump(t, fsys)

			require.ErrorIs(t, put(t, fsys, tt.path, "content", a), tt.want)
			if tt.want != nil {
				require.Equal(t, dump, vfstest.Dump(t, fsys))
				return
			}
			info, err := fsys.Lstat(t.Context(), tt.path)
			require.NoError(t, err)
			require.Equal(t, a.Mode, info.Mode())
			require.Equal(t, a.ModTime, info.ModTime())
			uid, gid := info.Owner()
			require.Equal(t, []int{7, 8}, []int{uid, gid})
			require.Equal(t, "content", vfstest.Read(t, fsys, tt.path))
			require.Equal(t, tt.keepsIno, before != nil && before.Ino() == info.Ino())
			require.Equal(t, "one", vfstest.Read(t, fsys, "two"))
			if tt.path != "file" {
				require.Equal(t, "file", vfstest.Read(t, fsys, "file"))
			}

			time.Sleep(time.Millisecond)
			require.NoError(t, put(t, fsys, tt.path, "content", a))
			again, err := fsys.Lstat(t.Context(), tt.path)
			require.NoError(t, err)
			require.Equal(t, info.ChangeTime(), again.ChangeTime(), "what is there just so is not touched")
		})
	}
}

// What is staged in one store is nothing in another, whatever that one has under the same numbers.
func TestPutOfAnotherStore(t *testing.T) {
	ctx := t.Context()
	fsys, other := vfstest.New(t, "a"), vfstest.New(t, "a", "b", "c")
	f, err := fsys.OpenFile(ctx, "a", os.O_RDWR, 0) // so that it has a lease too
	require.NoError(t, err)
	defer f.Close()
	batch := (*tree.Tree)(other).NewBatch(ctx)
	defer batch.Close()
	staged, err := batch.Add(ctx, strings.NewReader("content"))
	require.NoError(t, err)
	require.NoError(t, batch.Flush())
	require.ErrorIs(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return tx.Put("f", staged, vfs.Attr{}) }), syscall.EXDEV)
}

func TestSetAttr(t *testing.T) {
	fsys := vfstest.New(t, "f", "d/")
	require.NoError(t, fsys.Symlink(t.Context(), "f", "l"))
	a := vfs.Attr{Mode: fs.ModeSticky | 0o711, Uid: 1, Gid: 2, ModTime: time.Unix(3, 4)}
	for _, name := range []string{"d", "l", "/"} {
		require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error { return tx.SetAttr(name, a) }))
		info, err := fsys.Lstat(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, a.ModTime, info.ModTime())
		uid, gid := info.Owner()
		require.Equal(t, []int{1, 2}, []int{uid, gid})
		if name == "l" {
			require.Equal(t, fs.ModeSymlink|0o777, info.Mode())
		} else {
			require.Equal(t, fs.ModeDir|a.Mode, info.Mode())
		}
	}
	require.ErrorIs(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error { return tx.SetAttr("none", a) }), fs.ErrNotExist)
}

func TestFileExtents(t *testing.T) {
	fsys := vfstest.New(t, "f", "d/")
	require.NoError(t, fsys.Truncate(t.Context(), "f", 10*chunk.Size))
	f, err := fsys.OpenFrozen(t.Context(), "f")
	require.NoError(t, err)
	extents, err := f.Extents()
	require.NoError(t, err)
	require.Equal(t, []chunk.Extent{{Off: 0, Len: chunk.Size}}, extents)
	require.NoError(t, f.Close())
	_, err = f.Extents()
	require.ErrorIs(t, err, fs.ErrClosed)

	d, err := fsys.OpenFrozen(t.Context(), "d")
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Extents()
	require.ErrorIs(t, err, syscall.EISDIR)
	live, err := fsys.Open(t.Context(), "f")
	require.NoError(t, err)
	defer live.Close()
	_, err = live.Extents()
	require.ErrorIs(t, err, syscall.EBADF)
}
