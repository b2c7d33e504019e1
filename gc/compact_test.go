package gc_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// text returns n bytes that compress well, and that no other call returns with another seed.
func text(seed, n int) []byte {
	return []byte(strings.Repeat(fmt.Sprintf("line %d of a text that says the same again and again\n", seed), n/50+1)[:n])
}

// library makes a store with many small texts, some long ones, and noise.
func library(t testing.TB) *vfs.FS {
	t.Helper()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for i := range 400 {
			if err := tx.WriteFile(fmt.Sprintf("d%d/f%d", i%7, i), text(i, 100+i*17), 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return nil
	}))
	write(t, fsys, "long", text(1000, big))
	write(t, fsys, "noise", noise(1, big))
	vfstest.Snapshot(t, fsys, "s")
	write(t, fsys, "long", text(1001, medium))
	return fsys
}

func compact(t testing.TB, fsys *vfs.FS) *gc.CompactReport {
	t.Helper()
	report, err := gc.Compact(t.Context(), fsys, nil)
	require.NoError(t, err)
	return report
}

func TestCompact(t *testing.T) {
	fsys := library(t)
	before := vfstest.Dump(t, fsys)
	pages := vfstest.Number(t, fsys, `PRAGMA page_count`)
	report := compact(t, fsys)
	require.InDelta(t, 404, report.Blobs, 2, "the short ends of long files shrink only in company")
	require.Less(t, report.After*4, report.Before)
	require.Zero(t, report.Damaged)
	require.Positive(t, report.Pages)
	require.Less(t, vfstest.Number(t, fsys, `PRAGMA page_count`), pages*2/3)
	require.Zero(t, vfstest.Number(t, fsys, `PRAGMA freelist_count`))
	require.Equal(t, before, vfstest.Dump(t, fsys))
	vfstest.Check(t, fsys)

	again := compact(t, fsys)
	require.Zero(t, again.Blobs+again.Packs+again.Plain+again.Pages, "%+v", again)
	stats, err := fsys.Store().Stats(t.Context())
	require.NoError(t, err)
	require.Less(t, stats.Stored, stats.Content)

	// Backups and other openings of the file read the same.
	copied := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, fsys.Store().Backup(t.Context(), copied))
	require.Equal(t, before, vfstest.Dump(t, vfstest.Open(t, copied, nil)))

	// Collected blobs leave their packs, and the packs go.
	for i := range 7 {
		require.NoError(t, fsys.RemoveAll(t.Context(), fmt.Sprint("d", i)))
	}
	require.NoError(t, snapshot.Delete(t.Context(), fsys, "s"))
	require.EqualValues(t, 400+3, run(t, fsys).Blobs)
	clean(t, fsys)
	require.EqualValues(t, 1, count(t, fsys, "pack"))
	require.Equal(t, text(1001, medium), read(t, fsys, "long"))
}

// A Compact that is cut short anywhere leaves a sound file, and the next one goes on.
func TestCompactCutShort(t *testing.T) {
	steps := 0
	_, err := gc.CompactHooked(t.Context(), library(t), func(string, time.Duration) error { steps++; return nil })
	require.NoError(t, err)
	require.Greater(t, steps, 8)
	for n := range steps {
		for i, how := range []string{"cancelled", "killed"} {
			if n%2 != i && os.Getenv("VFS_LONG") == "" || n%5 > 1 && testing.Short() {
				continue
			}
			t.Run(fmt.Sprint(how, n), func(t *testing.T) {
				fsys := library(t)
				before := vfstest.Dump(t, fsys)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				seen := 0
				first, err := gc.CompactHooked(ctx, fsys, func(string, time.Duration) error {
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
				case seen <= n: // it was quicker this time, and took fewer steps
					require.NoError(t, err)
				case how == "killed":
					require.ErrorIs(t, err, gc.ErrKill)
				case err != nil:
					require.ErrorIs(t, err, context.Canceled)
				}
				vfstest.Check(t, fsys)
				require.Equal(t, before, vfstest.Dump(t, fsys))
				second := compact(t, fsys)
				if how == "cancelled" {
					require.InDelta(t, 404, first.Blobs+second.Blobs, 2)
				}
				require.Equal(t, before, vfstest.Dump(t, fsys))
				clean(t, fsys)
			})
		}
	}
}

// The file stays right if blobs change between reading and swapping.
func TestCompactLooksAgain(t *testing.T) {
	fsys := library(t)
	other := second(t, fsys)
	once := sync.OnceFunc(func() {
		require.NoError(t, other.RemoveAll(t.Context(), "d3"))
		require.NoError(t, snapshot.Delete(t.Context(), other, "s"))
		run(t, other)
		compact(t, other)
		write(t, other, "back", text(3, 100+3*17))
	})
	_, err := gc.CompactHooked(t.Context(), fsys, func(string, time.Duration) error { once(); return nil })
	require.NoError(t, err)
	require.Equal(t, text(3, 100+3*17), read(t, fsys, "back"))
	vfstest.Check(t, fsys)
	run(t, fsys)
	clean(t, fsys)
}

// The staged content of a running stream is compacted.
func TestCompactBesideStream(t *testing.T) {
	fsys := vfstest.New(t)
	data := text(1, 20*chunk.Size+5)
	ran := false
	r := &source{data: data, end: io.EOF, at: func(int) {
		if !ran && vfstest.Number(t, fsys, `SELECT count(*) FROM blob`) > 0 {
			ran = true
			require.Positive(t, compact(t, second(t, fsys)).Blobs)
		}
	}}
	_, err := fsys.WriteFrom(t.Context(), "stream", r, 0o644)
	require.NoError(t, err)
	require.True(t, ran)
	require.Positive(t, compact(t, fsys).Blobs)
	require.True(t, bytes.Equal(data, read(t, fsys, "stream")))
}

// Blobs that cannot be read are counted and stay; the others are compressed.
func TestCompactDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "damaged.db")
	fsys, err := vfs.Open(t.Context(), path, nil)
	require.NoError(t, err)
	defer fsys.Close()
	for i := range 3 {
		write(t, fsys, fmt.Sprint("f", i), text(i, 5000))
	}
	vfstest.Exec(t, fsys, `UPDATE blob SET data = zeroblob(5000) WHERE id = (SELECT min(id) FROM blob)`)
	report := compact(t, fsys)
	require.EqualValues(t, 1, report.Damaged)
	require.EqualValues(t, 2, report.Blobs)
	_, err = fsys.ReadFile(t.Context(), "f0")
	require.ErrorIs(t, err, syscall.EIO)
	require.Equal(t, text(2, 5000), read(t, fsys, "f2"))
}

