package schema

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strconv"
	"strings"
	"syscall"

	"zombiezen.com/go/sqlite"
)

// A Tx is one transaction. It is used by one goroutine, and only until the closure that received it returns.
type Tx struct {
	ctx   context.Context
	conn  *conn
	write bool
	effects
	spoilt  error // why it must not be committed; nil if it may
	changed bool  // it may have changed something: rows, notes, or memory that BeforeCommit writes

	anywhere bool // it is committed even to a file that was moved away

	blind, missed bool // see Blind
}

// Context returns the context that the transaction was begun with.
func (tx *Tx) Context() context.Context { return tx.ctx }

// Writable reports whether the transaction may write.
func (tx *Tx) Writable() bool { return tx.write }

// Relaxed reports whether commits of the DB are not durable by themselves, see [Options].
func (tx *Tx) Relaxed() bool { return tx.conn.relaxed }

// BeforeCommit has fn called before the transaction is committed, to write rows that wait in memory, also those of the
// operations that share the transaction, see [DB.Join]. fn gets the transaction that it is called in. If it fails, nothing
// is committed. A caller that changes memory which other operations of the transaction see must call BeforeCommit at once:
// it marks the operation as one that has changed something, which must be undone if it fails.
func (tx *Tx) BeforeCommit(fn func(*Tx) error) {
	tx.changed = true
	tx.before = append(tx.before, fn)
}

// Whole runs a part of the transaction. If fn fails with a part of its work done, the transaction is spoilt: it cannot be
// committed, and Whole reports that.
func (tx *Tx) Whole(fn func() error) (spoilt bool, err error) {
	before := tx.changed
	tx.changed = false
	if err = fn(); err != nil && tx.spoilt == nil && (tx.changed || tx.Alive() != nil) {
		tx.spoilt = err
	}
	tx.changed = tx.changed || before
	return tx.spoilt != nil, err
}

// AfterCommit has fn called once the transaction is committed, before another one can write; never, if it is not.
func (tx *Tx) AfterCommit(fn func()) { tx.after = append(tx.after, fn) }

// Local returns the value that SetLocal stored under key in this transaction, or nil.
func (tx *Tx) Local(key any) any { return tx.local[key] }

// SetLocal keeps v until the transaction ends, also for the operations that share it, see [DB.Join], unless this one is
// undone.
func (tx *Tx) SetLocal(key, v any) {
	tx.changed = true
	if tx.local == nil {
		tx.local = make(map[any]any)
	}
	tx.local[key] = v
}

// Ended reports whether the closure that received the transaction has returned.
func (tx *Tx) Ended() bool { return tx.conn == nil && !tx.blind }

// Memo returns the value that SetMemo stored on this connection. It is nil once any other connection has committed, or a
// transaction of this one was rolled back, or an operation in it, see [DB.Join]. So a memo may be derived from rows, and be
// kept across transactions, and is never stale.
func (tx *Tx) Memo() any { return tx.conn.memo }

// SetMemo keeps v with the connection, for later transactions on it.
func (tx *Tx) SetMemo(v any) { tx.conn.memo = v }

// Kept returns the value that Keep stored on this connection, or nil once a transaction of it was rolled back, or an
// operation in it. Unlike [Tx.Memo] it outlives the commits of others: it is derived from rows that never change.
func (tx *Tx) Kept() any { return tx.conn.kept }

// Keep keeps v with the connection, for later transactions on it.
func (tx *Tx) Keep(v any) { tx.conn.kept = v }

// Exec runs one statement and returns how many rows it changed.
// An argument is an int64, int, uint32, bool, string, []byte or nil.
func (tx *Tx) Exec(text string, args ...any) (int64, error) {
	if err := tx.Alive(); err != nil {
		return 0, err
	}
	tx.changed = true

	s, err := tx.conn.stmt(text)
	if err != nil {
		return 0, err
	}
	bind(s, args)
	for row := true; row; {
		if row, err = s.Step(); err != nil {
			_ = tx.conn.idle(text, s)
			return 0, mapError(err)
		}
	}
	n := int64(tx.conn.sq.Changes())
	return n, tx.conn.idle(text, s)
}

// List returns ids as one argument, of which json_each makes rows: so one statement reads many.
func List[ID ~int64](ids []ID) string {
	text := []byte{'['}
	for i, id := range ids {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(id), 10)
	}
	return string(append(text, ']'))
}

// LastID returns the rowid of the last inserted row.
func (tx *Tx) LastID() int64 { return tx.conn.sq.LastInsertRowID() }

// Query runs one statement and returns its rows. An error is kept for [Rows.Err].
func (tx *Tx) Query(text string, args ...any) *Rows {
	if err := tx.Alive(); err != nil {
		return &Rows{err: err}
	}
	if !strings.HasPrefix(text, "SELECT ") {
		tx.changed = true
	}
	s, err := tx.conn.stmt(text)
	if err != nil {
		return &Rows{err: err}
	}
	bind(s, args)
	return &Rows{conn: tx.conn, text: text, stmt: s}
}

