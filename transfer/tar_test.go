package transfer

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
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

func TestHostileTar(t *testing.T) {
	long := strings.Repeat("x", 256)
	deep := strings.Repeat("d/", 2048) + "f"
	pax := func(key, value string) func(*tar.Header) {
		return func(h *tar.Header) { h.PAXRecords = map[string]string{key: value} }
	}
	for _, tt := range []struct {
		name    string
		members []member
		refused []string
		want    []string // with Partial
	}{
		{"a slash at the start", []member{{name: "/etc/passwd"}, {name: "//x"}}, nil, []string{"etc/passwd", "x"}},
		{"dots and slashes", []member{{name: "./a/.//b"}, {name: "./", kind: tar.TypeDir}}, nil, []string{"a/b"}},
		{"dot dot", []member{{name: "../x"}, {name: "a/../../x"}, {name: "a/.."}, {name: ".."}, {name: "..x"}}, []string{"../x", "a/../../x", "a/..", ".."}, []string{"..x"}},
		{"the top is a file", []member{{name: "."}, {name: "ok"}}, []string{"."}, []string{"ok"}},
		{"through a symlink", []member{{name: "l", kind: tar.TypeSymlink, link: "/"}, {name: "l/x"}, {name: "l/d/", kind: tar.TypeDir}, {name: "l/h", kind: tar.TypeLink, link: "l"}}, []string{"l/x", "l/d/", "l/h"}, []string{"l"}},
		{"a symlink in place of a directory", []member{{name: "d/x"}, {name: "d", kind: tar.TypeSymlink, link: "/"}, {name: "d/y"}}, []string{"d"}, []string{"d/x", "d/y"}},
		{"a directory in place of a symlink", []member{{name: "d", kind: tar.TypeSymlink, link: "/"}, {name: "d/", kind: tar.TypeDir}, {name: "d/y"}}, []string{"d/", "d/y"}, []string{"d"}},
		{"through a file", []member{{name: "f"}, {name: "f/x"}}, []string{"f/x"}, []string{"f"}},
		{"through a symlink of the store", []member{{name: "inside/x"}, {name: "ok"}}, []string{"inside/x"}, []string{"ok"}},
		{"over a symlink of the store", []member{{name: "inside", body: "x"}}, nil, []string{"inside"}},
		{"hard links", []member{{name: "f", body: "x"}, {name: "g", kind: tar.TypeLink, link: "./f"}, {name: "h", kind: tar.TypeLink, link: "/g"}}, nil, []string{"f", "g", "h"}},
		{"a hard link to itself", []member{{name: "f", body: "x"}, {name: "f", kind: tar.TypeLink, link: "f"}}, nil, []string{"f"}},
		{"hard links out", []member{
			{name: "a", kind: tar.TypeLink, link: "../x"},
			{name: "b", kind: tar.TypeLink, link: "/etc/passwd"},
			{name: "c", kind: tar.TypeLink, link: "c"},
			{name: "d", kind: tar.TypeLink, link: "outside"},
			{name: "e", kind: tar.TypeLink, link: ""},
			{name: "ok"},
		}, []string{"a", "b", "c", "d", "e"}, []string{"ok"}},
		{"a hard link to a directory", []member{{name: "d/x"}, {name: "l", kind: tar.TypeLink, link: "d"}}, []string{"l"}, []string{"d/x"}},
		{"names too long", []member{{name: long}, {name: "d/" + long + "/x"}, {name: deep}, {name: long[:255]}}, []string{long, "d/" + long + "/x", deep}, []string{long[:255]}},
		{"symlinks out", []member{{name: "a", kind: tar.TypeSymlink, link: "/etc/passwd"}, {name: "b", kind: tar.TypeSymlink, link: "../../.."}}, nil, []string{"a", "b"}},
		{"symlinks to nothing", []member{{name: "a", kind: tar.TypeSymlink}, {name: "b", kind: tar.TypeSymlink, link: deep}}, []string{"a", "b"}, nil},
		{"unknown types", []member{{name: "v", kind: 'V'}, {name: "z", kind: 'Z'}, {name: "ok"}}, []string{"v", "z"}, []string{"ok"}},
		{"devices", []member{{name: "null", kind: tar.TypeChar, more: func(h *tar.Header) { h.Devmajor, h.Devminor = 1, 3 }}, {name: "fifo", kind: tar.TypeFifo}}, nil, []string{"fifo", "null"}},
		{"owners", []member{{name: "a", more: func(h *tar.Header) { h.Format, h.Uid = tar.FormatGNU, -1 }}, {name: "b", more: func(h *tar.Header) { h.Gid = math.MaxUint32 + 1 }}, {name: "c", more: func(h *tar.Header) { h.Uid = math.MaxUint32 }}}, []string{"a", "b"}, []string{"c"}},
		{"times", []member{{name: "far", more: func(h *tar.Header) { h.ModTime = time.Unix(1<<40, 0) }}, {name: "near", more: func(h *tar.Header) { h.ModTime = time.Unix(1<<33, 0) }}}, []string{"far"}, []string{"near"}},
		{"the last one wins", []member{{name: "f", body: "1"}, {name: "g", kind: tar.TypeLink, link: "f"}, {name: "f", body: "2"}, {name: "s", kind: tar.TypeSymlink, link: "f"}, {name: "s", body: "3"}}, nil, []string{"f", "g", "s"}},
		{"a file in place of a directory", []member{{name: "d/", kind: tar.TypeDir}, {name: "d"}, {name: "e/x"}, {name: "e"}}, []string{"d", "e"}, []string{"e/x"}},
		{"a global header", []member{{kind: tar.TypeXGlobalHeader, more: pax("comment", "x")}, {name: "ok"}}, nil, []string{"ok"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := archive(t, tt.members...).Bytes()
			fsys := vfstest.New(t, "outside", "to/")
			require.NoError(t, fsys.Symlink(t.Context(), "..", "to/inside"))
			before := vfstest.Dump(t, fsys)

			_, err := ImportTar(t.Context(), fsys, bytes.NewReader(data), "to", nil)
			if tt.refused == nil {
				require.NoError(t, err)
			} else {
				var refused *RefusedError
				require.ErrorAs(t, err, &refused)
				require.Equal(t, tt.refused, paths(refused.Refused))
				require.Equal(t, before, vfstest.Dump(t, fsys))
			}

			report, err := ImportTar(t.Context(), fsys, bytes.NewReader(data), "to", &ImportOptions{Partial: true})
			require.NoError(t, err)
			require.Equal(t, tt.refused, paths(report.Refused))
			var want []string
			for _, name := range tt.want {
				want = append(want, "to/"+name)
			}
			var got []string
			for _, name := range fileNames(t, fsys) {
				if name != "outside" && (name != "to/inside" || len(tt.want) > 0 && tt.want[0] == "inside") {
					got = append(got, name)
				}
			}
			require.Equal(t, want, got)
			require.Equal(t, "outside", vfstest.Read(t, fsys, "outside"))
		})
	}
}

