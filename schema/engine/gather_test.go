package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// spilling opens a file in WAL mode with a table. Its cache is so small that a transaction of some pages spills to the
// log.
func spilling(t testing.TB, path, sync string) *sqlite.Conn {
	t.Helper()
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	for _, text := range []string{
		"PRAGMA page_size=1024", "PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=0", "PRAGMA cache_size=6", "PRAGMA synchronous=" + sync,
		"CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, tag, fill)",
	} {
		run(t, c, text)
	}
	return c
}

func run(t testing.TB, c *sqlite.Conn, text string, args ...any) {
	t.Helper()
	require.NoError(t, sqlitex.ExecuteTransient(c, text, &sqlitex.ExecOptions{Args: args}), text)
}

// rows returns the rows of the table.
func rows(t testing.TB, c *sqlite.Conn) (all string) {
	t.Helper()
	require.NoError(t, sqlitex.ExecuteTransient(c, "SELECT id, tag, length(fill), hex(substr(fill, -4)) FROM t ORDER BY id", &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error {
			all += fmt.Sprintln(s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnText(3))
			return nil
		},
	}))
	return all
}

// image opens the files that a crash of all processes would leave at this moment, which must be well formed, and returns
// their rows.
func image(t *testing.T, path string) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "image.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if suffix != "" && os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(copied+suffix, data, 0o600))
	}
	c, err := sqlite.OpenConn(copied, sqlite.OpenReadWrite)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, sqlitex.ExecuteTransient(c, "PRAGMA integrity_check", &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error {
			require.Equal(t, "ok", s.ColumnText(0))
			return nil
		},
	}))
	return rows(t, c)
}

// Whatever two connections do, a commit is in the files once COMMIT has returned. Nothing else ever is: neither the writes
// of a transaction that goes on, nor those of one that was rolled back.
func TestImages(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			path := filepath.Join(t.TempDir(), "a.db")
			sync := []string{"FULL", "NORMAL"}[seed%2]
			conns := []*sqlite.Conn{spilling(t, path, sync), spilling(t, path, sync)}
			require.NoError(t, Gather(conns[0]))
			if seed%3 == 0 {
				require.NoError(t, Gather(conns[1]))
			}
			committed := rows(t, conns[0])
			for range 25 {
				c := conns[random.IntN(2)]
				run(t, c, "BEGIN IMMEDIATE")
				for range random.IntN(12) {
					id := random.IntN(30)
					switch random.IntN(6) {
					case 0:
						run(t, c, "DELETE FROM t WHERE id = ?", id)
					case 1:
						run(t, c, "SAVEPOINT s")
						run(t, c, "UPDATE t SET tag = tag + 1, fill = randomblob(3000)")
						run(t, c, "ROLLBACK TO s")
					case 2:
						run(t, c, "UPDATE t SET tag = tag + 1 WHERE id % 3 = ?", id%3)
					default:
						run(t, c, "INSERT OR REPLACE INTO t VALUES (?, ?, randomblob(?))", id, random.IntN(1000), random.IntN(20_000))
					}
				}
				if random.IntN(4) == 0 {
					require.Equal(t, committed, image(t, path), "in the midst of a transaction")
				}
				if random.IntN(3) == 0 {
					run(t, c, "ROLLBACK")
				} else {
					run(t, c, "COMMIT")
					committed = rows(t, c)
				}
				require.Equal(t, committed, image(t, path))
				require.Equal(t, committed, rows(t, conns[0]))
				require.Equal(t, committed, rows(t, conns[1]))
				if random.IntN(5) == 0 {
					run(t, conns[random.IntN(2)], "PRAGMA wal_checkpoint("+[]string{"PASSIVE", "RESTART", "TRUNCATE"}[random.IntN(3)]+")")
					require.Equal(t, committed, image(t, path))
				}
			}
		})
	}
}

// An event is a call of the engine on the file of a log: a write of some bytes, or a sync.
type event struct {
	bytes int
	sync  bool
}

// watched are the events of the log that spy looks at.
var watched []event

var unwatched sqlite3.Tsqlite3_io_methods

func watchWrite(tls *libc.TLS, id, p uintptr, n int32, off int64) int32 {
	watched = append(watched, event{bytes: int(n)})
	return method[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](unwatched.FxWrite)(tls, id, p, n, off)
}

func watchSync(tls *libc.TLS, id uintptr, flags int32) int32 {
	watched = append(watched, event{sync: true})
	return method[func(*libc.TLS, uintptr, int32) int32](unwatched.FxSync)(tls, id, flags)
}

// spy notes the writes that reach the file of the one log that is gathering.
func spy(t *testing.T) {
	t.Helper()
	require.Len(t, gathering.wals, 1)
	tls := libc.NewTLS()
	t.Cleanup(tls.Close)
	for _, w := range gathering.wals {
		unwatched = *at[sqlite3.Tsqlite3_io_methods](w.methods)
		was, table := w.methods, malloc(tls, 256)
		ours := at[sqlite3.Tsqlite3_io_methods](table)
		*ours = unwatched
		ours.FxWrite, ours.FxSync = address(watchWrite), address(watchSync)
		w.methods = table
		t.Cleanup(func() {
			w.methods = was
			libc.Xfree(tls, table)
		})
	}
}

