package search_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/search"
	"vfsdb/vfs"
)

// A later search finds the same as the first: also a match across the edge of two chunks, at the start of a line or not,
// and one that was written since.
func TestGrepAgain(t *testing.T) {
	texts := make(map[string]string)
	word := func(i int) string { return fmt.Sprintf("Crossing%d%d", i, i*7) }
	for i := range 12 {
		before := strings.Repeat("hay stack\n", chunk.Size/10+1)[:chunk.Size-i]
		if i > 0 && i%3 > 0 {
			before = before[:len(before)-1] + "\n"
		}
		texts[fmt.Sprint("f", i)] = before + word(i) + "\nhay\n"
	}
	fsys := grepStore(t, texts)
	everywhere(t, fsys, func(t *testing.T, s searcher) {
		for i := range texts {
			for range 2 {
				var n int
				fmt.Sscan(i[1:], &n)
				got, err := s.Grep(word(n), nil)
				require.NoError(t, err)
				require.Len(t, got.Matches, 1, word(n))
				require.Equal(t, i, got.Matches[0].Path)
				require.Equal(t, len(texts), got.FilesScanned)
			}
		}
	})
	for i := range 12 {
		require.NoError(t, fsys.WriteFile(t.Context(), fmt.Sprint("f", i), []byte(texts[fmt.Sprint("f", (i+1)%12)]), 0o644))
		got, err := search.Grep(t.Context(), fsys, word(i), &search.GrepOptions{Path: fmt.Sprint("f", i)})
		require.NoError(t, err)
		require.Empty(t, got.Matches)
		got, err = search.Grep(t.Context(), fsys, word((i+1)%12), &search.GrepOptions{Path: fmt.Sprint("f", i)})
		require.NoError(t, err)
		require.Len(t, got.Matches, 1)
	}
}

// A content that was searched twice is read again only if a match may be in it: a search that reads it sees damage that
// came later.
func TestGrepReadsWhatMayMatch(t *testing.T) {
	fsys, err := vfs.Open(t.Context(), filepath.Join(t.TempDir(), "damaged.db"), nil) // no check at the end: it is damaged
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fsys.Close()) })

	line := "nobody has written this line before\n"
	require.NoError(t, fsys.WriteFile(t.Context(), "known", []byte(strings.Repeat(line, 100)), 0o644))
	o := &search.GrepOptions{Path: "known"}
	for range 2 {
		got, err := search.Grep(t.Context(), fsys, "somebody has", o)
		require.NoError(t, err)
		require.Empty(t, got.Matches)
	}

	info, err := fsys.Stat(t.Context(), "known")
	require.NoError(t, err)
	require.NoError(t, vfstest.DB(fsys).Update(t.Context(), func(tx *schema.Tx) error {
		n, err := tx.Exec(`UPDATE blob SET data = zeroblob(size) WHERE id = (SELECT blob FROM inode WHERE ino = ?1)`, int64(info.Ino()))
		require.EqualValues(t, 1, n)
		return err
	}))
	got, err := search.Grep(t.Context(), fsys, "somebody has", o)
	require.NoError(t, err)
	require.Empty(t, got.Matches)
	require.Equal(t, 1, got.FilesScanned)
	_, err = search.Grep(t.Context(), fsys, "nobody has", o)
	require.ErrorIs(t, err, vfs.ErrCorrupt)
}

// A search in a transaction that writes leaves no sketch behind, because its contents may never be committed.
func TestGrepOfWhatIsUndone(t *testing.T) {
	fsys := grepStore(t, map[string]string{"f": "nothing to see here\n"})
	search := func(s searcher, pattern string, matches int) {
		t.Helper()
		for range 3 {
			got, err := s.Grep(pattern, nil)
			require.NoError(t, err)
			require.Len(t, got.Matches, matches)
		}
	}
	all := searcher{t.Context(), fsys}
	search(all, "something else", 0)
	undo := fmt.Errorf("undo")
	require.ErrorIs(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		require.NoError(t, tx.WriteFile("f", []byte("another line, no more\n"), 0o644))
		search(searcher{t.Context(), tx}, "something else", 0)
		search(searcher{t.Context(), tx}, "another line", 1)
		return undo
	}), undo)
	// This is as long, and may take the same id.
	require.NoError(t, fsys.WriteFile(t.Context(), "f", []byte("something else, of it\n"), 0o644))
	search(all, "something else", 1)
}
