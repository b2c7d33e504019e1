package tree

import (
	"vfsdb/history"
	"vfsdb/memory"
	"vfsdb/node"
	"vfsdb/schema"
)

// The rows that these functions delete are shown by no tree, so the commit invalidates nothing that is cached.

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

// DeleteBranch deletes the row of a branch without a name, and reports whether it did: one that has other rows stays.
func DeleteBranch(db *schema.Tx, branch int64) (bool, error) {
	left, _, err := db.Int(`SELECT EXISTS (SELECT 1 FROM inode WHERE branch = ?1) OR EXISTS (SELECT 1 FROM dirent WHERE branch = ?1)`, branch)
	if err != nil || left == 1 {
		return false, err
	}
	memory.Carry(db)
	err = history.DeleteBranch(db, branch)
	return err == nil, err
}
