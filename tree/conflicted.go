package tree

import (
	"slices"

	"vfsdb/node"
)

// conflictVersion is the format that conflicts came with. An older file that is open read-only has none, and no index of
// them.
const conflictVersion = 6

// Conflicted returns the inodes that may have a conflict, in order: those of which a level of the tree has such a row. It
// costs as much as there are.
func (tx *Tx) Conflicted() (inos []node.Ino, err error) {
	if err := tx.Flush(); err != nil {
		return nil, err
	}
	version, err := tx.db.Version()
	if err != nil || version < conflictVersion {
		return nil, err
	}
	for _, l := range tx.tree.levels {
		rows := tx.db.Query(`SELECT ino FROM inode INDEXED BY inode_conflict WHERE branch = ?1 AND conflict IS NOT NULL
			AND died > ?2 AND born <= ?2`, l.Branch, l.Cap)
		for rows.Next() {
			inos = append(inos, node.Ino(rows.Int(0)))
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	slices.Sort(inos)
	return slices.Compact(inos), nil
}
