package engine

import (
	"encoding/binary"
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
)

const (
	roomSize  = 124 << 10    // gathered bytes at most: the engine's unix files take less than 128 KiB at a time
	growSize  = 2 * roomSize // zeros behind a commit
	growAfter = 3            // commits that make the log longer before one adds zeros: a short process needs none

	nowhere = -1 // an offset at which no write continues
)

// A wal is our state of the log of a connection that writes.
type wal struct {
	log
	room  uintptr // the gathered bytes
	n     int     // how many they are
	next  int64   // the offset where they end; without any, where the last write ended
	ends  bool    // the frame that is being written ends a commit
	size  int64   // of the file, as far as we know
	grown int     // commits that made it longer

	// Of the writes since the write lock was taken.
	begun uint64 // the salts, if the log was restarted
	end   int64  // of the head of the log, or of a commit; 0 if there was none
}

// gathering are the logs with our methods, by the address of the engine's object.
var gathering struct {
	sync.RWMutex
	wals map[uintptr]*wal
}

// Gather has c gather its writes to the log, as the package's page describes, and make them durable even after a sync that
// failed. It is called once. The log must be open, as it is once c has read from a file in WAL mode.
func Gather(c *sqlite.Conn) error {
	tls := libc.NewTLS()
	defer tls.Close()
	file, id := files(tls, c)
	index, err := indexOf(tls, file)
	if err != nil || methodsOf(id) == 0 {
		return ErrUnavailable
	}

	w := &wal{log: newLog(methodsOf(id), index), room: malloc(tls, roomSize), next: nowhere}
	w.size = sizeOf(tls, id)
	gathering.Lock()
	defer gathering.Unlock()
	if gathering.wals == nil {
		gathering.wals = make(map[uintptr]*wal)
	}
	gathering.wals[id] = w

	_, ours := replace(tls, id)
	ours.FxClose, ours.FxRead, ours.FxWrite = address(closeWAL), address(readWAL), address(writeWAL)
	ours.FxTruncate, ours.FxSync, ours.FxFileSize = address(truncateWAL), address(syncWAL), address(sizeWAL)
	keepFile(tls, file, &database{methods: methodsOf(file), index: index, wal: w})
	return nil
}

func walOf(id uintptr) (*wal, *sqlite3.Tsqlite3_io_methods) {
	gathering.RLock()
	defer gathering.RUnlock()
	w := gathering.wals[id]
	return w, w.table()
}

// writeWAL gathers a write that continues the last one. The page that ends a commit writes all of it to the file. Any other
// write goes to the file at once: frames, and sums of frames, that SQLite writes over.
func writeWAL(tls *libc.TLS, id, p uintptr, n int32, off int64) int32 {
	w, _ := walOf(id)
	if off != w.next || w.n+int(n) > roomSize {
		if code := w.flush(tls, id); code != sqlite3.SQLITE_OK {
			return code
		}
	}

	w.note(p, int(n), off)
	if off != w.next || n > roomSize {
		w.next = off + int64(n)
		return w.write(tls, id, p, int(n), off)
	}

	copy(view(w.room+uintptr(w.n), int(n)), view(p, int(n)))
	w.n += int(n)
	w.next += int64(n)
	if !w.ends || n == frameHead {
		return sqlite3.SQLITE_OK
	}

	before := w.size
	code := w.flush(tls, id)
	switch {
	case code != sqlite3.SQLITE_OK: // this write has failed: no later flush may make a commit of it
		w.n -= int(n)
		w.next -= int64(n)
	case w.size > before:
		w.grow(tls, id)
	}
	return code
}

// note looks at the bytes that SQLite writes: the head of a log that is restarted, the head of a frame, or a page.
func (w *wal) note(p uintptr, n int, off int64) {
	switch {
	case n == logHead && off == 0:
		w.begun, w.end = binary.NativeEndian.Uint64(view(p, n)[16:]), logHead
	case n == frameHead:
		w.ends = binary.BigEndian.Uint32(view(p, n)[4:]) != 0
	case w.ends:
		w.end = off + int64(n)
	}
}

