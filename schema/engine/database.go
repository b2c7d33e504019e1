package engine

import (
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A database is our state of the database file of a connection.
type database struct {
	methods uintptr // of the engine
	index   *walIndex
	wal     *wal  // nil if the connection only checkpoints, or its log is closed
	dirty   bool  // written since the last sync
	failed  int32 // result of the sync of the checkpoint that is running
}

// databases are those with our methods, by the address of the engine's object.
var databases sync.Map // of uintptr to *database

// keepFile gives a database file our methods for locks and syncs.
func keepFile(tls *libc.TLS, id uintptr, d *database) (was uintptr, ours *sqlite3.Tsqlite3_io_methods) {
	databases.Store(id, d)
	was, ours = replace(tls, id)
	ours.FxClose, ours.FxSync, ours.FxShmLock = address(closeFile), address(syncFile), address(lockFile)
	return was, ours
}

func databaseOf(id uintptr) (*database, *sqlite3.Tsqlite3_io_methods) {
	v, ok := databases.Load(id)
	if !ok {
		panic("engine: a file that has our methods and is not ours")
	}
	d := v.(*database)
	return d, at[sqlite3.Tsqlite3_io_methods](d.methods)
}

// syncFile is a sync by a checkpoint. After one that failed no other succeeds in the same checkpoint: the host reports a
// failure once.
func syncFile(tls *libc.TLS, id uintptr, flags int32) int32 {
	d, m := databaseOf(id)
	if d.failed == sqlite3.SQLITE_OK {
		d.failed = method[func(*libc.TLS, uintptr, int32) int32](m.FxSync)(tls, id, flags)
		d.dirty = false
	}
	return d.failed
}

// lockFile is where a lock is taken or given back. Giving back the write lock discards gathered writes that a transaction
// has left. Giving back the checkpoint lock after a failure first marks all frames as not copied.
func lockFile(tls *libc.TLS, id uintptr, offset, n, flags int32) int32 {
	d, m := databaseOf(id)
	gives := func(lock int32) bool {
		return flags&sqlite3.SQLITE_SHM_UNLOCK != 0 && offset <= lock && lock < offset+n
	}
	if gives(writeLock) && d.wal != nil {
		d.wal.forget()
	}
	if gives(checkpointLock) && d.failed != sqlite3.SQLITE_OK {
		d.index.copyAnew()
		d.failed = sqlite3.SQLITE_OK
	}
	return method[func(*libc.TLS, uintptr, int32, int32, int32) int32](m.FxShmLock)(tls, id, offset, n, flags)
}

func closeFile(tls *libc.TLS, id uintptr) int32 {
	d, m := databaseOf(id)
	databases.Delete(id)
	restore(tls, id, d.methods)
	return method[func(*libc.TLS, uintptr) int32](m.FxClose)(tls, id)
}
