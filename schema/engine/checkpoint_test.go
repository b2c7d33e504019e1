package engine

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// checkpoint returns how much is left in the log.
func checkpoint(t *testing.T, c *sqlite.Conn) (left int64) {
	t.Helper()
	require.NoError(t, sqlitex.ExecuteTransient(c, "PRAGMA wal_checkpoint(PASSIVE)", &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error {
			require.Zero(t, s.ColumnInt64(0))
			left = s.ColumnInt64(1) - s.ColumnInt64(2)
			return nil
		},
	}))
	return left
}

func known() (all []*database) {
	databases.Range(func(_, d any) bool { all = append(all, d.(*database)); return true })
	return all
}

// syncs counts those of a file.
var syncs int

func counted(tls *libc.TLS, id uintptr, flags int32) int32 {
	syncs++
	return sqlite3.SQLITE_OK
}

// A checkpoint that a reader keeps from copying everything syncs its copies, once, and one that copies nothing does
// not. SQLite syncs again when all is copied, whatever we did.
func TestSyncCheckpoints(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer, reader, checkpointer := connect(t, path), connect(t, path), connect(t, path)
	require.NoError(t, SyncCheckpoints(checkpointer))
	require.Len(t, known(), 1)
	f := known()[0]
	was := f.methods
	table := *at[sqlite3.Tsqlite3_io_methods](was)
	table.FxSync = address(counted)
	tls := libc.NewTLS()
	defer tls.Close()
	f.methods = libc.Xmalloc(tls, 256)
	defer libc.Xfree(tls, f.methods)
	*at[sqlite3.Tsqlite3_io_methods](f.methods) = table

	run(t, writer, "CREATE TABLE t (n)")
	run(t, writer, "INSERT INTO t VALUES (1)")
	run(t, reader, "BEGIN")
	run(t, reader, "SELECT * FROM t")
	run(t, writer, "INSERT INTO t VALUES (2)")
	require.Positive(t, checkpoint(t, checkpointer))
	require.Equal(t, 1, syncs)
	require.Positive(t, checkpoint(t, checkpointer))
	require.Equal(t, 1, syncs)
	run(t, reader, "COMMIT")
	require.Zero(t, checkpoint(t, checkpointer))
	require.Equal(t, 3, syncs, "ours, and that of SQLite")

	f.methods = was
	for _, c := range []*sqlite.Conn{writer, reader, checkpointer} {
		require.NoError(t, c.Close())
	}
	require.Empty(t, known())
}

// After a sync of ours has failed, the next sync by SQLite returns its error.
func TestFailedSync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer, checkpointer := connect(t, path), connect(t, path)
	defer writer.Close()
	defer checkpointer.Close()
	require.NoError(t, SyncCheckpoints(checkpointer))
	known()[0].failed = sqlite3.SQLITE_IOERR_FSYNC
	run(t, writer, "CREATE TABLE t (n)")
	err := sqlitex.ExecuteTransient(checkpointer, "PRAGMA wal_checkpoint(PASSIVE)", nil)
	require.Equal(t, sqlite.ResultIOErrFsync, sqlite.ErrCode(err))
	known()[0].failed = sqlite3.SQLITE_OK
	require.Zero(t, checkpoint(t, checkpointer))
}

// Connections that come and go at the same time have nothing to do with each other.
func TestManyFiles(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		path := filepath.Join(t.TempDir(), "a.db")
		wg.Go(func() {
			for range 20 {
				c := connect(t, path)
				require.NoError(t, SyncCheckpoints(c))
				run(t, c, "CREATE TABLE IF NOT EXISTS t (n)")
				run(t, c, "INSERT INTO t VALUES (zeroblob(20000))")
				require.Zero(t, checkpoint(t, c))
				require.NoError(t, c.Close())
			}
		})
	}
	wg.Wait()
	require.Empty(t, known())
}
