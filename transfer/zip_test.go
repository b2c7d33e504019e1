package transfer

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Everything that a zip can hold comes back: contents, modes, symlinks, times to the second. Hard links become copies.
func TestZipThereAndBack(t *testing.T) {
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	fsys := vfstest.New(t)
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // more than one chunk
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		return errors.Join(
			tx.WriteFile("d/run.sh", []byte("#!/bin/sh\n"), 0o755, vfs.Parents()), tx.Chmod("d/run.sh", fs.ModeSetuid|0o755),
			tx.WriteFile("large", large, 0o640),
			tx.Link("d/run.sh", "hard"), tx.Symlink("d/run.sh", "link"), tx.Mkdir("empty", 0o700),
			tx.Mknod("fifo", fs.ModeNamedPipe|0o600, 0),
			tx.Chtimes("large", time.Time{}, when),
		)
	}))

	var b bytes.Buffer
	out, err := ExportZip(t.Context(), fsys, "/", &b, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"fifo"}, paths(out.Refused))
	require.EqualValues(t, 3, out.Files)

	again := vfstest.New(t)
	in, err := ImportZip(t.Context(), again, bytes.NewReader(b.Bytes()), int64(b.Len()), "/in", nil)
	require.NoError(t, err)
	require.Empty(t, in.Refused)
	require.EqualValues(t, 3, in.Files)
	for name, mode := range map[string]fs.FileMode{
		"in/d/run.sh": 0o755 | fs.ModeSetuid, "in/hard": 0o755 | fs.ModeSetuid, "in/large": 0o640,
		"in/empty": fs.ModeDir | 0o700, "in/link": fs.ModeSymlink | 0o777,
	} {
		info, err := again.Lstat(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode(), name)
	}
	got, err := again.ReadFile(t.Context(), "in/large")
	require.NoError(t, err)
	require.True(t, bytes.Equal(large, got))
	info, err := again.Stat(t.Context(), "in/large")
	require.NoError(t, err)
	require.True(t, when.Equal(info.ModTime()), info.ModTime())
	target, err := again.Readlink(t.Context(), "in/link")
	require.NoError(t, err)
	require.Equal(t, "d/run.sh", target)
}

// zipOf makes a zip of names. change may change each header.
func zipOf(t *testing.T, names []string, change func(h *zip.FileHeader)) *bytes.Reader {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if change != nil {
			change(h)
		}
		w, err := z.CreateHeader(h)
		require.NoError(t, err)
		if !strings.HasSuffix(name, "/") {
			_, err = io.WriteString(w, "content")
			require.NoError(t, err)
		}
	}
	require.NoError(t, z.Close())
	return bytes.NewReader(b.Bytes())
}

// The rules of a tar hold for a zip: nothing lands outside, and one refused entry fails all of it.
func TestHostileZip(t *testing.T) {
	for _, tt := range []struct {
		name   string
		names  []string
		change func(h *zip.FileHeader)
		want   error
	}{
		{"climbs out", []string{"a", "../b"}, nil, syscall.EINVAL},
		{"climbs out behind a name", []string{"d/../../b"}, nil, syscall.EINVAL},
		{"a name too long", []string{strings.Repeat("x", 256)}, nil, syscall.ENAMETOOLONG},
		{"through a file", []string{"a", "a/b"}, nil, syscall.ENOTDIR},
		{"a device", []string{"dev"}, func(h *zip.FileHeader) { h.SetMode(fs.ModeDevice | 0o600) }, syscall.EINVAL},
		{"an encrypted file", []string{"secret"}, func(h *zip.FileHeader) { h.Flags |= 1 }, syscall.ENOTSUP},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t)
			z := zipOf(t, tt.names, tt.change)
			_, err := ImportZip(t.Context(), fsys, z, z.Size(), "/in", nil)
			require.ErrorIs(t, err, tt.want)
			require.Empty(t, vfstest.Names(t, fsys))
		})
	}

	t.Run("no zip", func(t *testing.T) {
		_, err := ImportZip(t.Context(), vfstest.New(t), strings.NewReader("no zip"), 6, "/", nil)
		require.ErrorIs(t, err, zip.ErrFormat)
	})
	t.Run("cut short", func(t *testing.T) {
		z := zipOf(t, []string{"a", "b"}, nil)
		_, err := ImportZip(t.Context(), vfstest.New(t), z, z.Size()-10, "/", nil)
		require.Error(t, err)
	})
	t.Run("damaged", func(t *testing.T) {
		fsys := vfstest.New(t)
		z := zipOf(t, []string{"a"}, func(h *zip.FileHeader) { h.Method = zip.Store })
		data, err := io.ReadAll(z)
		require.NoError(t, err)
		data = bytes.Replace(data, []byte("content"), []byte("CONTENT"), 1)
		_, err = ImportZip(t.Context(), fsys, bytes.NewReader(data), int64(len(data)), "/", nil)
		require.ErrorIs(t, err, zip.ErrChecksum)
		require.Empty(t, vfstest.Names(t, fsys))
	})
}

// An entry that another system wrote has no Unix mode, and gets the usual one.
func TestZipWithoutModes(t *testing.T) {
	fsys := vfstest.New(t)
	z := zipOf(t, []string{"dir/", "dir/a"}, nil)
	_, err := ImportZip(t.Context(), fsys, z, z.Size(), "/", nil)
	require.NoError(t, err)
	for name, mode := range map[string]fs.FileMode{"dir": fs.ModeDir | 0o755, "dir/a": 0o644} {
		info, err := fsys.Stat(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode(), name)
	}
}

// A zip keeps times in 32 bits without a sign: others become the nearest that it can say.
func TestZipTimesOutOfRange(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	for _, tt := range []struct{ time, want time.Time }{
		{time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, 0)},
		{time.Unix(0, 0), time.Unix(0, 0)},
		{time.Date(1975, 6, 7, 8, 9, 10, 0, time.UTC), time.Date(1975, 6, 7, 8, 9, 10, 0, time.UTC)},
		{time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)},
		{time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(1<<32-1, 0)},
	} {
		require.NoError(t, fsys.Chtimes(ctx, "f", tt.time, tt.time))
		var out bytes.Buffer
		_, err := ExportZip(ctx, fsys, "/", &out, nil)
		require.NoError(t, err)
		_, err = ImportZip(ctx, fsys, bytes.NewReader(out.Bytes()), int64(out.Len()), "back", nil)
		require.NoError(t, err)
		info, err := fsys.Stat(ctx, "back/f")
		require.NoError(t, err)
		require.True(t, tt.want.Equal(info.ModTime()), "%s became %s", tt.time, info.ModTime())
		require.NoError(t, fsys.RemoveAll(ctx, "back"))
	}
}
