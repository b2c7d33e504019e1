package tree

import (
	"vfsdb/memory"
	"vfsdb/node"
	"vfsdb/schema"
)

// The rows that these functions delete are shown by no tree, so the commit invalidates nothing that is cached. A purge
// deletes rows that trees show, and closes the store before anybody reads.

// DeleteInode deletes a row of the table inode, and returns how many it found.
func DeleteInode(db *schema.Tx, branch int64, ino node.Ino, died, born int64) (int64, error) {
	memory.Carry(db)
	return db.Exec(`DELETE FROM inode WHERE branch = ? AND ino = ? AND died = ? AND born = ?`, branch, int64(ino), died, born)
}

// DeleteDirent deletes a row of the table dirent, and returns how many it found.
func DeleteDirent(db *schema.Tx, branch int64, name node.Name, died, born int64) (int64, error) {
	memory.Carry(db)
	return db.Exec(`DELETE FROM dirent WHERE branch = ? AND parent = ? AND name = ? AND died = ? AND born = ?`,
		branch, int64(name.Dir), name.Base, died, born)
}

// HideDirent makes a row of the table dirent a whiteout, and returns how many it found.
func HideDirent(db *schema.Tx, branch int64, name node.Name, died, born int64) (int64, error) {
	return db.Exec(`UPDATE dirent SET ino = NULL, kind = 0 WHERE branch = ? AND parent = ? AND name = ? AND died = ? AND born = ?`,
		branch, int64(name.Dir), name.Base, died, born)
}
