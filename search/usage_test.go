package search_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/search"
	"vfsdb/vfs"
)

// Each type of file is counted, a file with several names once, holes and shared content in full.
func TestDiskUsage(t *testing.T) {
	fsys := searchStore(t, "a/1", "a/b/12", "c/second = a/1", "c/link -> /a", "c/link2 = c/link", "e/f/g/")
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error { return tx.Mknod("e/fifo", fs.ModeNamedPipe|0o644, 0) }))
	require.NoError(t, fsys.WriteFile(t.Context(), "e/sparse", nil, 0o644))
	require.NoError(t, fsys.Truncate(t.Context(), "e/sparse", 1<<40))
	require.NoError(t, fsys.Copy(t.Context(), "a/b", "e/copy"))
	everywhere(t, fsys, func(t *testing.T, s searcher) {
		for _, tt := range []struct {
			name string
			want search.Totals
		}{
			{"a", search.Totals{Files: 2, Dirs: 2, Bytes: 3 + 6}},
			{"c/link", search.Totals{Files: 2, Dirs: 2, Bytes: 3 + 6}},
			{"a/b/12", search.Totals{Files: 1, Bytes: 6}},
			{"c", search.Totals{Files: 1, Dirs: 1, Symlinks: 1, Bytes: 3}},
			{"e/fifo", search.Totals{Others: 1}},
			{"e", search.Totals{Files: 2, Dirs: 4, Others: 1, Bytes: 1<<40 + 6}},
			{"/", search.Totals{Files: 4, Dirs: 8, Symlinks: 1, Others: 1, Bytes: 1<<40 + 3 + 6 + 6}},
		} {
			t.Run("of "+tt.name, func(t *testing.T) {
				got, err := s.Usage(tt.name)
				require.NoError(t, err)
				require.Equal(t, tt.want, got)
			})
		}
	})
}
