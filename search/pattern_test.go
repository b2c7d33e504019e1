package search_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/search"
)

// A pattern matches as Glob does.
func TestPattern(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		dir, want     bool
	}{
		{"*.go", "a.go", false, true},
		{"*.go", "d/a.go", false, false},
		{"**/*.go", "a.go", false, true},
		{"**/*.go", "d/e/a.go", false, true},
		{"d/**", "d/e/f", false, true},
		{"d/**", "d", true, true},
		{"d/**", "d", false, false},
		{"d/", "d", false, false},
		{"d/", "d", true, true},
		{"{a,b/c}", "b/c", false, true},
		{"[ab]?", "bx", false, true},
		{`\*`, "*", false, true},
		{`\*`, "a", false, false},
	} {
		p, err := search.ParsePattern(tt.pattern)
		require.NoError(t, err)
		require.Equal(t, tt.want, p.Match(tt.path, tt.dir), "%s on %s", tt.pattern, tt.path)
	}
	for _, bad := range []string{"", "[a", "{a", `a\`, strings.Repeat("{a,b}", 20), strings.Repeat("a", 5000)} {
		_, err := search.ParsePattern(bad)
		require.ErrorIs(t, err, syscall.EINVAL, bad)
	}
}

// No pattern takes long on a name that nearly matches.
func TestPatternIsBounded(t *testing.T) {
	began := time.Now()
	for _, text := range []string{strings.Repeat("*a", 100), strings.Repeat("**/", 100) + "b", strings.Repeat("{a,a}", 9) + "b"} {
		p, err := search.ParsePattern(text)
		require.NoError(t, err)
		require.False(t, p.Match(strings.Repeat("a", 200)+"c", false))
		require.False(t, p.Match(strings.Repeat("a/", 200)+"c", false))
	}
	require.Less(t, time.Since(began), time.Minute) // it would be years
}
