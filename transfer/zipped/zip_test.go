package zipped

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// written makes a zip by a Writer.
func written(t *testing.T, entries func(z *Writer)) *bytes.Reader {
	t.Helper()
	var b bytes.Buffer
	z := NewWriter(&b)
	entries(z)
	require.NoError(t, z.Close())
	return bytes.NewReader(b.Bytes())
}

// read opens a zip.
func read(t *testing.T, r *bytes.Reader) *Reader {
	t.Helper()
	z, err := NewReader(r, r.Size())
	require.NoError(t, err)
	return z
}

// A zip has more entries than 16 bits can count, and its reader goes through all of them with one decompressor.
func TestManyEntries(t *testing.T) {
	const n = 70_000
	z := read(t, written(t, func(z *Writer) {
		for i := range n {
			text := fmt.Sprint(i)
			require.NoError(t, z.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: text, Size: int64(len(text)), Mode: 0o644}))
			_, err := io.WriteString(z, text)
			require.NoError(t, err)
		}
	}))
	for i := range n {
		h, err := z.Next()
		require.NoError(t, err)
		got, err := io.ReadAll(z)
		require.NoError(t, err)
		if text := fmt.Sprint(i); h.Name != text || string(got) != text {
			require.Equal(t, text+" "+text, h.Name+" "+string(got))
		}
	}
	_, err := z.Next()
	require.Equal(t, io.EOF, err)
}

// A file has more bytes than 32 bits can count. Without VFS_LONG the test writes a part of it, to the same header.
func TestLargeEntry(t *testing.T) {
	size := int64(1<<32 + 5)
	if os.Getenv("VFS_LONG") == "" {
		size = 1<<20 + 5
	}
	name := filepath.Join(t.TempDir(), "large.zip")
	f, err := os.Create(name)
	require.NoError(t, err)
	defer f.Close()
	z := NewWriter(f)
	require.NoError(t, z.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "large", Size: size, Mode: 0o600}))
	_, err = io.CopyN(z, zeros{}, size)
	require.NoError(t, err)
	require.NoError(t, z.Close())

	info, err := f.Stat()
	require.NoError(t, err)
	r, err := NewReader(f, info.Size())
	require.NoError(t, err)
	h, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, size, h.Size)
	n, err := io.Copy(io.Discard, r)
	require.NoError(t, err)
	require.Equal(t, size, n)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// The time zone of the machine is not in a zip, and what unzip and others show is the time in UTC.
func TestTimesAreUTC(t *testing.T) {
	when := time.Date(2026, 7, 8, 9, 10, 11, 12, time.UTC)
	of := func(at time.Time) *bytes.Reader {
		return written(t, func(z *Writer) {
			require.NoError(t, z.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "f", ModTime: at}))
		})
	}
	first, second := of(when), of(when.In(time.FixedZone("far", 9*3600)))
	require.Equal(t, first, second)
	list, err := zip.NewReader(first, first.Size())
	require.NoError(t, err)
	require.Equal(t, uint16(9<<11|10<<5|11/2), list.File[0].ModifiedTime)
	h, err := read(t, first).Next()
	require.NoError(t, err)
	require.True(t, h.ModTime.Equal(when.Truncate(time.Second)), h.ModTime)
}

// Entries that share bytes are refused. The first test of them is one that is whole.
func TestOverlap(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"a", "b"} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		require.NoError(t, err)
		_, err = io.WriteString(w, strings.Repeat("0123456789", 10))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	whole := b.Bytes()
	_, err := NewReader(bytes.NewReader(whole), int64(len(whole)))
	require.NoError(t, err)

	// The second entry of the list gets the place of the first one, which is at the beginning.
	second := bytes.LastIndex(whole, []byte("PK\x01\x02"))
	clear(whole[second+42 : second+46])
	_, err = NewReader(bytes.NewReader(whole), int64(len(whole)))
	require.ErrorIs(t, err, ErrOverlap)
	require.ErrorIs(t, err, syscall.EINVAL)
}

// What cannot be read comes with its name and the reason, and what follows can be read.
func TestUnreadableEntries(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, h := range []*zip.FileHeader{{Name: "secret", Flags: 1}, {Name: "odd", Method: 14}, {Name: "f"}} {
		_, err := z.CreateRaw(h)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	r := read(t, bytes.NewReader(b.Bytes()))
	for _, name := range []string{"secret", "odd"} {
		h, err := r.Next()
		require.ErrorIs(t, err, syscall.ENOTSUP)
		require.Equal(t, name, h.Name)
	}
	h, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, "f", h.Name)
	_, err = r.Next()
	require.Equal(t, io.EOF, err)
}

