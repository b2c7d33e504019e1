package purge_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/vfs"
)

// A secret makes contents that are nowhere else, and remembers their bytes.
type secret struct {
	rnd   *rand.Rand
	word  string // in each line of its texts
	bytes [][]byte
}

func newSecret() *secret {
	return &secret{rnd: rand.New(rand.NewPCG(13, 6)), word: "password and token of the secret account"}
}

// noise returns n bytes that do not compress, and text n bytes that do.
func (s *secret) noise(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(s.rnd.Uint32())
	}
	s.bytes = append(s.bytes, p)
	return p
}

func (s *secret) text(n int) []byte {
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "%s %x\n", s.word, s.rnd.Uint64())
	}
	p := b.Bytes()[:n]
	s.bytes = append(s.bytes, p)
	return p
}

// in returns what of the secret is in the raw files of a store: any 24 bytes that begin at a multiple of 8.
func (s *secret) in(t testing.TB, path string) (found []string) {
	t.Helper()
	pieces := make(map[string]bool)
	starts := make([]bool, 1<<24) // of pieces, by their first three bytes
	for _, p := range s.bytes {
		for at := 0; at+24 <= len(p); at += 8 {
			pieces[string(p[at:at+24])] = true
			starts[int(p[at])<<16|int(p[at+1])<<8|int(p[at+2])] = true
		}
	}
	names, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	for _, name := range names {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		for at := 0; at+24 <= len(raw); at++ {
			if starts[int(raw[at])<<16|int(raw[at+1])<<8|int(raw[at+2])] && pieces[string(raw[at:at+24])] {
				found = append(found, fmt.Sprintf("%s at %d: %q", filepath.Base(name), at, raw[at:at+24]))
				if len(found) > 5 {
					return found
				}
			}
		}
	}
	return found
}

// packed adds the compressed bytes of the packs that have a content of the secret in them. It returns how many these are.
func (s *secret) packed(t testing.TB, fsys *vfs.FS) (n int) {
	t.Helper()
	require.NoError(t, vfstest.DB(fsys).View(t.Context(), func(tx *schema.Tx) error {
		var frames [][]byte
		for _, p := range s.bytes {
			sum := vfs.SumOf(p)
			rows := tx.Query(`SELECT p.data FROM blob b JOIN pack p ON instr(p.blobs, unhex(printf('%016X', b.id))) WHERE b.sum = ? AND b.codec = 2`, sum[:])
			for rows.Next() {
				frames = append(frames, rows.Bytes(0))
			}
			if err := rows.Err(); err != nil {
				return err
			}
		}
		n = len(frames)
		s.bytes = append(s.bytes, frames...)
		return nil
	}))
	return n
}
