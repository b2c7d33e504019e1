package transfer

import (
	"archive/tar"
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// FuzzImportTar imports bytes that may be an archive. It must not panic, nothing may change outside the destination,
// the store must be sound, and the imported tree must survive an export and another import.
func FuzzImportTar(f *testing.F) {
	for _, members := range [][]member{
		nil,
		{{name: "a", body: "x"}, {name: "d/", kind: tar.TypeDir}, {name: "d/b", body: strings.Repeat("y", 700)}},
		{{name: "/abs"}, {name: "../up"}, {name: "a/../../b"}, {name: "./c"}},
		{{name: "l", kind: tar.TypeSymlink, link: "/"}, {name: "l/x"}, {name: "in/x"}, {name: "in/in", kind: tar.TypeSymlink, link: "in"}},
		{{name: "f", body: "1"}, {name: "g", kind: tar.TypeLink, link: "f"}, {name: "f", body: "2"}, {name: "g", kind: tar.TypeSymlink, link: "f"}},
		{{name: "n", kind: tar.TypeChar}, {name: "p", kind: tar.TypeFifo}, {name: "v", kind: 'V'}},
		{{name: "long" + strings.Repeat("/deep", 60), body: "z"}, {name: strings.Repeat("n", 300)}},
		{{name: "päx", more: func(h *tar.Header) { h.Format, h.PAXRecords = tar.FormatPAX, map[string]string{"vendor.x": "1"} }}},
	} {
		f.Add(archive(f, members...).Bytes())
	}
	f.Add(gnuSparse(f, 1<<19))
	f.Add(gnuSparse(f, 1<<60))

	f.Fuzz(importAnything)
}

// TestRandomTars does the same with archives that are well-formed, of names that get in each other's way.
func TestRandomTars(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	name := func() string {
		parts := []string{pick("a", "b", "in", "in", "..", ".", "", "a"), pick("a", "b", "in", ".."), pick("a", "b")}
		return strings.Join(parts[:1+r.IntN(3)], "/") + pick("", "", "", "/")
	}
	kinds := []byte{0, 0, 0, 0, tar.TypeDir, tar.TypeDir, tar.TypeSymlink, tar.TypeSymlink, tar.TypeLink, tar.TypeLink, tar.TypeLink, tar.TypeFifo, 'V'}
	for round := range 60 {
		var members []member
		for range 2 + r.IntN(10) {
			m := member{name: name(), kind: kinds[r.IntN(len(kinds))]}
			if m.kind != tar.TypeDir {
				m.name = strings.TrimRight(m.name, "/") // or the writer refuses it
			}
			switch m.kind {
			case 0:
				m.body = strings.Repeat("x", r.IntN(3))
			case tar.TypeSymlink:
				m.link = pick("..", "/", "a", "b", "../out", "in")
			case tar.TypeLink:
				m.link = name()
			}
			members = append(members, m)
		}
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					for _, m := range members {
						t.Logf("%q %q -> %q %q", m.kind, m.name, m.link, m.body)
					}
				}
			}()
			importAnything(t, archive(t, members...).Bytes())
		})
	}
}

func importAnything(t *testing.T, data []byte) {
	fsys := vfstest.New(t, "outside", "out/side", "to/")
	require.NoError(t, fsys.Symlink(t.Context(), "../out", "to/in"))
	before := vfstest.Dump(t, fsys)
	o := &ImportOptions{MaxFileSize: 1 << 20}
	if _, err := ImportTar(t.Context(), fsys, bytes.NewReader(data), "to", o); err != nil {
		require.Equal(t, before, vfstest.Dump(t, fsys))
		o.Partial = true
		_, _ = ImportTar(t.Context(), fsys, bytes.NewReader(data), "to", o)
	}
	after := vfstest.Dump(t, fsys)
	for name := range after {
		if inside(name) {
			delete(after, name)
		}
	}
	for name := range before {
		if inside(name) {
			delete(before, name)
		}
	}
	require.Equal(t, before, after)

	first := exported(t, fsys, "to")
	_, err := ImportTar(t.Context(), fsys, bytes.NewReader(first), "again", nil)
	require.NoError(t, err)
	require.True(t, bytes.Equal(first, exported(t, fsys, "again")))
}

func inside(name string) bool {
	name = strings.Trim(filepath.ToSlash(name), "./")
	return name == "" || name == "to" || strings.HasPrefix(name, "to/")
}

func exported(t testing.TB, fsys *vfs.FS, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	_, err := ExportTar(t.Context(), fsys, dir, &b, nil)
	require.NoError(t, err)
	return b.Bytes()
}
