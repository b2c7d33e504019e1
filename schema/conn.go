package schema

import (
	"context"
	"fmt"
	"net/url"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"vfsdb/schema/engine"
	"vfsdb/schema/hostfile"
)

// A role is the use of a connection.
type role int

const (
	roleWriter role = iota
	roleReader
	roleKeeper       // maintenance: backup
	roleCheckpointer // checkpoints
)

// A conn is one SQLite connection with its prepared statements. One goroutine uses it at a time.
type conn struct {
	sq      *sqlite.Conn
	stmts   map[string]*statement   // by text
	frame   map[string]*sqlite.Stmt // BEGIN, COMMIT and their kin, and checkpoints
	version *sqlite.Stmt
	seen    int64 // data_version of the last transaction
	memo    any   // for the room above, see Tx.Memo
	kept    any   // for the room above, see Tx.Keep
	ids     ids   // that are ours, while nobody else commits
	relaxed bool  // see Options
	lazy    bool  // the next transaction need not be durable by itself, see DB.Stage
	lax     bool  // the connection is set to that
	old     bool  // the file had an older format when it was opened, which is read-only then
	shown   int64 // the version that the views are for, see showOlder; 0: there are none
	mended  bool  // pages that a failed sync has dropped are written again, see engine.Gather
	failed  bool  // a sync of a checkpoint has failed

	inPlace func() error    // called before each commit; nil: there is no check
	turns   *hostfile.Turns // of one that writes; nil: it does not wait for its turn
	counts  *counts         // of its transactions; nil: they are not counted

	committed     func(*Tx) // called after each commit, see DB.OnCommit
	written       Written   // in this transaction
	started       Mark      // of the moment that the transaction which writes started from
	startedMarked bool

	index  *engine.Index // nil if there is none
	mark   Mark          // of the moment that the transaction sees
	marked bool          // mark is known; never while it writes
}

// A statement is the prepared statements of one text, as many as were in use at a time.
type statement struct {
	idle   []*sqlite.Stmt
	writes Written
}

// pragmas of every connection. Page size and auto_vacuum stand in prepareFile: they count only before the first table.
var pragmas = map[role][]string{
	roleWriter: {
		"cache_size=-8192", "wal_autocheckpoint=0", "journal_size_limit=67108864", "temp_store=MEMORY", "trusted_schema=OFF",
	},
	roleReader:       {"cache_size=-4096", "temp_store=MEMORY", "trusted_schema=OFF", "query_only=ON"},
	roleKeeper:       {"cache_size=-2048", "temp_store=MEMORY", "trusted_schema=OFF"},
	roleCheckpointer: {"cache_size=-128", "temp_store=MEMORY", "trusted_schema=OFF"}, // it copies without a cache
}

// connect opens the file, which must be there, but reads nothing of it, so its log is not open yet.
func connect(path string, options Options) (*conn, error) {
	flags := sqlite.OpenReadWrite
	if options.ReadOnly {
		flags = sqlite.OpenReadOnly
	}
	if options.immutable {
		flags |= sqlite.OpenURI
		path = (&url.URL{Scheme: "file", Path: path, RawQuery: "immutable=1"}).String()
	}
	sq, err := sqlite.OpenConn(path, flags)
	if err != nil {
		return nil, mapError(err)
	}
	sq.SetBusyTimeout(0) // we wait ourselves, see conn.run
	return &conn{sq: sq, stmts: make(map[string]*statement), frame: make(map[string]*sqlite.Stmt)}, nil
}

// isOf reports whether the connection has that file open.
func (c *conn) isOf(file hostfile.ID) bool {
	fd, ok := engine.Descriptor(c.sq)
	return !ok || file.IsOpen(fd)
}

// setUp makes a new connection one for a role.
func (c *conn) setUp(options Options, r role) error {
	for _, p := range pragmas[r] {
		if err := c.pragma(p); err != nil {
			return err
		}
	}
	c.relaxed, c.lazy, c.lax = options.Relaxed, options.Relaxed, options.Relaxed
	return c.pragma(syncPragma(options.Relaxed))
}

// syncPragma returns the setting with which commits are synced, or lax ones are not. Checkpoints are, either way.
func syncPragma(lax bool) string {
	if lax {
		return "synchronous=NORMAL"
	}
	return "synchronous=FULL"
}

