package transfer

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/node"
	"vfsdb/vfs"
	"vfsdb/xattr"
)

// A member is one entry of an archive in the making.
type member struct {
	name string
	kind byte // 0 is a regular file
	link string
	body string
	more func(*tar.Header)
}

func archive(t testing.TB, members ...member) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Typeflag: m.kind, Linkname: m.link, Mode: 0o644, Size: int64(len(m.body)), ModTime: time.Unix(1e9, 0)}
		if m.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if m.kind == tar.TypeXGlobalHeader {
			h = &tar.Header{Typeflag: m.kind}
		}
		if m.more != nil {
			m.more(h)
		}
		require.NoError(t, w.WriteHeader(h))
		_, err := io.WriteString(w, m.body)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return &b
}

func TestTarThereAndBack(t *testing.T) {
	src := richTree(t)
	fsys, again := vfstest.New(t), vfstest.New(t)
	in, err := ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	var b bytes.Buffer
	out, err := ExportTar(t.Context(), fsys, "/", &b, nil)
	require.NoError(t, err)
	require.Equal(t, in, out)
	back, err := ImportTar(t.Context(), again, iotest.HalfReader(&b), "/", nil)
	require.NoError(t, err)
	require.Equal(t, in, back)
	dest := t.TempDir()
	_, err = ExportDir(t.Context(), again, "/", dest, nil)
	require.NoError(t, err)
	require.Equal(t, host(t, src), host(t, dest))
}

// TestSystemTar exchanges archives with the program tar.
func TestSystemTar(t *testing.T) {
	program, err := exec.LookPath("tar")
	if err != nil {
		t.Skip("needs tar")
	}
	if text, _ := exec.Command(program, "--version").Output(); !bytes.Contains(text, []byte("GNU tar")) {
		t.Skip("needs GNU tar")
	}
	src := richTree(t)
	want := host(t, src)
	file := filepath.Join(t.TempDir(), "x.tar")
	for _, format := range []string{"--format=pax", "--format=gnu", "--format=pax -S", "--format=gnu -S"} {
		args := append([]string{"-C", src, "-cf", file}, strings.Fields(format)...)
		out, err := exec.Command(program, append(args, ".")...).CombinedOutput()
		require.NoError(t, err, string(out))
		f, err := os.Open(file)
		require.NoError(t, err)
		fsys := vfstest.New(t)
		report, err := ImportTar(t.Context(), fsys, f, "/", nil)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Empty(t, report.Refused)
		dest := t.TempDir()
		_, err = ExportDir(t.Context(), fsys, "/", dest, nil)
		require.NoError(t, err)
		got := host(t, dest)
		require.Len(t, got, len(want))
		for name := range want {
			if strings.Contains(format, "gnu") { // has whole seconds
				want[name], got[name] = withoutTime(want[name]), withoutTime(got[name])
			}
			require.Equal(t, want[name], got[name], format)
		}
		want = host(t, src)
	}

	fsys := vfstest.New(t)
	_, err = ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	f, err := os.Create(file)
	require.NoError(t, err)
	_, err = ExportTar(t.Context(), fsys, "/", f, nil)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	dest := t.TempDir()
	out, err := exec.Command(program, "-C", dest, "-xpf", file).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, want, host(t, dest))
}

func withoutTime(text string) string {
	fields := strings.SplitN(text, " ", 3)
	fields[1] = ""
	return strings.Join(fields, " ")
}

// gnuSparse is an archive with one file that is nothing but a hole.
func gnuSparse(t testing.TB, size int64) []byte {
	t.Helper()
	data := archive(t, member{name: "hole"}).Bytes()
	h := data[:512]
	copy(h[257:], "ustar  \x00")
	h[156] = tar.TypeGNUSparse
	copy(h[124:136], "00000000000\x00") // bytes in the archive
	copy(h[386:398], base256(size))     // the only fragment, of no length, at the end
	copy(h[398:410], "00000000000\x00") //
	copy(h[483:495], base256(size))     // the real size
	copy(h[148:156], "        ")        // the checksum is made with it empty
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return data
}

func base256(n int64) []byte {
	p := make([]byte, 12)
	p[0] = 0x80
	for i := 11; i > 3; i-- {
		p[i] = byte(n)
		n >>= 8
	}
	return p
}

func TestSparseTar(t *testing.T) {
	fsys := vfstest.New(t)
	_, err := ImportTar(t.Context(), fsys, bytes.NewReader(gnuSparse(t, 4<<30+5)), "/", nil)
	require.NoError(t, err)
	info, err := fsys.Stat(t.Context(), "hole")
	require.NoError(t, err)
	require.EqualValues(t, 4<<30+5, info.Size())
	db, err := os.Stat(fsys.Store().Path())
	require.NoError(t, err)
	require.Less(t, db.Size(), int64(1<<20))

	_, err = ImportTar(t.Context(), fsys, bytes.NewReader(gnuSparse(t, 1<<50)), "/", nil)
	require.ErrorIs(t, err, syscall.EFBIG)
	_, err = ImportTar(t.Context(), fsys, bytes.NewReader(gnuSparse(t, 1<<20)), "/", &ImportOptions{MaxFileSize: 1<<20 - 1})
	require.ErrorIs(t, err, syscall.EFBIG)
}

func TestExportTarRefuses(t *testing.T) {
	fsys := vfstest.New(t, "ok", "f")
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error { return tx.Mknod("socket", fs.ModeSocket|0o644, 0) }))
	var b bytes.Buffer
	report, err := ExportTar(t.Context(), fsys, "/", &b, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"socket"}, paths(report.Refused))
	_, err = ExportTar(t.Context(), fsys, "f", &b, nil)
	require.ErrorIs(t, err, syscall.ENOTDIR)
	_, err = ExportTar(t.Context(), fsys, "/", failing{}, nil)
	require.ErrorIs(t, err, syscall.ENOSPC)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestExportTarIsStable shows that equal trees make equal archives, sorted.
