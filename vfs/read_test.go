package vfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/check"
	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Bytes first; whole, by range, or as a stream that seeks; what is missing is ENOENT.
func TestContractRead(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "dir/")
	vfstest.Write(t, fsys, "f", "0123456789")
	part, err := fsys.ReadRange(ctx, "f", 3, 4)
	require.NoError(t, err)
	require.Equal(t, "3456", string(part))
	f, err := fsys.Open(ctx, "f")
	require.NoError(t, err)
	_, err = f.Seek(-2, io.SeekEnd)
	require.NoError(t, err)
	rest, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, "89", string(rest))
	require.NoError(t, f.Close())
	_, err = fsys.ReadFile(ctx, "none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = fsys.ReadFile(ctx, "dir")
	require.ErrorIs(t, err, syscall.EISDIR)
	for _, bad := range [][2]int64{{-1, 1}, {0, -1}} {
		_, err = fsys.ReadRange(ctx, "f", bad[0], bad[1])
		require.ErrorIs(t, err, syscall.EINVAL)
	}
}

// A file may be longer than any memory, by its holes alone: to read it whole is refused, to read a part of it is not.
func TestReadTooLong(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "small")
	vfstest.Write(t, fsys, "long", "")
	require.NoError(t, fsys.Truncate(ctx, "long", 1<<50))

	_, err := fsys.ReadFile(ctx, "long")
	require.ErrorIs(t, err, syscall.EFBIG)
	_, err = fsys.ReadRange(ctx, "long", 5, vfs.MaxReadSize+1)
	require.ErrorIs(t, err, syscall.EFBIG)
	_, err = fs.ReadFile(fsys.IOFS(ctx), "long")
	require.ErrorIs(t, err, syscall.EFBIG)
	part, err := fsys.ReadRange(ctx, "long", 1<<50-10, 20)
	require.NoError(t, err)
	require.Equal(t, make([]byte, 10), part)

	require.NoError(t, fsys.View(ctx, func(tx *vfs.Tx) error {
		_, err := tx.ReadFile("long")
		require.ErrorIs(t, err, syscall.EFBIG)
		_, err = tx.ReadFile("small")
		require.NoError(t, err)
		return nil
	}))
}

// A chunk is loaded and verified once, for all readers of its parts. Later damage is found by a check, and by a read of the
// rest.
func TestChunksAreLoadedOnce(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.Sample(t)
	data := make([]byte, 3*chunk.Size+100)
	rand.NewChaCha8([32]byte{byte(rand.Uint32()), byte(rand.Uint32())}).Read(data) // nothing that an earlier run has read
	require.NoError(t, fsys.WriteFile(ctx, "large", data, 0o644))
	require.NoError(t, fsys.WriteFile(ctx, "short", data[:5000], 0o644))
	open, err := fsys.Open(ctx, "large")
	require.NoError(t, err)
	defer open.Close()
	report, err := check.Run(ctx, fsys, nil)
	require.NoError(t, err)
	require.True(t, report.OK())

	second := int64(chunk.Size)
	got, err := fsys.ReadRange(ctx, "large", second+10, 4096)
	require.NoError(t, err)
	require.Equal(t, data[second+10:][:4096], got)
	got, err = fsys.ReadFile(ctx, "short")
	require.NoError(t, err)
	clear(got) // it is ours
	vfstest.Damage(t, fsys, `UPDATE blob SET data = zeroblob(size) WHERE id > (SELECT blob FROM inode WHERE ino = $a) AND size > 1000`)

	try, err := fsys.Branch(ctx, "main")
	require.NoError(t, err)
	for _, tree := range []*vfs.FS{fsys, try} {
		got, err := tree.ReadRange(ctx, "large", 2*second-2000, 2000)
		require.NoError(t, err)
		require.Equal(t, data[2*second-2000:][:2000], got)
		got, err = tree.ReadFile(ctx, "short")
		require.NoError(t, err)
		require.Equal(t, data[:5000], got)
		f, err := tree.Open(ctx, "large")
		require.NoError(t, err)
		for _, f := range []*vfs.File{f, open} {
			_, err = f.ReadAt(got[:4000], second+70_000)
			require.NoError(t, err)
			require.Equal(t, data[second+70_000:][:4000], got[:4000])
			_, err = f.ReadAt(got[:10], 10)
			require.ErrorIs(t, err, vfs.ErrCorrupt, "nobody has read the first chunk")
		}
		require.NoError(t, f.Close())
		_, err = tree.ReadFile(ctx, "large")
		require.ErrorIs(t, err, syscall.EIO)
	}

	report, err = check.Run(ctx, fsys, nil)
	require.NoError(t, err)
	faults := fmt.Sprint(report.Faults)
	require.Contains(t, faults, "main: large: blob")
	require.Contains(t, faults, "main: short: blob")
	for _, f := range report.Faults {
		require.Contains(t, f.What, "do not match their sum")
	}
}

