package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/node"
)

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		path, dir string
		want      bool
	}{
		{"a", "a", true},
		{"a/b", "a", true},
		{"a/b/c", "a/b", true},
		{"ab", "a", false},
		{"a", "a/b", false},
		{"a.b", "a", false},
		{"b/a", "a", false},
		{".", ".", true},
		{"a/b", ".", true},
		{".", "a", false},
	} {
		require.Equal(t, c.want, node.Within(c.path, c.dir), "%s in %s", c.path, c.dir)
	}
}
