package tree

import (
	"context"
	"io"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
)

// While a commit of a file waits for the write lock, and while it is on its way to the disk, the file is read and
// written on.
func TestNobodyWaitsForACommit(t *testing.T) {
	ctx := t.Context()
	fsys := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	w, err := create(ctx, fsys, "f")
	require.NoError(t, err)
	r, err := openPath(ctx, fsys, "f", HandleMode{})
	require.NoError(t, err)
	shows := func(want string) {
		for _, f := range []*Handle{w, r} {
			p := make([]byte, len(want))
			_, err := f.ReadAt(p, 0)
			require.NoError(t, err)
			require.Equal(t, want, string(p))
			n, err := f.Node()
			require.NoError(t, err)
			require.EqualValues(t, len(want), n.Content.Size)
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
		for w.writing.TryLock() { // until Sync has it
			w.writing.Unlock()
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
		n, err := tx.Node(w.ino)
		require.NoError(t, err)
		require.NoError(t, tx.Fold(n))
		shows("oTthree")
		require.NoError(t, w.Truncate(3))
		write("!", 4)
		shows("oTt\x00!")
		return nil
	}))
	shows("oTt\x00!")
	data, err := readFile(ctx, fsys, "f")
	require.NoError(t, err)
	require.Equal(t, "oTthree", string(data), "what was written later waits for the next commit")
	require.NoError(t, w.Close())
	require.NoError(t, r.Close())
	data, err = readFile(ctx, fsys, "f")
	require.NoError(t, err)
	require.Equal(t, "oTt\x00!", string(data))
}

// A commit is visible a moment before the process knows that it has landed. In between, the writes that it contains are not
// laid over it once more: a verb may have replaced them since.
func TestCommitThatHasNotLanded(t *testing.T) {
	ctx := t.Context()
	fsys := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	w, err := create(ctx, fsys, "f")
	require.NoError(t, err)
	defer w.Close()
	_, err = w.WriteAt([]byte("folded"), 0)
	require.NoError(t, err)

	p, before := make([]byte, 6), w.shared.Now()
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
		require.NoError(t, ByPath(tx).WriteFile("f", []byte("by")))
		require.Equal(t, "folded", read())
		return nil
	}))
	require.True(t, seen)
	require.Equal(t, "by", read())

	_, current := w.shared.Over(chunk.Content{}, before, 0, 6)
	require.False(t, current, "who looked the content up before that commit has to look again")
}

// A write whose own Close could not commit it is committed by the last Close, also where the last two handles, which only
// read, are closed at the same time.
func TestLastTwoCloses(t *testing.T) {
	ctx := t.Context()
	fsys := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	ending, end := context.WithCancel(ctx)
	w, err := create(ending, fsys, "f")
	require.NoError(t, err)
	_, err = w.WriteAt([]byte("kept"), 0)
	require.NoError(t, err)

	var readers [2]*Handle
	for i := range readers {
		readers[i], err = openPath(ctx, fsys, "f", HandleMode{})
		require.NoError(t, err)
	}
	end()
	require.ErrorIs(t, w.Close(), context.Canceled)

	fsys.store.mu.Lock() // neither Close comes to its end before the other has begun
	closed := make(chan error)
	for _, r := range readers {
		go func() { closed <- r.Close() }()
	}
	time.Sleep(20 * time.Millisecond)
	fsys.store.mu.Unlock()
	for range readers {
		require.NoError(t, <-closed)
	}
	data, err := readFile(ctx, fsys, "f")
	require.NoError(t, err)
	require.Equal(t, "kept", string(data))
}

// A warm read of an open file begins no transaction and takes no memory, whether others have committed other files
// meanwhile or not.
func TestLiveReadsAreWarm(t *testing.T) {
	ctx := t.Context()
	fsys := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	require.NoError(t, write(ctx, fsys, "f", []byte("content")))
	f, err := openPath(ctx, fsys, "f", HandleMode{})
	require.NoError(t, err)
	defer f.Close()
	p := make([]byte, 7)
	read := func() {
		_, err := f.ReadAt(p, 0)
		require.NoError(t, err)
	}
	read()
	require.Zero(t, testing.AllocsPerRun(100, read))
	require.NoError(t, write(ctx, fsys, "other", []byte("content")))
	require.True(t, f.known())
	require.NoError(t, write(ctx, fsys, "f", []byte("changed")))
	require.False(t, f.known())
	read()
	require.Equal(t, "changed", string(p))
}
