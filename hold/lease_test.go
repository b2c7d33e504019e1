package hold

import (
	"context"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

// hurried is a lease that lives fast.
func hurried(t testing.TB, db *schema.DB, pins func() []Pin) *Lease {
	l := NewLease(db, pins, newestOrphan)
	l.pace = pace{look: 5 * time.Millisecond, beat: 50 * time.Millisecond, idle: 100 * time.Millisecond}
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// newestOrphan is the function that the room of that table passes to NewLease.
func newestOrphan(tx *schema.Tx) (int64, error) {
	seq, _, err := tx.Int(`SELECT max(seq) FROM orphan`)
	return seq, err
}

func eventually(t testing.TB, db *schema.DB, want int64, query string, args ...any) {
	t.Helper()
	require.Eventually(t, func() bool { return dbtest.Number(t, db, query, args...) == want }, time.Minute, time.Millisecond, query)
}

const leases = `SELECT count(*) FROM lease`

// A lease has a row while files are open. The row lists them, keeps beating, answers collectors, and goes with the last one.
func TestLeaseLives(t *testing.T) {
	db := dbtest.Open(t)
	var mu sync.Mutex
	open := []Pin{{Inode, 1024, 77}, {Manifest, 0, 1030}, {Blob, 0, 1031}, {Blob, 0, 1031}}
	l := hurried(t, db, func() []Pin { mu.Lock(); defer mu.Unlock(); return open })
	dbtest.Exec(t, db, `INSERT INTO orphan (seq, branch, ino) VALUES (2000, 1024, 1025)`)
	require.NoError(t, l.Hold(t.Context()))
	require.EqualValues(t, 1, dbtest.Number(t, db, leases))
	require.EqualValues(t, 1, dbtest.Number(t, db, `SELECT count(*) FROM lease WHERE owner = ? AND floor = 9223372036854775807 AND orphan = 2000`, owner()))
	require.EqualValues(t, 3, dbtest.Number(t, db, `SELECT count(*) FROM pin JOIN lease ON lease.id = pin.lease`))
	require.EqualValues(t, 1, dbtest.Number(t, db, `SELECT count(*) FROM pin WHERE kind = 4 AND branch = 1024 AND id = 77`))
	id := dbtest.Number(t, db, `SELECT id FROM lease`)

	require.NoError(t, l.Hold(t.Context()))
	l.Drop()
	mu.Lock()
	open = []Pin{{Moment, 1025, 5}}
	mu.Unlock()
	dbtest.Exec(t, db, `UPDATE gc SET round = 9`)
	eventually(t, db, 9, `SELECT round FROM lease`)
	require.EqualValues(t, 1, dbtest.Number(t, db, `SELECT count(*) FROM pin`))
	require.EqualValues(t, 1, dbtest.Number(t, db, `SELECT count(*) FROM pin WHERE kind = 5 AND branch = 1025 AND id = 5`))

	beat := dbtest.Number(t, db, `SELECT beat FROM lease`)
	eventually(t, db, 1, `SELECT count(*) FROM lease WHERE beat > ?`, beat)
	time.Sleep(3 * l.pace.idle)
	require.Equal(t, id, dbtest.Number(t, db, `SELECT id FROM lease`), "still held")

	l.Drop()
	eventually(t, db, 0, leases)
	require.Zero(t, dbtest.Number(t, db, `SELECT count(*) FROM pin`))
	require.NoError(t, l.Hold(t.Context()))
	require.EqualValues(t, 1, dbtest.Number(t, db, leases), "a new row at once")
	require.Less(t, id, dbtest.Number(t, db, `SELECT id FROM lease`))
	require.NoError(t, l.Close())
	require.Zero(t, dbtest.Number(t, db, leases))
	require.Zero(t, dbtest.Number(t, db, `SELECT count(*) FROM pin`))
	require.ErrorIs(t, l.Hold(t.Context()), fs.ErrClosed)
	require.ErrorIs(t, l.Publish(t.Context()), fs.ErrClosed)
}

// A row that a collector deleted, because we were suspended, is made again by the next beat.
func TestLeaseComesBack(t *testing.T) {
	db := dbtest.Open(t)
	l := hurried(t, db, func() []Pin { return []Pin{{Inode, 1024, 77}} })
	require.NoError(t, l.Hold(t.Context()))
	dbtest.Exec(t, db, `DELETE FROM pin`)
	dbtest.Exec(t, db, `DELETE FROM lease`)
	eventually(t, db, 1, leases)
	eventually(t, db, 1, `SELECT count(*) FROM pin JOIN lease ON lease.id = pin.lease`)
	l.Drop()
}

// The mark is older than the pins: a request, or an orphan, that comes while we list the open files is not answered.
func TestPinsAreNewerThanTheMark(t *testing.T) {
	db := dbtest.Open(t)
	var once sync.Once
	l := hurried(t, db, func() []Pin {
		once.Do(func() {
			dbtest.Exec(t, db, `UPDATE gc SET round = 7`)
			dbtest.Exec(t, db, `INSERT INTO orphan (seq, branch, ino) VALUES (3000, 1024, 1025)`)
		})
		return nil
	})
	l.pace.look = time.Hour
	require.NoError(t, l.Hold(t.Context()))
	require.EqualValues(t, 1, dbtest.Number(t, db, `SELECT count(*) FROM lease WHERE round = 2 AND orphan = 0`))
	require.NoError(t, l.Publish(t.Context()))
	require.EqualValues(t, 1, dbtest.Number(t, db, `SELECT count(*) FROM lease WHERE round = 7 AND orphan = 3000`))
	l.Drop()
}

func TestLeaseOfReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	dbtest.OpenAt(t, path)
	db, err := schema.Open(t.Context(), path, schema.Options{ReadOnly: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	l := NewLease(db, nil, nil)
	require.NoError(t, l.Hold(t.Context()))
	require.NoError(t, l.Publish(t.Context()))
	l.Drop()
	require.NoError(t, l.Close())
	require.Zero(t, dbtest.Number(t, db, leases))
}

func TestHoldFails(t *testing.T) {
	db := dbtest.Open(t)
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

// A reader goes on without a row where none can be written, and has one as soon as it can be.
func TestHoldWhereNothingCanBeWritten(t *testing.T) {
	many := make([]Pin, 5000) // more than fit in the pages that there are
	for i := range many {
		many[i] = Pin{Kind: Blob, ID: 1000 + int64(i)}
	}
	for _, tt := range []struct{ name, forbid, allow string }{
		{"a full disk", `PRAGMA max_page_count = 1`, `PRAGMA max_page_count = 1000000`},
		{"a file that we may not write", `PRAGMA query_only = 1`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := dbtest.Open(t)
			l := hurried(t, db, func() []Pin { return many })
			dbtest.Exec(t, db, tt.forbid)
			require.NoError(t, l.Hold(t.Context()))
			require.Zero(t, dbtest.Number(t, db, leases))
			_, err := l.Join(t.Context())
			require.Error(t, err, "a stream has to write")
			defer l.Drop()
			if tt.allow == "" {
				return
			}
			dbtest.Exec(t, db, tt.allow)
			eventually(t, db, 1, leases)
			require.EqualValues(t, len(many), dbtest.Number(t, db, `SELECT count(*) FROM pin`))
		})
	}
}
