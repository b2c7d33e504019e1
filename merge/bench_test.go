package merge_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// many makes a tree of 100,000 files, 100 in a directory.
func many(b *testing.B) *vfs.FS {
	fsys := vfstest.New(b)
	for d := range 1000 {
		require.NoError(b, fsys.Update(b.Context(), func(tx *vfs.Tx) error {
			for f := range 100 {
				path := fmt.Sprintf("dir%d/sub%d/file%d", d/50, d, f)
				if err := tx.WriteFile(path, fmt.Appendf(nil, "%s\n1\n2\n3\n4\n", path), 0o644, vfs.Parents()); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return fsys
}

// edits changes 200 files, one in five directories, by a line at the front or the end.
func edits(b *testing.B, fsys *vfs.FS, from int, end bool) {
	require.NoError(b, fsys.Update(b.Context(), func(tx *vfs.Tx) error {
		for i := range 200 {
			path := fmt.Sprintf("dir%d/sub%d/file%d", (from+i)*5%1000/50, (from+i)*5%1000, from%100)
			data := fmt.Appendf(nil, "new %d\n%s\n1\n2\n3\n4\n", from, path)
			if end {
				data = fmt.Appendf(nil, "%s\n1\n2\n3\n4\nnew %d\n", path, from)
			}
			if err := tx.WriteFile(path, data, 0o644); err != nil {
				return err
			}
		}
		return nil
	}))
}

// BenchmarkMerge merges 200 changes of each side in 100,000 files: other files, the same files, and into a branch that did
// not change.
func BenchmarkMerge(b *testing.B) {
	main := many(b)
	for _, tt := range []struct {
		name         string
		ours, theirs int
	}{{"apart", 1, 2}, {"same", 1, 1}, {"forward", -1, 2}} {
		b.Run(tt.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				target, err := snapshot.Branch(b.Context(), main, main, "")
				require.NoError(b, err)
				source, err := snapshot.Branch(b.Context(), main, target, "")
				require.NoError(b, err)
				if tt.ours >= 0 {
					edits(b, target, tt.ours, false)
				}
				edits(b, source, tt.theirs, true)
				b.StartTimer()

				r, err := merge.Into(b.Context(), target, source, nil)
				require.NoError(b, err)
				require.Empty(b, r.Conflicts)
				require.Len(b, r.Changes, 200)
			}
		})
	}
}
