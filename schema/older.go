package schema

import (
	"fmt"

	"zombiezen.com/go/sqlite/sqlitex"
)

// A file of an older format that is open read-only stays as it is. Each connection to it has temporary views in place of the
// tables that lack columns, and of the tables other, trail, merge, step, undone, reaped and purge, so that the rooms above read it by the statements of this format. The
// columns are NULL there. Tables that came as a whole, before version 4, have no views: the rooms ask [Tx.Version].

// olderViews are the views of the tables, each for the files of versions first to last.
var olderViews = []struct {
	name        string
	first, last int64
	text        string
}{
	{"inode", 1, 4, `SELECT *, NULL AS xattrs, NULL AS conflict FROM main.inode`},
	{"inode", 5, 5, `SELECT *, NULL AS conflict FROM main.inode`},
	{"gc", 1, 5, `SELECT id, phase, round, floor, manifest, owner AS collector, beat FROM main.gc`},
	{"merge", 1, 5, `SELECT NULL AS branch, NULL AS epoch, NULL AS source, NULL AS cap, NULL AS reset WHERE false`},
	{"trail", 1, 5, `SELECT NULL AS block, NULL AS bits WHERE false`},
	{"step", 1, 5, `SELECT NULL AS branch, NULL AS epoch, NULL AS call WHERE false`},
	{"undone", 1, 5, `SELECT NULL AS branch, NULL AS call, NULL AS epoch, NULL AS by WHERE false`},
	{"reaped", 1, 5, `SELECT NULL AS branch, NULL AS epoch WHERE false`},
	{"purge", 1, 5, `SELECT NULL AS id, NULL AS at WHERE false`},
	{"call", 2, 4, `SELECT c.*, NULL AS command, NULL AS exit, m.first, m.last, ifnull(m.changes, 0) AS changes, ifnull(m.grew, 0) AS grew` + olderCalls},
	{"call", 5, 5, `SELECT c.*, m.first, m.last, ifnull(m.changes, 0) AS changes, ifnull(m.grew, 0) AS grew` + olderCalls},
	{"change", 2, 3, `SELECT *, NULL AS ino, NULL AS dir FROM main.change`},
	{"other", 2, 3, `SELECT NULL AS seq, NULL AS argdir, NULL AS displaced WHERE false`},
	{"other", 4, 4, `SELECT seq, argdir, displaced FROM main.change WHERE argdir IS NOT NULL OR displaced IS NOT NULL`},
}

// olderCalls counts the changes of calls whose rows do not. It reads the whole log.
const olderCalls = ` FROM main.call c LEFT JOIN (SELECT call, min(seq) AS first, max(seq) AS last, count(*) AS changes, sum(grew) AS grew
	FROM main.change GROUP BY call) m ON m.call = c.id`

// showOlder makes the views for the version that the file has in this transaction, and drops those of another version:
// another process may have brought the file forward since.
func (c *conn) showOlder() error {
	if !c.old {
		return nil
	}
	version, err := c.pragmaInt("user_version")
	if err != nil || version == c.shown {
		return err
	}

	// A connection that only queries may not make views either.
	if err := c.pragma("query_only=OFF"); err != nil {
		return err
	}
	for _, v := range olderViews {
		text := `DROP VIEW IF EXISTS temp.` + v.name
		if c.shown < v.first || c.shown > v.last {
			text = ""
		}
		if v.first <= version && version <= v.last {
			text += fmt.Sprintf(`;CREATE TEMP VIEW %s AS %s`, v.name, v.text)
		}
		if err := sqlitex.ExecuteScript(c.sq, "SAVEPOINT views;"+text+";RELEASE views;", nil); err != nil {
			return fmt.Errorf("show format %d: %w", version, mapError(err))
		}
	}
	c.shown = version
	return c.pragma("query_only=ON")
}
