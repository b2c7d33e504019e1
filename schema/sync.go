package schema

import "context"

// Sync makes all that this DB has committed durable, also what [DB.Stage] did, and what [Options].Relaxed left to the host.
// It does nothing if all of it is durable already.
func (db *DB) Sync(ctx context.Context) error {
	if !db.unsynced.Load() {
		return ctx.Err()
	}
	return db.write(ctx, func() bool { return false }, func(tx *Tx) error {
		tx.AfterCommit(func() { db.unsynced.Store(false) })
		_, err := tx.Exec(`UPDATE counter SET next = next + 1 WHERE name = 'ino'`) // a commit that changes no page is not synced
		return err
	})
}
