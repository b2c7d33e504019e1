package schema_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
	"vfsdb/schema/engine/powerloss"
)

// A diary is a file of rows, with the states that a loss of power may leave: the state after some commit that is no older
// than the last acknowledged one, and no part of any other.
type diary struct {
	t      *testing.T
	host   *powerloss.Host
	random *rand.Rand

	rows   map[string]int         // that are committed, each with the commit that wrote it
	states map[int]map[string]int // the rows after each commit, also as they would be if one had not failed
	last   int                    // commit
	acked  int                    // the last that was acknowledged as durable
	errs   []error

	failed, pulls int // how often something has failed, and how many looks are due for the last time
}

func newDiary(t *testing.T, seed uint64, prepare func(*powerloss.Host)) (*diary, *schema.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	d := &diary{
		t: t, host: powerloss.New(t, path, seed), random: rand.New(rand.NewPCG(seed, 3)),
		rows: map[string]int{}, states: map[int]map[string]int{0: {}},
	}
	db := d.open(path)
	prepare(d.host)
	return d, db
}

func (d *diary) open(path string) *schema.DB {
	db := open(d.t, path, schema.Options{})
	db.SetLogLimit(diaryLog)
	return db
}

const (
	diaryLog  = 1 << 19
	diaryKeys = 12
)

// write makes one commit that writes one to three rows, in the way that is named.
func (d *diary) write(db *schema.DB, how string) error {
	d.last++
	n, after := d.last, maps.Clone(d.rows)
	for range 1 + d.random.IntN(3) {
		after[fmt.Sprint("row", d.random.IntN(diaryKeys))] = n
	}
	after["last"] = n
	size := 1 + d.random.IntN(40_000)
	fn := func(tx *schema.Tx) error {
		for key, at := range after {
			if at != n {
				continue
			}
			text := fmt.Sprint(n, " ", strings.Repeat("x", size))
			if _, err := tx.Exec(`INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)`, "diary "+key, text); err != nil {
				return err
			}
		}
		return nil
	}
	d.states[n] = after
	var err error
	switch how {
	case "update":
		err = db.Update(d.t.Context(), fn)
	case "join":
		err = db.Join(d.t.Context(), 0, fn)
	case "stage":
		err = db.Stage(d.t.Context(), fn)
	case "keep":
		err = db.Keep(d.t.Context(), fn)
	case "sync":
		if err = db.Stage(d.t.Context(), fn); err != nil {
			break
		}
		if err := db.Sync(d.t.Context()); err != nil {
			d.errs = append(d.errs, err)
			how = "stage"
		}
	}
	if err != nil {
		d.errs = append(d.errs, err)
		return err
	}
	d.rows = after
	if how == "update" || how == "join" || how == "sync" {
		d.acked = n
	}
	return nil
}

// live makes commits, most of them not synced, on files with checkpoints, readers, and a log that restarts. After each of
// the first few commits that follow a failure, the power goes.
func (d *diary) live(commits int, dbs ...*schema.DB) {
	for n := 0; n < commits; {
		db := dbs[d.random.IntN(len(dbs))]
		step := func() {
			n++
			d.step(db)
			d.pull()
		}
		if d.random.IntN(6) != 0 {
			step()
			continue
		}
		err := db.View(d.t.Context(), func(tx *schema.Tx) error {
			_, err := tx.ID()
			step() // and what is copied meanwhile is not all
			step()
			return err
		})
		if err != nil { // on a host that forgets
			d.errs = append(d.errs, err)
		}
	}
}

func (d *diary) step(db *schema.DB) {
	_ = d.write(db, []string{"update", "join", "stage", "stage", "keep", "sync"}[d.random.IntN(6)])
	if d.random.IntN(3) == 0 {
		if _, err := db.Checkpoint(d.t.Context()); err != nil {
			d.errs = append(d.errs, err)
		}
	}
}

// pull takes the power away, if something has failed of late.
func (d *diary) pull() {
	_, _, failed := d.host.Counts()
	if failed > d.failed {
		d.failed, d.pulls = failed, 4
	}
	if d.pulls > 0 {
		d.pulls--
		d.look(d.host.Image(d.t, d.pulls%2 == 0), fmt.Sprint("after ", d.last))
	}
}

// adopt begins with what a new process finds.
func (d *diary) adopt(db *schema.DB) {
	d.rows = d.found(db)
	require.Equal(d.t, d.states[d.rows["last"]], d.rows)
}

// found returns what is in a file, which has to be well formed.
func (d *diary) found(db *schema.DB) map[string]int {
	found := make(map[string]int)
	require.NoError(d.t, db.View(d.t.Context(), func(tx *schema.Tx) error {
		faults, err := tx.Integrity(5)
		require.NoError(d.t, err)
		require.Empty(d.t, faults)
		rows := tx.Query(`SELECT substr(key, 7), CAST(substr(value, 1, 10) AS INTEGER) FROM meta WHERE key LIKE 'diary %'`)
		for rows.Next() {
			found[rows.Text(0)] = int(rows.Int(1))
		}
		return rows.Err()
	}))
	return found
}

