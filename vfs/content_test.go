package vfs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
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

func random(n int) []byte {
	p := make([]byte, n)
	r := rand.New(rand.NewPCG(uint64(n), 7))
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// count is a number from the tables.
func count(t *testing.T, fsys *vfs.FS, text string) (n int64) {
	t.Helper()
	require.NoError(t, fsys.DB().View(t.Context(), func(db *schema.Tx) (err error) {
		n, _, err = db.Int(text)
		return err
	}))
	return n
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
		require.EqualValues(t, (size+chunk.Size-1)/chunk.Size, count(t, fsys, `SELECT count(*) FROM blob`))
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

// Preconditions: a stale one says what the sum is now.
func TestPreconditions(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	sum, err := fsys.Sum(ctx, "f")
	require.NoError(t, err)
	require.NoError(t, fsys.WriteFile(ctx, "f", []byte("second"), 0o644, vfs.IfSum(sum)))
	now, err := fsys.Sum(ctx, "f")
	require.NoError(t, err)
	for name, err := range map[string]error{
		"write":    fsys.WriteFile(ctx, "f", []byte("third"), 0o644, vfs.IfSum(sum)),
		"append":   fsys.Append(ctx, "f", []byte("third"), 0o644, vfs.IfSum(sum)),
		"truncate": fsys.Truncate(ctx, "f", 1, vfs.IfSum(sum)),
		"remove":   fsys.Remove(ctx, "f", vfs.IfSum(sum)),
		"all":      fsys.RemoveAll(ctx, "f", vfs.IfSum(sum)),
		"rename":   fsys.Rename(ctx, "f", "g", vfs.IfSum(sum)),
		"copy":     fsys.Copy(ctx, "f", "g", vfs.IfSum(sum)),
		"chmod":    fsys.Chmod(ctx, "f", 0o600, vfs.IfSum(sum)),
		"chtimes":  fsys.Chtimes(ctx, "f", time.Time{}, time.Now(), vfs.IfSum(sum)),
		"link":     fsys.Link(ctx, "f", "g", vfs.IfSum(sum)),
		"edit":     editErr(fsys.Edit(ctx, "f", []vfs.Edit{{Old: "s", New: "t"}}, vfs.IfSum(sum))),
	} {
		var stale *vfs.StaleError
		require.ErrorAs(t, err, &stale, name)
		require.Equal(t, now, stale.Sum, name)
		require.ErrorIs(t, err, syscall.ESTALE, name)
	}
	require.Equal(t, "second", vfstest.Read(t, fsys, "f"))
}

// A file that is gone is stale too, for every verb, be it alone or with the directory that it was in.
func TestIfSumOfWhatIsGone(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "there")
	sum := vfs.SumOf([]byte("first"))
	for _, f := range []string{"none", "none/f"} {
		_, streamed := fsys.WriteFrom(ctx, f, strings.NewReader(""), 0o644, vfs.IfSum(sum))
		for name, err := range map[string]error{
			"write":    fsys.WriteFile(ctx, f, nil, 0o644, vfs.IfSum(sum)),
			"parents":  fsys.WriteFile(ctx, f, nil, 0o644, vfs.IfSum(sum), vfs.Parents()),
			"stream":   streamed,
			"append":   fsys.Append(ctx, f, nil, 0o644, vfs.IfSum(sum)),
			"truncate": fsys.Truncate(ctx, f, 1, vfs.IfSum(sum)),
			"remove":   fsys.Remove(ctx, f, vfs.IfSum(sum)),
			"all":      fsys.RemoveAll(ctx, f, vfs.IfSum(sum)),
			"rename":   fsys.Rename(ctx, f, "g", vfs.IfSum(sum)),
			"copy":     fsys.Copy(ctx, f, "g", vfs.IfSum(sum)),
			"chmod":    fsys.Chmod(ctx, f, 0o600, vfs.IfSum(sum)),
			"chtimes":  fsys.Chtimes(ctx, f, time.Time{}, time.Now(), vfs.IfSum(sum)),
			"link":     fsys.Link(ctx, f, "g", vfs.IfSum(sum)),
			"edit":     editErr(fsys.Edit(ctx, f, []vfs.Edit{{Old: "s", New: "t"}}, vfs.IfSum(sum))),
		} {
			var stale *vfs.StaleError
			require.ErrorAs(t, err, &stale, name)
			require.False(t, stale.Exists, name)
			require.ErrorIs(t, err, syscall.ESTALE, name)
			require.ErrorIs(t, err, fs.ErrNotExist, name)
		}
	}
	require.Equal(t, []string{"there"}, vfstest.Names(t, fsys))
}

func editErr(_ int, err error) error { return err }

// A copy writes no chunk.
func TestCopySharesContent(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(ctx, "d/big", random(3<<20), 0o640, vfs.Parents()))
	require.NoError(t, fsys.Link(ctx, "d/big", "d/link"))
	require.NoError(t, fsys.Symlink(ctx, "big", "d/sym"))
	blobs := count(t, fsys, `SELECT count(*) FROM blob`)
	require.NoError(t, fsys.Copy(ctx, "d", "e"))
	require.Equal(t, blobs, count(t, fsys, `SELECT count(*) FROM blob`))
	a, err := fsys.Stat(ctx, "d/big")
	require.NoError(t, err)
	b, err := fsys.Stat(ctx, "e/big")
	require.NoError(t, err)
	require.True(t, a.SameContent(b))
	require.NotEqual(t, a.Ino(), b.Ino())
	require.Equal(t, a.Mode(), b.Mode())
	require.Equal(t, a.ModTime(), b.ModTime())
	require.Equal(t, 2, b.Nlink(), "two names of one file are two names of one copy")
	require.NoError(t, fsys.WriteFile(ctx, "e/big", []byte("x"), 0o644))
	require.Equal(t, "x", vfstest.Read(t, fsys, "e/link"))
	require.Len(t, vfstest.Read(t, fsys, "d/big"), 3<<20)

	require.ErrorIs(t, fsys.Copy(ctx, "d", "d/in"), syscall.EINVAL)
	require.ErrorIs(t, fsys.Copy(ctx, "d", "d"), syscall.EINVAL)
	require.ErrorIs(t, fsys.Copy(ctx, "/", "/"), syscall.EINVAL)
	require.NoError(t, fsys.Copy(ctx, "d/big", "d/big"))
	require.ErrorIs(t, fsys.Copy(ctx, "d", "e/big"), syscall.ENOTDIR)
	require.ErrorIs(t, fsys.Copy(ctx, "d/big", "e"), syscall.EISDIR)
	require.ErrorIs(t, fsys.Copy(ctx, "d/big", "e/big", vfs.NoReplace()), syscall.EEXIST)
	require.NoError(t, fsys.Copy(ctx, "d/big", "e/big"))
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
	pages := count(t, fsys, `PRAGMA page_count`)
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

// The rules of an edit.
func TestEdit(t *testing.T) {
	const text = "one two one two one"
	for _, tt := range []struct {
		name  string
		edits []vfs.Edit
		want  string
		n     int
		err   error
	}{
		{"unique", []vfs.Edit{{Old: "two one two", New: "2"}}, "one 2 one", 1, nil},
		{"not unique", []vfs.Edit{{Old: "two", New: "2"}}, text, 0, syscall.EINVAL},
		{"not there", []vfs.Edit{{Old: "three", New: "3"}}, text, 0, syscall.EINVAL},
		{"empty", []vfs.Edit{{Old: "", New: "3"}}, text, 0, syscall.EINVAL},
		{"count", []vfs.Edit{{Old: "one", New: "1", Count: 2}}, "1 two 1 two one", 2, nil},
		{"count too high", []vfs.Edit{{Old: "one", New: "1", Count: 4}}, text, 0, syscall.EINVAL},
		{"all", []vfs.Edit{{Old: "one", New: "1", All: true}}, "1 two 1 two 1", 3, nil},
		{"all of none", []vfs.Edit{{Old: "x", New: "1", All: true}}, text, 0, syscall.EINVAL},
		{"several", []vfs.Edit{{Old: "one", New: "x", All: true}, {Old: "x two x two x", New: "y"}}, "y", 4, nil},
		{"all or nothing", []vfs.Edit{{Old: "one", New: "x", All: true}, {Old: "zzz", New: "y"}}, text, 0, syscall.EINVAL},
		{"does not overlap", []vfs.Edit{{Old: "o", New: "oo", All: true}}, "oone twoo oone twoo oone", 5, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t)
			vfstest.Write(t, fsys, "f", text)
			n, err := fsys.Edit(t.Context(), "f", tt.edits)
			require.ErrorIs(t, err, tt.err)
			require.Equal(t, tt.n, n)
			require.Equal(t, tt.want, vfstest.Read(t, fsys, "f"))
		})
	}
	fsys := vfstest.New(t, "d/")
	_, err := fsys.Edit(t.Context(), "d", []vfs.Edit{{Old: "a"}})
	require.ErrorIs(t, err, syscall.EISDIR)
}

