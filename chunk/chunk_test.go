package chunk

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/blake3"

	"vfsdb/hold"
	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

func update(t testing.TB, db *schema.DB, fn func(tx *schema.Tx)) {
	t.Helper()
	require.NoError(t, db.Update(context.Background(), func(tx *schema.Tx) error { fn(tx); return nil }))
}

func view(t testing.TB, db *schema.DB, fn func(tx *schema.Tx)) {
	t.Helper()
	require.NoError(t, db.View(context.Background(), func(tx *schema.Tx) error { fn(tx); return nil }))
}

func put(t testing.TB, db *schema.DB, p []byte) (c Content) {
	t.Helper()
	update(t, db, func(tx *schema.Tx) {
		var err error
		c, err = Put(tx, p)
		require.NoError(t, err)
	})
	return c
}

func get(t testing.TB, db *schema.DB, c Content) []byte {
	t.Helper()
	p := make([]byte, c.Size)
	view(t, db, func(tx *schema.Tx) {
		n, err := Read(tx, c, p, 0)
		require.NoError(t, err)
		require.EqualValues(t, c.Size, n)
	})
	return p
}

func sumIn(t testing.TB, db *schema.DB, c Content) (sum Sum) {
	t.Helper()
	view(t, db, func(tx *schema.Tx) {
		var err error
		sum, err = SumOfContent(tx, c)
		require.NoError(t, err)
	})
	return sum
}

// stream stores the bytes of r as vfs does.
func stream(t testing.TB, db *schema.DB, r io.Reader) (c Content) {
	t.Helper()
	lease := hold.NewLease(db, nil, nil)
	defer func() { require.NoError(t, lease.Close()) }()
	s := NewStager(db, lease)
	defer s.Close()
	require.NoError(t, s.ReadFrom(context.Background(), r))
	update(t, db, func(tx *schema.Tx) {
		var err error
		c, err = s.Commit(tx)
		require.NoError(t, err)
	})
	require.Equal(t, s.Size(), c.Size)
	require.Equal(t, s.Sum(), sumIn(t, db, c))
	return c
}

// rounds is the number of random runs: fewer under the race detector.
func rounds(n int) int {
	if racing {
		return n / 10
	}
	return n
}

// noise returns n bytes, of which no chunk repeats another, nor one of another seed.
func noise(seed uint64, n int) []byte {
	p := make([]byte, n)
	for off := 0; off < n; off += len(random()) {
		copy(p[off:], random())
		var stamp [16]byte
		binary.BigEndian.PutUint64(stamp[:], ^seed)
		binary.BigEndian.PutUint64(stamp[8:], uint64(off))
		copy(p[off:], stamp[:])
		if seed < 256 {
			p[off] = byte(seed) + 1 // for the very short
		}
	}
	return p
}

// random is some bytes that are expensive to make.
var random = sync.OnceValue(func() []byte {
	p := make([]byte, Size/2)
	_, _ = rand.NewChaCha8([32]byte{}).Read(p)
	return p
})

// However bytes arrive, they are the same content, and their sum is known beforehand.
func TestSameBytesSameContent(t *testing.T) {
	sizes := []int{0, 1, 2, Size - 1, Size, Size + 1, 2 * Size, 9*Size - 1, 9 * Size, 17*Size + 5}
	if racing {
		sizes = []int{0, 1, Size, Size + 1, 9 * Size}
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p := noise(uint64(n), n)
			db := dbtest.Open(t)
			want := put(t, db, p)
			require.EqualValues(t, n, want.Size)
			require.Equal(t, n > 0 && n <= Size, want.Blob != 0)
			require.Equal(t, n > Size, want.Manifest != 0)
			require.True(t, bytes.Equal(p, get(t, db, want)))

			sources := map[string]io.Reader{
				"at once":       bytes.NewReader(p),
				"data with EOF": iotest.DataErrReader(bytes.NewReader(p)),
				"halves":        iotest.HalfReader(bytes.NewReader(p)),
				"odd pieces":    &pieces{p: p, n: 70_001},
				"empty pieces":  &pieces{p: p, n: 300_000, empty: true},
				"a file's":      io.NewSectionReader(bytes.NewReader(p), 0, int64(n)),
			}
			if n <= 2*Size {
				sources["byte by byte"] = iotest.OneByteReader(bytes.NewReader(p))
			}
			for name, r := range sources {
				require.Equal(t, want, stream(t, db, r), name)
			}
			other := stream(t, dbtest.Open(t), bytes.NewReader(p))
			require.Equal(t, want.Size, other.Size)

			sum := sumIn(t, db, want)
			require.Equal(t, sum, Prepare(p).Sum())
			if n <= Size {
				require.Equal(t, Sum(blake3.Sum256(p)), sum)
			}
			chunks := (n + Size - 1) / Size
			require.EqualValues(t, chunks, dbtest.Number(t, db, `SELECT count(*) FROM blob`), "stored once")
			require.EqualValues(t, min(1, n/(Size+1)), dbtest.Number(t, db, `SELECT count(*) FROM manifest`))
		})
	}
}
