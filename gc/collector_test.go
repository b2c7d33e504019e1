package gc_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/hold"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// After any number of steps that a collection got to, the next one finishes it.
func TestCutShort(t *testing.T) {
	for _, how := range []string{"cancelled", "killed"} {
		t.Run(how, func(t *testing.T) {
			steps := 0
			_, err := gc.RunHooked(t.Context(), history(t), func(string) error { steps++; return nil })
			require.NoError(t, err)
			require.Greater(t, steps, 15)
			want := run(t, history(t))

			for n := range steps {
				if how == "cancelled" && n%3 != 0 && os.Getenv("VFS_LONG") == "" {
					continue
				}
				t.Run(fmt.Sprint(n), func(t *testing.T) {
					fsys := history(t)
					before := vfstest.Dump(t, fsys)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					seen := 0
					first, err := gc.RunHooked(ctx, fsys, func(string) error {
						if seen++; seen <= n {
							return nil
						}
						if how == "killed" {
							return gc.ErrKill
						}
						cancel()
						return nil
					})
					switch {
					case seen <= n: // steps take more each time they were quick, so there may be fewer of them
						require.NoError(t, err)
					case how == "killed":
						require.ErrorIs(t, err, gc.ErrKill)
					case err != nil:
						require.ErrorIs(t, err, context.Canceled)
						require.Zero(t, vfstest.Number(t, fsys, `SELECT owner <> '' FROM gc`))
					}
					vfstest.Check(t, fsys)
					require.Equal(t, before, vfstest.Dump(t, fsys))

					write(t, fsys, "gone", noise(5, medium)) // content that may be doomed is in use again
					write(t, fsys, "new", noise(9, medium))
					again := run(t, fsys)
					if how == "cancelled" {
						require.LessOrEqual(t, first.Blobs+again.Blobs, want.Blobs)
					}
					require.Equal(t, noise(5, medium), read(t, fsys, "gone"))
					require.Equal(t, noise(9, medium), read(t, fsys, "new"))
					clean(t, fsys)
				})
			}
		})
	}
}

func TestOneAtATime(t *testing.T) {
	fsys := vfstest.New(t, "a")
	other := second(t, fsys)
	tried := false
	_, err := gc.RunHooked(t.Context(), fsys, func(step string) error {
		if tried {
			return nil
		}
		tried = true
		for _, fsys := range []*vfs.FS{fsys, other} {
			_, err := gc.Run(t.Context(), fsys, nil)
			require.ErrorIs(t, err, syscall.EBUSY)
			require.ErrorContains(t, err, "another collection is running")
		}
		return nil
	})
	require.NoError(t, err)
	require.True(t, tried)
	clean(t, other)
}

func TestDeadCollectorIsTakenOver(t *testing.T) {
	for _, tt := range []struct {
		name, owner string
		age         int64 // seconds
		want        error
	}{
		{"fresh, of another machine", "elsewhere/17 1", 2, syscall.EBUSY},
		{"old, of another machine", "elsewhere/17 1", 61, nil},
		{"fresh, of this process, and not running", hold.Owner() + " 99999", 2, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t, "a")
			vfstest.Exec(t, fsys, `UPDATE gc SET phase = 1, owner = ?, beat = ?`, tt.owner, now()-tt.age*1e9)
			_, err := gc.Run(t.Context(), fsys, nil)
			require.ErrorIs(t, err, tt.want)
			vfstest.Exec(t, fsys, `UPDATE gc SET owner = ''`)
			run(t, fsys)
			clean(t, fsys)
		})
	}
}

// A collector that was taken for dead and wakes up does no more.
func TestTakenOver(t *testing.T) {
	for _, at := range []string{"barrier", "orphans", "rows", "mark", "doom", "sweep begins", "sweep"} {
		t.Run(at, func(t *testing.T) {
			fsys := history(t)
			other := second(t, fsys)
			done := false
			_, err := gc.RunHooked(t.Context(), fsys, func(step string) error {
				if step == at && !done {
					done = true
					vfstest.Exec(t, fsys, `UPDATE gc SET owner = 'elsewhere/17 1', beat = 5`)
					_, err := gc.Run(t.Context(), other, nil)
					return err
				}
				return nil
			})
			require.True(t, done)
			require.ErrorIs(t, err, syscall.EBUSY)
			clean(t, fsys)
		})
	}
}