// Int returns the first column of the first row; ok is false if there is no row, or it is NULL.
func (tx *Tx) Int(text string, args ...any) (v int64, ok bool, err error) {
	rows := tx.Query(text, args...)
	if rows.Next() && !rows.Null(0) {
		v, ok = rows.Int(0), true
	}
	return v, ok, rows.Close()
}

func bind(s *sqlite.Stmt, args []any) {
	for i, arg := range args {
		bindOne(s, i+1, arg)
	}
}

func bindOne(s *sqlite.Stmt, param int, arg any) {
	switch v := arg.(type) {
	case int64:
		s.BindInt64(param, v)
	case int:
		s.BindInt64(param, int64(v))
	case uint32:
		s.BindInt64(param, int64(v))
	case bool:
		s.BindBool(param, v)
	case string:
		s.BindText(param, v)
	case []byte:
		s.BindBytes(param, v)
	case nil:
		s.BindNull(param)
	default:
		panic(fmt.Sprintf("schema: cannot bind a %T", arg))
	}
}

// Rows are the rows of one query, read in order. Next closes them when it returns false; a caller that stops earlier calls
// Close.
type Rows struct {
	conn *conn
	text string
	stmt *sqlite.Stmt // nil once closed
	err  error
}

// Next steps to the next row. It returns false at the end and on an error, which Err and Close return.
func (r *Rows) Next() bool {
	if r.stmt == nil {
		return false
	}
	row, err := r.stmt.Step()
	if err != nil {
		r.err = mapError(err)
	}
	if !row || err != nil {
		r.Close()
		return false
	}
	return true
}

// Err returns the error that ended the rows.
func (r *Rows) Err() error { return r.err }

// Close ends the rows and returns their error, if there was one.
func (r *Rows) Close() error {
	if r.stmt != nil {
		err := r.conn.idle(r.text, r.stmt)
		r.stmt = nil
		if r.err == nil {
			r.err = err
		}
	}
	return r.err
}

// Int returns a column as an integer; NULL is 0.
func (r *Rows) Int(col int) int64 { return r.stmt.ColumnInt64(col) }

// Text returns a column as a string, byte for byte.
func (r *Rows) Text(col int) string { return r.stmt.ColumnText(col) }

// Len returns the length of a text or blob column in bytes.
func (r *Rows) Len(col int) int { return r.stmt.ColumnLen(col) }

// Bytes returns a copy of a blob column; nil if it is NULL.
func (r *Rows) Bytes(col int) []byte {
	if r.Null(col) {
		return nil
	}
	p := make([]byte, r.stmt.ColumnLen(col))
	r.stmt.ColumnBytes(col, p)
	return p
}

// Read copies a blob column into buf and returns how many bytes it copied.
func (r *Rows) Read(col int, buf []byte) int { return r.stmt.ColumnBytes(col, buf) }

// Null reports whether a column is NULL.
func (r *Rows) Null(col int) bool { return r.stmt.ColumnIsNull(col) }

// Alive fails where no rows can be read or written: the closure has returned, the transaction is [Blind], or SQLite has ended
// it by itself, as it does when the disk is full. Later statements would be committed one by one.
func (tx *Tx) Alive() error {
	if tx.conn == nil {
		if tx.blind {
			tx.missed = true
			return errBlind
		}
		return fs.ErrClosed
	}
	if tx.conn.sq.AutocommitEnabled() {
		return errRolledBack
	}
	return nil
}

var errRolledBack = fmt.Errorf("the transaction was rolled back after an error: %w", syscall.EIO)

// effects are the effects of a transaction outside of its rows, which become valid with its commit.
type effects struct {
	ids    ids               // of the counters that were used
	local  map[any]any       // of SetLocal
	before []func(*Tx) error // to be called before it is committed
	after  []func()          // to be called once it is committed
}

func (e effects) clone() effects {
	return effects{ids: maps.Clone(e.ids), local: maps.Clone(e.local), before: e.before, after: e.after}
}

// errBlind is the error of every query of a Blind transaction.
var errBlind = errors.New("a transaction without a connection sees no rows")

// Mark returns the mark of the moment that the transaction sees. ok is false if it is not known: the transaction writes, or
// somebody committed just as it began.
func (tx *Tx) Mark() (m Mark, ok bool) { return tx.conn.mark, tx.conn.marked }

// Started returns the mark of the moment that a transaction which writes started from.
func (tx *Tx) Started() (m Mark, ok bool) { return tx.conn.started, tx.conn.startedMarked }

// Written returns the kinds of rows that the transaction, and the operations that share it, may have written. It is derived
// from the statements, so it holds for every room, also where the writes were undone.
func (tx *Tx) Written() Written { return tx.conn.written }

// Version returns the format that the file has: the present one, or in a file that is open read-only an older one.
func (tx *Tx) Version() (int64, error) {
	if !tx.conn.old {
		return Version, nil
	}
	version, _, err := tx.Int(`PRAGMA user_version`) // another process may have brought it forward meanwhile
	return version, err
}
