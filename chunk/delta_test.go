package chunk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/hold"
	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

// codecs lists how blobs are stored, by ascending id.
func codecs(t testing.TB, db *schema.DB) (list []int64) {
	t.Helper()
	view(t, db, func(tx *schema.Tx) {
		rows := tx.Query(`SELECT codec FROM blob ORDER BY id`)
		for rows.Next() {
			list = append(list, rows.Int(0))
		}
		require.NoError(t, rows.Err())
	})
	return list
}

// checkPatches verifies all blobs as package check does.
func checkPatches(t testing.TB, db *schema.DB) {
	t.Helper()
	view(t, db, func(tx *schema.Tx) {
		all, err := Dependents(tx, Dependent{}, 1<<20)
		require.NoError(t, err)
		for _, p := range all {
			why, err := CheckDependent(tx, p)
			require.NoError(t, err)
			require.Empty(t, why)
		}
		found := 0
		for _, kind := range []int{hold.Blob, hold.Manifest} {
			ids, err := Deltas(tx, kind, 0, 1<<20)
			require.NoError(t, err)
			found += len(ids)
			for _, id := range ids {
				why, err := CheckDelta(tx, kind, id)
				require.NoError(t, err)
				require.Empty(t, why)
			}
		}
		require.Equal(t, len(all), found)
	})
}

// A small change of a large chunk is stored as patches over a whole chunk, never over patches, until they are too many. The
// content is the same either way.
func TestDelta(t *testing.T) {
	for _, length := range []int{deltaLeast, 300_000, Size} {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			db := dbtest.Open(t)
			have := noise(1, length)
			c := put(t, db, have)
			base := c.Blob
			wholes := 0
			for i := range 40 {
				off := (i * 37 % 40) * (length / 40)
				p := noise(uint64(i+2), 1000)
				copy(have[off:], p)
				before := dbtest.Number(t, db, `SELECT sum(length(data)) FROM blob`)
				c = apply(t, db, c, int64(length), Patch{int64(off), p})
				require.True(t, bytes.Equal(have, get(t, db, c)))
				require.Equal(t, SumOf(have), sumIn(t, db, c))
				require.Equal(t, put(t, db, have), c, "canonical")
				took := dbtest.Number(t, db, `SELECT sum(length(data)) FROM blob`) - before
				if dbtest.Number(t, db, `SELECT codec FROM blob WHERE id = ?`, c.Blob) == plain {
					require.EqualValues(t, length, took)
					base = c.Blob
					wholes++
					continue
				}
				require.LessOrEqual(t, took, int64(length/deltaPart))
				require.EqualValues(t, 1, dbtest.Number(t, db, `SELECT count(*) FROM patch WHERE base = ? AND id = ? AND kind = 2`, base, c.Blob))
			}
			require.Positive(t, wholes)
			require.Less(t, wholes, 20)
			checkPatches(t, db)
		})
	}
}

func TestDeltaOrWhole(t *testing.T) {
	long, short := noise(1, 2*Size+100_000), noise(2, deltaLeast-1)
	hole := append(make([]byte, Size), noise(3, 100)...)
	for _, tt := range []struct {
		name    string
		base    []byte
		size    int64
		patches []Patch
		want    []int64 // codecs of the new blobs
	}{
		{"a byte", long, 0, []Patch{{5, []byte("x")}}, []int64{patched}},
		{"a byte of a short chunk", short, 0, []Patch{{5, []byte("x")}}, []int64{plain}},
		{"a byte across chunks", long, 0, []Patch{{Size - 1, []byte("xy")}}, []int64{patched, patched}},
		{"a page", long, 0, []Patch{{8192, noise(4, 8192)}}, []int64{patched}},
		{"several places", long, 0, []Patch{{5, []byte("x")}, {100, []byte("y")}, {7, []byte("z")}}, []int64{patched}},
		{"a part", long, 0, []Patch{{5, noise(4, Size/deltaPart+1)}}, []int64{plain}},
		{"all of a chunk", long, 0, []Patch{{Size, noise(4, Size)}}, []int64{plain}},
		{"all and a byte", long, 0, []Patch{{Size, noise(4, Size)}, {Size, []byte("x")}}, []int64{plain}},
		{"what is there", long, 0, []Patch{{5, long[5:100]}}, nil},
		{"into a hole", hole, 0, []Patch{{5, []byte("x")}}, []int64{plain}},
		{"zeros over all", long, 0, []Patch{{Size, zeros[:]}}, nil},
		{"appended", long, int64(len(long) + 9), []Patch{{int64(len(long)), []byte("123456789")}}, []int64{patched}},
		{"appended to a short chunk", short, deltaLeast, []Patch{{deltaLeast - 1, []byte("x")}}, []int64{patched}},
		{"extended", long, int64(len(long) + 5000), nil, []int64{patched}},
		{"cut a little", long, int64(len(long) - 5000), nil, []int64{patched}},
		{"cut by much", long, int64(len(long) - 30_000), nil, []int64{plain}},
		{"cut to a short chunk", long, 2*Size + 100, nil, []int64{plain}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := dbtest.Open(t)
			c := put(t, db, tt.base)
			stored := len(codecs(t, db))
			size := tt.size
			if size == 0 {
				size = c.Size
			}
			got := apply(t, db, c, size, tt.patches...)
			want := model(tt.base, size, tt.patches)
			require.True(t, bytes.Equal(want, get(t, db, got)))
			require.Equal(t, tt.want, append([]int64(nil), codecs(t, db)[stored:]...))
			require.Equal(t, put(t, db, want), got, "canonical")
			checkPatches(t, db)
		})
	}
}

