package mount_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
)

// Names of any bytes and of 255 of them can be made, moved, listed and removed; longer ones are refused.
func TestLiveNames(t *testing.T) {
	fsys := vfstest.New(t)
	dir, _ := live(t, fsys, nil)
	long := strings.Repeat("n", 255)
	for _, name := range []string{long, "new\nline", "caf\xe9", "\xff\xfe\x80", " ", "a\\b", "-rf", "...", "\x01\x7f", ".vfsdb-0"} {
		at := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(at, []byte(name), 0o600))
		require.NoError(t, os.Rename(at, filepath.Join(dir, "x")))
		require.NoError(t, os.Link(filepath.Join(dir, "x"), at))
		require.NoError(t, os.Remove(filepath.Join(dir, "x")))
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, name, list[0].Name())
		soon(t, func() error { return sameAsHost(fsys, dir) })
		require.NoError(t, os.Remove(at))
	}
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, long+"n"), nil, 0o600), os.Mkdir(filepath.Join(dir, long+"n"), 0o700),
		os.Symlink("a", filepath.Join(dir, long+"n")),
	} {
		require.ErrorIs(t, err, syscall.ENAMETOOLONG)
	}
}

// A directory may be so deep that no path leads there, made and left step by step, as rm -r does.
func TestLiveDeep(t *testing.T) {
	fsys := vfstest.New(t)
	dir, m := live(t, fsys, nil)
	depth := 1000
	if testing.Short() {
		depth = 200
	}
	name := strings.Repeat("d", 100) // so the path has 101,000 bytes, or 20,200; the host takes 4,095
	at, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY, 0)
	require.NoError(t, err)
	for range depth {
		require.NoError(t, unix.Mkdirat(at, name, 0o755))
		down, err := unix.Openat(at, name, unix.O_DIRECTORY|unix.O_RDONLY, 0)
		require.NoError(t, err)
		require.NoError(t, unix.Close(at))
		at = down
	}
	fd, err := unix.Openat(at, "file", unix.O_CREAT|unix.O_RDWR, 0o600)
	require.NoError(t, err)
	_, err = unix.Write(fd, []byte("deep"))
	require.NoError(t, err)
	require.NoError(t, unix.Fsync(fd))
	require.NoError(t, unix.Renameat(at, "file", at, "moved"))
	buf := make([]byte, 10)
	n, err := unix.Pread(fd, buf, 0)
	require.NoError(t, err)
	require.Equal(t, "deep", string(buf[:n]))
	require.NoError(t, unix.Close(fd))
	require.NoError(t, unix.Close(at))

	require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, list)
	require.NoError(t, m.Unmount())
}

// Symlinks that lead in circles are ELOOP, and lead nowhere else.
func TestLiveSymlinkLoops(t *testing.T) {
	fsys := vfstest.New(t)
	dir, _ := live(t, fsys, nil)
	require.NoError(t, os.Symlink("b", filepath.Join(dir, "a")))
	require.NoError(t, os.Symlink("a", filepath.Join(dir, "b")))
	require.NoError(t, os.Symlink("self/self", filepath.Join(dir, "self")))
	for i := range 50 {
		require.NoError(t, os.Symlink(fmt.Sprint("chain-", i+1), filepath.Join(dir, fmt.Sprint("chain-", i))))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "chain-50"), []byte("end"), 0o600))
	for _, name := range []string{"a", "b", "self", "self/x", "chain-0"} {
		_, err := os.Stat(filepath.Join(dir, name))
		require.ErrorIs(t, err, syscall.ELOOP, name)
		require.Error(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600), name)
	}
	text, err := os.ReadFile(filepath.Join(dir, "chain-20"))
	require.NoError(t, err)
	require.Equal(t, "end", string(text))
}

// Ten thousand files that are open and have no name keep their contents, 2,000 in short mode. When they are closed, a collection
// takes them.
func TestLiveManyUnlinked(t *testing.T) {
	fsys := vfstest.New(t)
	dir, _ := live(t, fsys, nil)
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	many := uint64(10_000)
	if testing.Short() {
		many = 2_000
	}
	files := int(min(many, limit.Cur-min(limit.Cur, 300)))
	open := make([]*os.File, files)
	for i := range open {
		name := filepath.Join(dir, fmt.Sprint(i))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		require.NoError(t, err)
		defer f.Close()
		_, err = fmt.Fprintf(f, "content %d", i)
		require.NoError(t, err)
		if i%1000 == 999 {
			require.NoError(t, f.Sync())
		}
		require.NoError(t, os.Remove(name))
		open[i] = f
	}
	require.NoError(t, open[0].Sync())
	collect(t, fsys)
	for i, f := range open {
		buf := make([]byte, 30)
		n, _ := f.ReadAt(buf, 0)
		require.Equal(t, fmt.Sprint("content ", i), string(buf[:n]))
	}
	for _, f := range open {
		require.NoError(t, f.Close())
	}
	taken := int64(0)
	soon(t, func() error { // the kernel forgets them after the last close
		report, err := gc.Run(t.Context(), fsys, nil)
		if err != nil {
			return err
		}
		if taken += report.Orphans; taken != int64(files) {
			return fmt.Errorf("%d are taken", taken)
		}
		return nil
	})
}

// Files that are open and have no name take a bounded amount of memory, however much of them is read.
func TestLiveUnlinkedMemory(t *testing.T) {
	fsys := vfstest.New(t)
	dir, _ := live(t, fsys, nil)
	const files, size = 256, 512 << 10
	open := make([]*os.File, files)
	data := make([]byte, size)
	for i := range open {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		require.NoError(t, err)
		defer f.Close()
		copy(data, fmt.Sprintf("content %3d", i))
		_, err = f.Write(data)
		require.NoError(t, err)
		require.NoError(t, os.Remove(f.Name()))
		open[i] = f
	}
	require.NoError(t, open[0].Sync())

	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 2 {
		for i, f := range open {
			require.NoError(t, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)) // so that the kernel asks the mount
			head := make([]byte, 11)
			_, err := f.ReadAt(head, 0)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("content %3d", i), string(head))
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(files*size/2))
}
