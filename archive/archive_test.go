package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/transfer"
	"vfsdb/vfs"
	"vfsdb/xattr"
)

func TestMain(m *testing.M) { vfstest.Main(m) }

// odd is a name that is not UTF-8.
const odd = "d/na\xffme"

// rich fills a tree with all that an archive may hold, name by name in the given order.
func rich(t testing.TB, fsys *vfs.FS, backwards bool) {
	t.Helper()
	when := time.Unix(1234567890, 123456789)
	noise := bytes.Repeat([]byte("a line of text, and then some more\n"), 40_000)
	steps := []func(tx *vfs.Tx) error{
		func(tx *vfs.Tx) error { return tx.WriteFile("d/run.sh", []byte("#!/bin/sh\n"), 0o755) },
		func(tx *vfs.Tx) error { return tx.WriteFile("large", noise, 0o640) },
		func(tx *vfs.Tx) error { return tx.WriteFile("none", nil, 0o600) },
		func(tx *vfs.Tx) error { return tx.WriteFile(odd, []byte("odd"), 0o644) },
		func(tx *vfs.Tx) error {
			return tx.WriteFile("ünï/"+strings.Repeat("long", 60), []byte("long"), 0o644)
		},
		func(tx *vfs.Tx) error { return tx.Symlink("../large", "d/link") },
		func(tx *vfs.Tx) error { return tx.Mkdir("empty", 0o711) },
	}
	if backwards {
		slices.Reverse(steps)
	}
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		if err := errors.Join(tx.Mkdir("d", 0o755), tx.Mkdir("ünï", 0o700)); err != nil {
			return err
		}
		for _, step := range steps {
			if err := step(tx); err != nil {
				return err
			}
		}
		return errors.Join(tx.Link("d/run.sh", "hard"), tx.Chmod("d/run.sh", fs.ModeSetuid|0o755))
	}))
	require.NoError(t, xattr.Set(t.Context(), fsys, "large", true, "user.kind", []byte("text"), 0))
	for name := range vfstest.Dump(t, fsys) {
		if info, err := fsys.Lstat(t.Context(), name); err == nil && info.Mode().Type() != fs.ModeSymlink {
			require.NoError(t, fsys.Chtimes(t.Context(), name, when, when))
		}
	}
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error { return tx.Lchtimes("d/link", when, when) }))
}

// exported returns a tree as an archive.
func exported(t testing.TB, fsys *vfs.FS, f Format) ([]byte, *transfer.Report) {
	t.Helper()
	var b bytes.Buffer
	report, err := Export(t.Context(), fsys, "/", &b, f, nil)
	require.NoError(t, err)
	return b.Bytes(), report
}

// What goes out comes back, with the losses that the page of the package names and no others.
func TestThereAndBack(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	rich(t, fsys, false)
	want := vfstest.Dump(t, fsys)
	for _, f := range Formats() {
		t.Run(string(f), func(t *testing.T) {
			data, out := exported(t, fsys, f)
			found, err := Detect(data)
			require.NoError(t, err)
			require.Equal(t, f, found)
			require.Empty(t, out.Refused)

			again := vfstest.New(t)
			in, err := Import(ctx, again, iotest.HalfReader(bytes.NewReader(data)), "/", "", nil)
			require.NoError(t, err)
			got := vfstest.Dump(t, again)
			if f != Zip {
				require.Equal(t, out, in)
				require.Equal(t, want, got)
				back, _ := exported(t, again, f)
				require.True(t, bytes.Equal(data, back))
				return
			}

			require.Equal(t, map[string]int64{"user.kind": 1}, out.Xattrs)
			want := maps.Clone(want)
			for name, text := range want {
				want[name] = strings.ReplaceAll(strings.ReplaceAll(text, "links=2", "links=1"), ` user.kind="text"`, "")
			}
			require.Equal(t, want, got)
			for _, name := range []string{"d/run.sh", "d", "d/link", odd} {
				info, err := again.Lstat(ctx, name)
				require.NoError(t, err)
				require.True(t, info.ModTime().Equal(time.Unix(1234567890, 0)), "%s: %s", name, info.ModTime())
			}
		})
	}
}

