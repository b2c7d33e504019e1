package engine

import (
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
)

// checkpointed are the logs of connections that only checkpoint, by the address of the engine's object.
var checkpointed sync.Map // of uintptr to *log

// SyncCheckpoints makes each checkpoint of c sync what it has written, and make the log durable before, whatever sync
// fails. It is called once, before the first one. The log must be open, as it is once c has read.
func SyncCheckpoints(c *sqlite.Conn) error {
	tls := libc.NewTLS()
	defer tls.Close()
	file, id := files(tls, c)
	index, err := sharedOf(tls, file)
	if err != nil || methodsOf(id) == 0 {
		return ErrUnavailable
	}
	l := newLog(methodsOf(id), index)
	checkpointed.Store(id, &l)
	_, ours := replace(tls, id)
	ours.FxClose, ours.FxSync = address(closeLog), address(syncLog)

	_, ours = keepFile(tls, file, &database{methods: methodsOf(file), index: index})
	ours.FxWrite, ours.FxFileControl = address(writeFile), address(controlFile)
	return nil
}

func logOf(id uintptr) *log {
	v, ok := checkpointed.Load(id)
	if !ok {
		panic("engine: a log that has our methods and is not ours")
	}
	return v.(*log)
}

// syncLog makes durable what is committed. No other frame is written: another connection may be writing behind those,
// but nobody begins the log anew while a checkpoint runs.
func syncLog(tls *libc.TLS, id uintptr, flags int32) int32 {
	l := logOf(id)
	return l.sync(tls, id, flags, l.committed())
}

func closeLog(tls *libc.TLS, id uintptr) int32 {
	l := logOf(id)
	checkpointed.Delete(id)
	restore(tls, id, l.methods)
	return method[func(*libc.TLS, uintptr) int32](l.table().FxClose)(tls, id)
}

// controlFile adds the sync to the notice that a checkpoint has copied all it will.
func controlFile(tls *libc.TLS, id uintptr, op int32, arg uintptr) int32 {
	d, m := databaseOf(id)
	if op == sqlite3.SQLITE_FCNTL_CKPT_DONE && d.dirty {
		syncFile(tls, id, sqlite3.SQLITE_SYNC_NORMAL)
	}
	return method[func(*libc.TLS, uintptr, int32, uintptr) int32](m.FxFileControl)(tls, id, op, arg)
}

func writeFile(tls *libc.TLS, id, p uintptr, n int32, off int64) int32 {
	d, m := databaseOf(id)
	d.dirty = true
	return method[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxWrite)(tls, id, p, n, off)
}
