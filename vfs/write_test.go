package vfs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/blake3"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/vfs"
)

// WriteFile makes a file, or replaces the content of one.
func TestWrite(t *testing.T) {
	ctx := t.Context()
	write := func(name string, opts ...vfs.Option) func(*vfs.FS) error {
		return func(fsys *vfs.FS) error { return fsys.WriteFile(ctx, name, []byte("new"), 0o644, opts...) }
	}
	testVerbs(t, []verbCase{
		{"write over a file", write("a"), nil},
		{"write through a dangling link", write("dangling"), nil},
		{"write a directory", write("dir"), syscall.EISDIR},
		{"write the root", write("/"), syscall.EISDIR},
		{"write without a parent", write("none/x"), syscall.ENOENT},
		{"write with parents", write("none/x/y", vfs.Parents()), nil},
		{"write below a file", write("a/x", vfs.Parents()), syscall.ENOTDIR},
		{"write if absent", write("a", vfs.IfAbsent()), syscall.ESTALE},
		{"write if absent, a dangling link", write("dangling", vfs.IfAbsent()), fs.ErrExist},
		{"write with an option of another verb", write("a", vfs.NoReplace()), syscall.EINVAL},
	})
}

// The sizes around a chunk's edge, written whole, as a stream, and one byte at a time, are one
// content.
func TestChunkBoundaries(t *testing.T) {
	ctx := t.Context()
	for _, size := range []int{0, 1, 524287, 524288, 524289, 2*524288 + 5} {
		fsys := vfstest.New(t)
		data := random(size)
		require.NoError(t, fsys.WriteFile(ctx, "whole", data, 0o644))
		_, err := fsys.WriteFrom(ctx, "stream", bytes.NewReader(data), 0o644)
		require.NoError(t, err)
		_, err = fsys.WriteFrom(ctx, "drip", iotest.OneByteReader(bytes.NewReader(data)), 0o644)
		require.NoError(t, err)
		want, err := fsys.Sum(ctx, "whole")
		require.NoError(t, err)
		if size <= chunk.Size {
			require.Equal(t, chunk.Sum(blake3.Sum256(data)), want, "it equals b3sum")
		}
		for _, name := range []string{"stream", "drip"} {
			sum, err := fsys.Sum(ctx, name)
			require.NoError(t, err)
			require.Equal(t, want, sum, "%s of %d", name, size)
			got, err := fsys.ReadFile(ctx, name)
			require.NoError(t, err)
			require.True(t, bytes.Equal(data, got))
		}
		require.EqualValues(t, (size+chunk.Size-1)/chunk.Size, vfstest.Number(t, fsys, `SELECT count(*) FROM blob`))
	}
}

