package engine

import (
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
)

// A file is what we know of the database file of a connection.
type file struct {
	methods uintptr // of the engine
	dirty   bool    // written since the last sync
	failed  int32   // what the sync that SQLite did not ask for returned
}

// synced are those with our methods, by the address of the engine's object.
var synced sync.Map // of uintptr to *file

// SyncCheckpoints makes each checkpoint of c sync what it has written. It is called once, before the first one.
func SyncCheckpoints(c *sqlite.Conn) error {
	tls := libc.NewTLS()
	defer tls.Close()
	id, _ := files(tls, c)
	if methodsOf(id) == 0 {
		return ErrUnavailable
	}
	f := &file{methods: methodsOf(id)}
	synced.Store(id, f)
	_, ours := replace(tls, id)
	ours.FxClose, ours.FxWrite = address(closeFile), address(writeFile)
	ours.FxSync, ours.FxFileControl = address(syncFile), address(controlFile)
	return nil
}

func fileOf(id uintptr) (*file, *sqlite3.Tsqlite3_io_methods) {
	v, ok := synced.Load(id)
	if !ok {
		panic("engine: a file that has our methods and is not ours")
	}
	f := v.(*file)
	return f, at[sqlite3.Tsqlite3_io_methods](f.methods)
}

// controlFile adds the sync to the notice that a checkpoint has copied all it will.
func controlFile(tls *libc.TLS, id uintptr, op int32, arg uintptr) int32 {
	f, m := fileOf(id)
	if op == sqlite3.SQLITE_FCNTL_CKPT_DONE && f.dirty && f.failed == sqlite3.SQLITE_OK {
		f.failed = method[func(*libc.TLS, uintptr, int32) int32](m.FxSync)(tls, id, sqlite3.SQLITE_SYNC_NORMAL)
		f.dirty = false
	}
	return method[func(*libc.TLS, uintptr, int32, uintptr) int32](m.FxFileControl)(tls, id, op, arg)
}

func writeFile(tls *libc.TLS, id, p uintptr, n int32, off int64) int32 {
	f, m := fileOf(id)
	f.dirty = true
	return method[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxWrite)(tls, id, p, n, off)
}

func syncFile(tls *libc.TLS, id uintptr, flags int32) int32 {
	f, m := fileOf(id)
	if f.failed != sqlite3.SQLITE_OK {
		return f.failed
	}
	f.dirty = false
	return method[func(*libc.TLS, uintptr, int32) int32](m.FxSync)(tls, id, flags)
}

func closeFile(tls *libc.TLS, id uintptr) int32 {
	f, m := fileOf(id)
	synced.Delete(id)
	restore(tls, id, f.methods)
	return method[func(*libc.TLS, uintptr) int32](m.FxClose)(tls, id)
}
