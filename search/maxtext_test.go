package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/search"
	"vfsdb/vfs"
)

// MaxText bounds the memory of the matches: the one that reaches it is the last.
func TestGrepMaxText(t *testing.T) {
	fsys := vfstest.New(t)
	for i := range 40 {
		vfstest.Write(t, fsys, fmt.Sprintf("f%02d", i), strings.Repeat(strings.Repeat("x", 100)+"\n", 10))
	}
	var whole *search.GrepResult
	for _, text := range []int64{0, 1, 116, 117, 5000, 1 << 20} {
		for _, around := range []int{0, 9} {
			o := &search.GrepOptions{MaxText: text, Before: around, After: around}
			r, err := search.Grep(t.Context(), fsys, "x", o)
			require.NoError(t, err)
			require.NoError(t, fsys.View(t.Context(), func(tx *vfs.Tx) error {
				same, err := search.Grep(t.Context(), tx, "x", o)
				require.Equal(t, r, same)
				return err
			}))
			if text == 0 && around == 0 {
				whole = r
			}
			held := 0
			for i, m := range r.Matches {
				require.Equal(t, whole.Matches[i].Line, m.Line)
				if text > 0 {
					require.Less(t, held, int(text), "all but the last stay below the limit")
				}
				held += 116 * (1 + len(m.Before) + len(m.After))
			}
			require.Equal(t, text > 0 && int64(held) >= text, r.Truncated, "%d: %d", text, held)
			require.Equal(t, !r.Truncated, len(r.Matches) == 400, "%d: %d", text, len(r.Matches))
		}
	}
}
