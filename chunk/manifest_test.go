package chunk

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/blake3"

	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

func TestLines(t *testing.T) {
	var l lines
	_, ok := l.find(0)
	require.False(t, ok)
	for _, i := range []int64{0, 3, 4, 1<<32 - 1} {
		l = l.add(i, SumOf([]byte{byte(i)}))
	}
	require.Equal(t, 4, l.count())
	for _, i := range []int64{0, 3, 4, 1<<32 - 1} {
		sum, ok := l.find(i)
		require.True(t, ok)
		require.Equal(t, SumOf([]byte{byte(i)}), sum)
	}
	for _, i := range []int64{1, 2, 5, 1<<32 - 2, 1 << 40} {
		_, ok := l.find(i)
		require.False(t, ok, i)
	}
	require.Empty(t, l.check(MaxSize))
	require.NotEmpty(t, l.check(MaxSize-Size))
}

// Reading any body neither panics nor returns a chunk past the end, and the lines of a body that passes are in order.
func FuzzManifest(f *testing.F) {
	f.Add(int64(2*Size), []byte{})
	f.Add(int64(2*Size), []byte(lines{}.add(0, Sum{1}).add(1, Sum{2})))
	f.Add(int64(Size+1), []byte(lines{}.add(1, Sum{1}).add(1, Sum{2})))
	f.Add(int64(MaxSize), []byte(lines{}.add(1<<32-1, Sum{1})))
	f.Add(int64(-1), []byte{1})
	f.Fuzz(func(t *testing.T, size int64, body []byte) {
		l := lines(body)
		if l.check(size) != "" {
			return
		}
		var again lines
		before := int64(-1)
		for n := range l.count() {
			i, sum := l.at(n)
			require.Greater(t, i, before)
			require.Positive(t, lengthOf(size, i))
			found, ok := l.find(i)
			require.True(t, ok)
			require.Equal(t, sum, found)
			again, before = again.add(i, sum), i
		}
		require.Equal(t, string(l), string(again))
		require.LessOrEqual(t, l.seek(chunks(size)), l.count())
		require.Equal(t, l.count(), l.seek(chunks(size)))
	})
}

// The sum of long content, put together by hand as FORMAT.md defines it.
func TestManifestSum(t *testing.T) {
	p := noise(4, 2*Size+1)
	clear(p[:Size])
	h := blake3.NewDeriveKey("vfsdb 2026-11 manifest v1")
	_, _ = h.Write([]byte{0, 0, 0, 0, 0, 0x10, 0, 1})
	for i := byte(1); i <= 2; i++ {
		sum := blake3.Sum256(p[int(i)*Size : min(len(p), int(i+1)*Size)])
		_, _ = h.Write(append([]byte{0, 0, 0, i}, sum[:]...))
	}
	require.Equal(t, h.Sum(nil), func() []byte { s := Prepare(p).Sum(); return s[:] }())
}

func TestBlobs(t *testing.T) {
	db := dbtest.Open(t)
	p := noise(5, 3*Size+1)
	clear(p[Size : 2*Size])
	c := put(t, db, p)
	view(t, db, func(tx *schema.Tx) {
		ids, err := Blobs(tx, c.Manifest)
		require.NoError(t, err)
		require.Equal(t, []int64{1024, 1025, 1026}, ids)
	})
	dbtest.Exec(t, db, `UPDATE blob SET size = 2 WHERE id = 1026`)
	view(t, db, func(tx *schema.Tx) {
		_, err := Blobs(tx, c.Manifest)
		require.ErrorIs(t, err, ErrCorrupt)
	})
	dbtest.Exec(t, db, `DELETE FROM blob WHERE id = 1026`)
	view(t, db, func(tx *schema.Tx) {
		_, err := Blobs(tx, c.Manifest)
		require.ErrorContains(t, err, "missing")
	})
}
