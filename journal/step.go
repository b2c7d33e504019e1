package journal

import (
	"time"

	"vfsdb/node"
	"vfsdb/schema"
)

// A Step is an epoch in which a call, and nothing else, changed the tree of a branch. Before it stands the moment of the
// epoch before, and after it that of its own.
type Step struct{ Branch, Epoch, Call int64 }

// Call returns the number under which the call of the transaction is recorded; 0 if there is no call, or none yet.
func (w *Writer) Call() int64 {
	c := CallOf(w.tx.Context())
	if c == nil {
		return 0
	}
	if w.call == 0 {
		w.call = c.id(w.journal)
	}
	if w.call == 0 { // another writer of this transaction may have made it
		w.call, _ = w.tx.Local(c).(int64)
	}
	return w.call
}

// StepOf returns the call that an epoch of a branch is a step of; 0 if it is none.
func StepOf(tx *schema.Tx, branch, epoch int64) (call int64, err error) {
	call, _, err = tx.Int(`SELECT call FROM step WHERE branch = ? AND epoch = ?`, branch, epoch)
	return call, err
}

// AddStep notes that an epoch of the branch is a step of a call, once.
func (w *Writer) AddStep(epoch, call int64) error {
	if w.step == epoch {
		return nil
	}
	w.step = epoch
	_, err := w.tx.Exec(`INSERT OR IGNORE INTO step (branch, epoch, call) VALUES (?, ?, ?)`, w.branch, epoch, call)
	return err
}

// StepsOf returns the steps of a call, on all branches, the latest of each branch first.
func StepsOf(tx *schema.Tx, call int64) ([]Step, error) {
	return readSteps(tx.Query(`SELECT branch, epoch, call FROM step WHERE call = ? ORDER BY branch, epoch DESC`, call))
}

func readSteps(rows *schema.Rows) (list []Step, err error) {
	for rows.Next() {
		list = append(list, Step{rows.Int(0), rows.Int(1), rows.Int(2)})
	}
	return list, rows.Err()
}

// StepsOn returns up to limit steps of a branch in epochs below one, the latest first.
func StepsOn(tx *schema.Tx, branch, below int64, limit int) ([]Step, error) {
	return readSteps(tx.Query(`SELECT branch, epoch, call FROM step WHERE branch = ? AND epoch < ? ORDER BY epoch DESC LIMIT ?`, branch, below, limit))
}

// StepEpochs returns the epochs of all steps of a branch, ascending.
func StepEpochs(tx *schema.Tx, branch int64) (list []int64, err error) {
	rows := tx.Query(`SELECT epoch FROM step WHERE branch = ? ORDER BY epoch`, branch)
	for rows.Next() {
		list = append(list, rows.Int(0))
	}
	return list, rows.Err()
}

// LastStep returns the last step of a branch, and when its call last changed something; there is false if it has none.
func LastStep(tx *schema.Tx, branch int64) (step Step, at time.Time, there bool, err error) {
	list, err := StepsOn(tx, branch, schema.Head, 1)
	if err != nil || len(list) == 0 {
		return step, at, false, err
	}
	ns, _, err := tx.Int(`SELECT ifnull((SELECT at FROM change WHERE seq = c.last), c.at) FROM call c WHERE c.id = ?`, list[0].Call)
	return list[0], time.Unix(0, ns), true, err
}

// StepAfter returns the epoch of the next step of a branch after one; [schema.Head] if there is none.
func StepAfter(tx *schema.Tx, branch, epoch int64) (int64, error) {
	next, there, err := tx.Int(`SELECT epoch FROM step WHERE branch = ? AND epoch > ? ORDER BY epoch LIMIT 1`, branch, epoch)
	if !there {
		next = schema.Head
	}
	return next, err
}

// The statements of the steps of a session, of an actor, and of the calls that began at a time or later.
const (
	stepsOfCalls   = `SELECT s.branch, s.epoch, s.call FROM call c CROSS JOIN step s ON s.call = c.id WHERE `
	stepsOfSession = stepsOfCalls + `c.session = ?`
	stepsOfActor   = stepsOfCalls + `c.actor = ?`
	stepsSince     = stepsOfCalls + `c.at >= ?`
)

// StepsOfSession returns the steps of the calls of a session, on all branches, in no order.
func StepsOfSession(tx *schema.Tx, session string) ([]Step, error) {
	return readSteps(tx.Query(stepsOfSession, session))
}

// StepsOfActor returns the steps of the calls of an actor, on all branches, in no order.
func StepsOfActor(tx *schema.Tx, actor string) ([]Step, error) {
	return readSteps(tx.Query(stepsOfActor, actor))
}

// StepsSince returns the steps of the calls that began at a time or later, on all branches, in no order.
func StepsSince(tx *schema.Tx, at time.Time) ([]Step, error) {
	return readSteps(tx.Query(stepsSince, node.Nanos(at)))
}

// AddUndone notes that from an epoch on a call is taken back on a branch, by another call.
func AddUndone(tx *schema.Tx, branch, epoch, call, by int64) error {
	_, err := tx.Exec(`INSERT OR REPLACE INTO undone (branch, call, epoch, by) VALUES (?, ?, ?, ?)`, branch, call, epoch, by)
	return err
}

// UndoneBy returns the last call that took a call back on a branch, in epochs up to one; 0 if none did.
func UndoneBy(tx *schema.Tx, branch, epoch, call int64) (by int64, err error) {
	by, _, err = tx.Int(`SELECT by FROM undone WHERE branch = ? AND call = ? AND epoch <= ? ORDER BY epoch DESC LIMIT 1`, branch, call, epoch)
	return by, err
}

const lastUndo = `SELECT epoch, by FROM undone WHERE branch = ? AND epoch < ? ORDER BY epoch DESC LIMIT 1`

// LastUndo returns the last call that took others back on a branch, and the epoch in which it did, of those below one; 0 if
// there is none.
func LastUndo(tx *schema.Tx, branch, below int64) (epoch, by int64, err error) {
	rows := tx.Query(lastUndo, branch, below)
	defer rows.Close()
	if rows.Next() {
		epoch, by = rows.Int(0), rows.Int(1)
	}
	return epoch, by, rows.Err()
}

// TakenBack returns the calls that a call took back, on whichever branch.
func TakenBack(tx *schema.Tx, by int64) (calls []int64, err error) {
	rows := tx.Query(`SELECT DISTINCT call FROM undone WHERE by = ? ORDER BY call`, by)
	for rows.Next() {
		calls = append(calls, rows.Int(0))
	}
	return calls, rows.Err()
}
