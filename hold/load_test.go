package hold_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/hold"
	"vfsdb/schema"
)

// Files come and go, streams run, a collector asks, all at once: between Hold and Drop there is always a row.
func TestLeaseUnderLoad(t *testing.T) {
	db, err := schema.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), schema.Options{Relaxed: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	var pins atomic.Int64
	l := hold.NewLease(db, func() []hold.Pin { return []hold.Pin{{Kind: hold.Inode, Branch: 1024, ID: pins.Add(1)}} }, nil)
	l.Hurry()
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	number := func(query string) (n int64, err error) {
		err = db.View(t.Context(), func(tx *schema.Tx) error {
			n, _, err = tx.Int(query)
			return err
		})
		return n, err
	}
	const leases = `SELECT count(*) FROM lease`
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 60 {
				if err := l.Hold(t.Context()); err != nil {
					t.Error(err)
					return
				}
				err := db.View(t.Context(), func(tx *schema.Tx) error {
					if n, _, err := tx.Int(leases); n != 1 || err != nil {
						return fmt.Errorf("%d rows, %w", n, err)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				l.Drop()
				time.Sleep(time.Duration((n*i)%7) * time.Millisecond)
			}
		})
	}
	p := make([]byte, 17*chunk.Size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(p)
	for range 2 {
		wg.Go(func() {
			for range 5 {
				s := chunk.NewStager(db, l)
				if err := s.ReadFrom(t.Context(), bytes.NewReader(p)); err != nil {
					t.Error(err)
				}
				err := db.Update(t.Context(), func(tx *schema.Tx) error {
					if n, _, err := tx.Int(`SELECT count(*) FROM lease WHERE floor < 9223372036854775807`); n != 1 || err != nil {
						return errors.Join(errors.New("no floor while a stream runs"), err)
					}
					_, err := s.Commit(tx)
					return err
				})
				if err != nil {
					t.Error(err)
				}
				s.Close()
			}
		})
	}
	wg.Wait()
	require.Eventually(t, func() bool {
		n, err := number(leases)
		return n == 0 && err == nil
	}, time.Minute, time.Millisecond)
	pinned, err := number(`SELECT count(*) FROM pin`)
	require.NoError(t, err)
	require.Zero(t, pinned)
}