// A stream that fails half-way, or is cancelled, changes nothing that can be seen.
func TestBrokenStream(t *testing.T) {
	fsys := vfstest.New(t, "file")
	before := vfstest.Dump(t, fsys)
	boom := errors.New("boom")
	for _, good := range []int{0, 10, 3 << 20, 20 << 20} {
		r := io.MultiReader(io.LimitReader(rand.NewChaCha8([32]byte{1}), int64(good)), iotest.ErrReader(boom))
		for _, name := range []string{"file", "new"} {
			_, err := fsys.WriteFrom(t.Context(), name, r, 0o644)
			require.ErrorIs(t, err, boom)
			require.Equal(t, before, vfstest.Dump(t, fsys))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := io.MultiReader(io.LimitReader(rand.NewChaCha8([32]byte{2}), 9<<20), readerFunc(func([]byte) (int, error) { cancel(); return 0, nil }), rand.NewChaCha8([32]byte{3}))
	_, err := fsys.WriteFrom(ctx, "new", r, 0o644) // an endless source
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, vfstest.Dump(t, fsys))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// The destination is looked at before the stream is read.
func TestStreamIsRefusedEarly(t *testing.T) {
	fsys := vfstest.New(t, "dir/x", "file")
	never := readerFunc(func([]byte) (int, error) { t.Error("the stream was read"); return 0, io.EOF })
	for _, tt := range []struct {
		name string
		opts []vfs.Option
		want error
	}{
		{"dir", nil, syscall.EISDIR},
		{"none/x", nil, syscall.ENOENT},
		{"file/x", []vfs.Option{vfs.Parents()}, syscall.ENOTDIR},
		{"file", []vfs.Option{vfs.IfAbsent()}, syscall.ESTALE},
		{"file", []vfs.Option{vfs.IfSum(chunk.Sum{1})}, syscall.ESTALE},
		{"none", []vfs.Option{vfs.IfSum(chunk.Sum{1})}, syscall.ESTALE},
	} {
		_, err := fsys.WriteFrom(t.Context(), tt.name, never, 0o644, tt.opts...)
		require.ErrorIs(t, err, tt.want, tt.name)
	}
}

// Overwriting keeps the mode, the other names and the number.
func TestOverwriteKeepsInode(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(ctx, "f", []byte("1"), 0o751|fs.ModeSetuid|fs.ModeSticky))
	require.NoError(t, fsys.Link(ctx, "f", "g"))
	was, err := fsys.Stat(ctx, "f")
	require.NoError(t, err)
	require.Equal(t, 0o751|fs.ModeSetuid|fs.ModeSticky, was.Mode())
	require.NoError(t, fsys.WriteFile(ctx, "f", []byte("22"), 0o600))
	is, err := fsys.Stat(ctx, "g")
	require.NoError(t, err)
	require.Equal(t, was.Mode(), is.Mode())
	require.Equal(t, was.Ino(), is.Ino())
	require.Equal(t, 2, is.Nlink())
	require.EqualValues(t, 2, is.Size())
	require.Equal(t, was.BirthTime(), is.BirthTime())
	require.Greater(t, is.ModTime(), was.ModTime())
}

// Holes take no chunk bytes: 100 GiB of nothing is less than 1 MiB of database.
func TestHoles(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(ctx, "f", []byte("head"), 0o644))
	require.NoError(t, fsys.Truncate(ctx, "f", 100<<30))
	f, err := fsys.OpenFile(ctx, "f", os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("middle"), 50<<30)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	pages := vfstest.Number(t, fsys, `PRAGMA page_count`)
	require.Less(t, pages*schema.PageSize, int64(2<<20), "with two chunks that hold something")
	for off, want := range map[int64]string{0: "head\x00", 50<<30 - 1: "\x00middle\x00", 99 << 30: "\x00\x00"} {
		got, err := fsys.ReadRange(ctx, "f", off, int64(len(want)))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	got, err := fsys.ReadRange(ctx, "f", 100<<30-2, 100)
	require.NoError(t, err)
	require.Equal(t, "\x00\x00", string(got))
	require.ErrorIs(t, fsys.Truncate(ctx, "f", -1), syscall.EINVAL)
	require.ErrorIs(t, fsys.Truncate(ctx, "f", 1<<62), syscall.EFBIG)

	// Zeros that were written, and zeros that never were, are one content.
	require.NoError(t, fsys.WriteFile(ctx, "zeros", make([]byte, 3<<20), 0o644))
	require.NoError(t, fsys.WriteFile(ctx, "hole", nil, 0o644))
	require.NoError(t, fsys.Truncate(ctx, "hole", 3<<20))
	a, err := fsys.Sum(ctx, "zeros")
	require.NoError(t, err)
	b, err := fsys.Sum(ctx, "hole")
	require.NoError(t, err)
	require.Equal(t, a, b)
}

// A mode that is given wins, for a new file and for one that exists; so does a time.
func TestWriteAttributes(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "old")
	for name, when := range map[string]time.Time{
		"old": time.Date(2001, 2, 3, 4, 5, 6, 789, time.UTC), "new": time.Date(2001, 2, 3, 4, 5, 6, 789, time.UTC), "zero": time.Unix(0, 0),
	} {
		require.NoError(t, fsys.WriteFile(ctx, name, []byte("x"), 0o600, vfs.Mode(0o751|fs.ModeSetgid), vfs.ModTime(when)))
		info, err := fsys.Stat(ctx, name)
		require.NoError(t, err)
		require.Equal(t, 0o751|fs.ModeSetgid, info.Mode())
		require.True(t, when.Equal(info.ModTime()))
	}
	for name, perm := range map[string]fs.FileMode{"old": 0o640, "another": 0o604} { // without a time
		require.NoError(t, fsys.WriteFile(ctx, name, []byte("y"), 0o600, vfs.Mode(perm)))
		info, err := fsys.Stat(ctx, name)
		require.NoError(t, err)
		require.Equal(t, perm, info.Mode())
		require.WithinDuration(t, time.Now(), info.ModTime(), time.Hour)
	}
	require.ErrorIs(t, fsys.Remove(ctx, "old", vfs.Mode(0)), syscall.EINVAL)
}
