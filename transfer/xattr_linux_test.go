package transfer

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
)

// Extended attributes are left out, and the report says which, and of how many files.
func TestXattrs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", "b", "d/c")
	for name, attrs := range map[string][]string{"a": {"user.one", "user.two"}, "b": {"user.one"}, "d": {"user.one"}} {
		for _, attr := range attrs {
			if err := unix.Setxattr(filepath.Join(dir, name), attr, []byte("x"), 0); err == unix.ENOTSUP {
				t.Skip("the temporary directory keeps no extended attributes of users; ext4 and xfs do")
			} else {
				require.NoError(t, err)
			}
		}
	}
	fsys := vfstest.New(t)
	for range 2 { // also of files that are not read again
		report, err := ImportDir(t.Context(), fsys, dir, "/", nil)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"user.one": 3, "user.two": 1}, report.Xattrs)
	}
}
