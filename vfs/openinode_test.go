package vfs

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
)

// While a commit of a file waits for the write lock, and while it is on its way to the disk, the file is read and
// written on.
func TestNobodyWaitsForACommit(t *testing.T) {
	ctx := t.Context()
	fsys, err := Open(ctx, filepath.Join(t.TempDir(), "x.db"), nil)
	require.NoError(t, err)
	defer fsys.Close()
	w, err := fsys.Create(ctx, "f")
	require.NoError(t, err)
	r, err := fsys.Open(ctx, "f")
	require.NoError(t, err)
	shows := func(want string) {
		for _, f := range []*File{w, r} {
			p := make([]byte, len(want))
			_, err := f.ReadAt(p, 0)
			require.NoError(t, err)
			require.Equal(t, want, string(p))
			info, err := f.Stat()
			require.NoError(t, err)
			require.EqualValues(t, len(want), info.Size())
		}
	}
	write := func(text string, off int64) {
		_, err := w.WriteAt([]byte(text), off)
		require.NoError(t, err)
	}

	synced := make(chan error)
	write("one", 0)
	require.NoError(t, fsys.Update(ctx, func(tx *Tx) error {
		go func() { synced <- w.Sync() }()
		for w.handle.writing.TryLock() { // until Sync has it
			w.handle.writing.Unlock()
			runtime.Gosched()
		}
		shows("one")
		write("TWO", 1)
		shows("oTWO")
		return nil
	}))
	require.NoError(t, <-synced)
	shows("oTWO")

	write("three", 2)
	require.NoError(t, fsys.Update(ctx, func(tx *Tx) error {
		n, err := tx.inode(w.handle.ino)
		require.NoError(t, err)
		require.NoError(t, tx.fold(n))
		shows("oTthree")
		require.NoError(t, w.Truncate(3))
		write("!", 4)
		shows("oTt\x00!")
		return nil
	}))
	shows("oTt\x00!")
	data, err := fsys.ReadFile(ctx, "f")
	require.NoError(t, err)
	require.Equal(t, "oTthree", string(data), "what was written later waits for the next commit")
	require.NoError(t, w.Close())
	require.NoError(t, r.Close())
	data, err = fsys.ReadFile(ctx, "f")
	require.NoError(t, err)
	require.Equal(t, "oTt\x00!", string(data))
}

// Between the moment that a commit can be seen and the moment that it has landed, what it has folded is not laid over it
// once more: a verb may have replaced it since.
func TestCommitThatHasNotLanded(t *testing.T) {
	ctx := t.Context()
	fsys, err := Open(ctx, filepath.Join(t.TempDir(), "x.db"), nil)
	require.NoError(t, err)
	defer fsys.Close()
	w, err := fsys.Create(ctx, "f")
	require.NoError(t, err)
	defer w.Close()
	_, err = w.WriteAt([]byte("folded"), 0)
	require.NoError(t, err)

	p, before := make([]byte, 6), w.handle.shared.now()
	read := func() string {
		n, err := w.ReadAt(p, 0)
		require.True(t, err == nil || err == io.EOF, err)
		return string(p[:n])
	}
	seen := false
	require.NoError(t, fsys.Update(ctx, func(tx *Tx) error {
		tx.db.AfterCommit(func() { // before that of fold
			seen = true
			require.Equal(t, "by", read())
		})
		require.NoError(t, tx.WriteFile("f", []byte("by"), 0o644))
		require.Equal(t, "folded", read())
		return nil
	}))
	require.True(t, seen)
	require.Equal(t, "by", read())

	_, current := w.handle.shared.over(chunk.Content{}, before, 0, 6)
	require.False(t, current, "who looked the content up before that commit has to look again")
}

// A warm read of an open file begins no transaction and takes no memory, whether others have committed other files
// meanwhile or not.
func TestLiveReadsAreWarm(t *testing.T) {
	ctx := t.Context()
	fsys, err := Open(ctx, filepath.Join(t.TempDir(), "x.db"), nil)
	require.NoError(t, err)
	defer fsys.Close()
	require.NoError(t, fsys.WriteFile(ctx, "f", []byte("content"), 0o644))
	f, err := fsys.OpenFile(ctx, "f", os.O_RDONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	p := make([]byte, 7)
	read := func() {
		_, err := f.ReadAt(p, 0)
		require.NoError(t, err)
	}
	read()
	require.Zero(t, testing.AllocsPerRun(100, read))
	require.NoError(t, fsys.WriteFile(ctx, "other", []byte("content"), 0o644))
	require.True(t, f.handle.known())
	require.NoError(t, fsys.WriteFile(ctx, "f", []byte("changed"), 0o644))
	require.False(t, f.handle.known())
	read()
	require.Equal(t, "changed", string(p))
}
