package schema

// SetLogLimit lets a test do with a shorter log.
func (db *DB) SetLogLimit(n int64) { db.logLimit = n }

// Pragma lets a test make the writing connection stricter than it is.
func (db *DB) Pragma(text string) error { return db.writer.pragma(text) }