// What an Update reads of its own is not kept: when it is undone, the next one gets its ids.
func TestReadInAnUpdateThatIsUndone(t *testing.T) {
	ctx := t.Context()
	for _, size := range []int{100, chunk.Size + 100} {
		fsys := vfstest.New(t)
		was, is := make([]byte, size), make([]byte, size)
		rand.NewChaCha8([32]byte{1}).Read(was)
		rand.NewChaCha8([32]byte{2}).Read(is)
		undone := errors.New("undone")
		require.ErrorIs(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
			require.NoError(t, tx.WriteFile("f", was, 0o644))
			got, err := tx.ReadFile("f")
			require.NoError(t, err)
			require.Equal(t, was, got)
			got, err = tx.ReadRange("f", 10, 20)
			require.NoError(t, err)
			require.Equal(t, was[10:30], got)
			f, err := tx.IOFS().Open("f")
			require.NoError(t, err)
			_, err = f.Read(got)
			require.NoError(t, err)
			return undone
		}), undone)
		require.NoError(t, fsys.WriteFile(ctx, "f", is, 0o644))
		got, err := fsys.ReadRange(ctx, "f", 10, 20)
		require.NoError(t, err)
		require.Equal(t, is[10:30], got)
		got, err = fsys.ReadFile(ctx, "f")
		require.NoError(t, err)
		require.Equal(t, is, got)
	}
}

// After Close nothing is answered from memory.
func TestReadAfterClose(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	f, err := fsys.Open(ctx, "a")
	require.NoError(t, err)
	_, err = io.ReadFull(f, make([]byte, 1))
	require.NoError(t, err)
	_, err = fsys.ReadFile(ctx, "a")
	require.NoError(t, err)
	require.NoError(t, fsys.Close())
	_, err = fsys.ReadFile(ctx, "a")
	require.ErrorIs(t, err, fs.ErrClosed)
	_, err = f.ReadAt(make([]byte, 1), 0)
	require.ErrorIs(t, err, fs.ErrClosed)
}

// A range behind the end of a file is empty, also of content that is in memory.
func TestKeptContentEnds(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.Sample(t)
	for name, size := range map[string]int{"empty": 0, "short": 1000, "long": chunk.Size + 1000} {
		data := make([]byte, size)
		rand.NewChaCha8([32]byte{1}).Read(data)
		require.NoError(t, fsys.WriteFile(ctx, name, data, 0o644))
		for range 3 { // into memory
			got, err := fsys.ReadRange(ctx, name, 0, int64(size))
			require.NoError(t, err)
			require.Equal(t, data, got)
		}
		for _, off := range []int64{int64(size), int64(size) + 1, 1 << 40, 1<<63 - 1} {
			got, err := fsys.ReadRange(ctx, name, off, 10)
			require.NoError(t, err)
			require.Empty(t, got)
		}
	}
}