// A commit of many pages is one write and a sync, as soon as the log is long enough; while it grows, zeros come with
// some.
func TestFewWrites(t *testing.T) {
	c := spilling(t, filepath.Join(t.TempDir(), "a.db"), "FULL")
	run(t, c, "PRAGMA cache_size=1000")
	require.NoError(t, Gather(c))
	spy(t)
	const frame = frameHead + 1024
	var zeros, commits int
	size := func() int64 {
		info, err := os.Stat(sqlitePath(t, c) + "-wal")
		require.NoError(t, err)
		return info.Size()
	}
	for i := range 40 {
		watched = nil
		run(t, c, "INSERT INTO t VALUES (?, 0, randomblob(20000))", i)
		require.True(t, watched[len(watched)-1].sync)
		var frames, calls int
		for _, e := range watched[:len(watched)-1] {
			require.False(t, e.sync, "one sync")
			if e.bytes == roomSize {
				zeros++
				continue
			}
			if e.bytes == logHead {
				require.Zero(t, i, "what was in the log before is written again, once")
				continue
			}
			frames += e.bytes
			calls++
		}
		require.Zero(t, frames%frame)
		require.Greater(t, frames, 20*frame)
		if i > 0 {
			require.Equal(t, 1, calls)
			commits++
		}
	}
	require.Equal(t, rows(t, c), image(t, sqlitePath(t, c)))
	require.Equal(t, 39, commits)
	require.Positive(t, zeros)
	require.Less(t, zeros, commits/3)
	require.LessOrEqual(t, size(), int64(40*30*frame+growSize))

	// A long one is as few as hold it.
	watched = nil
	before := size()
	run(t, c, "INSERT INTO t VALUES (100, 0, randomblob(1000000))")
	require.Greater(t, size(), before)
	require.LessOrEqual(t, len(watched), 1_030_000/(roomSize-frame)+1+growSize/roomSize+1)
	require.Equal(t, rows(t, c), image(t, sqlitePath(t, c)))
}

// sqlitePath is the name of the file that c has open.
func sqlitePath(t *testing.T, c *sqlite.Conn) (path string) {
	t.Helper()
	require.NoError(t, sqlitex.ExecuteTransient(c, "PRAGMA database_list", &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error { path = s.ColumnText(2); return nil },
	}))
	return path
}

func failWrite(tls *libc.TLS, id, p uintptr, n int32, off int64) int32 { return sqlite3.SQLITE_FULL }

// A commit that cannot be written fails, and the next one does not.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c := spilling(t, path, "NORMAL")
	require.NoError(t, Gather(c))
	run(t, c, "INSERT INTO t VALUES (1, 1, randomblob(5000))")
	before := rows(t, c)
	spy(t)
	for _, w := range gathering.wals {
		ours := at[sqlite3.Tsqlite3_io_methods](w.methods)
		ours.FxWrite = address(failWrite)
		err := sqlitex.ExecuteTransient(c, "INSERT INTO t VALUES (2, 2, randomblob(5000))", nil)
		require.Equal(t, sqlite.ResultFull, sqlite.ErrCode(err))
		ours.FxWrite = address(watchWrite)
	}
	require.Equal(t, before, rows(t, c))
	require.Equal(t, before, image(t, path))
	run(t, c, "INSERT INTO t VALUES (3, 3, randomblob(5000))")
	require.Equal(t, rows(t, c), image(t, path))
}

// The state of a file goes when the file is closed.
func TestClose(t *testing.T) {
	for range 3 {
		c, err := sqlite.OpenConn(filepath.Join(t.TempDir(), "a.db"), sqlite.OpenReadWrite, sqlite.OpenCreate)
		require.NoError(t, err)
		require.ErrorIs(t, Gather(c), ErrUnavailable, "there is no log")
		run(t, c, "PRAGMA journal_mode=WAL")
		run(t, c, "CREATE TABLE t (n)")
		require.NoError(t, Gather(c))
		run(t, c, "INSERT INTO t VALUES (1)")
		require.NoError(t, c.Close())
		require.Empty(t, gathering.wals)
		require.Empty(t, known())
	}
}

// Gathered bytes that could not be written are not lost to a transaction that goes on: if a statement that changes many
// rows finds the disk full while it reads, SQLite undoes only the statement.
func TestFullDiskWhileReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c := spilling(t, path, "FULL")
	require.NoError(t, Gather(c))
	run(t, c, "CREATE TABLE u (id INTEGER PRIMARY KEY, fill NOT NULL)")
	spy(t)
	run(t, c, "BEGIN IMMEDIATE")
	for id := range 3 {
		run(t, c, "INSERT INTO t VALUES (?, ?, ?)", id, id, strings.Repeat("abcd", 4000+id))
	}
	for _, w := range gathering.wals {
		require.Positive(t, w.n, "something is in memory")
		ours := at[sqlite3.Tsqlite3_io_methods](w.methods)
		ours.FxWrite = address(failWrite)
		err := sqlitex.ExecuteTransient(c, "INSERT INTO u SELECT id, substr(fill, -4) FROM t", nil)
		require.Equal(t, sqlite.ResultFull, sqlite.ErrCode(err))
		ours.FxWrite = address(watchWrite)
	}
	require.False(t, c.AutocommitEnabled(), "the transaction goes on")
	run(t, c, "COMMIT")
	const want = "0 0 16000 61626364\n1 1 16004 61626364\n2 2 16008 61626364\n"
	require.Equal(t, want, rows(t, c))
	require.Equal(t, want, image(t, path))
}
