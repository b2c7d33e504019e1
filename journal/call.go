package journal

import (
	"context"
	"sync"
	"time"

	"vfsdb/chunk"
	"vfsdb/schema"
)

// A Call is the call of a tool by a model, or the command of a person, in whose course changes happen. Changes made
// under [WithCall] are attributed to it.
type Call struct {
	Actor   string // the model or the person
	Session string
	Tool    string
	Ref     string        // the caller's own id of the call
	Began   time.Time     // zero: when it is recorded
	Digest  chunk.Sum     // of the input; zero: none
	Result  int64         // bytes of the result
	Took    time.Duration // how long it took
	Error   string        // why it failed
	Command []string      // the words of the command line, if it ran a program; the record keeps 64 KiB of them
	Exit    *int          // the exit code of the program, 128 + the signal that killed it; nil: none

	mu  sync.Mutex
	ids map[*Journal]int64 // of the rows that are committed
}

type callKey struct{}

// WithCall attributes to c whatever verbs change under the context that it returns. c is recorded with the first commit
// that changes something, as its fields are then; it is one row, however many commits follow.
// [Journal.LogCalls] adds its outcome.
func WithCall(ctx context.Context, c *Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallOf returns the call that [WithCall] has put into the context; nil if there is none.
func CallOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// id returns the call's row in a store, 0 if there is none that is committed.
func (c *Call) id(j *Journal) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ids[j]
}

func (c *Call) setID(j *Journal, id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ids == nil {
		c.ids = make(map[*Journal]int64)
	}
	c.ids[j] = id
}

