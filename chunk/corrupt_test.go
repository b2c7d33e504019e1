package chunk

import (
	"errors"
	"io"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

// Damage of every kind is an error that names the row, and never wrong bytes.
func TestDamage(t *testing.T) {
	small, large := noise(1, 1000), noise(2, 2*Size+1)
	for _, tt := range []struct {
		name, damage, why string
		data              []byte
	}{
		{"a flipped byte", `UPDATE blob SET data = CAST(x'00' || substr(data, 2) AS BLOB)`, "do not match", small},
		{"shorter", `UPDATE blob SET data = substr(data, 2)`, "holds 999 bytes", small},
		{"longer", `UPDATE blob SET data = CAST(data || x'00' AS BLOB)`, "holds 1001 bytes", small},
		{"another size", `UPDATE blob SET size = 999`, "says 999 bytes", small},
		{"a huge size", `UPDATE blob SET size = 1 << 60, data = zeroblob(900000)`, "says 1152921504606846976", small},
		{"an unknown codec", `UPDATE blob SET codec = 7`, "unknown codec 7", small},
		{"another sum", `UPDATE blob SET sum = zeroblob(32)`, "do not match", small},
		{"no sum", `UPDATE blob SET sum = x'01'`, "another sum", small},
		{"no row", `DELETE FROM blob`, "missing", small},
		{"a flipped byte in a chunk", `UPDATE blob SET data = CAST(x'00' || substr(data, 2) AS BLOB)`, "do not match", large},
		{"no chunk", `DELETE FROM blob`, "missing", large},
		{"a chunk of another size", `UPDATE blob SET size = size - 1`, "says", large},
		{"no manifest", `DELETE FROM manifest`, "missing", large},
		{"a longer manifest", `UPDATE manifest SET size = size + 1`, "does not match", large},
		{"a manifest of nothing", `UPDATE manifest SET size = 0`, "for content of 0", large},
		{"a manifest beyond all", `UPDATE manifest SET size = -1`, "for content of -1", large},
		{"half a line", `UPDATE manifest SET body = substr(body, 1, 50)`, "no number of lines", large},
		{"too many lines", `UPDATE manifest SET body = CAST(body || body AS BLOB)`, "body of 216 bytes", large},
		{"lines out of order", `UPDATE manifest SET body = CAST(substr(body, 37, 36) || substr(body, 1, 36) AS BLOB)`, "out of order", large},
		{"a line past the end", `UPDATE manifest SET body = CAST(substr(body, 1, 72) || x'00000009' || substr(body, 77) AS BLOB)`, "past the end", large},
		{"another line", `UPDATE manifest SET body = CAST(substr(body, 1, 80) || zeroblob(28) AS BLOB)`, "does not match", large},
		{"a manifest without a sum", `UPDATE manifest SET sum = x'01'`, "no sum", large},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := dbtest.Open(t)
			c := put(t, db, tt.data)
			dbtest.Exec(t, db, tt.damage)
			view(t, db, func(tx *schema.Tx) {
				p := make([]byte, len(tt.data))
				n, err := Read(tx, c, p, 0)
				require.ErrorIs(t, err, ErrCorrupt)
				require.ErrorIs(t, err, syscall.EIO)
				require.ErrorContains(t, err, tt.why)
				require.Equal(t, tt.data[:n], p[:n])
				_, err = NewReader(c).ReadAt(tx, p[:10], 5)
				require.ErrorIs(t, err, ErrCorrupt)
			})
			err := db.Update(t.Context(), func(tx *schema.Tx) error {
				_, err := Apply(tx, c, c.Size-2, nil)
				return err
			})
			require.ErrorIs(t, err, ErrCorrupt, "no damage is copied")
		})
	}
}

func TestErrorsSayWhich(t *testing.T) {
	for _, tt := range []struct {
		err  CorruptError
		want string
	}{
		{CorruptError{Blob: 5, Why: "bad"}, "blob 5: bad"},
		{CorruptError{Manifest: 5, Why: "bad"}, "manifest 5: bad"},
		{CorruptError{Sum: SumOf(nil), Why: "bad"}, "blob with sum " + SumOf(nil).String() + ": bad"},
		{CorruptError{Why: "bad"}, "content: bad"},
	} {
		require.EqualError(t, &tt.err, tt.want)
		require.False(t, errors.Is(&tt.err, io.EOF))
	}
}
