package chunk

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

// The second small change of a chunk, and those after it, look at no part that does not change: it may even be damaged,
// which a reader finds out.
func TestAmendLoadsOnlyWhatChanges(t *testing.T) {
	db := dbtest.Open(t)
	have := noise(1, 2*Size)
	first := put(t, db, have)
	change := func(c Content, off int, word string) Content {
		copy(have[off:], word)
		return apply(t, db, c, 2*Size, Patch{int64(off), []byte(word)})
	}
	c := change(first, 5, "one")
	dbtest.Exec(t, db, `UPDATE blob SET data = CAST(substr(data, 1, 300000) || 'damaged' || substr(data, 300008) AS BLOB) WHERE id = 1024`)
	c = change(c, 100_000, "two")
	c = change(c, 50, "three")
	c = change(c, 2*partSize-2, "four")
	require.Equal(t, Prepare(have).Sum(), sumIn(t, db, c))
	view(t, db, func(tx *schema.Tx) {
		_, err := Read(tx, c, make([]byte, 10), 0)
		require.ErrorIs(t, err, ErrCorrupt)
	})
	dbtest.Exec(t, db, `UPDATE blob SET data = CAST(substr(data, 1, 300000) || ? || substr(data, 300008) AS BLOB) WHERE id = 1024`, noise(1, 300_007)[300_000:])
	require.True(t, bytes.Equal(have, get(t, db, c)))
	require.Equal(t, put(t, db, have), c, "canonical")
	checkPatches(t, db)
}

// Damage in the parts that change does not get into a new chunk, though the chain is known.
func TestAmendFindsDamage(t *testing.T) {
	for name, damage := range map[string]string{
		"in the base":            `UPDATE blob SET data = CAST(substr(data, 1, 100005) || 'damaged' || substr(data, 100013) AS BLOB) WHERE id = 1024`,
		"in what lies over it":   `UPDATE blob SET data = CAST(substr(data, 1, 16) || 'dam' AS BLOB) WHERE id = 1025`,
		"in where that lies":     `UPDATE blob SET data = CAST(substr(data, 1, 11) || x'01' || substr(data, 13) AS BLOB) WHERE id = 1025`,
		"a base that is gone":    `DELETE FROM blob WHERE id = 1024`,
		"a base cut short":       `UPDATE blob SET data = substr(data, 1, 50000) WHERE id = 1024`,
		"a base of another size": `UPDATE blob SET size = 400000 WHERE id = 1024`,
		"another size":           `UPDATE blob SET size = 400000 WHERE id = 1025`,
		"gone":                   `DELETE FROM blob WHERE id = 1025`,
	} {
		t.Run(name, func(t *testing.T) {
			db := dbtest.Open(t)
			c := apply(t, db, put(t, db, noise(1, Size)), Size, Patch{100_000, []byte("abc")})
			require.NotNil(t, chains.get(sumIn(t, db, c)))
			dbtest.Exec(t, db, damage)
			err := db.Update(t.Context(), func(tx *schema.Tx) error {
				_, err := Apply(tx, c, Size, []Patch{{100_001, []byte("x")}})
				return err
			})
			require.ErrorIs(t, err, ErrCorrupt)
		})
	}
}

// A chunk that becomes zeros bit by bit is a hole in the end, and nothing but that.
func TestAmendToZeros(t *testing.T) {
	db := dbtest.Open(t)
	have := make([]byte, 2*Size)
	copy(have[Size+100:], "some bytes")
	copy(have[Size+20_000:], "and some more")
	have[0] = 1
	c := put(t, db, have)
	for _, off := range []int64{Size + 20_000, Size + 100} {
		clear(have[off : off+20])
		c = apply(t, db, c, 2*Size, Patch{off, make([]byte, 20)})
		require.True(t, bytes.Equal(have, get(t, db, c)))
		require.Equal(t, put(t, db, have), c, "canonical")
	}
	copy(have[Size+7:], "again")
	c = apply(t, db, c, 2*Size, Patch{Size + 7, []byte("again")})
	require.Equal(t, put(t, db, have), c, "canonical")
}

// An edit that is rolled back leaves a chain, which has no effect.
func TestAmendAfterRollback(t *testing.T) {
	db := dbtest.Open(t)
	have := noise(7, Size)
	c := apply(t, db, put(t, db, have), Size, Patch{9, []byte("one")})
	copy(have[9:], "one")
	for range 2 {
		require.ErrorIs(t, db.Update(t.Context(), func(tx *schema.Tx) error {
			_, err := Apply(tx, c, Size, []Patch{{99_999, []byte("two")}})
			require.NoError(t, err)
			return errRead
		}), errRead)
	}
	require.True(t, bytes.Equal(have, get(t, db, c)))
	c = apply(t, db, c, Size, Patch{99_999, []byte("two")})
	copy(have[99_999:], "two")
	require.True(t, bytes.Equal(have, get(t, db, c)))
	checkPatches(t, db)
}