// insertCall adds the row of a call. Its number is remembered only once it is committed.
func (j *Journal) insertCall(tx *schema.Tx, branch int64, c *Call, now int64) (int64, error) {
	id, err := tx.NextID("call")
	if err != nil {
		return 0, err
	}
	if !c.Began.IsZero() {
		now = c.Began.UnixNano()
	}
	_, err = tx.Exec(`INSERT INTO call (id, branch, at, actor, session, tool, ref, digest, result, took, error, command, exit)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, branch, now, c.Actor, c.Session, c.Tool, c.Ref, sumOrNull(&c.Digest), c.Result, int64(c.Took), c.Error,
		textOrNull(commandLine(c.Command)), exitOrNull(c.Exit))
	tx.SetLocal(c, id)
	tx.AfterCommit(func() { c.setID(j, id) })
	return id, err
}

func updateCall(tx *schema.Tx, id int64, c *Call) error {
	_, err := tx.Exec(`UPDATE call SET digest = ?, result = ?, took = ?, error = ?, command = ?, exit = ? WHERE id = ?`,
		sumOrNull(&c.Digest), c.Result, int64(c.Took), c.Error, textOrNull(commandLine(c.Command)), exitOrNull(c.Exit), id)
	return err
}

// LogCalls records calls on a branch as they are now, in one commit: those that changed nothing get a row, those that
// have one get their Digest, Result, Took, Error, Command and Exit written. A store that is read-only is EROFS.
func (j *Journal) LogCalls(ctx context.Context, branch int64, calls ...*Call) error {
	if len(calls) == 0 {
		return nil
	}

	return j.db.Update(ctx, func(tx *schema.Tx) error {
		now := time.Now().UnixNano()
		made := make(map[*Call]bool)

		// A call may be listed twice. Its row is known to it only after the commit.
		for _, c := range calls {
			var err error
			switch id := c.id(j); {
			case id != 0:
				err = updateCall(tx, id, c)
			case !made[c]:
				made[c] = true
				_, err = j.insertCall(tx, branch, c, now)
			}

			if err != nil {
				return err
			}
		}
		return nil
	})
}

// A CallRecord is a row of the table call.
type CallRecord struct {
	ID      int64         `json:"id"`
	At      time.Time     `json:"at"`     // when it began, or if that is not known when it was recorded
	Branch  string        `json:"branch"` // "" once it was dropped
	Actor   string        `json:"actor"`
	Session string        `json:"session"`
	Tool    string        `json:"tool"`
	Ref     string        `json:"ref"`
	Digest  *chunk.Sum    `json:"digest,omitempty"`
	Result  int64         `json:"result"`
	Took    time.Duration `json:"took"`
	Error   string        `json:"error"`
	Command string        `json:"command,omitempty"` // quoted for a shell; "" if the call ran no program
	Exit    *int          `json:"exit,omitempty"`    // of the program, see [Call]
	Changes int64         `json:"changes"`           // kept changes that it made
}

// CallOptions select the calls that [Journal.Calls] returns. A nil *CallOptions is the zero value: all of them, oldest first.
type CallOptions struct {
	Session string // "": any
	Since   int64  // only calls with a higher ID
	Max     int    // 0: no limit
	Newest  bool   // newest first
}

// Calls returns the calls that are recorded of the store, on all branches. Their IDs ascend by the time of recording.
func (j *Journal) Calls(ctx context.Context, options *CallOptions) (list []CallRecord, err error) {
	var o CallOptions
	if options != nil {
		o = *options
	}
	err = j.db.View(ctx, func(tx *schema.Tx) error {
		if kept, err := Kept(tx); err != nil || !kept {
			return err
		}
		list, err = selectCalls(tx, o)
		return err
	})
	return list, err
}

const callColumns = `SELECT c.id, c.at, ifnull(b.name, ''), c.actor, c.session, c.tool, c.ref, c.digest, c.result, c.took, c.error, c.command, c.exit
	FROM call c LEFT JOIN branch b ON b.id = c.branch `

// scanCall reads the columns of callColumns.
func scanCall(rows *schema.Rows) CallRecord {
	record := CallRecord{
		ID: rows.Int(0), At: time.Unix(0, rows.Int(1)), Branch: rows.Text(2), Actor: rows.Text(3), Session: rows.Text(4),
		Tool: rows.Text(5), Ref: rows.Text(6), Digest: scanSum(rows, 7), Result: rows.Int(8), Took: time.Duration(rows.Int(9)), Error: rows.Text(10),
		Command: rows.Text(11),
	}
	if !rows.Null(12) {
		code := int(rows.Int(12))
		record.Exit = &code
	}
	return record
}

// ReadCall returns a recorded call without the number of its changes; there is false if it is not recorded, or not any more.
func ReadCall(tx *schema.Tx, id int64) (call CallRecord, there bool, err error) {
	rows := tx.Query(callColumns+`WHERE c.id = ?`, id)
	defer rows.Close()
	if there = rows.Next(); there {
		call = scanCall(rows)
	}
	return call, there, rows.Err()
}

func selectCalls(tx *schema.Tx, o CallOptions) ([]CallRecord, error) {
	text := callColumns + `WHERE c.id > ?1 AND (?2 = '' OR c.session = ?2) ORDER BY c.id`
	if o.Newest {
		text += ` DESC`
	}

	limit := int64(o.Max)
	if limit <= 0 {
		limit = -1
	}

	var list []CallRecord
	at := make(map[int64]int)
	rows := tx.Query(text+` LIMIT ?3`, o.Since, o.Session, limit)
	for rows.Next() {
		at[rows.Int(0)] = len(list)
		list = append(list, scanCall(rows))
	}
	if err := rows.Err(); err != nil || len(list) == 0 {
		return nil, err
	}

	// The changes of all these calls are counted in one query. Those of other calls between them are left out.
	first, last := list[0].ID, list[len(list)-1].ID
	rows = tx.Query(`SELECT call, count(*) FROM change WHERE call BETWEEN ? AND ? GROUP BY call`, min(first, last), max(first, last))
	for rows.Next() {
		if i, ok := at[rows.Int(0)]; ok {
			list[i].Changes = rows.Int(1)
		}
	}
	return list, rows.Err()
}

// trimCalls deletes the rows up to last, and with them what is known of the steps of these calls.
func trimCalls(tx *schema.Tx, last int64) (int64, error) {
	for _, text := range []string{`DELETE FROM step WHERE call <= ?`, `DELETE FROM undone WHERE call <= ?`} {
		if _, err := tx.Exec(text, last); err != nil {
			return 0, err
		}
	}
	return tx.Exec(`DELETE FROM call WHERE id <= ?`, last)
}
