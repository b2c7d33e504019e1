package gc_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/hold"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
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
				if (how == "cancelled" && os.Getenv("VFS_LONG") == "" || testing.Short()) && n%3 != 0 {
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
						require.Zero(t, vfstest.Number(t, fsys, `SELECT collector <> '' FROM gc`))
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
			vfstest.Exec(t, fsys, `UPDATE gc SET phase = 1, collector = ?, beat = ?`, tt.owner, now()-tt.age*1e9)
			_, err := gc.Run(t.Context(), fsys, nil)
			require.ErrorIs(t, err, tt.want)
			vfstest.Exec(t, fsys, `UPDATE gc SET collector = ''`)
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
					vfstest.Exec(t, fsys, `UPDATE gc SET collector = 'elsewhere/17 1', beat = 5`)
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

// Several processes write and remove the same few contents all the time, while two of them collect.
func TestEverybodyAtOnce(t *testing.T) {
	long := 3 * time.Second
	if testing.Short() {
		long = time.Second
	}
	fsys := vfstest.New(t)
	handles := []*vfs.FS{fsys, second(t, fsys), second(t, fsys)}
	ctx := t.Context()
	end := time.Now().Add(long)
	contents := make([][]byte, 12)
	for i := range contents {
		contents[i] = noise(uint64(i), []int{900, 40_000, medium}[i%3])
	}
	contents[11] = append(contents[2][:chunk.Size:chunk.Size], contents[5][:chunk.Size]...) // of the same chunks

	var group sync.WaitGroup
	for i, h := range handles {
		defer publishOften(t, h)()
		for j := range 2 {
			rnd := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			name := fmt.Sprintf("w%d%d", i, j)
			group.Go(func() {
				for time.Now().Before(end) && !t.Failed() {
					if err := churn(ctx, h, rnd, name, contents); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
	}
	runs := 0
	for time.Now().Before(end) {
		_, err := gc.Run(ctx, handles[runs%2], nil)
		require.NoError(t, err)
		runs++
	}
	group.Wait()
	t.Logf("%d collections", runs)
	for range 2 {
		run(t, fsys)
	}
	clean(t, fsys)
}

// churn does one random thing below the directory name, and reads back the content that it wrote.
func churn(ctx context.Context, fsys *vfs.FS, rnd *rand.Rand, name string, contents [][]byte) error {
	data := contents[rnd.IntN(len(contents))]
	file := fmt.Sprintf("%s/d%d/f%d", name, rnd.IntN(2), rnd.IntN(4))
	check := func(got []byte, err error) error {
		if err == nil && !bytes.Equal(got, data) {
			err = fmt.Errorf("%s: read other bytes than were written", file)
		}
		return err
	}
	if err := fsys.WriteFile(ctx, file, data, 0o644, vfs.Parents()); err != nil {
		return err
	}
	switch rnd.IntN(8) {
	case 0:
		return fsys.RemoveAll(ctx, name)
	case 1:
		return fsys.Remove(ctx, file)
	case 2:
		f, err := fsys.Open(ctx, file)
		if err != nil {
			return err
		}
		if err := fsys.Remove(ctx, file); err != nil {
			return err
		}
		time.Sleep(time.Duration(rnd.IntN(100)) * time.Millisecond)
		if err := check(io.ReadAll(f)); err != nil {
			return err
		}
		return f.Close()
	case 3:
		f, err := fsys.OpenFile(ctx, file, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		if err := fsys.RemoveAll(ctx, name); err != nil {
			return err
		}
		time.Sleep(time.Duration(rnd.IntN(100)) * time.Millisecond)
		data = append(bytes.Clone(data), "more"...)
		if _, err := f.WriteAt([]byte("more"), int64(len(data)-4)); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		if err := check(io.ReadAll(io.NewSectionReader(f, 0, int64(len(data))))); err != nil {
			return err
		}
		return f.Close()
	case 4:
		if err := fsys.Copy(ctx, file, name+"/copy"); err != nil {
			return err
		}
		if err := fsys.Remove(ctx, file); err != nil {
			return err
		}
		return check(fsys.ReadFile(ctx, name+"/copy"))
	case 5:
		s, err := snapshot.Create(ctx, fsys, "", nil)
		if err != nil {
			return err
		}
		if err := fsys.RemoveAll(ctx, name); err != nil {
			return err
		}
		time.Sleep(time.Duration(rnd.IntN(50)) * time.Millisecond)
		if err := check(s.ReadFile(ctx, file)); err != nil {
			return err
		}
		return snapshot.Delete(ctx, fsys, s.Info.Name)
	}
	return check(fsys.ReadFile(ctx, file))
}
