package retry

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Busy is tried three times in all, with growing pauses of less than ten seconds together; nothing else is.
func TestRetried(t *testing.T) {
	busy := fmt.Errorf("write: %w", syscall.EBUSY)
	for _, tt := range []struct {
		name string
		errs []error // of the attempts; then success
		want error
		runs int
	}{
		{"at once", nil, nil, 1},
		{"busy once", []error{busy}, nil, 2},
		{"busy for long", []error{busy, busy, busy, busy}, syscall.EBUSY, 3},
		{"for good", []error{syscall.EACCES}, syscall.EACCES, 1},
		{"stale", []error{busy, syscall.ESTALE}, syscall.ESTALE, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runs, began := 0, time.Now()
				_, err := Busy(t.Context(), func() (int, error) {
					runs++
					if runs <= len(tt.errs) {
						return 0, tt.errs[runs-1]
					}
					return 1, nil
				})
				require.ErrorIs(t, err, tt.want)
				require.Equal(t, tt.runs, runs)
				require.Less(t, time.Since(began), 10*time.Second)
			})
		})
	}
}

// A caller who gives up ends the pause.
func TestRetriedGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := Busy(ctx, func() (int, error) { return 0, syscall.EBUSY })
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// A call that has waited for the lock for long is not made to wait three times as long.
func TestRetriedHasWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		_, err := Busy(t.Context(), func() (int, error) {
			runs++
			time.Sleep(30 * time.Second)
			return 0, syscall.EBUSY
		})
		require.ErrorIs(t, err, syscall.EBUSY)
		require.Equal(t, 1, runs)
	})
}
