package folds

import (
	"errors"
	"reflect"
	"sync"
	"unsafe"

	"modernc.org/libc"
	engine "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
)

// ErrUnavailable is returned by Sync where the engine's file cannot be reached.
var ErrUnavailable = errors.New("no way to the file of the connection")

// A file is what we know of the database file of a connection.
type file struct {
	methods uintptr // of the engine
	dirty   bool    // written since the last sync
	failed  int32   // what the sync that SQLite did not ask for returned
}

// files are those with our methods, by the address of the engine's object.
var files sync.Map // of uintptr to *file

// Sync makes each checkpoint of c sync what it has written. It is called once, before the first one.
func Sync(c *sqlite.Conn) error {
	handle := reflect.ValueOf(c).Elem().FieldByName("conn")
	if !handle.IsValid() || handle.Kind() != reflect.Uintptr || handle.Uint() == 0 {
		return ErrUnavailable
	}
	tls := libc.NewTLS()
	defer tls.Close()
	slot := libc.Xcalloc(tls, 1, 8)
	if slot == 0 {
		return ErrUnavailable
	}
	defer libc.Xfree(tls, slot)
	if engine.Xsqlite3_file_control(tls, uintptr(handle.Uint()), 0, engine.SQLITE_FCNTL_FILE_POINTER, slot) != engine.SQLITE_OK {
		return ErrUnavailable
	}
	id := *at[uintptr](slot)
	object := at[engine.Tsqlite3_file](id)
	if id == 0 || object.FpMethods == 0 {
		return ErrUnavailable
	}
	table := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(engine.Tsqlite3_io_methods{})))
	if table == 0 {
		return ErrUnavailable
	}
	methods := at[engine.Tsqlite3_io_methods](table)
	*methods = *at[engine.Tsqlite3_io_methods](object.FpMethods)
	methods.FxClose = address(closeFile)
	methods.FxWrite = address(write)
	methods.FxSync = address(syncFile)
	methods.FxFileControl = address(control)
	files.Store(id, &file{methods: object.FpMethods})
	object.FpMethods = table
	return nil
}

func of(id uintptr) (*file, *engine.Tsqlite3_io_methods) {
	v, ok := files.Load(id)
	if !ok {
		panic("folds: a file that has our methods and is not ours")
	}
	f := v.(*file)
	return f, at[engine.Tsqlite3_io_methods](f.methods)
}

// control adds the sync to the notice that a checkpoint has copied all it will.
func control(tls *libc.TLS, id uintptr, op int32, arg uintptr) int32 {
	f, m := of(id)
	if op == engine.SQLITE_FCNTL_CKPT_DONE && f.dirty && f.failed == engine.SQLITE_OK {
		f.failed = method[func(*libc.TLS, uintptr, int32) int32](m.FxSync)(tls, id, engine.SQLITE_SYNC_NORMAL)
		f.dirty = false
	}
	return method[func(*libc.TLS, uintptr, int32, uintptr) int32](m.FxFileControl)(tls, id, op, arg)
}

func write(tls *libc.TLS, id, p uintptr, n int32, off int64) int32 {
	f, m := of(id)
	f.dirty = true
	return method[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxWrite)(tls, id, p, n, off)
}

func syncFile(tls *libc.TLS, id uintptr, flags int32) int32 {
	f, m := of(id)
	if f.failed != engine.SQLITE_OK {
		return f.failed
	}
	f.dirty = false
	return method[func(*libc.TLS, uintptr, int32) int32](m.FxSync)(tls, id, flags)
}

func closeFile(tls *libc.TLS, id uintptr) int32 {
	f, m := of(id)
	object := at[engine.Tsqlite3_file](id)
	libc.Xfree(tls, object.FpMethods)
	object.FpMethods = f.methods
	files.Delete(id)
	return method[func(*libc.TLS, uintptr) int32](m.FxClose)(tls, id)
}

// at is what stands at an address outside of Go's memory.
func at[T any](addr uintptr) *T { return *(**T)(unsafe.Pointer(&addr)) }

// method is the function at an address that the engine gave us.
func method[F any](addr uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{addr})) }

// address is where the engine finds a function, which must not be a closure.
func address[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }
