package transfer

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

// FuzzImportZip imports bytes that may be a zip. It must not panic, nothing may change outside the destination, the store must
// be sound, and without Partial all goes in or nothing.
func FuzzImportZip(f *testing.F) {
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Add(zipBytes(f, zipMember{name: "a", body: "x"}, zipMember{name: "d/"}, zipMember{name: "d/b", body: strings.Repeat("y", 700)}))
	f.Add(zipBytes(f, zipMember{name: "/abs"}, zipMember{name: "../up"}, zipMember{name: "a/../../b"}, zipMember{name: `..\c`}))
	f.Add(zipBytes(f, zipMember{name: "l", body: "/", mode: fs.ModeSymlink}, zipMember{name: "l/x"}, zipMember{name: "in/x"}))
	f.Add(zipBytes(f, zipMember{name: "twice", body: "1"}, zipMember{name: "twice", body: "2"}, zipMember{name: "twice/x"}))
	f.Fuzz(importAnyZip)
}

// TestRandomZips does the same with zips in which bytes were changed, and the sizes of entries.
func TestRandomZips(t *testing.T) {
	whole := zipBytes(t, zipMember{name: "a", body: strings.Repeat("abc", 99)}, zipMember{name: "d/"},
		zipMember{name: "d/l", body: "../..", mode: fs.ModeSymlink}, zipMember{name: "in/x", body: "x"}, zipMember{name: "d/b", body: "b"})
	for round := range uint64(200) {
		random := rand.New(rand.NewPCG(5, round))
		data := bytes.Clone(whole)
		for range 1 + random.IntN(3) {
			at := random.IntN(len(data) - 8)
			switch random.IntN(3) {
			case 0:
				data[at] ^= 1 << random.IntN(8)
			case 1:
				binary.LittleEndian.PutUint32(data[at:], random.Uint32())
			default: // of the list at the end
				at = bytes.LastIndex(data, []byte("PK\x01\x02")) + random.IntN(46)
				data[at] = byte(random.IntN(256))
			}
		}
		t.Run(fmt.Sprint(round), func(t *testing.T) { importAnyZip(t, data) })
	}
}

type zipMember struct {
	name, body string
	mode       fs.FileMode
}

func zipBytes(t testing.TB, members ...zipMember) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		if m.mode != 0 {
			h.SetMode(m.mode | 0o777)
		}
		w, err := z.CreateHeader(h)
		require.NoError(t, err)
		_, err = io.WriteString(w, m.body)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func importAnyZip(t *testing.T, data []byte) {
	fsys := vfstest.New(t, "outside", "out/side", "to/")
	require.NoError(t, fsys.Symlink(t.Context(), "../out", "to/in"))
	before := vfstest.Dump(t, fsys)
	o := &ImportOptions{MaxFileSize: 1 << 20}
	if _, err := ImportZip(t.Context(), fsys, bytes.NewReader(data), int64(len(data)), "to", o); err != nil {
		require.Equal(t, before, vfstest.Dump(t, fsys))
		o.Partial = true
		_, _ = ImportZip(t.Context(), fsys, bytes.NewReader(data), int64(len(data)), "to", o)
	}

	after := vfstest.Dump(t, fsys)
	for _, dump := range []map[string]string{before, after} {
		for name := range dump {
			if inside(name) {
				delete(dump, name)
			}
		}
	}
	require.Equal(t, before, after)
}
