package transfer

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
)

// sparseHost makes a file of the host with some bytes at each of some offsets, and holes between them.
func sparseHost(t *testing.T, name string, size int64, at ...int64) {
	f, err := os.Create(name)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(size))
	for _, off := range at {
		_, err := f.WriteAt([]byte("data"), off)
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(name, old, old))
}

// Holes of the host are passed over, not read, and what is stored is what reading them would have given.
func TestHolesAreNotRead(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		size int64
		at   []int64
	}{
		"all":      {5*chunk.Size + 77, nil},
		"whole":    {4 * chunk.Size, nil},
		"start":    {6 * chunk.Size, []int64{0}},
		"end":      {6*chunk.Size + 9, []int64{6*chunk.Size + 5}},
		"middle":   {9*chunk.Size + 1, []int64{3*chunk.Size - 2, 5 * chunk.Size, 8*chunk.Size - 1}},
		"unwhole":  {chunk.Size + 1, []int64{100}},
		"just one": {chunk.Size, nil},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name)
			sparseHost(t, file, tt.size, tt.at...)
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			f, err := os.Open(file)
			require.NoError(t, err)
			defer f.Close()
			r := &counting{source: newSource(f)}
			fsys := vfstest.New(t)
			n, err := fsys.WriteFrom(t.Context(), "f", r, 0o644)
			require.NoError(t, err)
			require.Equal(t, tt.size, n)
			require.True(t, string(want) == vfstest.Read(t, fsys, "f"))
			require.LessOrEqual(t, r.read, int64(2*len(tt.at)+1)*chunk.Size)
		})
	}
	fsys := vfstest.New(t)
	report, err := ImportDir(t.Context(), fsys, dir, "/", nil)
	require.NoError(t, err)
	require.EqualValues(t, 7, report.Files)
	out := t.TempDir()
	_, err = ExportDir(t.Context(), fsys, "/", out, nil)
	require.NoError(t, err)
	require.Equal(t, host(t, dir), host(t, out))
}

// Terabytes of nothing are imported by looking, not by reading.
func TestHugeHole(t *testing.T) {
	dir := t.TempDir()
	sparseHost(t, filepath.Join(dir, "huge"), 8<<40, 4<<40)
	fsys := vfstest.New(t)
	report, err := ImportDir(t.Context(), fsys, dir, "/", nil)
	require.NoError(t, err)
	require.EqualValues(t, 8<<40, report.Bytes)
	buf := make([]byte, 6)
	f, err := fsys.Open(t.Context(), "huge")
	require.NoError(t, err)
	defer f.Close()
	_, err = f.ReadAt(buf, 4<<40-1)
	require.NoError(t, err)
	require.Equal(t, "\x00data\x00", string(buf))
}

// A counting source knows how much of it was read.
type counting struct {
	*source
	read int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.source.Read(p)
	c.read += int64(n)
	return n, err
}

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
