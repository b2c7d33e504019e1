package hostdir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestXattrsBothWays lists attributes by listxattrat(2), if the kernel has it, and by a path through /proc.
func TestXattrsBothWays(t *testing.T) {
	was := noListxattrat.Load()
	t.Cleanup(func() { noListxattrat.Store(was) })

	top := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(top, "file"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(top, "plain"), nil, 0o644))
	require.NoError(t, os.Symlink("file", filepath.Join(top, "link")))
	require.NoError(t, unix.Setxattr(filepath.Join(top, "file"), "user.one", []byte("1"), 0))
	require.NoError(t, unix.Setxattr(filepath.Join(top, "file"), "user.two", nil, 0))
	require.NoError(t, unix.Setxattr(top, "user.dir", []byte("d"), 0))

	root, err := os.OpenRoot(top)
	require.NoError(t, err)
	dir, err := open(root)
	require.NoError(t, err)
	defer dir.Done()

	for _, refused := range []bool{was, true} {
		noListxattrat.Store(refused)
		for base, want := range map[string][]string{
			"file": {"user.one", "user.two"}, "plain": nil, "link": nil, ".": {"user.dir"},
		} {
			names, err := dir.Xattrs(base)
			require.NoError(t, err, base)
			require.ElementsMatch(t, want, names, base)
		}
		_, err := dir.Xattrs("missing")
		require.ErrorIs(t, err, unix.ENOENT)
		_, err = dir.Xattrs("file\x00")
		require.ErrorIs(t, err, unix.EINVAL)
	}
}
