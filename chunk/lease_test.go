package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// hurried is a lease that lives fast.
func hurried(t testing.TB, db *schema.DB, pins func() []Pin) *Lease {
	l := NewLease(db, pins)
	l.pace = pace{look: 5 * time.Millisecond, beat: 50 * time.Millisecond, idle: 100 * time.Millisecond}
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func eventually(t testing.TB, db *schema.DB, want int64, query string, args ...any) {
	t.Helper()
	require.Eventually(t, func() bool { return number(t, db, query, args...) == want }, 10*time.Second, time.Millisecond, query)
}

const leases = `SELECT count(*) FROM lease`

// An open file has a row, which says what is open, keeps beating, answers collectors, and goes when nothing is open.
func TestLeaseLives(t *testing.T) {
	db := open(t)
	var mu sync.Mutex
	open := []Pin{{PinInode, 1024, 77}, {PinManifest, 0, 1030}, {PinBlob, 0, 1031}, {PinBlob, 0, 1031}}
	l := hurried(t, db, func() []Pin { mu.Lock(); defer mu.Unlock(); return open })
	exec(t, db, `INSERT INTO orphan (seq, branch, ino) VALUES (2000, 1024, 1025)`)
	require.NoError(t, l.Hold(t.Context()))
	require.EqualValues(t, 1, number(t, db, leases))
	require.EqualValues(t, 1, number(t, db, `SELECT count(*) FROM lease WHERE owner = ? AND floor = 9223372036854775807 AND orphan = 2000`, owner()))
	require.EqualValues(t, 3, number(t, db, `SELECT count(*) FROM pin JOIN lease ON lease.id = pin.lease`))
	require.EqualValues(t, 1, number(t, db, `SELECT count(*) FROM pin WHERE kind = 4 AND branch = 1024 AND id = 77`))
	id := number(t, db, `SELECT id FROM lease`)

	require.NoError(t, l.Hold(t.Context()))
	l.Drop()
	mu.Lock()
	open = []Pin{{PinMoment, 1025, 5}}
	mu.Unlock()
	exec(t, db, `UPDATE gc SET round = 9`)
	eventually(t, db, 9, `SELECT round FROM lease`)
	require.EqualValues(t, 1, number(t, db, `SELECT count(*) FROM pin`))
	require.EqualValues(t, 1, number(t, db, `SELECT count(*) FROM pin WHERE kind = 5 AND branch = 1025 AND id = 5`))

	beat := number(t, db, `SELECT beat FROM lease`)
	eventually(t, db, 1, `SELECT count(*) FROM lease WHERE beat > ?`, beat)
	time.Sleep(3 * l.pace.idle)
	require.Equal(t, id, number(t, db, `SELECT id FROM lease`), "still held")

	l.Drop()
	eventually(t, db, 0, leases)
	require.Zero(t, number(t, db, `SELECT count(*) FROM pin`))
	require.NoError(t, l.Hold(t.Context()))
	require.EqualValues(t, 1, number(t, db, leases), "a new row at once")
	require.Less(t, id, number(t, db, `SELECT id FROM lease`))
	require.NoError(t, l.Close())
	require.Zero(t, number(t, db, leases))
	require.Zero(t, number(t, db, `SELECT count(*) FROM pin`))
	require.ErrorIs(t, l.Hold(t.Context()), fs.ErrClosed)
	require.ErrorIs(t, l.Publish(t.Context()), fs.ErrClosed)
}

// A row that a collector deleted, because we were suspended, is made again by the next beat.
func TestLeaseComesBack(t *testing.T) {
	db := open(t)
	l := hurried(t, db, func() []Pin { return []Pin{{PinInode, 1024, 77}} })
	require.NoError(t, l.Hold(t.Context()))
	exec(t, db, `DELETE FROM pin`)
	exec(t, db, `DELETE FROM lease`)
	eventually(t, db, 1, leases)
	eventually(t, db, 1, `SELECT count(*) FROM pin JOIN lease ON lease.id = pin.lease`)
	l.Drop()
}

// The mark is older than the pins: what is asked for, or orphaned, while we list what is open is not answered.
func TestPinsAreNewerThanTheMark(t *testing.T) {
	db := open(t)
	var once sync.Once
	l := hurried(t, db, func() []Pin {
		once.Do(func() {
			exec(t, db, `UPDATE gc SET round = 7`)
			exec(t, db, `INSERT INTO orphan (seq, branch, ino) VALUES (3000, 1024, 1025)`)
		})
		return nil
	})
	l.pace.look = time.Hour
	require.NoError(t, l.Hold(t.Context()))
	require.EqualValues(t, 1, number(t, db, `SELECT count(*) FROM lease WHERE round = 2 AND orphan = 0`))
	require.NoError(t, l.Publish(t.Context()))
	require.EqualValues(t, 1, number(t, db, `SELECT count(*) FROM lease WHERE round = 7 AND orphan = 3000`))
	l.Drop()
}

func TestLeaseOfReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	openAt(t, path)
	db, err := schema.Open(t.Context(), path, schema.Options{ReadOnly: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	l := NewLease(db, nil)
	require.NoError(t, l.Hold(t.Context()))
	require.NoError(t, l.Publish(t.Context()))
	l.Drop()
	require.NoError(t, l.Close())
	require.Zero(t, number(t, db, leases))
}

func TestHoldFails(t *testing.T) {
	db := open(t)
	l := hurried(t, db, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.Hold(ctx), context.Canceled)
	require.Panics(t, l.Drop, "nothing is held")
	require.NoError(t, l.Hold(t.Context()))
	l.Drop()
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
}

// Who only reads is not kept from it where a row cannot be written, and has one as soon as it can be.
func TestHoldWhereNothingCanBeWritten(t *testing.T) {
	many := make([]Pin, 5000) // more than fit in the pages that there are
	for i := range many {
		many[i] = Pin{Kind: PinBlob, ID: 1000 + int64(i)}
	}
	for _, tt := range []struct{ name, forbid, allow string }{
		{"a full disk", `PRAGMA max_page_count = 1`, `PRAGMA max_page_count = 1000000`},
		{"a file that we may not write", `PRAGMA query_only = 1`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t)
			l := hurried(t, db, func() []Pin { return many })
			exec(t, db, tt.forbid)
			require.NoError(t, l.Hold(t.Context()))
			require.Zero(t, number(t, db, leases))
			_, err := l.join(t.Context())
			require.Error(t, err, "a stream has to write")
			defer l.Drop()
			if tt.allow == "" {
				return
			}
			exec(t, db, tt.allow)
			eventually(t, db, 1, leases)
			require.EqualValues(t, len(many), number(t, db, `SELECT count(*) FROM pin`))
		})
	}
}

// Files come and go, streams run, a collector asks, all at once: whoever holds sees a row, always.
func TestLeaseUnderLoad(t *testing.T) {
	db := open(t)
	var pins atomic.Int64
	l := hurried(t, db, func() []Pin { return []Pin{{PinInode, 1024, pins.Add(1)}} })
	l.pace = pace{look: time.Millisecond, beat: 3 * time.Millisecond, idle: 2 * time.Millisecond}
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
	p := noise(1, 17*Size)
	for range 2 {
		wg.Go(func() {
			for range 5 {
				s := NewStager(db, l)
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
	eventually(t, db, 0, leases)
	require.Zero(t, number(t, db, `SELECT count(*) FROM pin`))
}

func TestDeadByAge(t *testing.T) {
	now := time.Now().UnixNano()
	ago := func(d time.Duration) int64 { return now - int64(d) }
	for _, name := range []string{owner(), "elsewhere/1", "", "a/b/c/d", "a/b/1/d/e"} {
		require.False(t, Dead(name, ago(0), now), name)
		require.False(t, Dead(name, ago(59*time.Second), now), name)
		require.False(t, Dead(name, ago(-time.Hour), now), name)
		require.True(t, Dead(name, ago(61*time.Second), now), name)
	}
}
