package schema

import "time"

// SetTurnPatience sets how long a writer waits for its turn before it tries without.
func (db *DB) SetTurnPatience(d time.Duration) { db.writer.turns.patience = d }

// TurnCommits is how many commits a turn lasts while others wait.
const TurnCommits = turnCommits

// HoldTurn takes the turn without writing. It returns a function that gives it back.
func HoldTurn(path string) (end func(), err error) {
	l, err := openLocks(path + logSuffix)
	if err != nil {
		return nil, err
	}
	l.wait(turnLock)
	return l.close, nil
}
