package chunk

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/hold"
	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

const wideChunks = manifestLeast + 6

// wide stores content of many chunks, which are all the same, and returns it with its bytes.
func wide(t testing.TB, db *schema.DB) (Content, []byte) {
	t.Helper()
	have := bytes.Repeat(noise(1, Size), wideChunks)
	return put(t, db, have), have
}

func bodyLen(t testing.TB, db *schema.DB, c Content) int64 {
	t.Helper()
	return dbtest.Number(t, db, `SELECT length(body) FROM manifest WHERE id = ?`, c.Manifest)
}

// A small change of long content stores the lines that changed, over a manifest that is whole, until they are too many.
// The content is the same either way.
func TestManifestDelta(t *testing.T) {
	db := dbtest.Open(t)
	c, have := wide(t, db)
	base, longest := c.Manifest, int64(0)
	deltas, wholes := 0, 0
	for i := range int64(40) {
		off := (i*3%wideChunks)*Size + i
		word := []byte{byte(i), 'x'}
		copy(have[off:], word)
		c = apply(t, db, c, int64(len(have)), Patch{off, word})
		require.Equal(t, Prepare(have).Sum(), sumIn(t, db, c))
		if n := bodyLen(t, db, c); n%int64(lineSize) == 0 {
			require.EqualValues(t, wideChunks*lineSize, n)
			wholes, base = wholes+1, c.Manifest
		} else {
			deltas, longest = deltas+1, max(longest, n)
			require.EqualValues(t, 1, dbtest.Number(t, db, `SELECT count(*) FROM patch WHERE kind = 3 AND base = ? AND id = ?`, base, c.Manifest))
		}
		if i%8 == 0 {
			require.True(t, bytes.Equal(have, get(t, db, c)))
			require.Equal(t, put(t, db, have), c, "canonical")
		}
	}
	require.Positive(t, wholes)
	require.Greater(t, deltas, 20)
	require.Less(t, longest, int64(wideChunks*lineSize/3))
	checkPatches(t, db)
}

func TestManifestDeltaOrWhole(t *testing.T) {
	zero := make([]byte, Size)
	for _, tt := range []struct {
		name    string
		size    int64 // beyond the size before
		patches []Patch
		want    int // lines over the base; -1: it is whole
	}{
		{"a byte", 0, []Patch{{5, []byte("x")}}, 1},
		{"a byte across chunks", 0, []Patch{{Size - 1, []byte("xy")}}, 2},
		{"a hole", 0, []Patch{{3 * Size, zero}}, 1},
		{"appended", 5, []Patch{{wideChunks * Size, []byte("tail.")}}, 1},
		{"extended by a hole", 10 * Size, nil, 0},
		{"cut to fewer chunks", -Size, nil, -1},
		{"cut within the last chunk", -100, nil, 1},
		{"many", 0, []Patch{{0, bytes.Repeat(noise(2, Size), wideChunks/2)}}, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := dbtest.Open(t)
			c, have := wide(t, db)
			size := c.Size + tt.size
			got := apply(t, db, c, size, tt.patches...)
			want := model(have, size, tt.patches)
			require.True(t, bytes.Equal(want, get(t, db, got)))
			require.Equal(t, put(t, db, want), got, "canonical")
			if tt.want >= 0 {
				require.EqualValues(t, deltaHead+tt.want*lineSize, bodyLen(t, db, got))
			} else {
				require.Zero(t, bodyLen(t, db, got)%int64(lineSize))
			}
			checkPatches(t, db)

			// And on: a hole, or an added line, changes again.
			then := []Patch{{3*Size + 9, []byte("again")}, {min(size, wideChunks*Size) - 5, []byte("end")}}
			again := apply(t, db, got, size, then...)
			want = model(want, size, then)
			require.True(t, bytes.Equal(want, get(t, db, again)))
			require.Equal(t, put(t, db, want), again, "canonical")
			checkPatches(t, db)
		})
	}
}

// Lines laid over lines, compared with maps.
func TestLinesOver(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	random := func() (lines, map[int64]Sum) {
		m := make(map[int64]Sum)
		for range rng.IntN(8) {
			sum := Sum{}
			if rng.IntN(4) > 0 {
				sum = SumOf([]byte{byte(rng.IntN(100))})
			}
			m[rng.Int64N(12)] = sum
		}
		var l lines
		for _, i := range slices.Sorted(maps.Keys(m)) {
			l = l.add(i, m[i])
		}
		return l, m
	}
	for range 2000 {
		upper, want := random()
		lower, below := random()
		for i, sum := range below {
			if _, ok := want[i]; !ok {
				want[i] = sum
			}
		}
		over := upper.over(lower)
		require.Equal(t, len(want), over.count())
		maps.DeleteFunc(want, func(_ int64, sum Sum) bool { return sum.IsZero() })
		solid := over.solid()
		require.Equal(t, len(want), solid.count())
		before := int64(-1)
		for n := range solid.count() {
			i, sum := solid.at(n)
			require.Equal(t, want[i], sum)
			require.Greater(t, i, before)
			before = i
		}
	}
}

