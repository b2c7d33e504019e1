package hostdir

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// between calls do each time a directory was looked at and is not open yet.
func between(t *testing.T, do func()) {
	was := beforeOpen
	beforeOpen = do
	t.Cleanup(func() { beforeOpen = was })
}

func openTop(t *testing.T) (*Dir, string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "d", "e"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d", "f"), []byte("f"), 0o644))
	top, err := Top(dir)
	require.NoError(t, err)
	t.Cleanup(top.Done)
	return top, dir
}

// A directory that becomes a symlink just before it is opened is not followed: neither out of the directory nor within.
func TestSwap(t *testing.T) {
	for _, target := range []string{t.TempDir(), "other", "."} {
		top, dir := openTop(t)
		require.NoError(t, os.Mkdir(filepath.Join(dir, "other"), 0o755))
		between(t, func() {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "d")))
			require.NoError(t, os.Symlink(target, filepath.Join(dir, "d")))
		})
		_, _, err := top.Sub("d")
		require.Error(t, err)
		_, err = top.Below("d/e")
		require.Error(t, err)
	}
}

// A directory that is replaced by another one is the new one.
func TestReplaced(t *testing.T) {
	top, dir := openTop(t)
	n := 0
	replace := func() {
		n++
		require.NoError(t, os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, fmt.Sprint(n))))
		require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	}
	between(t, func() {
		if n < 3 {
			replace()
		}
	})
	d, info, err := top.Sub("d")
	require.NoError(t, err)
	defer d.Done()
	require.True(t, info.IsDir())
	list, err := d.List()
	require.NoError(t, err)
	require.Empty(t, list)

	beforeOpen = replace
	_, _, err = top.Sub("d")
	require.ErrorIs(t, err, syscall.ESTALE)
	require.Equal(t, 3+tries, n)
}

func TestBelow(t *testing.T) {
	top, _ := openTop(t)
	d, err := top.Below("d")
	require.NoError(t, err)
	defer d.Done()
	list, err := d.List()
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "e", list[0].Name())
	require.Equal(t, "f", list[1].Name())

	f, err := d.OpenFile("f")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, err = top.Below("d/f")
	require.ErrorIs(t, err, syscall.ENOTDIR)
	_, err = top.Below("d/none/e")
	require.ErrorIs(t, err, os.ErrNotExist)
	same, err := top.Below("")
	require.NoError(t, err)
	same.Done()
	info, err := os.Lstat(d.PathOf("f"))
	require.NoError(t, err)
	require.EqualValues(t, 1, info.Size())
}