// TestTarMeaning looks at what an archive with duplicates and links becomes.
func TestTarMeaning(t *testing.T) {
	for _, partial := range []bool{false, true} {
		fsys := vfstest.New(t)
		zero := func(h *tar.Header) { h.ModTime, h.Mode = time.Unix(0, 0), 0o7755 }
		_, err := ImportTar(t.Context(), fsys, archive(t,
			member{name: "d/", kind: tar.TypeDir, more: func(h *tar.Header) { h.Mode = 0o700 }},
			member{name: "d/f", body: "old"},
			member{name: "g", kind: tar.TypeLink, link: "d/f"},
			member{name: "d/f", body: "new", more: zero},
			member{name: "h", kind: tar.TypeLink, link: "d/f"},
			member{name: "d/", kind: tar.TypeDir, more: zero},
			member{name: "null", kind: tar.TypeChar, more: func(h *tar.Header) { h.Devmajor, h.Devminor = 259, 70000 }},
			member{name: "./", kind: tar.TypeDir, more: zero},
		), "/", &ImportOptions{Partial: partial})
		require.NoError(t, err)
		for name, want := range map[string]string{"d/f": "new", "g": "old", "h": "new"} {
			require.Equal(t, want, vfstest.Read(t, fsys, name))
		}
		for name, nlink := range map[string]int{"d/f": 2, "g": 1, "h": 2} {
			info, err := fsys.Stat(t.Context(), name)
			require.NoError(t, err)
			require.Equal(t, nlink, info.Nlink(), name)
		}
		for _, name := range []string{"d", "d/f", "/"} {
			info, err := fsys.Stat(t.Context(), name)
			require.NoError(t, err)
			require.Equal(t, time.Unix(0, 0), info.ModTime(), name)
			require.Equal(t, fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky|0o755, info.Mode()&^fs.ModeType, name)
		}
		info, err := fsys.Stat(t.Context(), "null")
		require.NoError(t, err)
		require.EqualValues(t, mkdev(259, 70000), info.Rdev())
	}
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
	db, err := os.Stat(fsys.DB().Path())
	require.NoError(t, err)
	require.Less(t, db.Size(), int64(1<<20))

	_, err = ImportTar(t.Context(), fsys, bytes.NewReader(gnuSparse(t, 1<<50)), "/", nil)
	require.ErrorIs(t, err, syscall.EFBIG)
	_, err = ImportTar(t.Context(), fsys, bytes.NewReader(gnuSparse(t, 1<<20)), "/", &ImportOptions{MaxFileSize: 1<<20 - 1})
	require.ErrorIs(t, err, syscall.EFBIG)
}

