package engine

import (
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
)

// checkpointLogs are the logs of connections that only checkpoint, by the address of the engine's object.
var checkpointLogs sync.Map // of uintptr to *log

// SyncCheckpoints has each checkpoint of c sync the pages that it copies, and make the log durable before, even after a sync
// that failed. It is called once, before the first checkpoint. The log must be open, as it is once c has read.
func SyncCheckpoints(c *sqlite.Conn) error {
	tls := libc.NewTLS()
	defer tls.Close()
	file, id := files(tls, c)
	index, err := indexOf(tls, file)
	if err != nil || methodsOf(id) == 0 {
		return ErrUnavailable
	}

	l := newLog(methodsOf(id), index)
	checkpointLogs.Store(id, &l)
	_, ours := replace(tls, id)
	ours.FxClose, ours.FxSync = address(closeLog), address(syncLog)

	_, ours = keepFile(tls, file, &database{methods: methodsOf(file), index: index})
	ours.FxWrite, ours.FxFileControl = address(writeFile), address(controlFile)
	return nil
}

func logOf(id uintptr) *log {
	v, ok := checkpointLogs.Load(id)
	if !ok {
		panic("engine: a log that has our methods and is not ours")
	}
	return v.(*log)
}

// syncLog makes the committed frames durable. Only these are written again: another connection may be writing behind them,
// but nobody restarts the log while a checkpoint runs.
func syncLog(tls *libc.TLS, id uintptr, flags int32) int32 {
	l := logOf(id)
	return l.sync(tls, id, flags, l.committed())
}

func closeLog(tls *libc.TLS, id uintptr) int32 {
	l := logOf(id)
	checkpointLogs.Delete(id)
	restore(tls, id, l.methods)
	return method[func(*libc.TLS, uintptr) int32](l.table().FxClose)(tls, id)
}

// controlFile adds the sync to SQLite's notice that a checkpoint has copied all it will.
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
