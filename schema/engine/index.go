package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A Header is the beginning of the index of a log. Two equal Headers mean that nothing was committed in between.
type Header [6]uint64

// salts is the word of a Header that names the generation of the log.
const salts = 4

// An Index looks at the header of the index of one file's log. It is safe for concurrent use.
type Index struct {
	mu    sync.RWMutex // Close waits for Read
	words *Header      // in the engine's mapping; nil once closed
	conn  conn
}

// OpenIndex opens the file at path with a connection of its own. The file must exist and be in WAL mode, and ours must
// report true for its descriptor, before anything is read; else the error is ErrUnavailable. With readOnly nothing is
// written, and a log that nobody has written to yet stays without a header.
func OpenIndex(path string, readOnly bool, ours func(fd int) bool) (*Index, error) {
	x := &Index{conn: conn{tls: libc.NewTLS()}}
	if err := x.open(path, readOnly, ours); err != nil {
		x.conn.close()
		return nil, err
	}
	return x, nil
}

func (x *Index) open(path string, readOnly bool, ours func(fd int) bool) error {
	c := &x.conn
	flags := int32(sqlite3.SQLITE_OPEN_READWRITE)
	if readOnly {
		flags = sqlite3.SQLITE_OPEN_READONLY
	}
	if err := c.open(path, flags); err != nil {
		return err
	}
	if fd, ok := descriptor(pointer(c.tls, c.db, sqlite3.SQLITE_FCNTL_FILE_POINTER)); ok && !ours(fd) {
		return fmt.Errorf("%w: the file was replaced", ErrUnavailable)
	}

	// journal_mode reads the file, and so opens its log.
	if _, err := c.text("PRAGMA cache_size=1"); err != nil {
		return err
	}
	mode, err := c.text("PRAGMA journal_mode")
	if err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("%w: journal_mode is %s", ErrUnavailable, mode)
	}

	if x.words, err = c.header(); err != nil {
		return err
	}
	if _, ok := x.Read(); ok || readOnly {
		return nil
	}

	// A log without a header is restarted. If a reader or a writer keeps us from that, there will be a header soon.
	if _, err := c.text("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil && !errors.Is(err, errBusy) {
		return err
	}
	return nil
}

// Read returns the present header. It reports false where the header proves nothing: nobody has written to the log since it
// was made, or the Index is closed.
func (x *Index) Read() (h Header, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.words == nil {
		return Header{}, false
	}
	for i := range h {
		h[i] = atomic.LoadUint64(&x.words[i])
	}
	return h, h[salts] != 0
}

// Close closes the connection. Later calls return nil.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.words == nil {
		return nil
	}
	x.words = nil
	return x.conn.close()
}

// A conn is a connection through the engine's own interface.
type conn struct {
	tls *libc.TLS
	db  uintptr // sqlite3*
}

func (c *conn) open(path string, flags int32) error {
	name, err := libc.CString(path)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, name)
	handle, free := c.slot()
	defer free()
	code := sqlite3.Xsqlite3_open_v2(c.tls, name, handle, flags, 0)
	c.db = *at[uintptr](handle) // set even after a failure, and must be closed
	return c.check(code)
}

func (c *conn) close() error {
	var err error
	if c.db != 0 {
		err = c.check(sqlite3.Xsqlite3_close_v2(c.tls, c.db))
	}
	c.tls.Close()
	return err
}

// text runs a statement and returns the first column of its first row.
func (c *conn) text(sql string) (text string, err error) {
	csql, err := libc.CString(sql)
	if err != nil {
		return "", err
	}
	defer libc.Xfree(c.tls, csql)
	slot, free := c.slot()
	defer free()
	if err := c.check(sqlite3.Xsqlite3_prepare_v2(c.tls, c.db, csql, -1, slot, 0)); err != nil {
		return "", err
	}
	stmt := *at[uintptr](slot)

	switch code := sqlite3.Xsqlite3_step(c.tls, stmt); code {
	case sqlite3.SQLITE_ROW:
		text = libc.GoString(sqlite3.Xsqlite3_column_text(c.tls, stmt, 0))
	case sqlite3.SQLITE_DONE:
	default:
		err = c.check(code)
	}
	if code := sqlite3.Xsqlite3_finalize(c.tls, stmt); err == nil {
		err = c.check(code)
	}
	return text, err
}

// header returns the header in the mapping of the index. The log must be open.
func (c *conn) header() (*Header, error) {
	s, err := indexOf(c.tls, pointer(c.tls, c.db, sqlite3.SQLITE_FCNTL_FILE_POINTER))
	return (*Header)(unsafe.Pointer(s)), err
}

// slot returns memory of the engine for one pointer, set to nil, until free is called.
func (c *conn) slot() (addr uintptr, free func()) {
	addr = malloc(c.tls, 8)
	*at[uintptr](addr) = 0
	return addr, func() { libc.Xfree(c.tls, addr) }
}

var errBusy = errors.New("locked")

// check turns a result code into an error.
func (c *conn) check(code int32) error {
	switch code & 0xff {
	case sqlite3.SQLITE_OK:
		return nil
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return errBusy
	}
	return fmt.Errorf("index of the log: %s", libc.GoString(sqlite3.Xsqlite3_errstr(c.tls, code)))
}
