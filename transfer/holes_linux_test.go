package transfer

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/sparse"
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

// Holes of the host are skipped, not read, and the stored content is the same as if they were read.
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
			r := &countingSource{Source: sparse.NewSource(f)}
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

// A countingSource counts the bytes that were read from it.
type countingSource struct {
	*sparse.Source
	read int64
}

func (c *countingSource) Read(p []byte) (int, error) {
	n, err := c.Source.Read(p)
	c.read += int64(n)
	return n, err
}
