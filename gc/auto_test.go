package gc_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
)

// The work before a collection runs before it, also if it has failed once.
func TestAutoBefore(t *testing.T) {
	fsys := vfstest.New(t, "keep")
	write(t, fsys, "a", noise(1, 100))
	vfstest.Snapshot(t, fsys, "undo-20260101-000000-00000000")
	require.NoError(t, fsys.Remove(t.Context(), "a"))

	var calls atomic.Int64
	var text syncBuffer
	stop := gc.Auto(t.Context(), fsys, tick, &gc.AutoOptions{Log: slog.New(slog.NewTextHandler(&text, nil)), Before: func(ctx context.Context) error {
		if calls.Add(1) == 1 {
			return syscall.EBUSY
		}
		return snapshot.Delete(ctx, fsys, "undo-20260101-000000-00000000")
	}})
	require.Eventually(t, func() bool { return count(t, fsys, "blob") == 1 }, waiting, tick)
	stop()
	require.GreaterOrEqual(t, calls.Load(), int64(2))
	require.Contains(t, text.String(), "work before gc failed")
	run(t, fsys)
}

// A syncBuffer takes the lines of a log while a test reads them.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestAuto(t *testing.T) {
	fsys := vfstest.New(t, "keep")
	write(t, fsys, "a", noise(1, 100))
	require.NoError(t, fsys.Remove(t.Context(), "a"))
	stop := gc.Auto(t.Context(), fsys, tick, nil)
	require.Eventually(t, func() bool { return count(t, fsys, "blob") == 1 }, waiting, tick)
	stop()
	stop()
	run(t, fsys) // it may have been stopped in the middle of one
	clean(t, fsys)
}
