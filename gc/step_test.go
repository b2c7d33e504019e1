package gc_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// TestHolds prints how long the steps of a collection hold the write lock in a store of some size. Other work of the
// machine is in the figures, so only nonsense fails. VFS_LONG makes it 20,000 files and 200 MB.
func TestHolds(t *testing.T) {
	files, chunks := 2_000, 40
	if os.Getenv("VFS_LONG") != "" {
		files, chunks = 20_000, 400
	}
	fsys := vfstest.New(t)
	fill(t, fsys, files, chunks)
	vfstest.Snapshot(t, fsys, "s")
	require.NoError(t, fsys.RemoveAll(t.Context(), "files/d1"))
	require.NoError(t, fsys.RemoveAll(t.Context(), "files/d2"))
	holds(t, fsys, "200 files removed, which a snapshot shows")
	vfstest.Exec(t, fsys, `DELETE FROM snapshot`)
	holds(t, fsys, "the snapshot deleted")
	require.NoError(t, fsys.RemoveAll(t.Context(), "files"))
	require.NoError(t, fsys.RemoveAll(t.Context(), "blobs"))
	holds(t, fsys, "all removed")
	holds(t, fsys, "nothing to do")
}

// fill makes small files, a hundred in each directory, and chunks of noise.
func fill(t testing.TB, fsys *vfs.FS, files, chunks int) {
	t.Helper()
	for at := 0; at < files; at += 2000 {
		require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
			for i := at; i < min(files, at+2000); i++ {
				name := fmt.Sprintf("files/d%d/f%d", i/100, i)
				if err := tx.WriteFile(name, fmt.Appendf(nil, "file %d", i), 0o644, vfs.Parents()); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	for i := 0; i < chunks; i += 20 {
		write(t, fsys, fmt.Sprint("blobs/", i), noise(uint64(1000+i), 20*chunk.Size))
	}
}

func holds(t *testing.T, fsys *vfs.FS, what string) {
	t.Helper()
	began := time.Now()
	report, held, err := gc.RunMeasured(t.Context(), fsys)
	require.NoError(t, err)
	require.Less(t, report.LongestStep, time.Minute)
	t.Logf("%s: %v for %d steps, longest hold %v; %d orphans, %d rows, %d blobs, %d pages",
		what, time.Since(began).Round(time.Millisecond), report.Steps, report.LongestStep.Round(10*time.Microsecond),
		report.Orphans, report.Rows, report.Blobs, report.Pages)
	for _, step := range slices.Sorted(maps.Keys(held)) {
		h := held[step]
		slices.Sort(h)
		t.Logf("    %-18s %4d steps, median %8v, 95%% %8v, longest %8v", step, len(h),
			h[len(h)/2].Round(10*time.Microsecond), h[len(h)*95/100].Round(10*time.Microsecond), h[len(h)-1].Round(10*time.Microsecond))
	}
}
