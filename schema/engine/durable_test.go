package engine

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Bytes in doubt are written again, byte by byte the same. When the file has other bytes than were written, each commit
// fails until they are back.
func TestWriteAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c := spilling(t, path, "FULL")
	require.NoError(t, Gather(c))
	for i := range 20 {
		run(t, c, "INSERT INTO t VALUES (?, 0, randomblob(20000))", i)
	}
	require.Len(t, gathering.wals, 1)
	for id, w := range gathering.wals {
		require.LessOrEqual(t, w.doubt, w.safe)
		require.Equal(t, w.index.committed(), w.safe)
		tls := libc.NewTLS()
		defer tls.Close()
		flip := func(off int64) {
			p := malloc(tls, 1)
			defer libc.Xfree(tls, p)
			require.EqualValues(t, sqlite3.SQLITE_OK, w.read(tls, id, p, 1, off))
			view(p, 1)[0] ^= 4
			require.EqualValues(t, sqlite3.SQLITE_OK, w.log.write(tls, id, p, 1, off))
		}
		spy(t)
		const frame = frameHead + 1024
		frames := (w.safe - logHead) / frame
		for _, safe := range []int64{0, logHead, logHead + frame, logHead + frames/2*frame, w.safe} {
			run(t, c, "DELETE FROM t WHERE id = 19")
			before := rows(t, c)
			bytes, end := 0, w.safe
			w.safe, w.doubt, watched = safe, end, nil
			run(t, c, "UPDATE t SET tag = tag + 1 WHERE id = 3")
			for _, e := range watched {
				bytes += e.bytes
			}
			require.GreaterOrEqual(t, int64(bytes), end-safe)
			require.Equal(t, w.index.committed(), w.safe)
			require.NotEqual(t, before, rows(t, c))
			require.Equal(t, rows(t, c), image(t, path))
		}
		for _, off := range []int64{5, 20, 30, logHead, logHead + 9, logHead + 17, logHead + frameHead + 100, w.safe - 1} {
			before := rows(t, c)
			flip(off)
			for range 2 {
				w.safe, w.doubt = 0, w.index.committed()
				err := sqlitex.ExecuteTransient(c, "UPDATE t SET tag = tag + 1 WHERE id = 3", nil)
				require.Equal(t, sqlite.ResultIOErrFsync, sqlite.ErrCode(err), "at %d", off)
			}
			flip(off)
			require.Equal(t, before, rows(t, c))
			run(t, c, "UPDATE t SET tag = tag + 1 WHERE id = 3")
			require.Equal(t, rows(t, c), image(t, path))
		}
	}
}
