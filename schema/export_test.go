package schema

// SetLogLimit lets a test do with a shorter log.
func (db *DB) SetLogLimit(n int64) { db.logLimit = n }

// Pragma lets a test make the writing connection stricter than it is.
func (db *DB) Pragma(text string) error { return db.writer.pragma(text) }

// AwaitCheckpointer waits until the goroutine that folds the log rests, and returns the state of the log then: all its
// pages, and those that are not in the file yet.
func (db *DB) AwaitCheckpointer() (length, left int64, err error) {
	for {
		db.checkpointer.state.Lock()
		rest := db.checkpointer.rest
		db.checkpointer.state.Unlock()
		if rest == nil {
			break
		}
		<-rest
	}
	s, err := db.checkpointer.run("NOOP", 0)
	return s.length, s.left(), err
}

// HasCheckpointer reports whether that goroutine was ever needed.
func (db *DB) HasCheckpointer() bool { return db.checkpointer.wake != nil }

// Decide returns the step of the checkpointer once it has folded a log of which wasLeft is left, and which is longer now.
// All lengths are in bytes.
func (db *DB) Decide(wasLeft, length, left, last int64, synced bool) string {
	state := func(length, left int64) logState {
		return logState{length: length / PageSize, folded: (length - left) / PageSize}
	}
	return map[decision]string{foldMore: "more", foldDone: "done", foldLater: "later", foldAnew: "anew"}[db.decide(
		state(length, wasLeft), state(length, left), last/PageSize, synced)]
}