func TestCompactSome(t *testing.T) {
	fsys := library(t)
	for range 100 {
		report, err := gc.Compact(t.Context(), fsys, &gc.CompactOptions{MaxBytes: 1})
		require.NoError(t, err)
		if report.Blobs+report.Plain == 0 {
			break
		}
		require.Less(t, report.Blobs, int64(403))
	}
	require.Zero(t, compact(t, fsys).Blobs)
	require.Less(t, vfstest.Number(t, fsys, `SELECT count(*) FROM blob WHERE codec = 0`), int64(10))
}

// A read-only store refuses, and so does a full one, without harm.
func TestCompactReadOnly(t *testing.T) {
	fsys := library(t)
	reader := vfstest.Open(t, fsys.Store().Path(), &vfs.Options{ReadOnly: true})
	_, err := gc.Compact(t.Context(), reader, nil)
	require.ErrorIs(t, err, syscall.EROFS)
}

func TestAutoCompacts(t *testing.T) {
	fsys := library(t)
	stop := gc.Auto(t.Context(), fsys, 10*time.Millisecond, &gc.AutoOptions{Compact: 1 << 20})
	defer stop()
	require.Eventually(t, func() bool { return vfstest.Number(t, fsys, `SELECT count(*) FROM pack`) > 5 }, waiting, 5*time.Millisecond)
}

// Everybody writes, removes and reads compressible contents while two processes collect and compact.
func TestCompactWhileEverybody(t *testing.T) {
	long := 3 * time.Second
	if testing.Short() {
		long = time.Second
	}
	fsys := vfstest.New(t)
	ctx := t.Context()
	plainly := second(t, fsys)
	squeezing := vfstest.Open(t, fsys.Store().Path(), &vfs.Options{Relaxed: true, Compress: true})
	handles := []*vfs.FS{fsys, plainly, squeezing}
	contents := make([][]byte, 30)
	for i := range contents {
		contents[i] = text(i, []int{900, 9000, 40_000, 150_000, medium}[i%5])
	}
	end := time.Now().Add(long)
	var group sync.WaitGroup
	for i, h := range handles {
		defer publishOften(t, h)()
		rnd := rand.New(rand.NewPCG(uint64(i), 7))
		group.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				if err := churn(ctx, h, rnd, fmt.Sprint("w", i), contents); err != nil {
					t.Errorf("%d: %v", i, err)
				}
			}
		})
	}
	var packed [2]int64
	for i, h := range []*vfs.FS{fsys, plainly} {
		group.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				report, err := gc.Compact(ctx, h, nil)
				if err != nil {
					t.Errorf("compact: %v", err)
				}
				packed[i] += report.Blobs
			}
		})
	}
	for time.Now().Before(end) {
		_, err := gc.Run(ctx, fsys, nil)
		require.NoError(t, err)
	}
	group.Wait()
	t.Logf("%d blobs were compressed", packed)
	compact(t, fsys)
	run(t, fsys)
	clean(t, fsys)
}

// TestCompactHolds prints how long the steps hold the write lock; only nonsense fails. VFS_LONG makes it larger.
func TestCompactHolds(t *testing.T) {
	fsys := vfstest.New(t)
	n := 300
	if os.Getenv("VFS_LONG") != "" {
		n = 6000
	}
	for i := range n {
		write(t, fsys, fmt.Sprintf("d%d/f%d", i/100, i), append(text(i, 3000), noise(uint64(i), 2000)...))
	}
	held := make(map[string][]time.Duration)
	report, err := gc.CompactHooked(t.Context(), fsys, func(step string, d time.Duration) error {
		held[step] = append(held[step], d)
		return nil
	})
	require.NoError(t, err)
	require.Less(t, report.LongestStep, time.Minute)
	for step, h := range held {
		slices.Sort(h)
		t.Logf("%-8s %4d steps, median %v, longest %v", step, len(h), h[len(h)/2], h[len(h)-1])
	}
}

// A Progress that panics does so where the caller can recover from it, and the next Compact goes on.
func TestCompactProgressPanics(t *testing.T) {
	fsys := library(t)
	require.Panics(t, func() {
		_, _ = gc.Compact(t.Context(), fsys, &gc.CompactOptions{Progress: func(int64, int64) { panic("in Progress") }})
	})
	_, err := gc.Compact(t.Context(), fsys, nil)
	require.NoError(t, err)
}