// look compares a file with the diary.
func (d *diary) look(path, when string) {
	t := d.t
	t.Helper()
	db, err := schema.Open(t.Context(), path, schema.Options{Relaxed: true})
	require.NoError(t, err, when)
	defer func() { require.NoError(t, db.Close()) }()
	found := d.found(db)
	require.GreaterOrEqual(t, found["last"], d.acked, "%s: acknowledged, and lost", when)
	require.Equal(t, d.states[found["last"]], found, when)
}

// lossPoints runs a test for every place at which something may fail, until nothing does. Without VFS_LONG it is one in
// a few.
func lossPoints(t *testing.T, stride int, test func(t *testing.T, k int) *diary) {
	switch {
	case os.Getenv("VFS_LONG") != "":
		stride = 1
	case testing.Short():
		stride *= 4
	}
	for k, failed := 1, 1; failed > 0 && k < 1000; k += stride { // with -run of one place, none fails
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			failed = 0
			_, _, failed = test(t, k).host.Counts()
		})
	}
}

// Whatever sync fails, of the log or of the file, of whichever connection, and if the next ones fail too: after a loss of
// power the file is what it was after a commit, no older than the last that was acknowledged.
func TestPowerLoss(t *testing.T) {
	const commits = 50
	for _, behind := range []int{0, 1, 4} {
		t.Run(fmt.Sprint("a sync and behind it ", behind), func(t *testing.T) {
			lossPoints(t, 6, func(t *testing.T, k int) *diary {
				d, db := newDiary(t, uint64(k), func(h *powerloss.Host) { h.Fail(k, behind) })
				d.live(commits, db)
				if behind == 0 {
					require.Empty(t, d.errs, "nobody sees a failure that could be mended")
				}
				require.NoError(t, db.Close())
				d.look(d.host.Image(t, false), "closed")
				return d
			})
		})
	}
	t.Run("while nobody waits", func(t *testing.T) {
		lossPoints(t, 20, func(t *testing.T, k int) *diary {
			d, db := newDiary(t, uint64(k), func(h *powerloss.Host) { h.Drop(k) })
			d.live(commits, db)
			require.Empty(t, d.errs)
			require.NoError(t, db.Close())
			d.look(d.host.Image(t, false), "closed")
			return d
		})
	})
	t.Run("and is forgotten", func(t *testing.T) {
		lossPoints(t, 6, func(t *testing.T, k int) *diary {
			d, db := newDiary(t, uint64(k), func(h *powerloss.Host) { h.Fail(k, 0); h.Forget = true })
			d.live(commits, db)
			_ = db.Close()
			d.look(d.host.Image(t, false), "closed")
			return d
		})
	})
	t.Run("of two processes", func(t *testing.T) {
		lossPoints(t, 6, func(t *testing.T, k int) *diary {
			d, db := newDiary(t, uint64(k), func(h *powerloss.Host) { h.Fail(k, 1) })
			d.live(10, db)
			other := d.open(db.Path())
			d.live(20, db, other)
			require.NoError(t, db.Close())
			d.live(20, d.open(other.Path()), other)
			return d
		})
	})
	t.Run("and the process is killed", func(t *testing.T) {
		lossPoints(t, 6, func(t *testing.T, k int) *diary {
			d, db := newDiary(t, uint64(k), func(h *powerloss.Host) { h.Fail(k, 3) })
			for range commits {
				if d.write(db, []string{"stage", "update"}[d.random.IntN(2)]) != nil {
					break
				}
			}
			// The last write may count or not: a new process finds what the page cache has.
			db = d.open(d.host.Kill(t))
			d.adopt(db)
			d.live(10, db)
			return d
		})
	})
}

// However many syncs of a checkpoint fail, the first one behind them succeeds, and copies all that may be missing. The
// log goes with the last to close the file, as always.
func TestCheckpointsGoOn(t *testing.T) {
	for behind := range 9 {
		t.Run(fmt.Sprint(behind), func(t *testing.T) {
			d, db := newDiary(t, uint64(behind), func(*powerloss.Host) {})
			for range 5 {
				require.NoError(t, d.write(db, "update"))
			}
			require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
				_, err := tx.ID()
				require.NoError(t, d.write(db, "update"))
				_, checkpointErr := db.Checkpoint(t.Context())
				require.NoError(t, checkpointErr, "which leaves what the reader does not see")
				return err
			}))
			d.host.Fail(1, behind)
			for {
				left, err := db.Checkpoint(t.Context())
				if err == nil {
					require.Zero(t, left)
					break
				}
				require.ErrorIs(t, err, syscall.EIO)
				require.NotZero(t, behind, "one failure is mended")
			}
			for err := d.write(db, "update"); err != nil; err = d.write(db, "update") {
				require.ErrorIs(t, err, syscall.EIO) // the checkpointer was first, and left some failures
				require.NotZero(t, behind)
			}
			d.look(d.host.Image(t, false), "open")
			require.NoError(t, db.Close())
			require.NoFileExists(t, db.Path()+"-wal")
			d.look(d.host.Image(t, false), "closed")
		})
	}
}
