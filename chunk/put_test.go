package chunk

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

func TestDedupe(t *testing.T) {
	db := dbtest.Open(t)
	a, b := noise(1, Size), noise(2, Size)
	first := put(t, db, append(append([]byte{}, a...), b...))
	require.EqualValues(t, 2, dbtest.Number(t, db, `SELECT count(*) FROM blob`))
	second := put(t, db, append(append(append([]byte{}, b...), a...), b...))
	require.NotEqual(t, first.Manifest, second.Manifest)
	require.Equal(t, first, put(t, db, append(append([]byte{}, a...), b...)))
	require.NotZero(t, put(t, db, a).Blob)
	require.EqualValues(t, 2, dbtest.Number(t, db, `SELECT count(*) FROM blob`), "two chunks in three contents")
	require.EqualValues(t, 2, dbtest.Number(t, db, `SELECT count(*) FROM manifest`))
}

func TestReadOnlyTransaction(t *testing.T) {
	db := dbtest.Open(t)
	c := put(t, db, noise(1, 10))
	view(t, db, func(tx *schema.Tx) {
		_, err := Put(tx, noise(1, 10))
		require.ErrorIs(t, err, syscall.EROFS)
		_, err = Put(tx, make([]byte, Size+1))
		require.ErrorIs(t, err, syscall.EROFS)
		_, err = Apply(tx, c, 5, nil)
		require.ErrorIs(t, err, syscall.EROFS)
	})
}
