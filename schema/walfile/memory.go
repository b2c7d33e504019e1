package walfile

import (
	"unsafe"

	"modernc.org/libc"
	engine "modernc.org/sqlite/lib"
)

// at is what stands at an address outside of Go's memory.
func at[T any](addr uintptr) *T { return *(**T)(unsafe.Pointer(&addr)) }

// view is n bytes at such an address.
func view(addr uintptr, n int) []byte { return unsafe.Slice(at[byte](addr), n) }

// method is the function at an address that the engine gave us.
func method[F any](addr uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{addr})) }

// address is where the engine finds a function, which must not be a closure.
func address[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

func malloc(tls *libc.TLS, n int) uintptr {
	addr := libc.Xmalloc(tls, libc.Tsize_t(n))
	if addr == 0 {
		panic("walfile: out of memory")
	}
	return addr
}

// pointer asks the engine for one of the file objects of a connection; 0 if there is none.
func pointer(tls *libc.TLS, db uintptr, op int32) uintptr {
	slot := malloc(tls, 8)
	defer libc.Xfree(tls, slot)
	*at[uintptr](slot) = 0
	if engine.Xsqlite3_file_control(tls, db, 0, op, slot) != engine.SQLITE_OK {
		return 0
	}
	return *at[uintptr](slot)
}

// sizeOf is the length of an open file; 0 if it is not known.
func sizeOf(tls *libc.TLS, id uintptr) int64 {
	slot := malloc(tls, 8)
	defer libc.Xfree(tls, slot)
	*at[int64](slot) = 0
	m := at[engine.Tsqlite3_io_methods](methodsOf(id))
	if method[func(*libc.TLS, uintptr, uintptr) int32](m.FxFileSize)(tls, id, slot) != engine.SQLITE_OK {
		return 0
	}
	return *at[int64](slot)
}

// methodsOf is the table of methods of a file object; 0 if the file is not open.
func methodsOf(id uintptr) uintptr {
	if id == 0 {
		return 0
	}
	return at[engine.Tsqlite3_file](id).FpMethods
}

// replace gives a file object a copy of its table of methods, for us to change, and returns the one it had.
func replace(tls *libc.TLS, id uintptr) (was uintptr, ours *engine.Tsqlite3_io_methods) {
	was = methodsOf(id)
	table := malloc(tls, int(unsafe.Sizeof(engine.Tsqlite3_io_methods{})))
	ours = at[engine.Tsqlite3_io_methods](table)
	*ours = *at[engine.Tsqlite3_io_methods](was)
	at[engine.Tsqlite3_file](id).FpMethods = table
	return was, ours
}

// restore undoes replace.
func restore(tls *libc.TLS, id, was uintptr) {
	object := at[engine.Tsqlite3_file](id)
	libc.Xfree(tls, object.FpMethods)
	object.FpMethods = was
}
