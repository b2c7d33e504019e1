package schema

import "time"

// SetTurnPatience sets how long a writer waits for its turn before it tries without.
func (db *DB) SetTurnPatience(d time.Duration) { db.writer.turns.Patience = d }
