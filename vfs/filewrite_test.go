package vfs_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

// Offsets beyond the largest size of a file are refused, and earlier writes stay.
func TestHugeOffsets(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	f, err := fsys.Create(ctx, "f")
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("good"), 0)
	require.NoError(t, err)
	for _, off := range []int64{math.MaxInt64 - 5, math.MaxInt64, 1 << 51} {
		_, err = f.WriteAt([]byte("0123456789"), off)
		require.ErrorIs(t, err, syscall.EFBIG)
	}
	_, err = f.WriteAt([]byte("x"), -1)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorIs(t, f.Truncate(math.MaxInt64), syscall.EFBIG)
	require.NoError(t, f.Close())
	require.Equal(t, "good", vfstest.Read(t, fsys, "f"))
}

// A write through a File opened with O_SYNC is one step with its commit: a Close beside it comes before or after both.
func TestSyncedWriteBesideClose(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	long := bytes.Repeat([]byte("x"), 2<<20) // long enough for a Close to come in between
	for i := range 60 {
		name := fmt.Sprintf("f%d", i)
		f, err := fsys.OpenFile(ctx, name, os.O_RDWR|os.O_CREATE|os.O_SYNC, 0o666)
		require.NoError(t, err)

		closed := make(chan error)
		go func() {
			for range i * 4 {
				runtime.Gosched()
			}
			closed <- f.Close()
		}()
		n, err := f.WriteAt(long, 0)
		require.NoError(t, <-closed)

		text, readErr := fsys.ReadFile(ctx, name)
		require.NoError(t, readErr)
		if err == nil {
			require.True(t, bytes.Equal(long, text))
			continue
		}
		require.ErrorIs(t, err, fs.ErrClosed)
		require.Zero(t, n, "round %d: written, and refused", i)
		require.Empty(t, text)
	}
}