func (c *conn) close() error {
	c.turns.Close()
	for _, st := range c.stmts {
		for _, s := range st.idle {
			s.Finalize()
		}
	}
	for _, s := range c.frame {
		s.Finalize()
	}
	if c.version != nil {
		c.version.Finalize()
	}
	return mapError(c.sq.Close())
}

// gather has the connection write to the log with engine.Gather. It may be called again.
func (c *conn) gather() error {
	if c.mended {
		return nil
	}
	if _, err := c.pragmaInt("schema_version"); err != nil { // which opens the log
		return err
	}
	c.mended = engine.Gather(c.sq) == nil // if it fails, SQLite writes commits its own way, and each is synced
	return nil
}

// pragma sets a value, waiting for a lock that another process holds while it opens or closes the file.
func (c *conn) pragma(text string) error {
	return retry(context.Background(), func() error {
		return mapError(sqlitex.ExecuteTransient(c.sq, "PRAGMA "+text, nil))
	})
}

// pragmaInt reads a value.
func (c *conn) pragmaInt(name string) (v int64, err error) {
	err = retry(context.Background(), func() error {
		return mapError(sqlitex.ExecuteTransient(c.sq, "PRAGMA "+name, &sqlitex.ExecOptions{
			ResultFunc: func(s *sqlite.Stmt) error { v = s.ColumnInt64(0); return nil },
		}))
	})
	return v, err
}

// stmt takes a prepared statement from the idle ones, or prepares it. A text may be in use more than once at a time.
func (c *conn) stmt(text string) (*sqlite.Stmt, error) {
	st := c.stmts[text]
	if st == nil {
		st = &statement{writes: writtenBy(text)}
		c.stmts[text] = st
	}
	c.written |= st.writes
	if last := len(st.idle) - 1; last >= 0 {
		s := st.idle[last]
		st.idle = st.idle[:last]
		return s, nil
	}

	s, trailing, err := c.sq.PrepareTransient(text)
	if sqlite.ErrCode(err) == sqlite.ResultError {
		// Our statements fit our tables, so the tables are damaged.
		return nil, Corrupt("prepare %q: %w", text, err)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, mapError(err))
	}
	if trailing != 0 {
		s.Finalize()
		panic("schema: more than one statement in " + text)
	}
	return s, nil
}

// idle gives a statement back.
func (c *conn) idle(text string, s *sqlite.Stmt) error {
	err := s.Reset()
	st := c.stmts[text]
	st.idle = append(st.idle, s)
	return mapError(err)
}

// control runs one of the statements that frame a transaction.
func (c *conn) control(text string) error {
	s := c.frame[text]
	if s == nil {
		var err error
		if s, _, err = c.sq.PrepareTransient(text); err != nil {
			return mapError(err)
		}
		c.frame[text] = s
	}
	_, err := s.Step()
	if resetErr := s.Reset(); err == nil {
		err = resetErr
	}
	return mapError(err)
}

// start begins a transaction and fixes the moment that it sees.
func (c *conn) start(text string) error {
	if c.lax != c.lazy {
		if err := c.pragma(syncPragma(c.lazy)); err != nil {
			return err
		}
		c.lax = c.lazy
	}
	if err := c.control(text); err != nil {
		return err
	}
	v, err := c.dataVersion()
	if err != nil {
		c.rollback()
		return err
	}
	if v != c.seen {
		c.seen = v
		c.memo, c.ids = nil, nil
	}
	return nil
}

// dataVersion returns a number that changes when another connection, of any process, has committed.
func (c *conn) dataVersion() (int64, error) {
	if c.version == nil {
		p, _, err := c.sq.PrepareTransient("PRAGMA data_version")
		if err != nil {
			return 0, mapError(err)
		}
		c.version = p
	}
	row, err := c.version.Step()
	v := int64(0)
	if row {
		v = c.version.ColumnInt64(0)
	}
	if resetErr := c.version.Reset(); err == nil {
		err = resetErr
	}
	return v, mapError(err)
}

// rollback ends a transaction without a trace. It also clears the memory that the room above keeps with the connection.
func (c *conn) rollback() {
	c.forget()
	if !c.sq.AutocommitEnabled() {
		_ = c.control("ROLLBACK")
		c.counts.ended(false)
	}
	c.turns.Pass()
}

// forget clears the memory that the room above keeps with the connection: it may be of rows that are undone.
func (c *conn) forget() { c.memo, c.kept = nil, nil }

// ids are the next numbers, by counter. Those below end are reserved for us.
type ids map[string]idRange

type idRange struct{ next, end int64 }
