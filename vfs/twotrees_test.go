package vfs_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Trees of two stores are not compared: what stands under the same numbers has nothing in common.
func TestCompareTwoStores(t *testing.T) {
	a, b := vfstest.New(t, "a"), vfstest.New(t, "b")
	require.NoError(t, a.View(t.Context(), func(x *vfs.Tx) error {
		return b.View(t.Context(), func(y *vfs.Tx) error {
			_, err := tree.Compare((*tree.Tx)(x), (*tree.Tx)(y))
			require.ErrorIs(t, err, syscall.EXDEV)
			return nil
		})
	}))
}
