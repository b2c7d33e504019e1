//go:build unix

package transfer

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/transfer/hostdir"
)

// richer adds files that only Unix has.
func richer(t testing.TB, dir string) {
	t.Helper()
	write(t, dir, "bytes\xff", "suid", "closed", "shut/in")
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o640))
	require.NoError(t, os.Chmod(filepath.Join(dir, "suid"), os.ModeSetuid|os.ModeSetgid|0o755))
	require.NoError(t, os.Chmod(filepath.Join(dir, "empty"), os.ModeSticky|0o777))
	require.NoError(t, os.Chmod(filepath.Join(dir, "closed"), 0o400))
	require.NoError(t, os.Chmod(filepath.Join(dir, "shut"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "shut"), 0o755) })
	times := []unix.Timespec{{Sec: 77, Nsec: 88}, {Sec: 77, Nsec: 88}}
	require.NoError(t, unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(dir, "dangling"), times, unix.AT_SYMLINK_NOFOLLOW))
}

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	src := t.TempDir()
	write(t, src, "a", "no", "other = no", "shut/x")
	require.NoError(t, os.Chmod(filepath.Join(src, "no"), 0))
	require.NoError(t, os.Chmod(filepath.Join(src, "shut"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(src, "shut"), 0o755) })
	fsys := vfstest.New(t)
	_, err := ImportDir(t.Context(), fsys, src, "/", nil)
	require.ErrorIs(t, err, syscall.EACCES)
	require.ErrorContains(t, err, `"no"`)
	require.ErrorContains(t, err, `"shut"`)
	require.Empty(t, vfstest.Names(t, fsys))

	report, err := ImportDir(t.Context(), fsys, src, "/", &ImportOptions{Partial: true})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"no", "shut", "other"}, paths(report.Refused))
	require.Equal(t, "a", vfstest.Read(t, fsys, "a"))
}

func TestSockets(t *testing.T) {
	src := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(src, "s"))
	require.NoError(t, err)
	defer l.Close()
	fsys := vfstest.New(t)
	_, err = ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	info, err := fsys.Stat(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, os.ModeSocket, info.Mode().Type())
}

// TestOwner stores owners and device numbers, and gives them back where the process may.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	src := t.TempDir()
	write(t, src, "f", "d/", "l -> f")
	for i, name := range []string{"f", "d", "l", "."} {
		require.NoError(t, os.Lchown(filepath.Join(src, name), 1000+i, 2000+i))
	}
	device := unix.Mknod(filepath.Join(src, "null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))) == nil
	fsys := vfstest.New(t)
	_, err := ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	dest := t.TempDir()
	report, err := ExportDir(t.Context(), fsys, "/", dest, &ExportOptions{Owner: true})
	require.NoError(t, err)
	require.Empty(t, report.Refused)
	for _, name := range []string{"f", "d", "l", "."} {
		a, err := os.Lstat(filepath.Join(src, name))
		require.NoError(t, err)
		b, err := os.Lstat(filepath.Join(dest, name))
		require.NoError(t, err)
		require.Equal(t, a.Sys().(*syscall.Stat_t).Uid, b.Sys().(*syscall.Stat_t).Uid, name)
		require.Equal(t, a.Sys().(*syscall.Stat_t).Gid, b.Sys().(*syscall.Stat_t).Gid, name)
	}
	if device {
		b, err := os.Lstat(filepath.Join(dest, "null"))
		require.NoError(t, err)
		require.EqualValues(t, unix.Mkdev(1, 3), b.Sys().(*syscall.Stat_t).Rdev)
	}
}

// TestExportKeepsHoles compares the space that files take with their size.
func TestExportKeepsHoles(t *testing.T) {
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "hole", "x")
	require.NoError(t, fsys.Truncate(t.Context(), "hole", 100<<30))
	dest := t.TempDir()
	_, err := ExportDir(t.Context(), fsys, "/", dest, nil)
	require.NoError(t, err)
	info, err := os.Stat(filepath.Join(dest, "hole"))
	require.NoError(t, err)
	require.EqualValues(t, 100<<30, info.Size())
	require.Less(t, info.Sys().(*syscall.Stat_t).Blocks*512, int64(4<<20))
}

func TestDevice(t *testing.T) {
	for _, tt := range [][2]int64{{0, 0}, {1, 3}, {8, 17}, {259, 70000}, {0xfffff, 0xfffff}} {
		dev := hostdir.MakeDev(tt[0], tt[1])
		require.Equal(t, tt[0], hostdir.DevMajor(dev))
		require.Equal(t, tt[1], hostdir.DevMinor(dev))
	}
}
