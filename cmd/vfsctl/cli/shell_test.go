package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/vfstest"
)

// A shell that goes to a moment stays there: its time is written out.
func TestFixed(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for ref, want := range map[string]string{
		"main@{2 hours ago}":  "main@{2026-11-23T10:00:00Z}",
		"main@{2026-11-22}":   "main@{2026-11-22T00:00:00Z}",
		"main@{call 71}":      "main@{call 71}",
		"main@{-3}":           "main@{-3}",
		"before":              "before",
		"main@before":         "main@before",
		"no@{moment at all}":  "no@{moment at all}",
		"main@{in the past":   "main@{in the past",
		"main@v1@{1 day ago}": "main@v1@{2026-11-22T12:00:00Z}",
	} {
		require.Equal(t, want, fixed(ref, now))
	}
}

func TestShown(t *testing.T) {
	for _, tt := range []struct{ dir, name, want string }{
		{"/", "/docs/a", "docs/a"},
		{"/", "/", "/"},
		{"/", "docs/a", "docs/a"},
		{"/docs", "/docs/a", "a"},
		{"/docs", "docs/sub/a", "sub/a"},
		{"/docs", "/docs", "."},
		{"/docs", "/docs/sub/..", "."},
		{"/docs", "docs2/a", "/docs2/a"},
		{"/docs", "/", "/"},
		{"/docs", ".", "/"},
	} {
		a := &App{shell: &Shell{Standing: Standing{Dir: tt.dir}}}
		require.Equal(t, tt.want, a.Shown(tt.name), tt)
	}
}

// A pattern finds what it finds for sh: a name with a dot in front has to be asked for.
func TestMatch(t *testing.T) {
	fsys := vfstest.New(t, "a.md", "b.md", ".c.md", "d/e.md", "d/.f/g.md", ".h/i.md", "x*y", "{a}")
	for _, tt := range []struct {
		pattern string
		want    []string
	}{
		{"/*.md", []string{"/a.md", "/b.md"}},
		{"/.*.md", []string{"/.c.md"}},
		{"/**/*.md", []string{"/a.md", "/b.md", "/d/e.md"}},
		{"/d/.f/*", []string{"/d/.f/g.md"}},
		{"/*/*.md", []string{"/d/e.md"}},
		{"/.h/*", []string{"/.h/i.md"}},
		{`/x\*y`, []string{"/x*y"}},
		{"/none*", []string{"none"}},
		{"/[", []string{"none"}},
	} {
		got, err := match(t.Context(), place{tree: fsys, name: "none", pattern: tt.pattern})
		require.NoError(t, err)
		require.Equal(t, tt.want, got, tt.pattern)
	}

	w := Word{Text: "*a*{b,c}", Plain: []int{2, 3}}
	require.True(t, w.isPattern(0))
	require.Equal(t, `\*a*{b,c\}`, w.pattern(0))
	require.False(t, Word{Text: "main@{-3}", Plain: []int{5, 8}}.isPattern(0))
	require.False(t, Word{Text: "*/x", Plain: []int{0}}.isPattern(1))
}
