package mount

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// setXattr gives a file of the root directory an extended attribute.
func setXattr(t *testing.T, fsys *vfs.FS, base, name, value string) {
	t.Helper()
	head := (*tree.Tree)(fsys)
	require.NoError(t, head.Update(t.Context(), func(tx *tree.Tx) error {
		return tx.SetXattr(tree.Place{Dir: head.Root(), Base: base}, name, []byte(value), 0)
	}))
}

// Extended attributes are read with the errors of Linux, in a frozen mount and in one of all trees.
func TestFrozenXattrs(t *testing.T) {
	fsys := vfstest.New(t, "a", "b")
	long := strings.Repeat("v", 3000)
	setXattr(t, fsys, "a", "user.one", "1")
	setXattr(t, fsys, "a", "user.long", long)
	frozenDir, allDir := t.TempDir(), t.TempDir()
	m, err := Frozen(t.Context(), fsys, frozenDir)
	if err != nil && allowed() != nil {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Detach() })
	every, err := All(t.Context(), fsys, allDir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = every.Detach() })

	for _, dir := range []string{frozenDir, filepath.Join(allDir, "branches/main")} {
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		buf := make([]byte, 4000)
		n, err := unix.Getxattr(a, "user.one", buf)
		require.NoError(t, err)
		require.Equal(t, "1", string(buf[:n]))
		n, err = unix.Getxattr(a, "user.long", nil)
		require.NoError(t, err)
		require.Equal(t, len(long), n)
		_, err = unix.Getxattr(a, "user.long", buf[:2999])
		require.ErrorIs(t, err, unix.ERANGE)
		n, err = unix.Getxattr(a, "user.long", buf)
		require.NoError(t, err)
		require.Equal(t, long, string(buf[:n]))

		for _, name := range []string{"user.none", "trusted.one", "security.capability"} {
			_, err = unix.Getxattr(a, name, buf)
			require.ErrorIs(t, err, unix.ENODATA, name)
		}
		n, err = unix.Listxattr(a, buf)
		require.NoError(t, err)
		require.Equal(t, "user.long\x00user.one\x00", string(buf[:n]))
		n, err = unix.Listxattr(b, buf)
		require.NoError(t, err)
		require.Zero(t, n)
		_, err = unix.Listxattr(a, buf[:5])
		require.ErrorIs(t, err, unix.ERANGE)
		require.ErrorIs(t, unix.Setxattr(a, "user.new", nil, 0), unix.EROFS)
	}
}

// In a frozen tree where no file has attributes, getxattr soon is EOPNOTSUPP and the kernel asks no more.
func TestFrozenWithoutXattrs(t *testing.T) {
	fsys := vfstest.New(t, "a")
	dir, c := countedMount(t, fsys)
	_, err := os.ReadFile(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := unix.Getxattr(filepath.Join(dir, "a"), "user.none", nil)
		return err == unix.EOPNOTSUPP
	}, time.Minute, time.Millisecond)
	require.True(t, c.plain.known.Load())
}
