package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// scribbleEnv makes the test binary write over the header of the index of a log, as one that dies in its midst does. It
// is another process because closing that file releases the locks on it.
const scribbleEnv = "VFS_WALINDEX_SCRIBBLE"

func TestMain(m *testing.M) {
	if name := os.Getenv(scribbleEnv); name != "" {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err == nil {
			_, err = f.WriteAt([]byte("torn"), 16) // mxFrame, of the first copy only
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// connect opens a file in WAL mode.
func connect(t testing.TB, path string) *sqlite.Conn {
	t.Helper()
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
	require.NoError(t, err)
	run(t, c, "PRAGMA journal_mode=WAL")
	run(t, c, "PRAGMA wal_autocheckpoint=0")
	run(t, c, "PRAGMA schema_version") // opens the log
	return c
}

// numbers is connect, with a table of one number.
func numbers(t testing.TB, path string) *sqlite.Conn {
	t.Helper()
	c := connect(t, path)
	t.Cleanup(func() { c.Close() })
	run(t, c, "CREATE TABLE IF NOT EXISTS t (n)")
	return c
}

func open(t testing.TB, path string, readOnly bool) *Index {
	t.Helper()
	x, err := OpenIndex(path, readOnly, anyFile)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x
}

func anyFile(int) bool { return true }

func read(t testing.TB, x *Index) Header {
	t.Helper()
	h, ok := x.Read()
	require.True(t, ok)
	return h
}

// Whatever commits is seen at once, and nothing else is.
func TestHeader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c, reader := numbers(t, path), numbers(t, path)
	x, other := open(t, path, false), open(t, path, true)
	seen := make(map[Header]string)
	last := Header{}
	for i := range 20 {
		for _, step := range []struct {
			sql    string
			commit bool
		}{
			{"SELECT * FROM t", false},
			{"BEGIN IMMEDIATE", false},
			{fmt.Sprintf("INSERT INTO t VALUES (%d)", i), false},
			{"ROLLBACK", false},
			{"PRAGMA wal_checkpoint(PASSIVE)", false},
			{fmt.Sprintf("INSERT INTO t VALUES (%d)", i), true},
			{"PRAGMA wal_checkpoint(PASSIVE)", false},
			{"UPDATE t SET n = n + 1", true}, // begins the log anew
			{"DELETE FROM t", true},
			{"PRAGMA wal_checkpoint(TRUNCATE)", true}, // may count as a commit
			{fmt.Sprintf("INSERT INTO t VALUES (%d)", i), true},
		} {
			run(t, c, step.sql)
			run(t, reader, "SELECT * FROM t")
			h := read(t, x)
			require.Equal(t, h, read(t, x))
			require.Equal(t, h, read(t, other))
			if !step.commit {
				if last != (Header{}) {
					require.Equal(t, last, h, step.sql)
				}
				continue
			}
			require.NotContains(t, seen, h, step.sql)
			seen[h] = step.sql
			last = h
		}
	}
}

// A file that was closed properly has an empty log, whose header proves nothing.
func TestEmptyLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	require.NoError(t, numbers(t, path).Close())
	var seen []Header
	for range 3 {
		reader, err := OpenIndex(path, true, anyFile)
		require.NoError(t, err)
		_, ok := reader.Read()
		require.False(t, ok, "there is no header yet")
		writer, err := OpenIndex(path, false, anyFile)
		require.NoError(t, err)
		h := read(t, writer)
		require.Equal(t, h, read(t, reader))
		require.NotContains(t, seen, h)
		seen = append(seen, h)
		info, err := os.Stat(path + "-wal")
		require.NoError(t, err)
		require.Zero(t, info.Size(), "nothing is written")
		require.NoError(t, reader.Close())
		require.NoError(t, writer.Close())
		require.NoFileExists(t, path+"-wal", "the last one to close the file folds the log")
	}
}

// An index that is damaged, as by a process that dies while it writes there, is made anew, and shows later commits.
func TestRecovery(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c, reader := numbers(t, path), numbers(t, path)
	x := open(t, path, false)
	seen := make(map[Header]int)
	for i := range 10 {
		run(t, c, fmt.Sprintf("INSERT INTO t VALUES (%d)", i))
		before := read(t, x)
		require.NotContains(t, seen, before)
		seen[before] = i
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), scribbleEnv+"="+path+"-shm")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		torn := read(t, x)
		require.NotEqual(t, before, torn)
		n := int64(0)
		require.NoError(t, sqlitex.ExecuteTransient(reader, "SELECT count(*) FROM t", &sqlitex.ExecOptions{
			ResultFunc: func(s *sqlite.Stmt) error { n = s.ColumnInt64(0); return nil },
		}))
		require.Equal(t, int64(i+1), n)
		after := read(t, x)
		require.NotEqual(t, torn, after)
		require.NotContains(t, seen, after)
		seen[after] = i
	}
}

// Where there is no index, OpenIndex fails.
func TestUnavailable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c := numbers(t, path)
	run(t, c, "PRAGMA journal_mode=DELETE")
	_, err := OpenIndex(path, false, anyFile)
	require.ErrorIs(t, err, ErrUnavailable)
	require.NoFileExists(t, path+"-shm")
	_, err = OpenIndex(filepath.Join(t.TempDir(), "missing.db"), false, anyFile)
	require.Error(t, err)
}

// Close unmaps the memory that Read reads; the two may run at the same time.
func TestCloseWhileReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c := numbers(t, path)
	run(t, c, "INSERT INTO t VALUES (1)")
	for range 20 {
		x, err := OpenIndex(path, false, anyFile)
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for ok := true; ok; {
					_, ok = x.Read()
				}
			})
		}
		require.NoError(t, x.Close())
		wg.Wait()
		require.NoError(t, x.Close())
	}
}

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.db")
	c := numbers(b, path)
	run(b, c, "INSERT INTO t VALUES (1)")
	x := open(b, path, false)
	for b.Loop() {
		x.Read()
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.db")
	c := numbers(b, path)
	run(b, c, "INSERT INTO t VALUES (1)")
	for b.Loop() {
		x, err := OpenIndex(path, false, anyFile)
		require.NoError(b, err)
		require.NoError(b, x.Close())
	}
}
