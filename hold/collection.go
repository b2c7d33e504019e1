package hold

import (
	"time"

	"vfsdb/schema"
)

// Phases of a collection, as they stand in the file. In any but Idle the write barrier is up.
const (
	Idle     = 0
	Marking  = 1
	Sweeping = 2
)

// A Collection is the row of table gc: the collection that runs, or the last one.
type Collection struct {
	Phase int64
	Owner string // the collector; empty if none runs
	Beat  int64  // its last sign of life, in ns since 1970
}

// ReadCollection returns the collection that runs, or the last one.
func ReadCollection(tx *schema.Tx) (Collection, error) {
	rows := tx.Query(`SELECT phase, collector, beat FROM gc WHERE id = 1024`)
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Close(); err != nil {
			return Collection{}, err
		}
		return Collection{}, schema.Corrupt("the row of table gc is missing")
	}
	return Collection{Phase: rows.Int(0), Owner: rows.Text(1), Beat: rows.Int(2)}, nil
}

// Collecting reports whether a collection runs, and so whether the write barrier is up.
func Collecting(tx *schema.Tx) (bool, error) {
	_, ok, err := tx.Int(`SELECT id FROM gc WHERE id = 1024 AND phase <> 0`)
	return ok, err
}

// SetOwner makes the collection name's; nobody's if name is empty.
func SetOwner(tx *schema.Tx, name string, now time.Time) error {
	_, err := tx.Exec(`UPDATE gc SET collector = ?, beat = ? WHERE id = 1024`, name, now.UnixNano())
	return err
}

// Beat notes that the collector name is alive. ours is false, and nothing is noted, if the collection is not its own any
// more.
func Beat(tx *schema.Tx, name string, now time.Time) (ours bool, err error) {
	n, err := tx.Exec(`UPDATE gc SET beat = ? WHERE id = 1024 AND collector = ?`, now.UnixNano(), name)
	return n != 0, err
}

// SetPhase begins or ends a phase. Transactions that write on this connection remember in its memo whether a collection
// runs, so it is forgotten; those of other connections see the commit.
func SetPhase(tx *schema.Tx, phase int) error {
	tx.SetMemo(nil)
	_, err := tx.Exec(`UPDATE gc SET phase = ? WHERE id = 1024`, phase)
	return err
}

// SetLimits notes the newest blob and manifest that may go, for people who inspect the file.
func SetLimits(tx *schema.Tx, blob, manifest int64) error {
	_, err := tx.Exec(`UPDATE gc SET floor = ?, manifest = ? WHERE id = 1024`, blob, manifest)
	return err
}

// NextRound asks all processes to publish their pins, and returns the number of the request.
func NextRound(tx *schema.Tx) (int64, error) {
	round, _, err := tx.Int(`UPDATE gc SET round = round + 1 WHERE id = 1024 RETURNING round`)
	return round, err
}

// currentRound returns the number of the last request; 0 if there is none.
func currentRound(tx *schema.Tx) (int64, error) {
	round, _, err := tx.Int(`SELECT round FROM gc WHERE id = 1024`)
	return round, err
}
