package gc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
)

func TestAuto(t *testing.T) {
	fsys := vfstest.New(t, "keep")
	write(t, fsys, "a", noise(1, 100))
	require.NoError(t, fsys.Remove(t.Context(), "a"))
	stop := gc.Auto(t.Context(), fsys, tick, nil)
	require.Eventually(t, func() bool { return count(t, fsys, "blob") == 1 }, waiting, tick)
	stop()
	stop()
	run(t, fsys) // it may have been stopped in the middle of one
	clean(t, fsys)
}
