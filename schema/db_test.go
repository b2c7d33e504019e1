package schema_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

func TestUpdateIsAllOrNothing(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	boom := errors.New("boom")
	err := db.Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`INSERT INTO counter (name, next) VALUES ('x', 5)`)
		require.NoError(t, err)
		return boom
	})
	require.ErrorIs(t, err, boom)
	require.Zero(t, number(t, db, `SELECT count(*) FROM counter WHERE name = 'x'`))

	require.Panics(t, func() {
		_ = db.Update(t.Context(), func(tx *schema.Tx) error { panic("ours") })
	})
	require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error { return nil }), "a panic leaves no lock behind")
}

// Writers of two handles wait for each other in turn, and none gets EBUSY while its deadline is far.
func TestWritersWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	handles := []*schema.DB{open(t, path, schema.Options{Relaxed: true}), open(t, path, schema.Options{Relaxed: true})}
	require.NoError(t, handles[0].Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`INSERT INTO counter (name, next) VALUES ('x', 0)`)
		return err
	}))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				err := handles[i%2].Update(t.Context(), func(tx *schema.Tx) error {
					_, err := tx.Exec(`UPDATE counter SET next = next + 1 WHERE name = 'x'`)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 400, number(t, handles[0], `SELECT next FROM counter WHERE name = 'x'`))
}

func TestWaitEndsWithContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	a, b := open(t, path, schema.Options{}), open(t, path, schema.Options{})
	held, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- a.Update(t.Context(), func(tx *schema.Tx) error { close(held); <-release; return nil })
	}()
	<-held
	short, cancel := context.WithTimeout(t.Context(), time.Second/2)
	defer cancel()
	nothing := func(tx *schema.Tx) error { return nil }
	err := b.Update(short, nothing)
	require.ErrorIs(t, err, syscall.EBUSY, "another process")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	short2, cancel2 := context.WithTimeout(t.Context(), time.Second/2)
	defer cancel2()
	err = a.Update(short2, nothing)
	require.ErrorIs(t, err, syscall.EBUSY, "the same process")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	gone, cancel3 := context.WithCancel(t.Context())
	cancel3()
	require.ErrorIs(t, a.Update(gone, nothing), context.Canceled)
	close(release)
	require.NoError(t, <-done)
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	open(t, path, schema.Options{})
	db := open(t, path, schema.Options{ReadOnly: true})
	require.EqualValues(t, 1, number(t, db, `SELECT count(*) FROM branch`))
	require.Equal(t, syscall.EROFS, db.Update(t.Context(), func(*schema.Tx) error { return nil }))
}

func TestClosed(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	require.NoError(t, db.Close())
	require.ErrorIs(t, db.View(t.Context(), func(*schema.Tx) error { return nil }), os.ErrClosed)
	require.NoError(t, db.Close())
}
