package page_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"vfsdb/schema/page"
)

// A memory is a file of pages in memory.
type memory struct {
	bytes []byte
	size  int
}

func (m *memory) Read(number int64, p []byte) error {
	at := (number - 1) * int64(m.size)
	if number < 1 || at+int64(m.size) > int64(len(m.bytes)) {
		return io.ErrUnexpectedEOF
	}
	copy(p, m.bytes[at:])
	return nil
}

func (m *memory) Write(number int64, p []byte) error {
	copy(m.bytes[(number-1)*int64(m.size):], p)
	return nil
}

func (m *memory) pages() int64 { return int64(len(m.bytes) / m.size) }

const secret = "a secret that must not stay anywhere"

// sample makes a database with rows of all shapes, many of which were deleted. It returns the roots of the b-trees.
func sample(t testing.TB, name string, size int, vacuum string) (*memory, []int64) {
	t.Helper()
	c, err := sqlite.OpenConn(name, sqlite.OpenReadWrite|sqlite.OpenCreate)
	require.NoError(t, err)
	run := func(text string, args ...any) {
		t.Helper()
		require.NoError(t, sqlitex.Execute(c, text, &sqlitex.ExecOptions{Args: args}))
	}
	run(fmt.Sprintf("PRAGMA page_size=%d", size))
	run("PRAGMA auto_vacuum=" + vacuum)
	run("PRAGMA secure_delete=OFF")
	run("PRAGMA synchronous=OFF")
	run("PRAGMA journal_mode=MEMORY")
	run("CREATE TABLE long (id INTEGER PRIMARY KEY, data BLOB)")
	run("CREATE TABLE keyed (name TEXT, n INTEGER, data BLOB, PRIMARY KEY (name, n)) WITHOUT ROWID")
	run("CREATE TABLE small (n INTEGER)")
	run("CREATE INDEX keyed_data ON keyed (data)")

	rnd := rand.New(rand.NewPCG(1, 2))
	data := func(what string) []byte { return bytes.Repeat([]byte(what+" "), 1+rnd.IntN(size*3/len(what))) }
	for i := range 300 {
		what := fmt.Sprint("kept ", i)
		if i%3 > 0 {
			what = secret
		}
		run("INSERT INTO long VALUES (?, ?)", i, data(what))
		run("INSERT INTO keyed VALUES (?, ?, ?)", what, i, data(what)[:20+rnd.IntN(10)*len(what)/20])
		run("INSERT INTO small VALUES (?)", i)
	}
	for i := range 300 {
		switch i % 3 {
		case 1:
			run("DELETE FROM long WHERE id = ?", i)
			run("DELETE FROM keyed WHERE n = ?", i)
		case 2:
			run("UPDATE long SET data = ? WHERE id = ?", data("changed"), i)
			run("DELETE FROM keyed WHERE n = ?", i)
		}
	}

	var roots []int64
	require.NoError(t, sqlitex.Execute(c, "SELECT rootpage FROM sqlite_schema WHERE rootpage > 0", &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error { roots = append(roots, s.ColumnInt64(0)); return nil },
	}))
	require.NoError(t, c.Close())
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	return &memory{raw, size}, roots
}

// rows are all rows of a database, and what SQLite says of its form.
func rows(t testing.TB, name string) (list []string) {
	t.Helper()
	c, err := sqlite.OpenConn(name, sqlite.OpenReadWrite)
	require.NoError(t, err)
	defer c.Close()
	for _, text := range []string{"SELECT id, hex(data) FROM long", "SELECT name, n || hex(data) FROM keyed", "SELECT n, '' FROM small", "PRAGMA integrity_check"} {
		require.NoError(t, sqlitex.Execute(c, text, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
			list = append(list, s.ColumnText(0)+" "+s.ColumnText(1))
			return nil
		}}))
	}
	return list
}

// What was deleted is in no byte, what was not is as it was, and a second Clear finds nothing to do.
func TestClear(t *testing.T) {
	for _, size := range []int{512, 1024, 8192, 65536} {
		for _, vacuum := range []string{"NONE", "INCREMENTAL"} {
			t.Run(fmt.Sprint(size, vacuum), func(t *testing.T) {
				name := filepath.Join(t.TempDir(), "sample.db")
				m, roots := sample(t, name, size, vacuum)
				before := rows(t, name)
				require.Equal(t, "ok ", before[len(before)-1])
				require.Contains(t, string(m.bytes), secret[5:])

				report, err := page.Clear(m, m.pages(), size, roots)
				require.NoError(t, err)
				require.Equal(t, m.pages(), report.Pages)
				require.Positive(t, report.Cleared)
				require.Greater(t, report.Bytes, report.Cleared)
				for at := 0; at+12 <= len(secret); at++ {
					require.NotContains(t, string(m.bytes), secret[at:at+12])
				}

				require.NoError(t, os.WriteFile(name, m.bytes, 0o600))
				require.Equal(t, before, rows(t, name))
				again, err := page.Clear(m, m.pages(), size, roots)
				require.NoError(t, err)
				require.Equal(t, page.Report{Pages: m.pages()}, again)
			})
		}
	}
}

// A root that is left out leaves pages without a use, which is damage, and so is one that is named twice.
func TestClearFindsDamage(t *testing.T) {
	m, roots := sample(t, filepath.Join(t.TempDir(), "sample.db"), 1024, "INCREMENTAL")
	for name, roots := range map[string][]int64{
		"a root is left out": roots[1:], "a root twice": append(roots, roots[0]), "no such page": append(roots, 1<<40), "page 0": append(roots, 0),
	} {
		t.Run(name, func(t *testing.T) {
			var damage *page.DamageError
			_, err := page.Clear(m, m.pages(), m.size, roots)
			require.ErrorAs(t, err, &damage)
		})
	}
	_, err := page.Clear(m, m.pages()+1, m.size, roots)
	require.Error(t, err)
}

// Whatever the bytes are, Clear ends without a panic; and it has changed only bytes that nothing uses, as far as it came.
func TestClearDamaged(t *testing.T) {
	whole, roots := sample(t, filepath.Join(t.TempDir(), "sample.db"), 512, "INCREMENTAL")
	rnd := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 800 {
		m := &memory{bytes.Clone(whole.bytes), whole.size}
		for range 1 + rnd.IntN(4) {
			at := rnd.IntN(int(m.pages()))*m.size + rnd.IntN(12)
			if rnd.IntN(2) == 0 {
				at = rnd.IntN(len(m.bytes))
			}
			m.bytes[at] = byte(rnd.Uint32())
		}
		_, err := page.Clear(m, m.pages(), m.size, roots)
		if err == nil {
			continue
		}
		found++
		var damage *page.DamageError
		require.True(t, errors.As(err, &damage) || errors.Is(err, io.ErrUnexpectedEOF), "%v", err)
		require.NotEmpty(t, err.Error())
	}
	require.Greater(t, found, 100)
}
