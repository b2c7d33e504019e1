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

func open(t *testing.T, path string, o schema.Options) *schema.DB {
	t.Helper()
	db, err := schema.Open(t.Context(), path, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func number(t *testing.T, db *schema.DB, text string, args ...any) int64 {
	t.Helper()
	var n int64
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) (err error) {
		n, _, err = tx.Int(text, args...)
		return err
	}))
	return n
}

// The chunk size stands in the file. The page size and auto_vacuum are the ones we asked for, although SQLite
// forgets them silently when they are set in the wrong order.
func TestNewFile(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	require.EqualValues(t, 8192, number(t, db, `PRAGMA page_size`))
	require.EqualValues(t, 2, number(t, db, `PRAGMA auto_vacuum`))
	require.EqualValues(t, 524288, number(t, db, `SELECT value FROM meta WHERE key = 'chunk_size'`))
	require.EqualValues(t, 1, number(t, db, `SELECT count(*) FROM branch WHERE name = 'main' AND id = 1024`))
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		rows := tx.Query(`PRAGMA journal_mode`)
		require.True(t, rows.Next())
		require.Equal(t, "wal", rows.Text(0))
		return rows.Close()
	}))
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.db")
	foreign := filepath.Join(dir, "foreign.db")
	require.NoError(t, os.WriteFile(foreign, make([]byte, 4096), 0o644))
	garbage := filepath.Join(dir, "garbage.db")
	require.NoError(t, os.WriteFile(garbage, []byte("this is not a database, nor was it ever meant to be one, at any length"), 0o644))
	newer := filepath.Join(dir, "newer.db")
	db := open(t, newer, schema.Options{})
	require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`PRAGMA user_version = 99`)
		return err
	}))
	require.NoError(t, db.Close())

	for _, tt := range []struct {
		name, path string
		options    schema.Options
		want       error
	}{
		{"no file, must exist", missing, schema.Options{MustExist: true}, syscall.ENOENT},
		{"no file, read-only", missing, schema.Options{ReadOnly: true}, syscall.ENOENT},
		{"no name", "", schema.Options{}, syscall.EINVAL},
		{"a directory", dir, schema.Options{}, syscall.EISDIR},
		{"no directory", filepath.Join(dir, "no/such/a.db"), schema.Options{}, syscall.ENOENT},
		{"a device", os.DevNull, schema.Options{}, syscall.EINVAL},
		{"text", garbage, schema.Options{}, schema.ErrForeign},
		{"zeros", foreign, schema.Options{}, schema.ErrForeign},
		{"newer format", newer, schema.Options{}, schema.ErrTooNew},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := schema.Open(t.Context(), tt.path, tt.options)
			require.ErrorIs(t, err, tt.want)
		})
	}
	_, err := os.Stat(missing)
	require.ErrorIs(t, err, os.ErrNotExist, "a refused open creates nothing")
}

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

func TestConflict(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	err := db.Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`INSERT INTO branch (name, epoch, created) VALUES ('main', 2, 2)`)
		return err
	})
	require.True(t, schema.Conflict(err), "%v", err)
}

// A second handle stands for a second process: it sees each commit at once, and what was remembered is forgotten.
func TestMemoIsNeverStale(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	a, b := open(t, path, schema.Options{}), open(t, path, schema.Options{})
	for i := range int64(200) {
		require.NoError(t, a.Update(t.Context(), func(tx *schema.Tx) error {
			_, err := tx.Exec(`INSERT INTO counter (name, next) VALUES ('x', ?1) ON CONFLICT DO UPDATE SET next = ?1`, i+5)
			return err
		}))
		require.NoError(t, b.View(t.Context(), func(tx *schema.Tx) error {
			require.Nil(t, tx.Memo(), "after a commit elsewhere")
			n, _, err := tx.Int(`SELECT next FROM counter WHERE name = 'x'`)
			require.EqualValues(t, i+5, n)
			tx.SetMemo(n)
			return err
		}))
		require.NoError(t, b.View(t.Context(), func(tx *schema.Tx) error {
			require.Equal(t, i+5, tx.Memo(), "after no commit")
			return nil
		}))
	}
}

// Writers of two handles wait for each other in turn, and none is told EBUSY while its deadline is far.
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
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	nothing := func(tx *schema.Tx) error { return nil }
	err := b.Update(short, nothing)
	require.ErrorIs(t, err, syscall.EBUSY, "another process")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	short2, cancel2 := context.WithTimeout(t.Context(), 20*time.Millisecond)
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

func TestNestedQueries(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	const text = `SELECT name FROM counter ORDER BY name`
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		n, counters := 0, 0
		outer := tx.Query(text)
		for outer.Next() {
			counters++
			inner := tx.Query(text)
			for inner.Next() {
				n++
			}
			require.NoError(t, inner.Err())
		}
		require.Greater(t, counters, 4)
		require.Equal(t, counters*counters, n)
		return outer.Err()
	}))
}