// A base outlives the manifests over it.
func TestDeleteSparesManifestBases(t *testing.T) {
	db := dbtest.Open(t)
	base, _ := wide(t, db)
	over := apply(t, db, base, base.Size, Patch{7, []byte("x")})
	remove := func(c Content) (n int64) {
		update(t, db, func(tx *schema.Tx) {
			var err error
			n, err = Delete(tx, hold.Manifest, c.Manifest)
			require.NoError(t, err)
		})
		return n
	}
	require.Zero(t, remove(base))
	require.EqualValues(t, 1, remove(over))
	require.EqualValues(t, 1, remove(base))
	require.Zero(t, dbtest.Number(t, db, `SELECT count(*) FROM patch WHERE kind = 3`))
}

// A body that no Apply made is damage.
func TestHostileManifestDeltas(t *testing.T) {
	sum := SumOf([]byte("x"))
	at := func(base int64, l lines) []byte {
		return append(binary.BigEndian.AppendUint64(nil, uint64(base)), l...)
	}
	for name, tt := range map[string]struct {
		body   []byte
		damage string
	}{
		"no such base":           {at(7, lines{}.add(3, sum)), ""},
		"base zero":              {at(0, lines{}.add(3, sum)), ""},
		"a negative base":        {at(-1, lines{}.add(3, sum)), ""},
		"itself":                 {at(1025, lines{}.add(3, sum)), ""},
		"over what is not whole": {at(1026, lines{}.add(3, sum)), ""},
		"no lines":               {at(1024, nil), ""},
		"other lines":            {at(1024, lines{}.add(3, sum)), ""},
		"lines out of order":     {at(1024, lines{}.add(3, sum).add(2, sum)), ""},
		"a line twice":           {at(1024, lines{}.add(3, sum).add(3, sum)), ""},
		"a line past the end":    {at(1024, lines{}.add(wideChunks, sum)), ""},
		"a line far past it":     {at(1024, lines{}.add(1<<32-1, sum)), ""},
		"the head alone":         {at(1024, nil)[:7], ""},
		"too long":               {at(1024, make(lines, (wideChunks+1)*lineSize)), ""},
		"a base of half a line":  {nil, `UPDATE manifest SET body = substr(body, 1, 40) WHERE id = 1024`},
		"a base of many lines":   {nil, `UPDATE manifest SET body = zeroblob(36000) WHERE id = 1024`},
		"a base out of order":    {nil, `UPDATE manifest SET body = CAST(substr(body, 37, 36) || substr(body, 1, 36) AS BLOB) WHERE id = 1024`},
		"a base of other lines":  {nil, `UPDATE manifest SET body = CAST(substr(body, 1, 80) || x'00' || substr(body, 82) AS BLOB) WHERE id = 1024`},
		"a base that is gone":    {nil, `DELETE FROM manifest WHERE id = 1024`},
	} {
		t.Run(name, func(t *testing.T) {
			db := dbtest.Open(t)
			base, _ := wide(t, db)
			c := apply(t, db, base, base.Size, Patch{7, []byte("x")})
			other := apply(t, db, base, base.Size, Patch{7, []byte("other")})
			require.EqualValues(t, 1025, c.Manifest)
			require.EqualValues(t, 1026, other.Manifest)
			if tt.damage != "" {
				dbtest.Exec(t, db, tt.damage)
			} else {
				dbtest.Exec(t, db, `UPDATE manifest SET body = ? WHERE id = 1025`, tt.body)
			}
			err := db.Update(t.Context(), func(tx *schema.Tx) error {
				_, err := Read(tx, c, make([]byte, 10), 0)
				require.ErrorIs(t, err, ErrCorrupt)
				_, err = Blobs(tx, c.Manifest)
				require.ErrorIs(t, err, ErrCorrupt)
				has, err := Lists(tx, c.Manifest, SumOf([]byte("x")))
				require.NoError(t, err)
				require.False(t, has)
				_, err = Apply(tx, c, c.Size, []Patch{{9, []byte("y")}})
				return err
			})
			require.ErrorIs(t, err, ErrCorrupt)
		})
	}
}