// flush writes the gathered bytes. If that fails they stay in memory: to SQLite they are written.
func (w *wal) flush(tls *libc.TLS, id uintptr) int32 {
	n := w.n
	if n == 0 {
		return sqlite3.SQLITE_OK
	}
	code := w.write(tls, id, w.room, n, w.next-int64(n))
	if code == sqlite3.SQLITE_OK {
		w.n = 0
	}
	return code
}

func (w *wal) write(tls *libc.TLS, id, p uintptr, n int, off int64) int32 {
	code := w.log.write(tls, id, p, n, off)
	if code == sqlite3.SQLITE_OK {
		w.size = max(w.size, off+int64(n))
	}
	return code
}

// grow writes zeros behind a commit that made the log longer. The room is free, since all of it was written.
func (w *wal) grow(tls *libc.TLS, id uintptr) {
	if w.grown++; w.grown <= growAfter {
		return
	}
	clear(view(w.room, roomSize))
	for range growSize / roomSize {
		if w.write(tls, id, w.room, roomSize, w.size) != sqlite3.SQLITE_OK {
			return // the commit does not need it
		}
	}
}

func readWAL(tls *libc.TLS, id, p uintptr, n int32, off int64) int32 {
	w, m := walOf(id)
	if off < w.next && w.next-int64(w.n) < off+int64(n) {
		if code := w.flush(tls, id); code != sqlite3.SQLITE_OK {
			return code
		}
	}
	return method[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxRead)(tls, id, p, n, off)
}

func truncateWAL(tls *libc.TLS, id uintptr, size int64) int32 {
	w, m := walOf(id)
	code := w.flush(tls, id)
	if code == sqlite3.SQLITE_OK {
		code = method[func(*libc.TLS, uintptr, int64) int32](m.FxTruncate)(tls, id, size)
	}
	if code == sqlite3.SQLITE_OK {
		w.size = size
	}
	return code
}

// syncWAL makes the committed frames durable, and the commit that is being written.
func syncWAL(tls *libc.TLS, id uintptr, flags int32) int32 {
	w, _ := walOf(id)
	if code := w.flush(tls, id); code != sqlite3.SQLITE_OK {
		return code
	}
	s := w.committed()
	if w.begun != 0 && w.begun != s.generation { // the index has the salts of a log only from its first commit on
		s = span{generation: w.begun}
	}
	if w.end > 0 { // else it is a checkpoint
		s.end, s.alone = max(s.end, w.end), true
	}
	return w.sync(tls, id, flags, s)
}

func sizeWAL(tls *libc.TLS, id, size uintptr) int32 {
	w, m := walOf(id)
	if code := w.flush(tls, id); code != sqlite3.SQLITE_OK {
		return code
	}
	code := method[func(*libc.TLS, uintptr, uintptr) int32](m.FxFileSize)(tls, id, size)
	if code == sqlite3.SQLITE_OK {
		w.size = max(w.size, *at[int64](size))
	}
	return code
}

func closeWAL(tls *libc.TLS, id uintptr) int32 {
	w, m := walOf(id)
	gathering.Lock()
	delete(gathering.wals, id)
	gathering.Unlock()
	databases.Range(func(_, f any) bool {
		if f := f.(*database); f.wal == w {
			f.wal = nil
		}
		return true
	})
	libc.Xfree(tls, w.room) // it has no frames that count: there is no transaction
	restore(tls, id, w.methods)
	return method[func(*libc.TLS, uintptr) int32](m.FxClose)(tls, id)
}

// forget discards the gathered bytes when the write lock is given back: they are of a transaction that was rolled back.
func (w *wal) forget() {
	if w.n > 0 {
		w.n, w.next = 0, nowhere
	}
	w.begun, w.end = 0, 0
}
