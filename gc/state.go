package gc

import (
	"time"

	"vfsdb/chunk"
	"vfsdb/schema"
)

// Phases of a collection, as they stand in the file. In any but idle, the write barrier is up.
const (
	idle     = 0
	marking  = 1
	sweeping = 2
)

// A state is the row of table gc.
type state struct {
	phase int64
	owner string
	beat  int64
}

func readState(tx *schema.Tx) (s state, err error) {
	rows := tx.Query(`SELECT phase, owner, beat FROM gc WHERE id = 1024`)
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Close(); err != nil {
			return s, err
		}
		return s, schema.Corrupt("the row of table gc is missing")
	}
	return state{phase: rows.Int(0), owner: rows.Text(1), beat: rows.Int(2)}, nil
}

func writeOwner(tx *schema.Tx, name string, now time.Time) error {
	_, err := tx.Exec(`UPDATE gc SET owner = ?, beat = ? WHERE id = 1024`, name, now.UnixNano())
	return err
}

// reset empties the lists of a collection and begins a phase.
func reset(tx *schema.Tx, phase int) error {
	if err := chunk.ForgetAll(tx); err != nil {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM doomed`); err != nil {
		return err
	}
	return writePhase(tx, phase)
}

// writePhase begins or ends a phase. Transactions that write on this connection remember in its memo whether a
// collection runs; those of others see the commit.
func writePhase(tx *schema.Tx, phase int) error {
	tx.SetMemo(nil)
	_, err := tx.Exec(`UPDATE gc SET phase = ? WHERE id = 1024`, phase)
	return err
}

// nextRound asks all processes to publish what they have open, and returns the number of the request.
func nextRound(tx *schema.Tx) (int64, error) {
	round, _, err := tx.Int(`UPDATE gc SET round = round + 1 WHERE id = 1024 RETURNING round`)
	return round, err
}

// writeLimits notes the newest content that may go, for whoever looks at the file.
func writeLimits(tx *schema.Tx, floor, ceiling int64) error {
	_, err := tx.Exec(`UPDATE gc SET floor = ?, manifest = ? WHERE id = 1024`, floor, ceiling)
	return err
}
