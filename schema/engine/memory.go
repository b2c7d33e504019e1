package engine

import (
	"errors"
	"reflect"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
)

// ErrUnavailable is returned where a function of this package cannot work: the file is not in WAL mode, its directory
// cannot be written, or the library keeps the handle of a connection elsewhere.
var ErrUnavailable = errors.New("not to be had from the engine")

// files returns two file objects of a connection: the database, and its log. One that the engine does not have is 0.
func files(tls *libc.TLS, c *sqlite.Conn) (file, log uintptr) {
	db := handleOf(c)
	if db == 0 {
		return 0, 0
	}
	return pointer(tls, db, sqlite3.SQLITE_FCNTL_FILE_POINTER), pointer(tls, db, sqlite3.SQLITE_FCNTL_JOURNAL_POINTER)
}

// handleOf returns the engine's handle of a connection; 0 if it is not where it was.
func handleOf(c *sqlite.Conn) uintptr {
	field := reflect.ValueOf(c).Elem().FieldByName("conn")
	if !field.IsValid() || field.Kind() != reflect.Uintptr {
		return 0
	}
	return uintptr(field.Uint())
}

// at returns the value at an address outside of Go's memory.
func at[T any](addr uintptr) *T { return *(**T)(unsafe.Pointer(&addr)) }

// view returns n bytes at such an address.
func view(addr uintptr, n int) []byte { return unsafe.Slice(at[byte](addr), n) }

// method returns the function at an address that the engine gave us.
func method[F any](addr uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{addr})) }

// address returns the address at which the engine can call a function, which must not be a closure.
func address[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

func malloc(tls *libc.TLS, n int) uintptr {
	addr := libc.Xmalloc(tls, libc.Tsize_t(n))
	if addr == 0 {
		panic("engine: out of memory")
	}
	return addr
}

// pointer asks the engine for one of the file objects of a connection; 0 if there is none.
func pointer(tls *libc.TLS, db uintptr, op int32) uintptr {
	slot := malloc(tls, 8)
	defer libc.Xfree(tls, slot)
	*at[uintptr](slot) = 0
	if sqlite3.Xsqlite3_file_control(tls, db, 0, op, slot) != sqlite3.SQLITE_OK {
		return 0
	}
	return *at[uintptr](slot)
}

// sizeOf returns the length of an open file; 0 if it is not known.
func sizeOf(tls *libc.TLS, id uintptr) int64 {
	slot := malloc(tls, 8)
	defer libc.Xfree(tls, slot)
	*at[int64](slot) = 0
	m := at[sqlite3.Tsqlite3_io_methods](methodsOf(id))
	if method[func(*libc.TLS, uintptr, uintptr) int32](m.FxFileSize)(tls, id, slot) != sqlite3.SQLITE_OK {
		return 0
	}
	return *at[int64](slot)
}

// methodsOf returns the table of methods of a file object; 0 if the file is not open.
func methodsOf(id uintptr) uintptr {
	if id == 0 {
		return 0
	}
	return at[sqlite3.Tsqlite3_file](id).FpMethods
}

// replace gives a file object a copy of its table of methods, for us to change, and returns the table that it had.
func replace(tls *libc.TLS, id uintptr) (was uintptr, ours *sqlite3.Tsqlite3_io_methods) {
	was = methodsOf(id)
	table := malloc(tls, int(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	ours = at[sqlite3.Tsqlite3_io_methods](table)
	*ours = *at[sqlite3.Tsqlite3_io_methods](was)
	at[sqlite3.Tsqlite3_file](id).FpMethods = table
	return was, ours
}

// restore undoes replace.
func restore(tls *libc.TLS, id, was uintptr) {
	object := at[sqlite3.Tsqlite3_file](id)
	libc.Xfree(tls, object.FpMethods)
	object.FpMethods = was
}
