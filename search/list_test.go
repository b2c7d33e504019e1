package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whole segments, a path that is a file, wildcards that mean themselves, nothing where nothing is. A symlink
// is a file.
func TestList(t *testing.T) {
	fsys := searchStore(t, "notes/x", "notes/sub/y", "notes-archive/x", "notes.txt", "empty/", "not*s/z", "link -> notes",
		"notes/sub/up -> ..", "dangling -> nowhere", "loop -> loop", "tofile -> notes/x")
	all := []string{
		"dangling", "link", "loop", "not*s/z", "notes-archive/x", "notes.txt", "notes/sub/up", "notes/sub/y", "notes/x", "tofile",
	}
	everywhere(t, fsys, func(t *testing.T, s searcher) {
		for _, tt := range []struct {
			path string
			want []string
		}{
			{"notes", []string{"notes/sub/up", "notes/sub/y", "notes/x"}},
			{"/notes/", []string{"notes/sub/up", "notes/sub/y", "notes/x"}},
			{"note", nil},
			{"notes/x", []string{"notes/x"}},
			{"notes.txt", []string{"notes.txt"}},
			{"empty", nil},
			{"missing", nil},
			{"notes/x/y", nil},
			{"not*s", []string{"not*s/z"}},
			{"n*", nil},
			{"", all},
			{".", all},
			{"link", []string{"notes/sub/up", "notes/sub/y", "notes/x"}},
			{"dangling", []string{"dangling"}},
			{"loop", []string{"loop"}},
			{"tofile", []string{"tofile"}},
		} {
			t.Run("of "+tt.path, func(t *testing.T) {
				got, err := s.List(tt.path)
				require.NoError(t, err)
				require.Equal(t, tt.want, got)
			})
		}
	})
}
