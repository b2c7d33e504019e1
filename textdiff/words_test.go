package textdiff

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWordsAreCut(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"one":                   "one",
		"a_1 = f(x,  y)\n":      "a_1| |=| |f|(|x|,|  |y|)|\n",
		"\t\tif !ok {\r\n":      "\t\t|if| |!|ok| |{|\r|\n",
		"naïve日本 e\u0301t":      "naïve日本| |e\u0301t",
		"\xff\xfea\xff":         "\xff|\xfe|a|\xff",
		"a\nb":                  "a|\n|b",
		"==":                    "=|=",
		"\u00a0 x\u2003y":       "\u00a0 |x|\u2003|y",
		"\x00\x00":              "\x00|\x00",
		"don't stop-me":         "don|'|t| |stop|-|me",
		"https://host/path?q=1": "https|:|/|/|host|/|path|?|q|=|1",
	} {
		pieces := words([]byte(text))
		var got []string
		for i := range pieces.Len() {
			got = append(got, string(pieces.Line(i)))
		}
		require.Equal(t, want, strings.Join(got, "|"))
	}
}

// Lines that are too long for a merge by word stay in conflict.
func TestMergedWordsAreBounded(t *testing.T) {
	long := strings.Repeat("word ", maxWords/15)
	text := func(first, last string) []byte { return []byte(first + long + last + "\n") }
	m := Merge(text("a", "b"), text("c", "b"), text("a", "d"))
	require.Equal(t, 1, m.Words().Conflicts())

	long = long[:len(long)-5]
	m = Merge(text("a", "b"), text("c", "b"), text("a", "d")).Words()
	require.True(t, m.Clean())
	require.Equal(t, string(text("c", "d")), string(m.Take(Ours)))
}

func TestMergedWords(t *testing.T) {
	for _, tt := range []struct {
		name, base, ours, theirs string
		want                     string // nothing where the conflict stays
	}{
		{"two words", "a = f(x, y)\n", "a = g(x, y)\n", "a = f(x, z)\n", "a = g(x, z)\n"},
		{"an argument more", "f(x)\n", "f(x, y)\n", "ff(x)\n", "ff(x, y)\n"},
		{"the same word", "a = 1\n", "a = 2\n", "a = 3\n", ""},
		{"words that touch", "f(x)\n", "g(x)\n", "f[x)\n", ""},
		{"the same edit and another", "a b c\n", "x b c\n", "x b y\n", "x b y\n"},
		{"a line feed and a word", "one two\n", "one two", "One two\n", "One two"},
		{"two lines", "a b\nc d\n", "x b\nc y\n", "a 1\n2 d\n", ""},
		{"a line more", "a b\n", "x b\nnew\n", "a y\n", ""},
		{"nothing left", "a b\n", "", "a y\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := Merge([]byte("first\n"+tt.base), []byte("first\n"+tt.ours), []byte("first\n"+tt.theirs))
			require.Equal(t, 1, m.Conflicts())
			merged := m.Words()
			covers(t, merged)
			require.Equal(t, 1, m.Conflicts(), "the merge by line is as it was")
			if tt.want == "" {
				require.Equal(t, 1, merged.Conflicts())
				return
			}
			require.True(t, merged.Clean())
			require.Equal(t, "first\n"+tt.want, string(merged.Take(Ours)))
			require.Equal(t, Mixed, merged.Regions[1].Origin)
		})
	}
}
