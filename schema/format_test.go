package schema_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// sections cuts FORMAT.md at its headings of the third level: one for each table.
func sections(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("FORMAT.md")
	require.NoError(t, err)
	all := make(map[string]string)
	for _, part := range regexp.MustCompile(`(?m)^##+ `).Split(string(text), -1)[1:] {
		heading, body, _ := strings.Cut(part, "\n")
		all[heading] = body
	}
	return all
}

// column finds the names in the first cell of a table's line: one, or several with commas between.
var column = regexp.MustCompile("(?m)^\\| ((?:`[a-z_]+`(?:, )?)+) \\|")

// FORMAT.md has a section for every table, with a line for every column and for nothing else.
func TestFormatNamesEveryColumn(t *testing.T) {
	documented := sections(t)
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	for _, table := range texts(t, db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`) {
		section, ok := documented[table]
		require.True(t, ok, "no section on the table %s", table)
		if table == "meta" { // its keys have a list of their own, after that of its columns
			section, _, _ = strings.Cut(section, "| key |")
		}
		var named []string
		for _, m := range column.FindAllStringSubmatch(section, -1) {
			named = append(named, strings.Split(strings.ReplaceAll(m[1], "`", ""), ", ")...)
		}
		require.Equal(t, texts(t, db, `SELECT name FROM pragma_table_info(?) ORDER BY cid`, table), named, "columns of the table %s", table)
	}
}

func TestFormatNamesEveryIndexAndKey(t *testing.T) {
	text, err := os.ReadFile("FORMAT.md")
	require.NoError(t, err)
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	for _, query := range []string{
		`SELECT name FROM sqlite_schema WHERE type = 'index' AND name NOT LIKE 'sqlite_%'`,
		`SELECT key FROM meta`,
		`SELECT name FROM counter`,
	} {
		for _, name := range texts(t, db, query) {
			require.Contains(t, string(text), "`"+name+"`", query)
		}
	}
	require.Empty(t, texts(t, db, `SELECT name FROM sqlite_schema WHERE type NOT IN ('table', 'index')`), "views and triggers have no place in FORMAT.md")
}

// The header of a file, and of a backup, is as in FORMAT.md.
func TestFormatHeader(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "a.db"), filepath.Join(dir, "copy.db")
	db, err := schema.Open(t.Context(), path, schema.Options{})
	require.NoError(t, err)
	require.NoError(t, db.Backup(t.Context(), copied))
	require.NoError(t, db.Close())

	for name, journal := range map[string]byte{path: 2, copied: 1} {
		head, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, "SQLite format 3\x00", string(head[:16]))
		require.EqualValues(t, 8192, binary.BigEndian.Uint16(head[16:]), "page size")
		require.Equal(t, []byte{journal, journal}, head[18:20], "journal")
		require.EqualValues(t, 1, binary.BigEndian.Uint32(head[56:]), "text encoding")
		require.EqualValues(t, schema.Version, binary.BigEndian.Uint32(head[60:]), "user_version")
		require.NotZero(t, binary.BigEndian.Uint32(head[64:]), "auto_vacuum is incremental")
		require.EqualValues(t, 0x76667364, binary.BigEndian.Uint32(head[68:]), "application_id")
	}
}

// texts runs a query and returns its first column.
func texts(t *testing.T, db *schema.DB, query string, args ...any) (list []string) {
	t.Helper()
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		rows := tx.Query(query, args...)
		for rows.Next() {
			list = append(list, rows.Text(0))
		}
		return rows.Err()
	}))
	return list
}