// What other programs write: names with backslashes, entries without a mode, and the standard input of zip, which was a pipe.
func TestForeignEntries(t *testing.T) {
	const regular, fifo = 0o100000, 0o010000
	for _, tt := range []struct {
		name    string
		by      uint16
		mode    uint32
		content string
		want    tar.Header
	}{
		{`d\e\f`, byDOS, 0, "x", tar.Header{Name: "d/e/f", Mode: 0o644, Typeflag: tar.TypeReg}},
		{`d\e\`, byDOS, 0, "", tar.Header{Name: "d/e/", Mode: 0o755, Typeflag: tar.TypeDir}},
		{`d/e\f`, byDOS, 0, "x", tar.Header{Name: `d/e\f`, Mode: 0o644, Typeflag: tar.TypeReg}},
		{`e\f`, byUnix, regular | 0o640, "x", tar.Header{Name: `e\f`, Mode: 0o640, Typeflag: tar.TypeReg}},
		{"f", byUnix, 0, "x", tar.Header{Name: "f", Mode: 0o644, Typeflag: tar.TypeReg}},
		{"d/", byUnix, 0, "", tar.Header{Name: "d/", Mode: 0o755, Typeflag: tar.TypeDir}},
		{"f", byUnix, regular, "x", tar.Header{Name: "f", Mode: 0, Typeflag: tar.TypeReg}},
		{"-", byUnix, fifo | 0o600, "x", tar.Header{Name: "-", Mode: 0o600, Typeflag: tar.TypeReg}},
		{"-", byUnix, fifo | 0o600, "", tar.Header{Name: "-", Mode: 0o600, Typeflag: unknownEntry}},
	} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.CreateHeader(&zip.FileHeader{Name: tt.name, CreatorVersion: tt.by << 8, ExternalAttrs: tt.mode << 16})
		require.NoError(t, err)
		_, err = io.WriteString(w, tt.content)
		require.NoError(t, err)
		require.NoError(t, z.Close())

		r := read(t, bytes.NewReader(b.Bytes()))
		h, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, tt.want, tar.Header{Name: h.Name, Mode: h.Mode, Typeflag: h.Typeflag}, "%q by %d, %o", tt.name, tt.by, tt.mode)
		if h.Typeflag == tar.TypeReg {
			got, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Equal(t, tt.content, string(got))
		}
	}
}

// FuzzReader reads bytes that may be a zip. It must not panic, and no entry has more content than it declares.
func FuzzReader(f *testing.F) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range []string{"a", "d/", "d/ünï", "d/b"} {
			w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
			require.NoError(f, err)
			if !strings.HasSuffix(name, "/") {
				_, err = io.WriteString(w, strings.Repeat(name, 100))
				require.NoError(f, err)
			}
		}
		require.NoError(f, z.Close())
		f.Add(b.Bytes())
		f.Add(append([]byte("before"), b.Bytes()...))
	}
	f.Fuzz(readAnything)
}

// TestRandomZips reads zips in which bytes were changed.
func TestRandomZips(t *testing.T) {
	whole := written(t, func(z *Writer) {
		for _, name := range []string{"a", "b", "c"} {
			require.NoError(t, z.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}))
			_, err := io.WriteString(z, strings.Repeat(name, 50))
			require.NoError(t, err)
		}
		require.NoError(t, z.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "link", Linkname: "a"}))
	})
	data, err := io.ReadAll(whole)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(8, 9))
	for range 20_000 {
		changed := bytes.Clone(data)
		for range 1 + random.IntN(4) {
			changed[random.IntN(len(changed))] = byte(random.IntN(256))
		}
		readAnything(t, changed)
	}
}

func readAnything(t *testing.T, data []byte) {
	z, err := NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return
	}
	for {
		h, err := z.Next()
		if h == nil {
			require.Error(t, err)
			return
		}
		if err != nil || h.Typeflag != tar.TypeReg {
			continue
		}
		n, err := io.Copy(io.Discard, io.LimitReader(z, 1<<24))
		if err == nil && h.Size < 1<<24 {
			require.Equal(t, h.Size, n)
		}
		require.LessOrEqual(t, n, h.Size)
	}
}
