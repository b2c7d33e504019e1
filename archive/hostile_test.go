package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/transfer"
	"vfsdb/vfs"
)

// loadBytes takes in bytes, and makes sure that all went in or nothing.
func loadBytes(t testing.TB, data []byte, f Format) (*vfs.FS, error) {
	t.Helper()
	fsys := vfstest.New(t)
	_, err := Import(t.Context(), fsys, bytes.NewReader(data), "/", f, nil)
	if err != nil {
		require.Empty(t, vfstest.Names(t, fsys))
	}
	return fsys, err
}

// A packed archive that is cut short anywhere goes in not at all, even if the tar in it has ended.
func TestCutShort(t *testing.T) {
	source := vfstest.New(t)
	rich(t, source, false)
	for _, f := range []Format{TarGz, TarZst, Zip} {
		data, _ := exported(t, source, f)
		for _, n := range []int{1, 3, 4, 7, 8, 20, len(data) / 2, len(data) - 20} {
			_, err := loadBytes(t, data[:len(data)-n], f)
			require.Error(t, err, "%s without its last %d bytes of %d", f, n, len(data))
		}
		for _, n := range []int{1, 5, 11} {
			_, err := loadBytes(t, data[:n], f)
			require.Error(t, err, "the first %d bytes of a %s", n, f)
		}
	}
}

// A packed archive whose checksum is wrong goes in not at all: it is verified before there are names.
func TestWrongChecksum(t *testing.T) {
	source := vfstest.New(t, "a", "b")
	data, _ := exported(t, source, TarGz)
	data[len(data)-6] ^= 1
	_, err := loadBytes(t, data, "")
	require.ErrorContains(t, err, "checksum")

	data, _ = exported(t, source, TarZst)
	data[len(data)-1] ^= 1
	_, err = loadBytes(t, data, "")
	require.ErrorIs(t, err, zstd.ErrCRCMismatch)
}

// What follows a whole archive is dropped, as tar and gzip do it; and an archive of several parts is one.
func TestTrailing(t *testing.T) {
	source := vfstest.New(t, "a", "b")
	want := vfstest.Names(t, source)
	for _, f := range []Format{Tar, TarGz, TarZst} {
		data, _ := exported(t, source, f)
		for _, garbage := range []string{strings.Repeat("\x00", 4096), "some garbage that nobody asked for", strings.Repeat("z", 1<<20)} {
			fsys, err := loadBytes(t, append(slices.Clone(data), garbage...), f)
			require.NoError(t, err, f)
			require.Equal(t, want, vfstest.Names(t, fsys))
		}
	}

	plain, _ := exported(t, source, Tar)
	half := len(plain) / 2
	for _, f := range []Format{TarGz, TarZst} {
		var b bytes.Buffer
		for _, part := range [][]byte{plain[:half], plain[half:], nil} {
			w, err := pack(&b, f)
			require.NoError(t, err)
			_, err = w.Write(part)
			require.NoError(t, err)
			require.NoError(t, w.Close())
		}
		fsys, err := loadBytes(t, b.Bytes(), "")
		require.NoError(t, err)
		require.Equal(t, want, vfstest.Names(t, fsys))
	}
}

// A wrong format, a foreign one, and one that is none.
func TestWrongFormat(t *testing.T) {
	source := vfstest.New(t, "a")
	for _, is := range Formats() {
		data, _ := exported(t, source, is)
		for _, asked := range Formats() {
			_, err := loadBytes(t, data, asked)
			if asked == is {
				require.NoError(t, err)
				continue
			}
			require.ErrorContains(t, err, "it is a "+string(is)+", not a "+string(asked))
			require.ErrorIs(t, err, syscall.EINVAL)
		}
	}

	_, err := loadBytes(t, []byte("BZh91AY&SY"), "")
	require.ErrorIs(t, err, syscall.ENOTSUP)
	_, err = loadBytes(t, nil, "")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = loadBytes(t, bytes.Repeat([]byte("no archive "), 100), "")
	require.ErrorIs(t, err, tar.ErrHeader)

	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(bytes.Repeat([]byte("packed, and no archive "), 100))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	_, err = loadBytes(t, b.Bytes(), "")
	require.ErrorIs(t, err, tar.ErrHeader)

	// A zip with a program before it is one if the caller says so.
	zipped, _ := exported(t, source, Zip)
	fsys, err := loadBytes(t, append([]byte("MZ a program that unpacks itself"), zipped...), Zip)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, vfstest.Names(t, fsys))
}

// A frame of zstd that asks for a window of 1 GiB is refused, before the memory for it is taken.
func TestLargeWindow(t *testing.T) {
	frame := binary.LittleEndian.AppendUint32(nil, 0xfd2fb528)
	frame = append(frame, 0, (30-10)<<3) // no checksum, a window of 2^30 bytes
	frame = append(frame, 1, 0, 0)       // the last block, raw and empty
	_, err := loadBytes(t, frame, "")
	require.ErrorIs(t, err, zstd.ErrWindowSizeExceeded)
	require.ErrorContains(t, err, "larger than 128 MiB")

	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(64<<20))
	require.NoError(t, err)
	plain, _ := exported(t, vfstest.New(t, "a"), Tar)
	_, err = w.Write(plain)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	_, err = loadBytes(t, b.Bytes(), "")
	require.NoError(t, err)
}

// A bomb goes in as a stream, and MaxFileSize keeps it out.
func TestBomb(t *testing.T) {
	const size = 64 << 20
	source := vfstest.New(t)
	require.NoError(t, source.WriteFile(t.Context(), "bomb", nil, 0o644))
	require.NoError(t, source.Truncate(t.Context(), "bomb", size))
	for _, f := range Formats() {
		data, _ := exported(t, source, f)
		if f != Tar {
			require.Less(t, len(data), size/500, f)
		}
		fsys, err := loadBytes(t, data, f)
		require.NoError(t, err)
		info, err := fsys.Stat(t.Context(), "bomb")
		require.NoError(t, err)
		require.EqualValues(t, size, info.Size())

		_, err = Import(t.Context(), fsys, bytes.NewReader(data), "/again", f, &transfer.ImportOptions{MaxFileSize: 1 << 20})
		require.ErrorIs(t, err, syscall.EFBIG)
		require.Equal(t, []string{"bomb"}, vfstest.Names(t, fsys))
	}
}

// FuzzImport takes in bytes that may be an archive. It must not panic, and all goes in or nothing.
func FuzzImport(f *testing.F) {
	source := vfstest.New(f, "a", "d/b")
	for _, as := range Formats() {
		data, _ := exported(f, source, as)
		f.Add(data)
		f.Add(append(slices.Clone(data), data...))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := vfstest.New(t)
		o := &transfer.ImportOptions{MaxFileSize: 1 << 20}
		report, err := Import(t.Context(), fsys, io.MultiReader(bytes.NewReader(data)), "/in", "", o)
		if err != nil {
			require.Nil(t, report)
			require.Empty(t, vfstest.Names(t, fsys))
		}
	})
}
