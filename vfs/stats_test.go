package vfs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/schema"
)

func TestStats(t *testing.T) {
	fsys := vfstest.New(t, "a", "b", "dir/c")
	require.NoError(t, fsys.Truncate(t.Context(), "a", 1<<30))
	s, err := fsys.Store().Stats(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, s.ID)
	require.EqualValues(t, schema.Version, s.Format)
	require.EqualValues(t, 3, s.Versions)
	require.EqualValues(t, 1<<30+1+5, s.Logical)
	require.EqualValues(t, 1, s.Branches)
	require.EqualValues(t, 1, s.Manifests)
	require.Positive(t, s.FileSize)
}
