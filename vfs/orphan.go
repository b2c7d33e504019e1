package vfs

// addOrphan queues an inode without names for gc.
func (tx *Tx) addOrphan(ino Ino) error {
	_, err := tx.db.Exec(`INSERT INTO orphan (branch, ino) VALUES (?, ?)`, tx.fsys.at.Branch, int64(ino))
	return err
}
