package tree

import "vfsdb/node"

// Prefetch reads inodes with one query, if their numbers lie close together, as those of files do that were made
// together. Otherwise each is read when it is needed.
func (tx *Tx) Prefetch(inos []node.Ino) error {
	var first, last node.Ino
	n := 0
	for _, ino := range inos {
		if _, known := tx.mem.Node(ino); known {
			continue
		}
		if n == 0 {
			first = ino
		}
		first, last = min(first, ino), max(last, ino)
		n++
	}

	if n < 4 || int64(last-first) > 4*int64(n) || len(tx.fsys.levels) > 1 {
		return nil
	}
	return tx.loadInodes(first, last)
}

// Trim lets a transaction that reads a large tree forget most of what it has read, once that is much. A caller that
// holds an inode to change it must not call trim.
func (tx *Tx) Trim() { tx.mem.Trim() }
