package tree

import (
	"math"
	"time"

	"vfsdb/journal"
	"vfsdb/node"
)

// SetAttr changes attributes of an inode with a function, and records that as an op.
func (tx *Tx) SetAttr(p Place, op journal.Op, set func(*node.Node)) error {
	if err := tx.Writable(); err != nil {
		return err
	}
	n, err := tx.shown(p)
	if err != nil {
		return err
	}
	path, err := tx.eventPath(p)
	if err != nil {
		return err
	}

	set(n)
	tx.change(n)
	return tx.recordAt(path, change{Change: journal.Change{Op: op, Ino: n.Ino}})
}

// Nanos is a time as it is stored. One before 1678 or after 2261 becomes the first or the last that can be.
func Nanos(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}
