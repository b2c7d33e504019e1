package mount_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

// A mount leaves the process its open files: /proc/self, which shows those of the first thread, has them all.
func TestMountKeepsOpenFiles(t *testing.T) {
	fsys := vfstest.New(t)
	for range 100 {
		_, m := frozen(t, fsys)
		require.NoError(t, m.Unmount())
	}
	f, err := os.Open(t.TempDir())
	require.NoError(t, err)
	defer f.Close()
	_, err = os.Stat(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	require.NoError(t, err)
}
