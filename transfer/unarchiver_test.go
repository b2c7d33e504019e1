package transfer

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/transfer/hostdir"
)

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
		{"unknown types", []member{{name: "v", kind: 'M'}, {name: "z", kind: 'Z'}, {name: "ok"}}, []string{"v", "z"}, []string{"ok"}},
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

// TestTarMeaning shows the tree that an archive with duplicates and links becomes.
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
		require.EqualValues(t, hostdir.MakeDev(259, 70000), info.Rdev())
	}
}

// TestDamagedTar cuts an archive off: nothing of it goes in, or with Partial the part before the cut.
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