// Update is all or nothing, and sees what it did itself.
func TestUpdateAllOrNothing(t *testing.T) {
	fsys := vfstest.New(t, "a", "dir/b")
	before := vfstest.Dump(t, fsys)
	boom := errors.New("boom")
	err := fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		require.NoError(t, tx.WriteFile("a", []byte("changed"), 0o644))
		require.NoError(t, tx.Rename("dir", "moved"))
		require.NoError(t, tx.Mkdir("fresh", 0o755))
		data, err := tx.ReadFile("moved/b")
		require.NoError(t, err)
		require.Equal(t, "dir/b", string(data))
		require.NoError(t, tx.RemoveAll("moved"))
		_, err = tx.Stat("moved/b")
		require.ErrorIs(t, err, fs.ErrNotExist)
		return boom
	})
	require.ErrorIs(t, err, boom)
	require.Equal(t, before, vfstest.Dump(t, fsys))

	err = fsys.View(t.Context(), func(tx *vfs.Tx) error { return tx.Remove("a") })
	require.ErrorIs(t, err, syscall.EROFS, "a View does not write")
}

// A context that has ended stops a verb before it does anything.
func TestCancelled(t *testing.T) {
	fsys := vfstest.New(t, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, fsys.WriteFile(ctx, "b", nil, 0o644), context.Canceled)
	_, err := fsys.ReadFile(ctx, "a")
	require.ErrorIs(t, err, context.Canceled)
	_, err = fsys.WriteFrom(ctx, "b", strings.NewReader("x"), 0o644)
	require.ErrorIs(t, err, context.Canceled)
	_, err = fsys.Stat(t.Context(), "b")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// Pages go by name, so entries that come and go do not disturb the others.
func TestReadDirPage(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/a", "d/c", "d/e", "d/g")
	page, err := fsys.ReadDirPage(ctx, "d", "", 2)
	require.NoError(t, err)
	require.Equal(t, "c", page[1].Name())
	require.NoError(t, fsys.Remove(ctx, "d/a"))
	require.NoError(t, fsys.Remove(ctx, "d/c"))
	vfstest.Write(t, fsys, "d/b", "")
	vfstest.Write(t, fsys, "d/f", "")
	page, err = fsys.ReadDirPage(ctx, "d", "c", 10)
	require.NoError(t, err)
	var names []string
	for _, e := range page {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{"e", "f", "g"}, names)
	_, err = fsys.ReadDirPage(ctx, "d/e", "", 1)
	require.ErrorIs(t, err, syscall.ENOTDIR)
	require.NoError(t, fsys.Remove(ctx, "d/e"))
	_, err = page[0].Info()
	require.ErrorIs(t, err, fs.ErrNotExist, "removed meanwhile")
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

func TestStats(t *testing.T) {
	fsys := vfstest.New(t, "a", "b", "dir/c")
	require.NoError(t, fsys.Truncate(t.Context(), "a", 1<<30))
	s, err := fsys.Stats(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, s.ID)
	require.EqualValues(t, schema.Version, s.Format)
	require.EqualValues(t, 3, s.Versions)
	require.EqualValues(t, 1<<30+1+5, s.Logical)
	require.EqualValues(t, 1, s.Branches)
	require.EqualValues(t, 1, s.Manifests)
	require.Positive(t, s.FileSize)
}
