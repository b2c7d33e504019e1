package schema_test

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/schema"
)

const (
	// writeEnv makes the test binary a process that writes to the file named there until its input ends, or it is killed.
	writeEnv = "VFS_SCHEMA_WRITE"

	// relaxedEnv makes it one that does not sync its commits.
	relaxedEnv = "VFS_SCHEMA_RELAXED"

	shortLog = 2 << 20 // in place of 64 MiB
	commit   = 64 << 10
)

func TestMain(m *testing.M) {
	if path := os.Getenv(writeEnv); path != "" {
		if err := writeForever(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	vfstest.Main(m)
}

// writeForever is a process with a short log, which writes a line for each commit.
func writeForever(path string) error {
	ctx := context.Background()
	db, err := schema.Open(ctx, path, schema.Options{Relaxed: os.Getenv(relaxedEnv) != ""})
	if err != nil {
		return err
	}
	db.SetLogLimit(shortLog)
	for i := 0; ; i++ {
		if err := db.Update(ctx, filler(i)); err != nil {
			return err
		}
		if _, err := fmt.Println(i); err != nil {
			return db.Close() // nobody listens any more
		}
	}
}

// filler replaces a row of 64 KiB; there are 100.
func filler(i int) func(*schema.Tx) error {
	return func(tx *schema.Tx) error {
		_, err := tx.Exec(`INSERT OR REPLACE INTO meta (key, value) VALUES (?, zeroblob(?))`, fmt.Sprint("filler", i%100), commit)
		return err
	}
}

func logSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path + "-wal")
	require.NoError(t, err)
	return info.Size()
}

// A hot writer's log does not grow beyond its limit by more than a commit and the zeros behind it, and is folded once
// the writer rests.
func TestCheckpointer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, schema.Options{Relaxed: true})
	db.SetLogLimit(shortLog)
	const mark = shortLog / schema.PageSize
	for i := range 300 {
		require.NoError(t, db.Update(t.Context(), filler(i)))
		require.Less(t, logSize(t, path), int64(shortLog+2*commit+256<<10))
	}
	length, left, err := db.AwaitCheckpointer()
	require.NoError(t, err)
	require.LessOrEqual(t, length, int64(mark+2*commit/schema.PageSize), "the last commit may have gone beyond the limit")
	require.Less(t, left, int64(mark/8))
	require.NoError(t, db.Close())
	require.NoFileExists(t, path+"-wal")
}

// The moment at which the log restarts: early where each commit waits for a sync, else when the log is long. It restarts
// only while little is left to fold, or more will always be.
func TestCheckpointerDecides(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	const mib = 1 << 20
	for _, tt := range []struct {
		name                        string
		wasLeft, length, left, last int64
		synced                      bool
		want                        string
	}{
		{"short, synced", 0, 7 * mib, mib, schema.Forever, true, "done"},
		{"8 MiB, synced", 0, 8 * mib, mib, schema.Forever, true, "anew"},
		{"8 MiB, staged", 0, 8 * mib, mib, schema.Forever, false, "done"},
		{"8 MiB, synced, writers are fast", 0, 12 * mib, 4 * mib, schema.Forever, true, "done"},
		{"writers are faster", 0, 20 * mib, 10 * mib, schema.Forever, true, "more"},
		{"still", 0, 30 * mib, 11 * mib, 10 * mib, true, "more"},
		{"still, and it is long", 0, 40 * mib, 12 * mib, 11 * mib, true, "anew"},
		{"long, staged", 0, 32 * mib, 2 * mib, schema.Forever, false, "anew"},
		{"long, staged, writers are fast", 0, 32 * mib, 3 * mib, schema.Forever, false, "more"},
		{"a reader stays", 6 * mib, 12 * mib, 9 * mib, schema.Forever, true, "later"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, db.Decide(tt.wasLeft, tt.length, tt.left, tt.last, tt.synced))
		})
	}
}

// A DB that writes little has no checkpointer.
func TestCheckpointerStartsLate(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	for i := range 20 {
		require.NoError(t, db.Update(t.Context(), filler(i)))
	}
	require.False(t, db.HasCheckpointer())
	for i := range 200 {
		require.NoError(t, db.Update(t.Context(), filler(i)))
	}
	require.True(t, db.HasCheckpointer())
}

// Readers that come and go do not keep the log from restarting, and a reader that stays does not stop a busy writer.
func TestCheckpointerAndReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, schema.Options{Relaxed: true})
	db.SetLogLimit(shortLog)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := db.View(t.Context(), func(tx *schema.Tx) error {
					_, _, err := tx.Int(`SELECT sum(length(value)) FROM meta`)
					return err
				})
				if !assert.NoError(t, err) {
					return
				}
			}
		})
	}
	for i := range 300 {
		require.NoError(t, db.Stage(t.Context(), filler(i)))
		require.Less(t, logSize(t, path), int64(6*shortLog)) // a writer waits for a reader that does not get on, but not for long
	}
	close(stop)
	wg.Wait()
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		_, _, err := tx.Int(`SELECT count(*) FROM meta`)
		for i := range 100 {
			require.NoError(t, db.Stage(t.Context(), filler(i)))
		}
		require.Greater(t, logSize(t, path), int64(shortLog))
		return err
	}))
	require.NoError(t, db.Update(t.Context(), filler(0)))
	require.LessOrEqual(t, logSize(t, path), int64(shortLog))
}

