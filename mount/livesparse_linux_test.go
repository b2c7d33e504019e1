package mount_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
)

// A file of 1 TiB that is nearly all holes is read, searched, copied and punched without work for the holes: neither time, nor
// memory, nor room in the database.
func TestLiveHugeSparse(t *testing.T) {
	fsys := vfstest.New(t)
	dir, _ := live(t, fsys, nil)
	name := filepath.Join(dir, "huge")
	const size = 1 << 40
	f, err := os.Create(name)
	require.NoError(t, err)
	defer f.Close()
	fd := int(f.Fd())

	_, err = unix.Seek(fd, 0, unix.SEEK_DATA)
	require.ErrorIs(t, err, syscall.ENXIO, "made, and not committed")

	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	require.NoError(t, f.Truncate(size))
	buf := make([]byte, 5)
	for _, off := range []int64{0, size / 2, size - 5} {
		n, err := f.ReadAt(buf, off)
		require.NoError(t, err)
		require.Equal(t, []byte{0, 0, 0, 0, 0}, buf[:n])
	}
	_, err = unix.Seek(fd, 0, unix.SEEK_DATA)
	require.ErrorIs(t, err, syscall.ENXIO)

	_, err = f.WriteAt([]byte("mid"), size/2)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("end"), size-3)
	require.NoError(t, err)
	for _, want := range []int64{size / 2, size - 512<<10} {
		at, err := unix.Seek(fd, want-1<<30, unix.SEEK_DATA)
		require.NoError(t, err)
		require.InDelta(t, want, at, 512<<10)
	}
	at, err := unix.Seek(fd, size/2, unix.SEEK_HOLE)
	require.NoError(t, err)
	require.InDelta(t, size/2, at, 512<<10)
	n, err := f.ReadAt(buf, size-3)
	require.Equal(t, "end", string(buf[:n]))
	require.EqualError(t, err, "EOF")
	require.NoError(t, f.Sync())

	// A copy of a part, then a hole over all but the end.
	to, err := os.Create(filepath.Join(dir, "copy"))
	require.NoError(t, err)
	defer to.Close()
	from, into := int64(size-(1<<20)), int64(1<<40)
	for left := 1 << 20; left > 0; {
		n, err := unix.CopyFileRange(fd, &from, int(to.Fd()), &into, left, 0)
		require.NoError(t, err)
		require.NotZero(t, n)
		left -= n
	}
	n, err = to.ReadAt(buf, 1<<40+1<<20-3)
	require.EqualError(t, err, "EOF")
	require.Equal(t, "end", string(buf[:n]))

	require.NoError(t, unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 1, size-4))
	at, err = unix.Seek(fd, 0, unix.SEEK_DATA)
	require.NoError(t, err)
	require.InDelta(t, size, at, 512<<10)
	require.NoError(t, unix.Fallocate(fd, unix.FALLOC_FL_ZERO_RANGE, 0, size+100))
	_, err = unix.Seek(fd, 0, unix.SEEK_DATA)
	require.ErrorIs(t, err, syscall.ENXIO)
	info, err := f.Stat()
	require.NoError(t, err)
	require.EqualValues(t, size+100, info.Size())
	require.NoError(t, f.Sync())

	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(64<<20))
	info, err = os.Stat(fsys.Store().Path())
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(64<<20))
}
