package chunk

import (
	"encoding/json"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

// A sum of long content depends on each of its chunks, their places, and the length. These must never change.
func TestSumsAreForever(t *testing.T) {
	long := make([]byte, 3*Size+7)
	for i := range long {
		long[i] = byte(i % 251)
	}
	for _, tt := range []struct {
		name, want string
		data       []byte
	}{
		{"nothing", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262", nil},
		{"three bytes", "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85", []byte("abc")},
		{"four chunks", "0d8a32ef3330b645dad2b4b8875c58229f14210497ec5fb1f85de7eb94f770ac", long},
		{"a hole", "9c9c0238d569653ee3582b5f8d0bd14f0a4c8587d53dc1bfcba43220d80e3f76", make([]byte, Size+1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Prepare(tt.data).Sum().String())
		})
	}
}

func TestSumText(t *testing.T) {
	sum := SumOf([]byte("abc"))
	parsed, err := ParseSum(sum.String())
	require.NoError(t, err)
	require.Equal(t, sum, parsed)
	require.False(t, sum.IsZero())
	require.True(t, Sum{}.IsZero())
	for _, text := range []string{"", "00", sum.String() + "00", "zz" + sum.String()[2:]} {
		_, err := ParseSum(text)
		require.ErrorIs(t, err, syscall.EINVAL, text)
	}
	text, err := json.Marshal(map[string]Sum{"sum": sum})
	require.NoError(t, err)
	require.Equal(t, `{"sum":"`+sum.String()+`"}`, string(text))
	var read map[string]Sum
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, sum, read["sum"])
}

// A sum in a row that is too long is damage: no search by the sum would find the row, and the same content put again would
// be there twice.
func TestSumsOfAnotherLength(t *testing.T) {
	for _, size := range []int{1000, 3 * Size} {
		for _, damage := range []string{`sum || x'00'`, `substr(sum, 2)`, `x''`} {
			db := dbtest.Open(t)
			c := put(t, db, noise(1, size))
			update(t, db, func(tx *schema.Tx) {
				for _, table := range []string{"blob", "manifest"} {
					_, err := tx.Exec(`UPDATE ` + table + ` SET sum = CAST(` + damage + ` AS BLOB) WHERE id = (SELECT max(id) FROM ` + table + `)`)
					require.NoError(t, err)
				}
			})
			view(t, db, func(tx *schema.Tx) {
				_, err := Read(tx, c, make([]byte, 10), 0)
				require.ErrorIs(t, err, ErrCorrupt)
				_, err = SumOfContent(tx, c)
				require.ErrorIs(t, err, ErrCorrupt)
			})
		}
	}
}