// TestDamagedTar cuts an archive off: nothing of it goes in, or with Partial what came before.
func TestDamagedTar(t *testing.T) {
	data := archive(t, member{name: "a", body: "a"}, member{name: "b", body: strings.Repeat("b", 3000)}).Bytes()
	for _, cut := range []int{100, 1100, 2000} {
		fsys := vfstest.New(t)
		_, err := ImportTar(t.Context(), fsys, bytes.NewReader(data[:cut]), "/", nil)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Empty(t, vfstest.Names(t, fsys))
		report, err := ImportTar(t.Context(), fsys, bytes.NewReader(data[:cut]), "/", &ImportOptions{Partial: true})
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Len(t, fileNames(t, fsys), int(report.Files))
		require.Equal(t, cut > 1024, report.Files == 1)
	}
	fsys := vfstest.New(t)
	_, err := ImportTar(t.Context(), fsys, bytes.NewReader(noise(1, 2000)), "/", nil)
	require.ErrorIs(t, err, tar.ErrHeader)
}

// TestPartialBatches cancels a partial import: the batches that were full are there.
func TestPartialBatches(t *testing.T) {
	var members []member
	for n := range partialEntries + 500 {
		members = append(members, member{name: fmt.Sprintf("d%d/f%d", n%7, n), body: fmt.Sprint(n)})
	}
	ctx, cancel := context.WithCancel(t.Context())
	fsys := vfstest.New(t)
	report, err := ImportTar(ctx, fsys, archive(t, members...), "/", &ImportOptions{Partial: true, Progress: func(p Progress) {
		if p.Files == partialEntries+400 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, partialEntries, report.Files)
	require.Len(t, fileNames(t, fsys), partialEntries)
}

func TestExportTarRefuses(t *testing.T) {
	fsys := vfstest.New(t, "ok", "f")
	require.NoError(t, fsys.Mknod(t.Context(), "socket", fs.ModeSocket|0o644, 0))
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

// What a store exports it imports, however long the path is.
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
