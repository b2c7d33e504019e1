package tree

import (
	"syscall"

	"vfsdb/history"
)

// ChangedSince reports whether anything was written to the head since a past moment of its own branch; what came back
// to what it was counts too. It costs two looks into an index, whatever was written. The moment of another branch is
// EINVAL.
func (tx *Tx) ChangedSince(at history.Moment) (bool, error) {
	if at.Branch != tx.tree.at.Branch {
		return false, syscall.EINVAL
	}
	if err := tx.Flush(); err != nil {
		return false, err
	}
	return tx.changedSince(at)
}

// changedSince is ChangedSince for a transaction that has written its inodes.
func (tx *Tx) changedSince(at history.Moment) (bool, error) {
	n, _, err := tx.db.Int(changedAfter, at.Branch, at.Epoch)
	return n != 0, err
}

// The literals let the partial indexes on born and died serve, as in bornAfter.
const changedAfter = `SELECT
	EXISTS (SELECT 1 FROM dirent WHERE branch = ?1 AND born > ?2 AND born > 2) OR
	EXISTS (SELECT 1 FROM inode  WHERE branch = ?1 AND born > ?2 AND born > 2) OR
	EXISTS (SELECT 1 FROM dirent WHERE branch = ?1 AND died > ?2 AND died < 9223372036854775807) OR
	EXISTS (SELECT 1 FROM inode  WHERE branch = ?1 AND died > ?2 AND died < 9223372036854775807)`
