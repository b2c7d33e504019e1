package schema_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// A crowd calls Join while the write lock is held, so that what it joins is known: one group, in the order of the
// calls.
type crowd struct {
	t    *testing.T
	db   *schema.DB
	errs []error
	fns  []func()
}

// join is a call that writes the row name, notes in which place of its transaction it ran, and then does fn.
func (c *crowd) join(ctx context.Context, bytes int, name string, fn func(*schema.Tx) error) {
	n := len(c.errs)
	c.errs = append(c.errs, nil)
	c.fns = append(c.fns, func() { c.errs[n] = c.db.Join(ctx, bytes, rowThen(name, fn)) })
}

func rowThen(name string, fn func(*schema.Tx) error) func(*schema.Tx) error {
	return func(tx *schema.Tx) error {
		place, _ := tx.Local("place").(int64)
		tx.SetLocal("place", place+1)
		id, err := tx.NextID("blob")
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO meta (key, value) VALUES (?, ?)`, name, fmt.Sprint(id, " ", place)); err != nil {
			return err
		}
		if fn == nil {
			return nil
		}
		return fn(tx)
	}
}

// run has all of them wait for the lock, then gives it to them, and waits for their ends.
func (c *crowd) run(during func()) {
	var wg sync.WaitGroup
	require.NoError(c.t, c.db.Update(c.t.Context(), func(*schema.Tx) error {
		for _, fn := range c.fns {
			wg.Go(fn)
			synctest.Wait() // it waits in the queue
		}
		if during != nil {
			during()
			synctest.Wait()
		}
		return nil
	}))
	wg.Wait()
}

// rows returns what rowThen wrote: the name, its number and its place.
func rows(t *testing.T, db *schema.DB) (list []string) {
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		r := tx.Query(`SELECT key || ' ' || value FROM meta WHERE key LIKE 'op%' ORDER BY key`)
		for r.Next() {
			list = append(list, r.Text(0))
		}
		return r.Err()
	}))
	return list
}

// inCrowd runs a test in a bubble, which knows when everybody waits.
func inCrowd(t *testing.T, test func(t *testing.T, c *crowd)) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{Relaxed: true})
		test(t, &crowd{t: t, db: db})
	})
}

// Those that wait share a transaction; one that fails, for whatever reason, leaves no row, no number, no note, and
// nothing to be done after the commit.
func TestJoinFailsAlone(t *testing.T) {
	inCrowd(t, func(t *testing.T, c *crowd) {
		ctx, cancel := context.WithCancel(t.Context())
		var after []string
		told := func(name string, err error) func(*schema.Tx) error {
			return func(tx *schema.Tx) error {
				tx.AfterCommit(func() { after = append(after, name) })
				return err
			}
		}
		ran := false
		c.join(t.Context(), 0, "op1", told("op1", nil))
		c.join(t.Context(), 0, "op2", told("op2", syscall.EEXIST))
		c.join(ctx, 0, "op3", func(*schema.Tx) error { ran = true; return nil })
		c.join(t.Context(), 0, "op4", told("op4", nil))
		c.join(t.Context(), 0, "op1", told("again", nil)) // there is such a row by then
		c.join(t.Context(), 0, "op5", func(tx *schema.Tx) error { tx.SetMemo("of op5"); tx.Keep("too"); return syscall.ESTALE })
		c.join(t.Context(), 0, "op6", func(tx *schema.Tx) error {
			require.Nil(t, tx.Memo(), "what was undone is not remembered")
			require.Nil(t, tx.Kept())
			tx.SetMemo("kept")
			return nil
		})
		c.run(cancel)
		require.Equal(t, []string{"op1 1024 0", "op4 1025 1", "op6 1026 2"}, rows(t, c.db))
		require.Equal(t, []string{"op1", "op4"}, after)
		require.NoError(t, errors.Join(c.errs[0], c.errs[3], c.errs[6]))
		require.Equal(t, syscall.EEXIST, c.errs[1])
		require.ErrorIs(t, c.errs[2], context.Canceled)
		require.ErrorIs(t, c.errs[2], syscall.EBUSY)
		require.False(t, ran)
		require.True(t, schema.Conflict(c.errs[4]))
		require.Equal(t, syscall.ESTALE, c.errs[5])
		require.NoError(t, c.db.Update(t.Context(), func(tx *schema.Tx) error {
			require.Equal(t, "kept", tx.Memo())
			id, err := tx.NextID("blob")
			require.EqualValues(t, 1027, id)
			return err
		}))
	})
}

// One that fails before it has changed anything takes nothing back: the others run once, and what is kept in memory
// stays. After one that has changed something, be it only in memory, they run again, and it is gone.
func TestJoinUndoes(t *testing.T) {
	inCrowd(t, func(t *testing.T, c *crowd) {
		ran := make(map[string]int)
		write := func(name string) func(tx *schema.Tx) error {
			return func(tx *schema.Tx) error { return rowThen(name, nil)(tx) }
		}
		add := func(name string, fn func(*schema.Tx) error) {
			n := len(c.errs)
			c.errs = append(c.errs, nil)
			c.fns = append(c.fns, func() {
				c.errs[n] = c.db.Join(t.Context(), 0, func(tx *schema.Tx) error {
					ran[name]++
					return fn(tx)
				})
			})
		}
		add("writes", func(tx *schema.Tx) error {
			tx.SetMemo("of writes")
			tx.BeforeCommit(write("op-last"))
			return write("op1")(tx)
		})
		add("looks", func(tx *schema.Tx) error {
			_, _, err := tx.Int("SELECT count(*) FROM meta")
			require.NoError(t, err)
			require.Equal(t, "of writes", tx.Memo())
			return syscall.ENOENT
		})
		c.run(nil)
		require.Equal(t, []error{nil, syscall.ENOENT}, c.errs)
		require.Equal(t, map[string]int{"writes": 1, "looks": 1}, ran)
		require.Equal(t, []string{"op-last 1025 1", "op1 1024 0"}, rows(t, c.db))

		c.errs, c.fns = nil, nil
		clear(ran)
		add("writes", write("op2"))
		add("waits", func(tx *schema.Tx) error {
			tx.SetMemo("of waits")
			tx.BeforeCommit(write("op-never"))
			return syscall.ESTALE
		})
		add("looks", func(tx *schema.Tx) error {
			require.Nil(t, tx.Memo())
			return write("op3")(tx)
		})
		c.run(nil)
		require.Equal(t, []error{nil, syscall.ESTALE, nil}, c.errs)
		require.Equal(t, map[string]int{"writes": 2, "waits": 2, "looks": 1}, ran)
		require.Equal(t, []string{"op-last 1025 1", "op1 1024 0", "op2 1026 0", "op3 1027 1"}, rows(t, c.db))
	})
}

// Functions of BeforeCommit run after all operations; if one fails, only its own operation fails.
func TestJoinBeforeCommit(t *testing.T) {
	inCrowd(t, func(t *testing.T, c *crowd) {
		before := func(name string, err error) func(*schema.Tx) error {
			return func(tx *schema.Tx) error {
				tx.BeforeCommit(rowThen(name, func(*schema.Tx) error { return err }))
				return nil
			}
		}
		c.join(t.Context(), 0, "op1", before("op1-last", nil))
		c.join(t.Context(), 0, "op2", before("op2-last", nil))
		c.run(nil)
		require.NoError(t, errors.Join(c.errs...))
		require.Equal(t, []string{"op1 1024 0", "op1-last 1026 2", "op2 1025 1", "op2-last 1027 3"}, rows(t, c.db))

		c.errs, c.fns = nil, nil
		c.join(t.Context(), 0, "op3", before("op3-last", nil))
		c.join(t.Context(), 0, "op4", before("op4-last", syscall.ENOSPC))
		c.join(t.Context(), 0, "op5", before("op5-last", nil))
		c.run(nil)
		require.Equal(t, []error{nil, syscall.ENOSPC, nil}, c.errs)
		require.Equal(t, []string{"op3 1028 0", "op3-last 1029 1", "op5 1030 2", "op5-last 1031 3"}, rows(t, c.db)[4:])

		require.Equal(t, syscall.EDQUOT, c.db.Join(t.Context(), 0, before("alone", syscall.EDQUOT)))
		require.Equal(t, syscall.EDQUOT, c.db.Update(t.Context(), before("alone", syscall.EDQUOT)))
		require.Len(t, rows(t, c.db), 8)
	})
}

// The first one fails alone too, be it the one that holds the lock.
func TestJoinFirstFails(t *testing.T) {
	inCrowd(t, func(t *testing.T, c *crowd) {
		c.join(t.Context(), 0, "op1", func(*schema.Tx) error { return syscall.EEXIST })
		c.join(t.Context(), 0, "op2", nil)
		c.join(t.Context(), 0, "op3", nil)
		c.run(nil)
		require.Equal(t, []error{syscall.EEXIST, nil, nil}, c.errs)
		require.Len(t, rows(t, c.db), 2)
	})
}

// An operation that ends the whole transaction, as a full disk does, fails. The operations before it run again, by
// themselves: a newcomer, which might do the same, has to wait for the next transaction.
func TestJoinTransactionLost(t *testing.T) {
	for _, swallow := range []bool{false, true} {
		inCrowd(t, func(t *testing.T, c *crowd) {
			c.join(t.Context(), 0, "op1", nil)
			c.join(t.Context(), 0, "op2", func(*schema.Tx) error { return syscall.EISDIR })
			c.join(t.Context(), 0, "op3", nil)
			c.join(t.Context(), 0, "op4", func(tx *schema.Tx) error {
				_, err := tx.Exec(`ROLLBACK`)
				require.NoError(t, err)
				_, err = tx.Exec(`DELETE FROM meta`)
				require.ErrorIs(t, err, syscall.EIO)
				if swallow {
					return nil
				}
				return syscall.ENOSPC
			})
			c.join(t.Context(), 0, "op5", nil)
			c.run(nil)
			want := []error{nil, syscall.EISDIR, nil, syscall.ENOSPC, nil}
			if swallow {
				require.ErrorIs(t, c.errs[3], syscall.EIO)
				want[3] = c.errs[3]
			}
			require.Equal(t, want, c.errs)
			require.Equal(t, []string{"op1 1024 0", "op3 1025 1", "op5 1026 0"}, rows(t, c.db))
		})
	}
}

// A commit that fails fails everybody in it, with the same error.
func TestJoinCommitFails(t *testing.T) {
	inCrowd(t, func(t *testing.T, c *crowd) {
		require.NoError(t, c.db.Pragma("foreign_keys=ON"))
		require.NoError(t, c.db.Update(t.Context(), func(tx *schema.Tx) error {
			_, err := tx.Exec(`CREATE TEMP TABLE parent (id INTEGER PRIMARY KEY)`)
			require.NoError(t, err)
			_, err = tx.Exec(`CREATE TEMP TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED)`)
			return err
		}))
		c.join(t.Context(), 0, "op1", func(tx *schema.Tx) error {
			tx.AfterCommit(func() { t.Error("it was not committed") })
			return nil
		})
		c.join(t.Context(), 0, "op2", func(tx *schema.Tx) error {
			_, err := tx.Exec(`INSERT INTO child VALUES (7)`)
			return err
		})
		c.join(t.Context(), 0, "op3", func(tx *schema.Tx) error { return syscall.EEXIST })
		c.run(nil)
		require.Error(t, c.errs[0])
		require.Equal(t, slices.Repeat(c.errs[:1], 3), c.errs)
		require.Empty(t, rows(t, c.db))
		require.NoError(t, c.db.Join(t.Context(), 0, rowThen("op4", nil)))
	})
}

// A group is bounded, in operations and in bytes; the rest is for the next group.
func TestJoinIsBounded(t *testing.T) {
	inCrowd(t, func(t *testing.T, c *crowd) {
		for i := range 300 {
			c.join(t.Context(), 0, fmt.Sprintf("op%03d", i), nil)
		}
		for i := range 5 {
			c.join(t.Context(), 3<<20, fmt.Sprintf("opx%d", i), nil)
		}
		c.run(nil)
		require.NoError(t, errors.Join(c.errs...))
		list := rows(t, c.db)
		require.Equal(t, []string{"op255 1279 255", "op256 1280 0"}, list[255:257])
		require.Equal(t, []string{"op299 1323 43", "opx0 1324 44", "opx1 1325 0", "opx2 1326 0", "opx3 1327 0", "opx4 1328 0"}, list[299:])
	})
}

// An Update that waits has its turn between two groups: later operations do not overtake it.
func TestJoinIsFair(t *testing.T) {
	inCrowd(t, func(t *testing.T, c *crowd) {
		var wg sync.WaitGroup
		c.join(t.Context(), 3<<20, "op1", func(*schema.Tx) error { // holds the lock while others come
			wg.Go(func() { require.NoError(t, c.db.Update(t.Context(), rowThen("op2", nil))) })
			synctest.Wait()
			wg.Go(func() { require.NoError(t, c.db.Join(t.Context(), 3<<20, rowThen("op3", nil))) })
			synctest.Wait()
			return nil
		})
		c.run(nil)
		wg.Wait()
		require.Equal(t, []string{"op1 1024 0", "op2 1025 0", "op3 1026 0"}, rows(t, c.db))
	})
}

// A panic reaches the caller of the operation, on whichever goroutine it ran, and no other caller.
func TestJoinPanic(t *testing.T) {
	inCrowd(t, func(t *testing.T, c *crowd) {
		reached := make([]any, 5)
		for i := range 5 {
			c.join(t.Context(), 0, fmt.Sprint("op", i), func(*schema.Tx) error {
				if i%3 == 0 {
					panic(fmt.Errorf("panic %d: %w", i, syscall.EPROTO))
				}
				return nil
			})
			run := c.fns[i]
			c.fns[i] = func() {
				defer func() { reached[i] = recover() }()
				run()
			}
		}
		c.run(nil)
		for i, v := range reached {
			if i%3 != 0 {
				require.Nil(t, v)
				continue
			}
			err, ok := v.(error)
			require.True(t, ok, "%v", v)
			require.ErrorIs(t, err, syscall.EPROTO)
			require.ErrorContains(t, err, fmt.Sprint("panic ", i))
		}
		require.Equal(t, []string{"op1 1024 0", "op2 1025 1", "op4 1026 2"}, rows(t, c.db))
	})
}

// While another process writes, the leader waits no longer than its own context, and the others in the queue go on waiting.
func TestJoinLeaderGivesUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, other := open(t, path, schema.Options{Relaxed: true}), open(t, path, schema.Options{Relaxed: true})
	first, second := make(chan error), make(chan error)
	require.NoError(t, other.Update(t.Context(), func(*schema.Tx) error {
		short, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		go func() { first <- db.Join(short, 0, rowThen("op1", nil)) }()
		go func() { second <- db.Join(t.Context(), 0, rowThen("op2", nil)) }()
		require.ErrorIs(t, <-first, syscall.EBUSY)
		return nil
	}))
	require.NoError(t, <-second)
	require.Equal(t, []string{"op2 1024 0"}, rows(t, db))
}

func TestJoinRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, schema.Options{})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, context.Canceled, db.Join(gone, 0, nil))
	db.SetReadOnly(true)
	require.Equal(t, syscall.EROFS, db.Join(t.Context(), 0, nil))
	db.SetReadOnly(false)
	require.Equal(t, syscall.EROFS, db.Join(t.Context(), 0, func(*schema.Tx) error { db.SetReadOnly(true); return nil }))
	require.Equal(t, syscall.EROFS, open(t, path, schema.Options{ReadOnly: true}).Join(t.Context(), 0, nil))
	require.NoError(t, db.Close())
	db.SetReadOnly(false)
	require.ErrorIs(t, db.Join(t.Context(), 0, nil), fs.ErrClosed)
}
