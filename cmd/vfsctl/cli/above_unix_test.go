//go:build unix

package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/vfs"
)

// A database above that belongs to another user, or that a symlink leads to, is refused by name; init makes one here.
func TestForeignDatabaseAbove(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "project", "sub"), 0o755))
	t.Chdir(filepath.Join(dir, "project", "sub"))

	name := filepath.Join("..", defaultDB)
	if os.Geteuid() == 0 {
		require.NoError(t, os.WriteFile(name, []byte("a database"), 0o644))
		require.NoError(t, refuseForeign(name))
		require.NoError(t, os.Chown(name, 12345, -1))
	} else {
		require.NoError(t, os.Symlink("/etc/passwd", name)) // of root
	}

	require.Equal(t, name, above())
	err := refuseForeign(name)
	require.ErrorIs(t, err, syscall.EPERM)
	require.ErrorContains(t, err, "open ../agent.db: operation not permitted: it belongs to another user")
	require.ErrorContains(t, err, "--db ../agent.db")

	a := &App{DB: name, above: name, foreign: err}
	_, opened := a.Open(t.Context(), Creates)
	require.ErrorIs(t, opened, syscall.EPERM)
	require.Equal(t, name, a.Here())
	fsys, opened := a.Open(t.Context(), Creates)
	require.NoError(t, opened)
	require.Equal(t, vfs.MainBranch, fsys.Head())
	require.NoError(t, fsys.Close())
	require.FileExists(t, defaultDB)
}

// A symlink that belongs to another user is refused, whatever it leads to.
func TestForeignLinkAbove(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("file", []byte("a database"), 0o644))
	require.NoError(t, os.Symlink("file", "link"))
	require.NoError(t, refuseForeign("link"))
	require.ErrorIs(t, refuseForeign("none"), fs.ErrNotExist)
	if os.Geteuid() == 0 {
		require.NoError(t, os.Lchown("link", 12345, -1))
		require.ErrorIs(t, refuseForeign("link"), syscall.EPERM)
	}
}

// The owner may be the user, and for root the one who called sudo.
func TestIsUser(t *testing.T) {
	for _, tt := range []struct {
		owner, euid int
		sudo        string
		want        bool
	}{
		{1000, 1000, "", true},
		{0, 1000, "", false},
		{1001, 1000, "1001", false},
		{0, 0, "", true},
		{1000, 0, "", false},
		{1000, 0, "1000", true},
		{1001, 0, "1000", false},
		{1000, 0, "nobody", false},
	} {
		require.Equal(t, tt.want, isUser(tt.owner, tt.euid, tt.sudo), tt)
	}
}

// The search leaves no file system.
func TestSameDevice(t *testing.T) {
	root, err := os.Stat("/")
	require.NoError(t, err)
	inner := "/dev"
	if runtime.GOOS == "linux" {
		inner = "/proc"
	}
	other, err := os.Stat(inner)
	require.NoError(t, err)
	require.True(t, sameDevice(root, root))
	require.False(t, sameDevice(root, other), inner)
}