// Bytes that were cut off do not come back, though the base has them.
func TestDeltaForgetsWhatWasCut(t *testing.T) {
	db := dbtest.Open(t)
	have := noise(1, 300_000)
	c := put(t, db, have)
	for _, size := range []int64{299_000, 300_000, 298_000, 298_001, 297_000, 305_000} {
		have = model(have, size, nil)
		c = apply(t, db, c, size)
		require.True(t, bytes.Equal(have, get(t, db, c)), size)
		require.Equal(t, SumOf(have), sumIn(t, db, c))
	}
	require.Contains(t, codecs(t, db), int64(patched))
	checkPatches(t, db)
}

// Small changes at random places of long content, of another length now and then, compared with a slice; compactions
// change how the bases and the patched are stored meanwhile.
func TestDeltaRandomly(t *testing.T) {
	seed := uint64(1)
	if os.Getenv("VFS_LONG") != "" {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	db := dbtest.Open(t)
	have := bytes.Repeat([]byte("a text that compresses, and is long. "), (2*Size+200_000)/37)
	copy(have[Size:], noise(seed, Size))
	c := put(t, db, have)
	for range rounds(300) {
		size := int64(len(have))
		switch rng.IntN(6) {
		case 0:
			size += rng.Int64N(3000)
		case 1:
			size -= rng.Int64N(3000)
		}
		var patches []Patch
		for range rng.IntN(3) {
			p := make([]byte, 1+rng.IntN(4000))
			for i := range p {
				p[i] = byte(rng.IntN(3) * rng.IntN(256))
			}
			off := rng.Int64N(size - int64(len(p)))
			if rng.IntN(2) == 0 {
				off = max(0, size-int64(len(p))-rng.Int64N(5))
			}
			patches = append(patches, Patch{off, p})
		}
		have = model(have, size, patches)
		c = apply(t, db, c, size, patches...)
		require.True(t, bytes.Equal(have, get(t, db, c)))
		require.Equal(t, Prepare(have).Sum(), sumIn(t, db, c))
		if rng.IntN(30) == 0 {
			compact(t, db, ReadLoose)
			require.True(t, bytes.Equal(have, get(t, db, c)))
		}
	}
	require.Equal(t, put(t, db, have), c)
	if !racing {
		require.Positive(t, dbtest.Number(t, db, `SELECT count(*) FROM patch`))
	}
	checkPatches(t, db)
}

// A compaction that finds that a patched chunk is smaller as a whole lets go of its base, and packs bases that keep
// their id.
func TestCompactDelta(t *testing.T) {
	db := dbtest.Open(t)
	have := text(1, Size)
	base := put(t, db, have)
	var list []Content
	for i := range 6 {
		p := bytes.Repeat([]byte(fmt.Sprintf("%010d", i)), 1000) // compresses better than it is stored
		copy(have[i*20_000:], p)
		list = append(list, apply(t, db, base, Size, Patch{int64(i * 20_000), p}))
	}
	require.EqualValues(t, 6, dbtest.Number(t, db, `SELECT count(*) FROM patch`))
	require.Positive(t, compact(t, db, ReadLoose))
	require.EqualValues(t, packed, dbtest.Number(t, db, `SELECT codec FROM blob WHERE id = ?`, base.Blob))
	require.EqualValues(t, 0, dbtest.Number(t, db, `SELECT count(*) FROM patch`))
	require.True(t, bytes.Equal(text(1, Size), get(t, db, base)))
	for i, c := range list {
		want := text(1, Size)
		copy(want[i*20_000:], bytes.Repeat([]byte(fmt.Sprintf("%010d", i)), 1000))
		require.True(t, bytes.Equal(want, get(t, db, c)))
	}
	// And over a packed base.
	c := apply(t, db, base, Size, Patch{77, []byte("x")})
	require.EqualValues(t, patched, dbtest.Number(t, db, `SELECT codec FROM blob WHERE id = ?`, c.Blob))
	require.EqualValues(t, 'x', get(t, db, c)[77])
	checkPatches(t, db)
}

// A base outlives all that is stored over it: Delete leaves it.
func TestDeleteSparesBases(t *testing.T) {
	db := dbtest.Open(t)
	base := put(t, db, noise(1, Size))
	one := apply(t, db, base, Size, Patch{7, []byte("one")})
	two := apply(t, db, one, Size, Patch{70_000, []byte("two")})
	remove := func(c Content) (n int64) {
		update(t, db, func(tx *schema.Tx) {
			var err error
			n, err = Delete(tx, hold.Blob, c.Blob)
			require.NoError(t, err)
		})
		return n
	}
	require.Zero(t, remove(base))
	require.EqualValues(t, 1, remove(one))
	require.Zero(t, remove(base))
	require.Equal(t, "two", string(get(t, db, two)[70_000:70_003]))
	checkPatches(t, db)
	require.EqualValues(t, 1, remove(two))
	require.EqualValues(t, 1, remove(base))
	require.Zero(t, dbtest.Number(t, db, `SELECT (SELECT count(*) FROM blob) + (SELECT count(*) FROM patch)`))
}

// hostileDeltas are no deltas of a chunk of 100,000 bytes over the blob 1024.
func hostileDeltas() map[string][]byte {
	at := func(base uint64, parts ...any) []byte {
		p := binary.BigEndian.AppendUint64(nil, base)
		for _, part := range parts {
			switch v := part.(type) {
			case int:
				p = binary.BigEndian.AppendUint32(p, uint32(v))
			case string:
				p = append(p, v...)
			}
		}
		return p
	}
	return map[string][]byte{
		"nothing":                  {},
		"half a base":              at(1024)[:7],
		"the base alone":           at(1024),
		"no such base":             at(7),
		"base zero":                at(0),
		"a negative base":          at(1 << 63),
		"itself":                   at(1025, 0, 1, "x"),
		"stored as patches itself": at(1026, 0, 1, "x"),
		"half a head":              at(1024, 5)[:11],
		"an empty patch":           at(1024, 5, 0),
		"a patch cut off":          at(1024, 5, 3, "ab"),
		"a huge patch":             at(1024, 5, 1<<32-1, "ab"),
		"a patch past the end":     at(1024, 99_999, 2, "ab"),
		"a patch far past the end": at(1024, 1<<32-1, 2, "ab"),
		"patches that overlap":     at(1024, 5, 3, "abc", 7, 1, "x"),
		"patches out of order":     at(1024, 50, 3, "abc", 7, 1, "x"),
		"a tail":                   at(1024, 5, 3, "abc", "x"),
		"other bytes":              at(1024, 5, 3, "zzz"),
		"as long as the chunk":     at(1024, 0, 99_984, string(noise(9, 99_984))),
		"longer than the chunk":    at(1024, 0, 200_000, string(noise(9, 200_000))),
	}
}

// A row that no Apply made is reported as damage, never wrong bytes and no panic, whether it is read or changed.
func TestHostileDeltas(t *testing.T) {
	for name, data := range hostileDeltas() {
		t.Run(name, func(t *testing.T) {
			db := dbtest.Open(t)
			have := noise(1, 100_000)
			base := put(t, db, have)
			c := apply(t, db, base, 100_000, Patch{5, []byte("abc")})
			other := apply(t, db, base, 100_000, Patch{5, []byte("other")})
			require.EqualValues(t, 1025, c.Blob)
			require.EqualValues(t, 1026, other.Blob)
			dbtest.Exec(t, db, `UPDATE blob SET data = ? WHERE id = 1025`, data)
			requireDamaged(t, db, c)
			require.True(t, bytes.Equal(have, get(t, db, base)))
		})
	}
}

// requireDamaged reads and changes content, in vain.
func requireDamaged(t *testing.T, db *schema.DB, c Content) {
	t.Helper()
	got := bytes.Repeat([]byte("x"), int(c.Size))
	err := db.View(t.Context(), func(tx *schema.Tx) error { _, err := Read(tx, c, got, 0); return err })
	require.ErrorIs(t, err, ErrCorrupt)
	require.True(t, bytes.Equal(make([]byte, c.Size), got), "no bytes are left behind")
	err = db.Update(t.Context(), func(tx *schema.Tx) error {
		_, err := Apply(tx, c, c.Size, []Patch{{9, []byte("y")}})
		return err
	})
	require.ErrorIs(t, err, ErrCorrupt)
	compact(t, db, ReadLoose) // goes past it
}

func TestDamagedBases(t *testing.T) {
	for name, damage := range map[string]string{
		"gone":              `DELETE FROM blob WHERE id = 1024`,
		"a flipped byte":    `UPDATE blob SET data = CAST(x'00' || substr(data, 2) AS BLOB) WHERE id = 1024`,
		"shorter":           `UPDATE blob SET data = substr(data, 2) WHERE id = 1024`,
		"of another size":   `UPDATE blob SET size = 99999, data = substr(data, 1, 99999) WHERE id = 1024`,
		"of a huge size":    `UPDATE blob SET size = 1 << 60 WHERE id = 1024`,
		"of no size":        `UPDATE blob SET size = 0, data = x'' WHERE id = 1024`,
		"of another codec":  `UPDATE blob SET codec = 9 WHERE id = 1024`,
		"no frame":          `UPDATE blob SET codec = 1, data = x'28b52ffd00' WHERE id = 1024`,
		"patches":           `UPDATE blob SET codec = 3, data = x'0000000000000400' WHERE id = 1024`,
		"stored as another": `UPDATE blob SET codec = 0 WHERE id = 1025`,
	} {
		t.Run(name, func(t *testing.T) {
			db := dbtest.Open(t)
			c := apply(t, db, put(t, db, noise(1, 100_000)), 100_000, Patch{5, []byte("abc")})
			dbtest.Exec(t, db, damage)
			requireDamaged(t, db, c)
		})
	}
}

// Parsing any bytes never leaves the chunk, and a parsed delta is stored as the same bytes again.
func FuzzDelta(f *testing.F) {
	for _, data := range hostileDeltas() {
		f.Add(data, 100_000)
	}
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		if size < 1 || size > Size {
			return
		}
		p := make([]byte, size)
		var d delta
		var why string
		d.base, why = deltaIn(data, size, func(s span, bytes []byte) {
			require.Len(t, bytes, s.to-s.from)
			require.Len(t, p[s.from:s.to], len(bytes))
			copy(p[s.from:], bytes)
			d.spans = append(d.spans, s)
		})
		if why != "" {
			return
		}
		require.Equal(t, d.size(), len(data))
		require.Equal(t, data, d.bytes(p))
	})
}

func TestJoined(t *testing.T) {
	for _, tt := range []struct {
		name     string
		in, want []span
	}{
		{"none", nil, nil},
		{"sorted", []span{{50, 60}, {0, 10}}, []span{{0, 10}, {50, 60}}},
		{"touching", []span{{10, 20}, {0, 10}}, []span{{0, 20}}},
		{"apart", []span{{0, 10}, {11, 20}}, []span{{0, 10}, {11, 20}}},
		{"within another", []span{{0, 50}, {10, 20}}, []span{{0, 50}}},
		{"across the end", []span{{90, 110}}, []span{{90, 100}}},
		{"past the end", []span{{100, 110}, {0, 1}}, []span{{0, 1}}},
	} {
		require.Equal(t, tt.want, append([]span(nil), joined(tt.in, 100)...), tt.name)
	}
}