func TestExportTarIsStable(t *testing.T) {
	fsys := vfstest.New(t, "b", "a/y", "a/x/z", "a.b", "c/")
	vfstest.Write(t, fsys, "big", string(noise(1, 3*chunk.Size)))
	var one, two bytes.Buffer
	_, err := ExportTar(t.Context(), fsys, "/", &one, nil)
	require.NoError(t, err)
	_, err = ExportTar(t.Context(), fsys, "/", &two, nil)
	require.NoError(t, err)
	require.True(t, bytes.Equal(one.Bytes(), two.Bytes()))
	var names []string
	for r := tar.NewReader(&one); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		names = append(names, h.Name)
	}
	require.Equal(t, []string{"./", "a/", "a/x/", "a/x/z", "a/y", "a.b", "b", "big", "c/"}, names)
}

// An archive that a store exports can be imported, however long its paths are.
func TestTarLongestPath(t *testing.T) {
	ctx := t.Context()
	a := vfstest.New(t)
	longest := strings.Repeat(strings.Repeat("d", 200)+"/", 20)
	longest += strings.Repeat("x", 4096-len(longest))
	require.NoError(t, a.MkdirAll(ctx, longest[:strings.LastIndexByte(longest, '/')], 0o755))
	require.NoError(t, a.WriteFile(ctx, longest, []byte("x"), 0o644))
	var buf bytes.Buffer
	_, err := ExportTar(ctx, a, "", &buf, nil)
	require.NoError(t, err)
	for _, to := range []string{"", "/"} {
		b := vfstest.New(t)
		_, err = ImportTar(ctx, b, bytes.NewReader(buf.Bytes()), to, nil)
		require.NoError(t, err)
		require.Equal(t, "x", vfstest.Read(t, b, longest))
	}
}

// A file that is removed while the archive is written is left out, however large it is.
func TestTarWhileRemoved(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(ctx, "a", []byte("the first one"), 0o644))
	require.NoError(t, fsys.WriteFile(ctx, "b", make([]byte, 2*chunk.Size), 0o644))
	require.NoError(t, fsys.WriteFile(ctx, "c", []byte("the last one"), 0o644))
	var buf bytes.Buffer
	w := writerFunc(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("the first one")) {
			require.NoError(t, fsys.Remove(ctx, "b"))
		}
		return buf.Write(p)
	})
	_, err := ExportTar(ctx, fsys, "", w, nil)
	require.NoError(t, err)
	again := vfstest.New(t)
	_, err = ImportTar(ctx, again, &buf, "", nil)
	require.NoError(t, err)
	require.Equal(t, vfstest.Names(t, fsys), vfstest.Names(t, again))
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Extended attributes of users are kept. Others of an archive are named like those of a directory.
func TestTarXattrs(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	require.NoError(t, w.WriteHeader(&tar.Header{
		Format: tar.FormatPAX, Name: "f", Typeflag: tar.TypeReg, Mode: 0o644,
		PAXRecords: map[string]string{"SCHILY.xattr.user.one": "\x00x", "LIBARCHIVE.xattr.user.one": "AHg", "SCHILY.xattr.security.capability": "x", "SCHILY.acl.access": "u::rw-", "VENDOR.other": "x"},
	}))
	require.NoError(t, w.WriteHeader(&tar.Header{
		Format: tar.FormatPAX, Name: "p", Typeflag: tar.TypeFifo, Mode: 0o644, PAXRecords: map[string]string{"SCHILY.xattr.user.two": "x"},
	}))
	require.NoError(t, w.WriteHeader(&tar.Header{
		Format: tar.FormatPAX, Name: "big", Typeflag: tar.TypeReg, Mode: 0o644,
		PAXRecords: map[string]string{"SCHILY.xattr.user.big": strings.Repeat("x", node.MaxXattrs), "SCHILY.xattr.user.small": "x"},
	}))
	require.NoError(t, w.Close())
	fsys := vfstest.New(t)
	report, err := ImportTar(t.Context(), fsys, &b, "/", nil)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"security.capability": 1, "access": 1, "user.two": 1, "user.big": 1, "user.small": 1}, report.Xattrs)
	value, err := xattr.Get(t.Context(), fsys, "f", xattr.Follow, "user.one")
	require.NoError(t, err)
	require.Equal(t, "\x00x", string(value))

	// They go out and in again. A name that no record can have, and what a zip has no place for, are reported.
	require.NoError(t, xattr.Set(t.Context(), fsys, ".", xattr.Follow, "user.root", []byte("r"), 0))
	require.NoError(t, fsys.Link(t.Context(), "f", "hard"))
	var out, zipped bytes.Buffer
	report, err = ExportTar(t.Context(), fsys, "/", &out, nil)
	require.NoError(t, err)
	require.Empty(t, report.Xattrs)
	again := vfstest.New(t)
	_, err = ImportTar(t.Context(), again, &out, "/", nil)
	require.NoError(t, err)
	require.Equal(t, vfstest.Dump(t, fsys), vfstest.Dump(t, again))
	require.NoError(t, xattr.Set(t.Context(), fsys, "f", xattr.Follow, "user.a=b", nil, 0))
	report, err = ExportTar(t.Context(), fsys, "/", &out, nil)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"user.a=b": 1}, report.Xattrs)
	require.NoError(t, fsys.Remove(t.Context(), "p"))
	report, err = ExportZip(t.Context(), fsys, "/", &zipped, nil)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"user.a=b": 2, "user.one": 2, "user.root": 1}, report.Xattrs)
}