// Processes that write at the same time bound the log together, also when some of them are killed. The last one to
// close the file leaves no log.
func TestProcessesFold(t *testing.T) {
	t.Run("relaxed", func(t *testing.T) { processesFold(t, true) })
	t.Run("synced", func(t *testing.T) { processesFold(t, false) })
}

func processesFold(t *testing.T, relaxed bool) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, schema.Options{Relaxed: relaxed})
	db.SetLogLimit(shortLog)
	type process struct {
		cmd   *exec.Cmd
		lines *bufio.Scanner
	}
	var processes []process
	for range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), writeEnv+"="+path)
		if relaxed {
			cmd.Env = append(cmd.Env, relaxedEnv+"=1")
		}
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		processes = append(processes, process{cmd, bufio.NewScanner(out)})
	}
	for len(processes) > 0 {
		for range 100 {
			for _, p := range processes {
				require.True(t, p.lines.Scan(), "it goes on")
			}
			require.NoError(t, db.Update(t.Context(), filler(0)))
			require.Less(t, logSize(t, path), int64(8*shortLog))
		}
		require.NoError(t, processes[0].cmd.Process.Kill())
		_ = processes[0].cmd.Wait()
		processes = processes[1:]
	}
	for i := range 100 {
		require.NoError(t, db.Update(t.Context(), filler(i)))
	}
	require.LessOrEqual(t, logSize(t, path), int64(shortLog+2*commit+256<<10))
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		faults, err := tx.Integrity(10)
		require.Empty(t, faults)
		return err
	}))
	require.NoError(t, db.Close())
	require.NoFileExists(t, path+"-wal")
}

// Only a Stage and a Keep are not synced, whatever came before, and staged rows are there for others at once.
func TestStage(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	const (
		normal = 1
		full   = 2
	)
	level := func(want int64) func(*schema.Tx) error {
		return func(tx *schema.Tx) error {
			got, _, err := tx.Int(`PRAGMA synchronous`)
			require.Equal(t, want, got)
			return err
		}
	}
	for range 2 {
		require.NoError(t, db.Stage(t.Context(), level(normal)))
		require.NoError(t, db.Update(t.Context(), level(full)))
		require.NoError(t, db.Stage(t.Context(), level(normal)))
		require.NoError(t, db.Join(t.Context(), 0, level(full)))
		require.NoError(t, db.Stage(t.Context(), filler(1)))
		require.NoError(t, db.Keep(t.Context(), level(normal)))
		require.NoError(t, db.Join(t.Context(), 0, level(full)))
	}
	require.ErrorIs(t, db.Stage(t.Context(), func(*schema.Tx) error { return os.ErrInvalid }), os.ErrInvalid)
	require.NoError(t, db.Update(t.Context(), level(full)))
	require.EqualValues(t, 1, number(t, db, `SELECT count(*) FROM meta WHERE key = 'filler1'`))
	db.SetReadOnly(true)
	require.Equal(t, syscall.EROFS, db.Stage(t.Context(), filler(2)))
	db.SetReadOnly(false)
	relaxed := open(t, db.Path(), schema.Options{Relaxed: true})
	require.NoError(t, relaxed.Update(t.Context(), level(normal)))
	require.NoError(t, relaxed.Stage(t.Context(), level(normal)))
}

// Trim changes nothing that can be seen. It does not wait, and does not delay a writer.
func TestTrim(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	for i := range 50 {
		require.NoError(t, db.Stage(t.Context(), filler(i)))
	}
	db.Trim()
	require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
		db.Trim()
		return filler(50)(tx)
	}))
	require.EqualValues(t, 51, number(t, db, `SELECT count(*) FROM meta WHERE key LIKE 'filler%'`))
	require.NoError(t, db.Close())
	db.Trim()
}

// A reader that is alone has the same connection each time, however many there were; and they are all closed.
func TestReadersAreWarm(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	require.NoError(t, db.View(t.Context(), func(*schema.Tx) error {
		return db.View(t.Context(), func(*schema.Tx) error {
			return db.View(t.Context(), func(*schema.Tx) error { return nil })
		})
	}))
	for i := range 10 {
		require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
			require.Equal(t, i > 0, tx.Memo() == "mine")
			tx.SetMemo("mine")
			return nil
		}))
	}
}

// A Stage that waits for the log ends when the DB is closed, and does not wait for a checkpointer that never starts.
func TestStageOfClosed(t *testing.T) {
	for i := range 20 {
		db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
		db.SetLogLimit(schema.PageSize)
		require.NoError(t, db.Update(t.Context(), filler(i)))
		require.True(t, db.HasCheckpointer())
		require.NoError(t, db.Close())
		require.ErrorIs(t, db.Stage(t.Context(), filler(i)), fs.ErrClosed)
	}
}

// A reader that stays keeps the log from restarting. Once it is gone, the next commit restarts it.
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