// The same tree makes the same bytes, in whatever order it was made, and however many processors there are.
func TestSameTreeSameBytes(t *testing.T) {
	a, b := vfstest.New(t), vfstest.New(t)
	rich(t, a, false)
	rich(t, b, true)
	for _, f := range Formats() {
		first, _ := exported(t, a, f)
		was := runtime.GOMAXPROCS(1)
		second, _ := exported(t, b, f)
		runtime.GOMAXPROCS(was)
		require.True(t, bytes.Equal(first, second), f)
	}
}

// The formats are what the names and the bytes say.
func TestFormats(t *testing.T) {
	for name, want := range map[string]Format{
		"a.tar": Tar, "a.TAR.GZ": TarGz, "a.tgz": TarGz, "a.b.tar.zst": TarZst, "a.tzst": TarZst, "a.zip": Zip,
		"a.tar.xz": "", "a.gz": "", "tar": "", "dir": "",
	} {
		require.Equal(t, want, FormatOf(name), name)
	}
	for text, want := range map[string]Format{"tar": Tar, "tar.gz": TarGz, "tgz": TarGz, "tar.zst": TarZst, "tzst": TarZst, "zip": Zip} {
		f, err := Parse(text)
		require.NoError(t, err)
		require.Equal(t, want, f)
	}
	for _, text := range []string{"", "gz", "ZIP", ".tar"} {
		_, err := Parse(text)
		require.ErrorContains(t, err, "there are tar, tar.gz, tar.zst and zip")
	}

	for start, want := range map[string]Format{
		"": "", "text": "", "P": "", "\x1f\x8b\x08": TarGz, "\x28\xb5\x2f\xfd\x00": TarZst, "\x5a\x2a\x4d\x18": TarZst,
		"PK\x03\x04": Zip, "PK\x05\x06": Zip, "BZhfile" + strings.Repeat("\x00", 250) + "ustar": Tar,
	} {
		f, err := Detect([]byte(start))
		require.NoError(t, err)
		require.Equal(t, want, f, "%q", start)
	}
	for start, want := range map[string]string{"BZh91AY": "bzip2 -dc", "\xfd7zXZ\x00\x00": "xz -dc", "7z\xbc\xaf\x27\x1c": "7z"} {
		_, err := Detect([]byte(start))
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.ErrorContains(t, err, want)
	}

	fsys := vfstest.New(t)
	_, err := Export(t.Context(), fsys, "/", io.Discard, "rar", nil)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = Import(t.Context(), fsys, strings.NewReader("x"), "/", "rar", nil)
	require.ErrorIs(t, err, syscall.EINVAL)
}

// A zip that comes as a stream is read from a temporary file, of which nothing is left.
func TestZipFromStream(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	source := vfstest.New(t, "a", "d/b")
	data, _ := exported(t, source, Zip)

	fsys := vfstest.New(t)
	_, err := Import(t.Context(), fsys, bytes.NewReader(data), "/", "", nil)
	require.NoError(t, err)
	require.Equal(t, vfstest.Names(t, source), vfstest.Names(t, fsys))

	fresh := vfstest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	first := io.LimitReader(bytes.NewReader(data), 60)
	_, err = Import(ctx, fresh, io.MultiReader(first, &canceller{bytes.NewReader(data[60:]), cancel}), "/", "", nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, vfstest.Names(t, fresh))
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	for _, e := range left {
		require.NotContains(t, e.Name(), ".zip")
	}
}

// A canceller cancels when it is read.
type canceller struct {
	io.Reader
	cancel func()
}

func (c *canceller) Read(p []byte) (int, error) {
	c.cancel()
	return c.Reader.Read(p[:min(len(p), 1)])
}

// A cancelled import leaves no name, however far it was.
func TestCancelledImport(t *testing.T) {
	source := vfstest.New(t)
	for i := range 50 {
		vfstest.Write(t, source, fmt.Sprint(i), strings.Repeat("text", i*1000))
	}
	for _, f := range Formats() {
		data, _ := exported(t, source, f)
		fsys := vfstest.New(t)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Import(ctx, fsys, bytes.NewReader(data), "/", f, &transfer.ImportOptions{Progress: func(p transfer.Progress) {
			if p.Files == 40 {
				cancel()
			}
		}})
		require.ErrorIs(t, err, context.Canceled, f)
		require.Empty(t, vfstest.Names(t, fsys), f)
	}
}
