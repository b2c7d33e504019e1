package snapshot_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// One file of the oldest snapshot comes back, in a store of so many files, with ten changes and a tenth of a snapshot for each.
// VFS_LONG adds 100,000 files.
func BenchmarkRestorePiece(b *testing.B) {
	sizes := []int{1_000, 10_000}
	if os.Getenv("VFS_LONG") != "" {
		sizes = append(sizes, 100_000)
	}
	for _, files := range sizes {
		b.Run(fmt.Sprintf("%d files", files), func(b *testing.B) {
			ctx := b.Context()
			fsys := vfstest.New(b)
			name := func(i int) string { return fmt.Sprintf("d%d/file%d", i%(files/100), i) }
			write := func(first, n, round int) {
				require.NoError(b, fsys.Update(ctx, func(tx *vfs.Tx) error {
					for i := first; i < first+n; i++ {
						if err := tx.WriteFile(name(i%files), fmt.Appendf(nil, "%d of %d", i, round), 0o644, vfs.Parents()); err != nil {
							return err
						}
					}
					return nil
				}))
			}
			write(0, files, 0)
			first := vfstest.Snapshot(b, fsys, "first")
			for s := range files / 10 {
				write(s*100, 100, s)
				vfstest.Snapshot(b, fsys, fmt.Sprint("s", s))
			}
			big := make([]byte, 16<<20)
			for i := range big {
				big[i] = byte(i >> 8)
			}
			require.NoError(b, fsys.WriteFile(ctx, "big", big, 0o644))
			large := vfstest.Snapshot(b, fsys, "large")

			for _, piece := range []snapshot.Piece{{From: first, Path: name(1)}, {From: large, Path: "big"}} {
				b.Run(piece.Path[:3], func(b *testing.B) {
					for b.Loop() {
						b.StopTimer()
						require.NoError(b, fsys.WriteFile(ctx, piece.Path, []byte("edited"), 0o644))
						b.StartTimer()
						r, err := snapshot.RestorePieces(ctx, fsys, []snapshot.Piece{piece}, nil)
						require.NoError(b, err)
						require.Len(b, r.Changes, 1)
					}
				})
			}
		})
	}
}

// A directory of so many files comes back after it was removed.
func BenchmarkRestoreDirectory(b *testing.B) {
	for _, files := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("%d files", files), func(b *testing.B) {
			ctx := b.Context()
			fsys := vfstest.New(b)
			require.NoError(b, fsys.Update(ctx, func(tx *vfs.Tx) error {
				for i := range files {
					if err := tx.WriteFile(fmt.Sprint("dir/file", i), fmt.Append(nil, i), 0o644, vfs.Parents()); err != nil {
						return err
					}
				}
				return nil
			}))
			then := vfstest.Snapshot(b, fsys, "then")
			for b.Loop() {
				b.StopTimer()
				require.NoError(b, fsys.RemoveAll(ctx, "dir"))
				b.StartTimer()
				r, err := snapshot.RestorePieces(ctx, fsys, []snapshot.Piece{{From: then, Path: "dir"}}, nil)
				require.NoError(b, err)
				require.Len(b, r.Changes, files+1)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*files), "ns/file")
		})
	}
}
