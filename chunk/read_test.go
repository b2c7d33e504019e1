package chunk

import (
	"bytes"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

func TestRead(t *testing.T) {
	db := dbtest.Open(t)
	p := noise(7, 3*Size+100)
	clear(p[Size : 2*Size])
	for _, size := range []int{0, 1, 1000, Size, Size + 1, 3*Size + 100} {
		c := put(t, db, p[:size])
		kept := NewReader(c)
		require.Equal(t, c, kept.Content())
		rng := rand.New(rand.NewPCG(uint64(size), 1))
		for range rounds(200) {
			off := rng.IntN(size + 10)
			n := rng.IntN(min(size, 2*Size) + 10)
			if rng.IntN(2) == 0 {
				n = rng.IntN(100)
			}
			want := p[min(off, size):min(off+n, size)]
			view(t, db, func(tx *schema.Tx) {
				for name, read := range map[string]func([]byte, int64) (int, error){
					"Read":   func(p []byte, off int64) (int, error) { return Read(tx, c, p, off) },
					"Reader": func(p []byte, off int64) (int, error) { return kept.ReadAt(tx, p, off) },
				} {
					got := bytes.Repeat([]byte{0xaa}, n)
					k, err := read(got, int64(off))
					require.Equal(t, len(want), k, name)
					require.True(t, bytes.Equal(want, got[:k]), "%s %d+%d of %d", name, off, n, size)
					if k < n {
						require.Equal(t, io.EOF, err)
					} else {
						require.NoError(t, err)
					}
				}
			})
		}
		kept.Release()
		view(t, db, func(tx *schema.Tx) {
			_, err := kept.ReadAt(tx, make([]byte, 1), -1)
			require.ErrorIs(t, err, syscall.EINVAL)
		})
	}
}

// Ranged reads touch only the chunks that they need: the others may be damaged.
func TestReadTouchesOnlyItsChunks(t *testing.T) {
	db := dbtest.Open(t)
	c := put(t, db, noise(3, 4*Size))
	dbtest.Exec(t, db, `UPDATE blob SET data = zeroblob(524288) WHERE id <> (SELECT min(id) + 2 FROM blob)`)
	view(t, db, func(tx *schema.Tx) {
		_, err := Read(tx, c, make([]byte, Size), 2*Size)
		require.NoError(t, err)
		n, err := Read(tx, c, make([]byte, Size), 2*Size+1)
		require.ErrorIs(t, err, ErrCorrupt)
		require.Equal(t, Size-1, n)
	})
}

func BenchmarkRead(b *testing.B) {
	const size = 64 << 20
	db := dbtest.Open(b)
	c := put(b, db, noise(1, size))
	b.SetBytes(size)
	p := make([]byte, 1<<20)
	for b.Loop() {
		r := NewReader(c)
		for off := int64(0); off < size; off += int64(len(p)) {
			view(b, db, func(tx *schema.Tx) {
				_, err := r.ReadAt(tx, p, off)
				require.NoError(b, err)
			})
		}
	}
}
