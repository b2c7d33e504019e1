package chunk

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

// pieces yields p in pieces of n bytes and, if empty, nothing at all every other time.
type pieces struct {
	p     []byte
	n     int
	empty bool
	odd   bool
}

func (r *pieces) Read(p []byte) (int, error) {
	if r.odd = !r.odd; r.empty && r.odd {
		return 0, nil
	}
	if len(r.p) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(r.n, len(p))], r.p)
	r.p = r.p[n:]
	return n, nil
}

// Zeros are not stored, whether written or skipped.
func TestHoles(t *testing.T) {
	db := dbtest.Open(t)
	for _, n := range []int{0, 1, Size - 1, Size, Size + 1, 3 * Size, 3*Size + 1} {
		zeros := put(t, db, make([]byte, n))
		require.Zero(t, zeros.Blob)
		require.Equal(t, n > Size, zeros.Manifest != 0)
		require.Equal(t, zeros, stream(t, db, bytes.NewReader(make([]byte, n))))
		update(t, db, func(tx *schema.Tx) {
			skipped, err := Apply(tx, Content{}, int64(n), nil)
			require.NoError(t, err)
			require.Equal(t, zeros, skipped)
		})
		require.Equal(t, make([]byte, n), get(t, db, zeros))
		if n <= Size {
			require.Equal(t, SumOf(make([]byte, n)), sumIn(t, db, zeros))
		}
	}
	require.Zero(t, dbtest.Number(t, db, `SELECT count(*) FROM blob`))
}

func TestHugeHole(t *testing.T) {
	const size = 100 << 30
	db := dbtest.Open(t)
	var c Content
	update(t, db, func(tx *schema.Tx) {
		var err error
		c, err = Apply(tx, put0(t, tx, []byte("head")), size, []Patch{{Off: size - 4, Data: []byte("tail")}})
		require.NoError(t, err)
	})
	require.EqualValues(t, size, c.Size)
	require.EqualValues(t, 3, dbtest.Number(t, db, `SELECT count(*) FROM blob`), "head, longer head, tail")
	pages := dbtest.Number(t, db, `PRAGMA page_count`)
	require.Less(t, pages*schema.PageSize, int64(3<<20)) // three chunks, two of them almost all zeros
	p := make([]byte, 8)
	view(t, db, func(tx *schema.Tx) {
		for off, want := range map[int64]string{0: "head\x00\x00\x00\x00", 50 << 30: "\x00\x00\x00\x00\x00\x00\x00\x00", size - 8: "\x00\x00\x00\x00tail"} {
			_, err := Read(tx, c, p, off)
			require.NoError(t, err)
			require.Equal(t, want, string(p))
		}
	})
	before := dbtest.Number(t, db, `PRAGMA page_count`)
	update(t, db, func(tx *schema.Tx) {
		_, err := Apply(tx, Content{}, size, nil)
		require.NoError(t, err)
	})
	require.Less(t, dbtest.Number(t, db, `PRAGMA page_count`)-before, int64(4), "a hole of 100 GiB")
}

func put0(t testing.TB, tx *schema.Tx, p []byte) Content {
	c, err := Put(tx, p)
	require.NoError(t, err)
	return c
}

// A Content that no inode of ours ever has is damage too, not a panic.
func TestImpossibleContent(t *testing.T) {
	db := dbtest.Open(t)
	for _, c := range []Content{
		{Size: -1},
		{Size: 0, Blob: 1024},
		{Size: 5, Manifest: 1024},
		{Size: Size + 1},
		{Size: Size + 1, Blob: 1024},
		{Size: Size + 1, Blob: 1024, Manifest: 1024},
		{Size: MaxSize + 1, Manifest: 1024},
		{Size: 5, Blob: 1024},
		{Size: Size + 1, Manifest: 1024},
	} {
		update(t, db, func(tx *schema.Tx) {
			_, err := Read(tx, c, make([]byte, 1), 0)
			require.ErrorIs(t, err, ErrCorrupt)
			_, err = SumOfContent(tx, c)
			require.ErrorIs(t, err, ErrCorrupt)
			_, err = Apply(tx, c, 10, nil)
			require.ErrorIs(t, err, ErrCorrupt)
		})
	}
	c := put(t, db, noise(1, 2*Size))
	c.Size++
	view(t, db, func(tx *schema.Tx) {
		_, err := Read(tx, c, make([]byte, 1), 0)
		require.ErrorIs(t, err, ErrCorrupt)
		require.ErrorContains(t, err, "where there must be 1048577")
	})
}

// While a collection runs, content that is found is noted, and content that is referred to.
func TestWriteBarrier(t *testing.T) {
	db := dbtest.Open(t)
	small, large := put(t, db, noise(1, 10)), put(t, db, noise(2, Size+1))
	touched := `SELECT count(*) FROM touched WHERE kind = ? AND id = ?`
	update(t, db, func(tx *schema.Tx) {
		require.NoError(t, Touch(tx, small))
		require.NoError(t, Touch(tx, large))
		require.NoError(t, Touch(tx, Content{}))
	})
	require.Zero(t, dbtest.Number(t, db, `SELECT count(*) FROM touched`), "no collection runs")

	dbtest.Exec(t, db, `UPDATE gc SET phase = 2`)
	put(t, db, noise(1, 10))
	require.EqualValues(t, 1, dbtest.Number(t, db, touched, 2, small.Blob))
	require.EqualValues(t, 1, dbtest.Number(t, db, `SELECT count(*) FROM touched`))
	put(t, db, noise(2, Size+1))
	require.EqualValues(t, 1, dbtest.Number(t, db, touched, 3, large.Manifest))
	require.EqualValues(t, 4, dbtest.Number(t, db, `SELECT count(*) FROM touched`), "two chunks, and their manifest")

	dbtest.Exec(t, db, `DELETE FROM touched`)
	update(t, db, func(tx *schema.Tx) {
		require.NoError(t, Touch(tx, small))
		require.NoError(t, Touch(tx, large))
		require.NoError(t, Touch(tx, Content{Size: 5}))
	})
	require.EqualValues(t, 2, dbtest.Number(t, db, `SELECT count(*) FROM touched`))
	dbtest.Exec(t, db, `DELETE FROM touched`)
	update(t, db, func(tx *schema.Tx) {
		_, err := Apply(tx, large, Size, nil)
		require.NoError(t, err)
	})
	require.EqualValues(t, 1, dbtest.Number(t, db, touched, 3, large.Manifest), "its chunk lives on")
}

// The sums of many contents at once are those of each; longer ones, holes and what is not there are left out.
func TestSumsOf(t *testing.T) {
	db := dbtest.Open(t)
	a, b, long := put(t, db, []byte("a")), put(t, db, []byte("bb")), put(t, db, noise(1, Size+1))
	view(t, db, func(tx *schema.Tx) {
		sums, err := SumsOf(tx, []Content{a, b, a, long, {}, {Size: 9}, {Size: 1, Blob: 99_999}, {Size: -1, Blob: 1024}})
		require.NoError(t, err)
		require.Equal(t, map[Content]Sum{a: SumOf([]byte("a")), b: SumOf([]byte("bb"))}, sums)
	})
}
