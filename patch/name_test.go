package patch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
