package walindex

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A Header is what the index of a log begins with. Equal ones mean that nothing was committed in between.
type Header [6]uint64

// salts is the word of a Header that names the generation of the log.
const salts = 4

// ErrUnavailable is returned by Open where there is no shared index to look at: the file is not in WAL mode, or its
// directory cannot be written.
var ErrUnavailable = errors.New("no shared index of a log")

// An Index looks at the header of the index of one file's log. It is safe for concurrent use.
type Index struct {
	mu     sync.RWMutex // Close waits for Read
	words  *Header      // in the engine's mapping; nil once closed
	engine engine
}

// Open opens the file at path with a connection of its own. The file must exist and be in WAL mode, else the error is
// ErrUnavailable. With readOnly, nothing is written, and a log that nobody has written to yet stays without a header.
func Open(path string, readOnly bool) (*Index, error) {
	x := &Index{engine: engine{tls: libc.NewTLS()}}
	if err := x.open(path, readOnly); err != nil {
		x.engine.close()
		return nil, err
	}
	return x, nil
}

func (x *Index) open(path string, readOnly bool) error {
	e := &x.engine
	flags := int32(sqlite3.SQLITE_OPEN_READWRITE)
	if readOnly {
		flags = sqlite3.SQLITE_OPEN_READONLY
	}
	if err := e.open(path, flags); err != nil {
		return err
	}
	// journal_mode reads the file, and so opens its log.
	if _, err := e.text("PRAGMA cache_size=1"); err != nil {
		return err
	}
	mode, err := e.text("PRAGMA journal_mode")
	if err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("%w: journal_mode is %s", ErrUnavailable, mode)
	}
	if x.words, err = e.header(); err != nil {
		return err
	}
	if _, ok := x.Read(); ok || readOnly {
		return nil
	}
	// Whoever keeps this from happening reads, or writes: then there is a header soon.
	if _, err := e.text("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil && !errors.Is(err, errBusy) {
		return err
	}
	return nil
}

// Read returns the header as it is now. It reports false where it proves nothing: nobody has written to the log since it
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
	return x.engine.close()
}

// An engine is a connection through the engine's own interface.
type engine struct {
	tls *libc.TLS
	db  uintptr // sqlite3*
}

func (e *engine) open(path string, flags int32) error {
	name, err := libc.CString(path)
	if err != nil {
		return err
	}
	defer libc.Xfree(e.tls, name)
	handle, free := e.slot()
	defer free()
	code := sqlite3.Xsqlite3_open_v2(e.tls, name, handle, flags, 0)
	e.db = *at[uintptr](handle) // also of a failure: it has to be closed
	return e.check(code)
}

func (e *engine) close() error {
	var err error
	if e.db != 0 {
		err = e.check(sqlite3.Xsqlite3_close_v2(e.tls, e.db))
	}
	e.tls.Close()
	return err
}

// text runs a statement and returns the first column of its first row.
func (e *engine) text(sql string) (text string, err error) {
	csql, err := libc.CString(sql)
	if err != nil {
		return "", err
	}
	defer libc.Xfree(e.tls, csql)
	slot, free := e.slot()
	defer free()
	if err := e.check(sqlite3.Xsqlite3_prepare_v2(e.tls, e.db, csql, -1, slot, 0)); err != nil {
		return "", err
	}
	stmt := *at[uintptr](slot)
	switch code := sqlite3.Xsqlite3_step(e.tls, stmt); code {
	case sqlite3.SQLITE_ROW:
		text = libc.GoString(sqlite3.Xsqlite3_column_text(e.tls, stmt, 0))
	case sqlite3.SQLITE_DONE:
	default:
		err = e.check(code)
	}
	if code := sqlite3.Xsqlite3_finalize(e.tls, stmt); err == nil {
		err = e.check(code)
	}
	return text, err
}

// regionSize is what SQLite asks a VFS for at a time.
const regionSize = 32 << 10

// header finds where the first region of the index is mapped. Its log must be open.
func (e *engine) header() (*Header, error) {
	slot, free := e.slot()
	defer free()
	if err := e.check(sqlite3.Xsqlite3_file_control(e.tls, e.db, 0, sqlite3.SQLITE_FCNTL_FILE_POINTER, slot)); err != nil {
		return nil, err
	}
	file := *at[uintptr](slot)
	methods := at[sqlite3.Tsqlite3_io_methods](at[sqlite3.Tsqlite3_file](file).FpMethods)
	if methods.FiVersion < 2 || methods.FxShmMap == 0 {
		return nil, ErrUnavailable
	}
	*at[uintptr](slot) = 0
	shmMap := *(*func(*libc.TLS, uintptr, int32, int32, int32, uintptr) int32)(unsafe.Pointer(&struct{ uintptr }{methods.FxShmMap}))
	code := shmMap(e.tls, file, 0, regionSize, 0, slot)
	mapped := *at[uintptr](slot)
	if code != sqlite3.SQLITE_OK || mapped == 0 {
		return nil, fmt.Errorf("%w: xShmMap returned %d", ErrUnavailable, code)
	}
	return at[Header](mapped), nil
}

// slot is memory of the engine for one pointer, until free is called.
func (e *engine) slot() (addr uintptr, free func()) {
	addr = libc.Xcalloc(e.tls, 1, 8)
	if addr == 0 {
		panic("walindex: out of memory")
	}
	return addr, func() { libc.Xfree(e.tls, addr) }
}

var errBusy = errors.New("locked")

// check turns a result code into an error.
func (e *engine) check(code int32) error {
	switch code & 0xff {
	case sqlite3.SQLITE_OK:
		return nil
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return errBusy
	}
	return fmt.Errorf("index of the log: %s", libc.GoString(sqlite3.Xsqlite3_errstr(e.tls, code)))
}

// at is what stands at an address outside of Go's memory.
func at[T any](addr uintptr) *T { return *(**T)(unsafe.Pointer(&addr)) }
