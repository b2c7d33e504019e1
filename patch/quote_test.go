package patch

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A quoted path is one line of printable ASCII, and stands for the same bytes. Any other is as it was.
func FuzzQuote(f *testing.F) {
	for _, p := range []string{"a b", "tab\t", "\"", `\`, "Å", "\xff\x00", "\n\r\a\b\v\f\x7f", "1\x011"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		q := quote(p)
		special := func(r rune) bool { return r < ' ' || r > '~' }
		require.Negative(t, strings.IndexFunc(q, special))
		if strings.IndexFunc(p, special) < 0 && !strings.ContainsAny(p, `"\`) {
			require.Equal(t, p, q)
			return
		}
		back, err := strconv.Unquote(q)
		require.NoError(t, err)
		require.Equal(t, p, back)
	})
}

// The names of renamed files are those of git diff --stat.
func TestName(t *testing.T) {
	for want, f := range map[string]File{
		"a":                {Path: "a"},
		`"a\tb"`:           {Path: "a\tb"},
		"a => b":           {From: "a", Path: "b"},
		"dir/{a => b}":     {From: "dir/a", Path: "dir/b"},
		"{old => new}/a":   {From: "old/a", Path: "new/a"},
		"x/{old => new}/a": {From: "x/old/a", Path: "x/new/a"},
		"x/{ => y}/a":      {From: "x/a", Path: "x/y/a"},
		"x/{y => }/a":      {From: "x/y/a", Path: "x/a"},
		"a => x/a":         {From: "a", Path: "x/a"},
		"{a => b/a}/a":     {From: "a/a", Path: "b/a/a"},
		`"a\tb" => c`:      {From: "a\tb", Path: "c"},
	} {
		require.Equal(t, want, f.Name())
	}
}
