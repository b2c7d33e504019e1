package vfs

import (
	"context"
	"sync"
	"time"

	"vfsdb/schema"
)

// A Call is in the course of what something happens: a call of a tool by a model, a command of a person. What is
// done under [WithCall] is attributed to it.
type Call struct {
	Actor   string // who
	Session string
	Tool    string
	Ref     string        // the caller's own id of the call
	Began   time.Time     // zero: when it is recorded
	Digest  Sum           // of the input; zero: none
	Result  int64         // bytes of the result
	Took    time.Duration // how long it took
	Error   string        // why it failed

	mu  sync.Mutex
	ids map[*store]int64 // of the rows that are committed
}

type callKey struct{}

// WithCall attributes to c whatever verbs change under the context that it returns. c is recorded with the first commit
// that changes something, as its fields are then; it is one row, however many commits follow. What it came to
// is added by [FS.LogCalls].
func WithCall(ctx context.Context, c *Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// id returns the call's row in a store, 0 if there is none that is committed.
func (c *Call) id(st *store) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ids[st]
}

func (c *Call) keep(st *store, id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ids == nil {
		c.ids = make(map[*store]int64)
	}
	c.ids[st] = id
}

// callID returns the row of the call that the transaction is part of, and makes it if there is none; nil without a
// call.
func (tx *Tx) callID() (any, error) {
	c, _ := tx.db.Context().Value(callKey{}).(*Call)
	if c == nil {
		return nil, nil
	}
	if tx.call == 0 {
		tx.call = c.id(tx.fsys.store)
	}
	if tx.call == 0 { // what shares the transaction may have made it
		tx.call, _ = tx.db.Local(c).(int64)
	}
	if tx.call == 0 {
		id, err := tx.fsys.insertCall(tx.db, c, tx.now)
		if err != nil {
			return nil, err
		}
		tx.call = id
	}
	return tx.call, nil
}

// insertCall adds the row of a call. Its number is remembered only once it is committed.
func (fsys *FS) insertCall(db *schema.Tx, c *Call, now int64) (int64, error) {
	id, err := db.NextID("call")
	if err != nil {
		return 0, err
	}
	if !c.Began.IsZero() {
		now = c.Began.UnixNano()
	}
	_, err = db.Exec(`INSERT INTO call (id, branch, at, actor, session, tool, ref, digest, result, took, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, fsys.at.Branch, now, c.Actor, c.Session, c.Tool, c.Ref, sumOrNull(&c.Digest), c.Result, int64(c.Took), c.Error)
	db.SetLocal(c, id)
	db.AfterCommit(func() { c.keep(fsys.store, id) })
	return id, err
}

func updateCall(db *schema.Tx, id int64, c *Call) error {
	_, err := db.Exec(`UPDATE call SET digest = ?, result = ?, took = ?, error = ? WHERE id = ?`,
		sumOrNull(&c.Digest), c.Result, int64(c.Took), c.Error, id)
	return err
}

// LogCalls records calls as they are now, in one commit: those that changed nothing get a row, those that have one get
// their Digest, Result, Took and Error written. A store that is read-only is EROFS.
func (fsys *FS) LogCalls(ctx context.Context, calls ...*Call) error {
	if len(calls) == 0 {
		return nil
	}
	err := fsys.store.db.Update(ctx, func(db *schema.Tx) error {
		now := time.Now().UnixNano()
		made := make(map[*Call]bool)
		for _, c := range calls {
			var err error
			switch id := c.id(fsys.store); {
			case id != 0:
				err = updateCall(db, id, c)
			case !made[c]:
				made[c] = true
				_, err = fsys.insertCall(db, c, now)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return pathErr("log", fsys.name, err)
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
	Digest  *Sum          `json:"digest,omitempty"`
	Result  int64         `json:"result"`
	Took    time.Duration `json:"took"`
	Error   string        `json:"error"`
	Changes int64         `json:"changes"` // kept changes that it made
}

// CallOptions say which calls [FS.Calls] returns. A nil *CallOptions is the zero value: all of them, oldest first.
type CallOptions struct {
	Session string // "": any
	Since   int64  // only calls with a higher ID
	Max     int    // 0: no limit
	Newest  bool   // newest first
}

// Calls returns the calls that are recorded of the store, on all branches. Their IDs ascend by the time of recording.
func (fsys *FS) Calls(ctx context.Context, options *CallOptions) (list []CallRecord, err error) {
	var o CallOptions
	if options != nil {
		o = *options
	}
	err = fsys.store.db.View(ctx, func(db *schema.Tx) error {
		if kept, err := keepsHistory(db); err != nil || !kept {
			return err
		}
		list, err = selectCalls(db, o)
		return err
	})
	return list, pathErr("calls", fsys.name, err)
}

func selectCalls(db *schema.Tx, o CallOptions) ([]CallRecord, error) {
	text := `SELECT c.id, c.at, ifnull(b.name, ''), c.actor, c.session, c.tool, c.ref, c.digest, c.result, c.took, c.error
		FROM call c LEFT JOIN branch b ON b.id = c.branch WHERE c.id > ?1 AND (?2 = '' OR c.session = ?2) ORDER BY c.id`
	if o.Newest {
		text += ` DESC`
	}
	limit := int64(o.Max)
	if limit <= 0 {
		limit = -1
	}
	var list []CallRecord
	at := make(map[int64]int)
	rows := db.Query(text+` LIMIT ?3`, o.Since, o.Session, limit)
	for rows.Next() {
		at[rows.Int(0)] = len(list)
		list = append(list, CallRecord{
			ID: rows.Int(0), At: time.Unix(0, rows.Int(1)), Branch: rows.Text(2), Actor: rows.Text(3), Session: rows.Text(4),
			Tool: rows.Text(5), Ref: rows.Text(6), Digest: scanSum(rows, 7), Result: rows.Int(8), Took: time.Duration(rows.Int(9)), Error: rows.Text(10),
		})
	}
	if err := rows.Err(); err != nil || len(list) == 0 {
		return nil, err
	}
	first, last := list[0].ID, list[len(list)-1].ID
	rows = db.Query(`SELECT call, count(*) FROM change WHERE call BETWEEN ? AND ? GROUP BY call`, min(first, last), max(first, last))
	for rows.Next() {
		if i, ok := at[rows.Int(0)]; ok {
			list[i].Changes = rows.Int(1)
		}
	}
	return list, rows.Err()
}

// callSpan is span for calls.
func callSpan(db *schema.Tx) (oldest, newest int64, err error) {
	return spanOf(db, "call", `SELECT min(id) FROM call`, `SELECT max(id) FROM call`)
}

func trimCalls(db *schema.Tx, last int64) (int64, error) {
	return db.Exec(`DELETE FROM call WHERE id <= ?`, last)
}

// scanSum reads a column that holds a sum; nil if it is NULL.
func scanSum(rows *schema.Rows, col int) *Sum {
	if rows.Null(col) {
		return nil
	}
	var sum Sum
	rows.Read(col, sum[:])
	return &sum
}

// keepsHistory reports whether the file has the tables of history: one of format 1, open read-only, has none.
func keepsHistory(db *schema.Tx) (bool, error) {
	version, err := db.Version()
	return version >= 2, err
}
