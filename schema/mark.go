package schema

import (
	"vfsdb/schema/engine"
)

// A Mark names what the file holds at a moment: two that are equal, of one [DB], mean that nobody, in whatever process,
// has committed in between. Those of different DBs are not to be compared.
type Mark struct{ header engine.Header }

// Mark returns the mark of now, in a few nanoseconds: no transaction is begun. ok is false where it cannot be told, see
// [engine.Index], and after Close. A commit has another mark before the Update that made it returns.
func (db *DB) Mark() (m Mark, ok bool) { return mark(db.index) }

func mark(index *engine.Index) (m Mark, ok bool) {
	if index == nil {
		return Mark{}, false
	}
	m.header, ok = index.Read()
	return m, ok
}

// Mark returns the mark of the moment that the transaction sees. ok is false if it cannot be told: it is one that
// writes, or somebody committed just as it began.
func (tx *Tx) Mark() (m Mark, ok bool) { return tx.conn.mark, tx.conn.marked }

// startMarked is start, between two looks at the mark. If those are equal, nobody has committed since the first, and
// what the transaction sees was fixed after it.
func (c *conn) startMarked(text string) error {
	before, ok := mark(c.index)
	if err := c.start(text); err != nil {
		return err
	}
	c.mark, c.marked = mark(c.index)
	c.marked = c.marked && ok && c.mark == before
	return nil
}

// CommitMark returns the mark of what this DB has just committed, for functions of [Tx.AfterCommit]. ok is false if it
// cannot be told, as when somebody else has committed since.
func (db *DB) CommitMark() (m Mark, ok bool) {
	c := db.writer
	before, ok := mark(c.index)
	if !ok {
		return Mark{}, false
	}
	// This fixes a moment between two looks, and tells whether another connection has committed until then.
	version, err := c.dataVersion()
	m, ok = mark(c.index)
	return m, ok && err == nil && version == c.seen && m == before
}

// openIndex opens the index of the log, if there is one. Without it, everything goes on as it does with it, only
// slower.
func (db *DB) openIndex() {
	ours := func(fd int) bool { return db.place.file.isOpen(fd) && db.InPlace() == nil }
	if index, err := engine.OpenIndex(db.path, db.options.ReadOnly, ours); err == nil {
		db.index = index
	}
}
