package gitignore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWildmatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"foo", "foo", true},
		{"foo", "fo", false},
		{"", "", true},
		{"???", "foo", true},
		{"??", "foo", false},
		{"*", "foo", true},
		{"f*", "foo", true},
		{"*f", "foo", false},
		{"*ob*a*r*", "foobar", true},
		{"foo*", "foo/bar", false},
		{"foo?bar", "foo/bar", false},
		{"foo[/]bar", "foo/bar", false},
		{`foo\*`, "foo*", true},
		{`foo\*bar`, "foobar", false},
		{`f\oo`, "foo", true},
		{`foo\`, "foo", false},
		{"[ab]c", "bc", true},
		{"[!ab]c", "bc", false},
		{"[^ab]c", "cc", true},
		{"[a-c]b", "bb", true},
		{"[]-]b", "-b", true},
		{"[]a]b", "]b", true},
		{"[!]a]b", "cb", true},
		{`[\]]b`, "]b", true},
		{"[a-]b", "-b", true},
		{"[a", "a", false},
		{"[", "[", false},
		{"[[:digit:][:upper:]]x", "Ax", true},
		{"[[:nonsense:]]", "a", false},
		{"**", "a/b/c", true},
		{"**/c", "a/b/c", true},
		{"**/c", "c", true},
		{"a/**/c", "a/c", true},
		{"a/**/c", "a/b/b/c", true},
		{"a/**", "a/b/c", true},
		{"a/**", "a", false},
		{"a**c", "ab/c", false},
		{"a**c", "abbc", true},
		{"**/**/**/x", "a/x", true},
		{"*/*/*", "a/b", false},
	} {
		require.Equal(t, tt.want, wildmatch(tt.pattern, tt.name), "%q %q", tt.pattern, tt.name)
	}
	require.False(t, wildmatch(strings.Repeat("a*", 200)+"b", strings.Repeat("a", 500)), "in good time")
	require.False(t, wildmatch(strings.Repeat("**/", 100)+"b", strings.Repeat("a/", 1000)), "in good time")
}
