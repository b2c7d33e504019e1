package chunk

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/dbtest"
)

// A chunk that was verified and has left the cache is read by parts, each verified.
func TestParts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change string // of the stored rows
		read   bool   // by parts: elsewhere the chunk is damaged
		err    error
	}{
		{name: "as it was", read: true},
		{name: "damaged elsewhere", change: `UPDATE blob SET data = CAST(x'00' || substr(data, 2) AS BLOB)`, read: true},
		{name: "damaged there", change: `UPDATE blob SET data = zeroblob(size)`, err: ErrCorrupt},
		{name: "cut short", change: `UPDATE blob SET data = substr(data, 1, 1000)`, err: ErrCorrupt},
		{name: "gone", change: `DELETE FROM blob`, err: ErrCorrupt},
		{name: "compressed", change: "compress"},
	} {
		for _, size := range []int{Size - 100, 3*Size + 20_000} { // by the id of the blob, and by sums
			t.Run(fmt.Sprint(tt.name, " ", size), func(t *testing.T) {
				forgetChains()
				db, cache := dbtest.Open(t), NewCache()
				want := text(1, size)
				c := put(t, db, want)
				_, err := part(t, db, cache, c, 1000, 10)
				require.NoError(t, err)
				for n := range 20 { // which push it out
					_, err := part(t, db, cache, put(t, db, noise(uint64(n), Size)), 5, 10)
					require.NoError(t, err)
				}
				_, ok := cache.Peek(c, 1000, 10)
				require.False(t, ok)
				bounded(t, cache)
				switch tt.change {
				case "":
				case "compress":
					require.NotZero(t, compact(t, db, ReadLoose))
				default:
					dbtest.Exec(t, db, tt.change)
				}
				for _, at := range [][2]int{{2*partSize - 10, 20}, {100_000, 4096}, {3 * partSize, partSize}, {400_000, 2*partSize + 1}} {
					got, err := part(t, db, cache, c, int64(at[0]), at[1])
					if tt.err != nil {
						require.ErrorIs(t, err, tt.err)
						continue
					}
					require.NoError(t, err)
					require.True(t, bytes.Equal(want[at[0]:at[0]+at[1]], got))
					_, ok := cache.Peek(c, int64(at[0]), int64(at[1]))
					require.Equal(t, !tt.read, ok, "what is read by parts does not come to be kept")
				}
				if tt.err == nil {
					for range manyParts {
						_, err := part(t, db, cache, c, 70_000, 100)
						if tt.change != "" && tt.read && err != nil {
							require.ErrorIs(t, err, ErrCorrupt) // once it is loaded whole
							return
						}
						require.NoError(t, err)
					}
					_, ok := cache.Peek(c, 70_000, 100)
					require.True(t, ok, "much was asked of it")
				}
			})
		}
	}
}

// A chunk that was changed a little is read by parts too, with the bytes that lie over its base.
func TestPartsOfDeltas(t *testing.T) {
	forgetChains()
	db, cache := dbtest.Open(t), NewCache()
	want := noise(77, 2*Size+300_000)
	c := put(t, db, want)
	_, err := part(t, db, cache, c, Size+5, 10)
	require.NoError(t, err)
	for n, off := range []int{Size + 100_000, Size + 100_000 + partSize - 5, Size + 400_000} {
		data := bytes.Repeat([]byte{byte(n)}, 100)
		copy(want[off:], data)
		c = apply(t, db, c, c.Size, Patch{Off: int64(off), Data: data})
	}
	require.Equal(t, int64(3), dbtest.Number(t, db, `SELECT count(*) FROM blob WHERE codec = 3`))
	dbtest.Exec(t, db, `UPDATE blob SET data = CAST(x'00' || substr(data, 2) AS BLOB) WHERE codec = 0`)
	for _, at := range [][2]int{{100_000 - 50, 200}, {90_000, 3 * partSize}, {400_000, 10}, {300_000, 4096}} {
		got, err := part(t, db, cache, c, int64(Size+at[0]), at[1])
		require.NoError(t, err)
		require.True(t, bytes.Equal(want[Size+at[0]:][:at[1]], got))
	}
	_, err = part(t, db, cache, c, Size+5, 10)
	require.ErrorIs(t, err, ErrCorrupt)
}
