package schema

import (
	"vfsdb/schema/engine"
)

// A Mark stands for the content of the file at a moment: two equal Marks of one [DB] mean that no process has committed in
// between. Marks of different DBs must not be compared.
type Mark struct{ header engine.Header }

// Mark returns the present mark, in a few nanoseconds and without a transaction. ok is false where it is not known, see
// [engine.Index], and after Close. A commit changes the mark before its Update returns.
func (db *DB) Mark() (m Mark, ok bool) { return mark(db.index) }

func mark(index *engine.Index) (m Mark, ok bool) {
	if index == nil {
		return Mark{}, false
	}
	m.header, ok = index.Read()
	return m, ok
}

// Mark returns the mark of the moment that the transaction sees. ok is false if it is not known: the transaction writes, or
// somebody committed just as it began.
func (tx *Tx) Mark() (m Mark, ok bool) { return tx.conn.mark, tx.conn.marked }

// startMarked is start, between two looks at the mark. If they are equal, nobody has committed since the first one, and the
// moment that the transaction sees was fixed after it.
func (c *conn) startMarked(text string) error {
	before, ok := mark(c.index)
	if err := c.start(text); err != nil {
		return err
	}
	c.mark, c.marked = mark(c.index)
	c.marked = c.marked && ok && c.mark == before
	return nil
}

// CommitMark returns the mark of the commit that this DB has just made, for functions of [DB.OnCommit] and [Tx.AfterCommit]. ok is false if it
// is not known, as when somebody else has committed since.
func (db *DB) CommitMark() (m Mark, ok bool) {
	c := db.writer
	before, ok := mark(c.index)
	if !ok {
		return Mark{}, false
	}
	// dataVersion fixes a moment between two looks, and changes if another connection has committed until then.
	version, err := c.dataVersion()
	m, ok = mark(c.index)
	return m, ok && err == nil && version == c.seen && m == before
}

// openIndex opens the index of the log, if there is one. Without it everything works, only slower.
func (db *DB) openIndex() {
	ours := func(fd int) bool { return db.place.file.IsOpen(fd) && db.InPlace() == nil }
	if index, err := engine.OpenIndex(db.path, db.options.ReadOnly, ours); err == nil {
		db.index = index
	}
}
