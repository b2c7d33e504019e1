package journal

import (
	"context"
	"math"
	"sync"
	"time"

	"vfsdb/chunk"
	"vfsdb/node"
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
	Took    time.Duration // how long it took; 0: until it is recorded
	Error   string        // why it failed
	Command []string      // the words of the program that it ran, or of the command that it is; the record keeps 64 KiB of them
	Exit    *int          // its exit code; of a program 128 + the signal that killed it; nil: none

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

// Recorded reports whether a store has a row of the call: it has changed something, or was logged.
func (c *Call) Recorded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.ids) > 0
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

// A tally is what some changes of a call add up to.
type tally struct{ first, last, changes, grew int64 }

// tallyOf returns the tally of rows that follow each other.
func tallyOf(rows []row) (t tally) {
	if len(rows) == 0 {
		return t
	}
	t.first, t.last, t.changes = rows[0].seq, rows[len(rows)-1].seq, int64(len(rows))
	for i := range rows {
		t.grew += rows[i].Grew
	}
	return t
}

// insertCall adds the row of a call, with the changes that it has made. Its number is remembered only once it is committed.
func (j *Journal) insertCall(tx *schema.Tx, branch int64, c *Call, now int64, made tally) (int64, error) {
	id, err := tx.NextID("call")
	if err != nil {
		return 0, err
	}
	took := c.Took
	if !c.Began.IsZero() {
		now = c.Began.UnixNano()
		if took == 0 {
			took = max(0, time.Since(c.Began))
		}
	}
	_, err = tx.Exec(`INSERT INTO call (id, branch, at, actor, session, tool, ref, digest, result, took, error, command, exit, first, last, changes, grew)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, branch, now, c.Actor, c.Session, c.Tool, c.Ref, sumOrNull(&c.Digest), c.Result, int64(took), c.Error,
		textOrNull(commandLine(c.Command)), exitOrNull(c.Exit), idOrNull(made.first), idOrNull(made.last), made.changes, made.grew)
	tx.SetLocal(c, id)
	tx.AfterCommit(func() { c.setID(j, id) })
	return id, err
}

// addChanges adds changes to those that the row of a call counts.
func addChanges(tx *schema.Tx, id int64, made tally) error {
	_, err := tx.Exec(`UPDATE call SET first = min(ifnull(first, ?2), ?2), last = max(ifnull(last, ?3), ?3), changes = changes + ?4, grew = grew + ?5
		WHERE id = ?1`, id, made.first, made.last, made.changes, made.grew)
	return err
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
				_, err = j.insertCall(tx, branch, c, now, tally{})
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
	Command string        `json:"command,omitempty"` // see [Call], quoted for a shell
	Exit    *int          `json:"exit,omitempty"`    // of the program, see [Call]
	First   int64         `json:"first,omitempty"`   // the Seq of its first change; 0: it made none
	Last    int64         `json:"last,omitempty"`    // and of its last one
	Changes int64         `json:"changes"`           // how many it made, also those that are not kept any more
	Grew    int64         `json:"grew"`              // bytes by which they grew the contents of trees
}

// CallOptions select the calls that [Journal.Calls] returns. A nil *CallOptions is the zero value: all of them, oldest first.
type CallOptions struct {
	Session, Actor, Tool string    // "": any
	Since                int64     // only calls with a higher ID
	From, To             time.Time // only calls that began then; zero: no bound
	Max                  int       // 0: no limit
	Newest               bool      // newest first
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

const callColumns = `SELECT c.id, c.at, ifnull(b.name, ''), c.actor, c.session, c.tool, c.ref, c.digest, c.result, c.took, c.error, c.command, c.exit,
	c.first, c.last, c.changes, c.grew
	FROM call c LEFT JOIN branch b ON b.id = c.branch `

// scanCall reads the columns of callColumns.
func scanCall(rows *schema.Rows) CallRecord {
	record := CallRecord{
		ID: rows.Int(0), At: time.Unix(0, rows.Int(1)), Branch: rows.Text(2), Actor: rows.Text(3), Session: rows.Text(4),
		Tool: rows.Text(5), Ref: rows.Text(6), Digest: scanSum(rows, 7), Result: rows.Int(8), Took: time.Duration(rows.Int(9)), Error: rows.Text(10),
		Command: rows.Text(11), First: rows.Int(13), Last: rows.Int(14), Changes: rows.Int(15), Grew: rows.Int(16),
	}
	if !rows.Null(12) {
		code := int(rows.Int(12))
		record.Exit = &code
	}
	return record
}

// ReadCall returns a recorded call; there is false if it is not recorded, or not any more.
func ReadCall(tx *schema.Tx, id int64) (call CallRecord, there bool, err error) {
	rows := tx.Query(callColumns+`WHERE c.id = ?`, id)
	defer rows.Close()
	if there = rows.Next(); there {
		call = scanCall(rows)
	}
	return call, there, rows.Err()
}

func selectCalls(tx *schema.Tx, o CallOptions) (list []CallRecord, err error) {
	where, args, err := callFilter{o.Session, o.Actor, o.Tool}.where(tx)
	if err != nil {
		return nil, err
	}

	// Numbers ascend about as the times do, so the index of these bounds the numbers.
	if !o.From.IsZero() {
		where += ` AND +c.at >= ? AND c.id >= (SELECT min(id) FROM call WHERE at >= ?)`
		from := node.Nanos(o.From)
		args = append(args, from, from)
	}
	if !o.To.IsZero() {
		where += ` AND +c.at <= ? AND c.id <= (SELECT max(id) FROM call WHERE at <= ?)`
		to := node.Nanos(o.To)
		args = append(args, to, to)
	}

	text := callColumns + `WHERE ` + where + ` AND c.id > ? ORDER BY c.id`
	if o.Newest {
		text += ` DESC`
	}
	limit := int64(o.Max)
	if limit <= 0 {
		limit = -1
	}
	rows := tx.Query(text+` LIMIT ?`, append(args, o.Since, limit)...)
	for rows.Next() {
		list = append(list, scanCall(rows))
	}
	return list, rows.Err()
}

// A callFilter selects calls; "" is any.
type callFilter struct{ session, actor, tool string }

func (f callFilter) empty() bool { return f == callFilter{} }

// matches reports whether a call is selected.
func (f callFilter) matches(c *CallRecord) bool {
	return (f.session == "" || f.session == c.Session) && (f.actor == "" || f.actor == c.Actor) && (f.tool == "" || f.tool == c.Tool)
}

// parts returns what is asked for, by column.
func (f callFilter) parts() (list [][2]string) {
	for _, p := range [][2]string{{"session", f.session}, {"actor", f.actor}, {"tool", f.tool}} {
		if p[1] != "" {
			list = append(list, p)
		}
	}
	return list
}

// few is how many calls are counted to find out which part of a filter selects the least.
const few = 1000

// rarest returns the column by which the fewest calls are selected, and how many these are, few at most; "" is none.
func (f callFilter) rarest(tx *schema.Tx) (column string, n int64, err error) {
	n = math.MaxInt64
	for _, p := range f.parts() {
		count, _, err := tx.Int(`SELECT count(*) FROM (SELECT 1 FROM call WHERE `+p[0]+` = ? LIMIT ?)`, p[1], few)
		if err != nil {
			return "", 0, err
		}
		if count < n {
			column, n = p[0], count
		}
	}
	return column, n, nil
}

// where returns the condition of the filter on the table call c, and its arguments. The calls are looked up by the index of one
// column, and the plus keeps SQLite from those of the others.
func (f callFilter) where(tx *schema.Tx) (text string, args []any, err error) {
	best, _, err := f.rarest(tx)
	text = "true"
	for _, p := range f.parts() {
		plus := "+"
		if p[0] == best {
			plus = ""
		}
		text += " AND " + plus + "c." + p[0] + " = ?"
		args = append(args, p[1])
	}
	return text, args, err
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
