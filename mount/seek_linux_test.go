package mount

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/chunk"
)

// The errors and places are those of lseek(2).
func TestSeek(t *testing.T) {
	data := []chunk.Extent{{Off: 10, Len: 5}, {Off: 20, Len: 10}}
	for _, tt := range []struct {
		off    int64
		whence int
		to     int64
		want   error
	}{
		{0, unix.SEEK_DATA, 10, nil},
		{12, unix.SEEK_DATA, 12, nil},
		{15, unix.SEEK_DATA, 20, nil},
		{29, unix.SEEK_DATA, 29, nil},
		{30, unix.SEEK_DATA, 0, syscall.ENXIO},
		{40, unix.SEEK_DATA, 0, syscall.ENXIO},
		{-1, unix.SEEK_DATA, 0, syscall.ENXIO},
		{0, unix.SEEK_HOLE, 0, nil},
		{10, unix.SEEK_HOLE, 15, nil},
		{20, unix.SEEK_HOLE, 30, nil},
		{39, unix.SEEK_HOLE, 39, nil},
		{40, unix.SEEK_HOLE, 0, syscall.ENXIO},
		{1, unix.SEEK_END, 0, syscall.EINVAL},
	} {
		to, err := seek(40, data, tt.off, tt.whence)
		require.ErrorIs(t, err, tt.want, "%+v", tt)
		require.Equal(t, tt.to, to, "%+v", tt)
	}
	to, err := seek(7, []chunk.Extent{{Off: 0, Len: 7}}, 3, unix.SEEK_HOLE)
	require.NoError(t, err)
	require.EqualValues(t, 7, to)
}