// Numbers grow from commit to commit, of whatever handle, and are given out once. Only where another handle has
// committed, or one was closed, do they have gaps; those of changes never do. Those of a rolled back transaction are
// not lost.
func TestNextID(t *testing.T) {
	for _, tt := range []struct {
		counter string
		turns   []int // of the handles
		want    []int64
	}{
		{"blob", []int{0, 0, 0}, []int64{1024, 1027, 1030}},
		{"blob", []int{0, 1, 1, 0}, []int64{1024, 1283, 1286, 1542}},
		{"blob", []int{0, -1, 1}, []int64{1024, -1, 1283}},
		{"change", []int{0, 1, 1, 0, -1, 0}, []int64{1024, 1027, 1030, 1033, -1, 1036}},
	} {
		path := filepath.Join(t.TempDir(), "a.db")
		handles := []*schema.DB{open(t, path, schema.Options{}), open(t, path, schema.Options{})}
		take := func(turn int, want int64, result error) {
			err := handles[turn].Update(t.Context(), func(tx *schema.Tx) error {
				for range 3 {
					id, err := tx.NextID(tt.counter)
					require.NoError(t, err)
					require.Equal(t, want, id, tt)
					want++
				}
				return result
			})
			require.ErrorIs(t, err, result)
		}
		for i, turn := range tt.turns {
			if turn < 0 {
				require.NoError(t, handles[0].Close())
				handles[0] = open(t, path, schema.Options{})
				continue
			}
			take(turn, tt.want[i], os.ErrInvalid)
			take(turn, tt.want[i], nil)
		}
	}
}

// More numbers than a connection takes at a time are given out in one transaction, and after it.
func TestNextIDMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, schema.Options{Relaxed: true})
	want := int64(1024)
	for range 3 {
		require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
			for range 1000 {
				id, err := tx.NextID("blob")
				require.NoError(t, err)
				require.Equal(t, want, id)
				want++
			}
			return nil
		}))
		next := number(t, db, `SELECT next FROM counter WHERE name = 'blob'`)
		require.GreaterOrEqual(t, next, want)
	}
}

// A reader that stays keeps the log from being begun anew; once it is gone, the next commit does that.
func TestLogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, schema.Options{Relaxed: true})
	const limit = 1 << 20
	db.SetLogLimit(limit)
	fill := func(n int) {
		for range n {
			require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
				_, err := tx.Exec(`UPDATE meta SET value = randomblob(1 << 16) WHERE key = 'filler'`)
				return err
			}))
		}
	}
	require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`INSERT INTO meta (key, value) VALUES ('filler', 2)`)
		return err
	}))
	size := func() int64 {
		info, err := os.Stat(path + "-wal")
		require.NoError(t, err)
		return info.Size()
	}
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		_, _, err := tx.Int(`SELECT count(*) FROM meta`)
		fill(20)
		require.Greater(t, size(), int64(limit))
		return err
	}))
	fill(1)
	require.LessOrEqual(t, size(), int64(limit))
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	open(t, path, schema.Options{})
	db := open(t, path, schema.Options{ReadOnly: true})
	require.EqualValues(t, 1, number(t, db, `SELECT count(*) FROM branch`))
	require.Equal(t, syscall.EROFS, db.Update(t.Context(), func(*schema.Tx) error { return nil }))
}

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "a.db"), schema.Options{})
	dest := filepath.Join(dir, "copy.db")
	require.NoError(t, db.Backup(t.Context(), dest))
	require.ErrorIs(t, db.Backup(t.Context(), dest), syscall.EEXIST)
	require.ErrorIs(t, db.Backup(t.Context(), filepath.Join(dir, "no/such/copy.db")), syscall.ENOENT)
	copied := open(t, dest, schema.Options{})
	require.EqualValues(t, 1, number(t, copied, `SELECT count(*) FROM branch`))
	require.EqualValues(t, 8192, number(t, copied, `PRAGMA page_size`))
	require.EqualValues(t, 2, number(t, copied, `PRAGMA auto_vacuum`))
	left, err := filepath.Glob(filepath.Join(dir, "*.part"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// What another backup to the same place is writing is not touched, and a backup does not get the log of a file that was
// there before.
func TestBackupBeside(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "a.db"), schema.Options{})
	dest := filepath.Join(dir, "copy.db")
	require.NoError(t, os.WriteFile(dest+".part", []byte("half"), 0o600))
	require.NoError(t, db.Backup(t.Context(), dest))
	half, err := os.ReadFile(dest + ".part")
	require.NoError(t, err)
	require.Equal(t, "half", string(half))

	dest = filepath.Join(dir, "late.db")
	require.NoError(t, os.WriteFile(dest+"-wal", []byte("frames"), 0o600))
	require.ErrorIs(t, db.Backup(t.Context(), dest), syscall.EEXIST)
	require.NoFileExists(t, dest)
}

// ANALYZE by somebody else would make each bind plan its statement anew.
func TestForeignStatisticsAreDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, schema.Options{})
	require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`ANALYZE`)
		return err
	}))
	require.NoError(t, db.Close())
	db = open(t, path, schema.Options{})
	require.Zero(t, number(t, db, `SELECT count(*) FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'`))
}

func TestClosed(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	require.NoError(t, db.Close())
	require.ErrorIs(t, db.View(t.Context(), func(*schema.Tx) error { return nil }), os.ErrClosed)
	require.NoError(t, db.Close())
}
