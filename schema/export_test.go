package schema

// SetLogLimit lets a test do with a shorter log.
func (db *DB) SetLogLimit(n int64) { db.logLimit = n }
