package engine

import (
	"encoding/binary"
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
)

const (
	roomSize  = 124 << 10    // of what is in memory: the engine's unix files take less than 128 KiB at a time
	growSize  = 2 * roomSize // of the zeros behind a commit
	growAfter = 3            // commits that made the log longer: who writes a few and is gone needs no zeros

	nowhere = -1 // no write follows upon that
)

// A wal is what we know of the log of a connection that writes.
type wal struct {
	log
	room  uintptr // what is in memory
	n     int     // bytes of it
	next  int64   // where they end, or if there are none where the last write ended
	ends  bool    // the frame that is being written ends a commit
	size  int64   // of the file, as far as we know
	grown int     // commits that made it longer

	// Of what was written since the write lock was taken.
	begun uint64 // the salts, if the log was begun anew
	end   int64  // of its first bytes, or of a commit; 0 if there was none
}

// gathered are the logs with our methods for them, by the address of the engine's object.
var gathered struct {
	sync.RWMutex
	wals map[uintptr]*wal
}

// Gather has c write to its log as the package says, and make it durable whatever sync fails. It is called once. The log
// must be open, as it is once c has read from a file in WAL mode.
func Gather(c *sqlite.Conn) error {
	tls := libc.NewTLS()
	defer tls.Close()
	file, id := files(tls, c)
	index, err := sharedOf(tls, file)
	if err != nil || methodsOf(id) == 0 {
		return ErrUnavailable
	}
	w := &wal{log: newLog(methodsOf(id), index), room: malloc(tls, roomSize), next: nowhere}
	w.size = sizeOf(tls, id)
	gathered.Lock()
	defer gathered.Unlock()
	if gathered.wals == nil {
		gathered.wals = make(map[uintptr]*wal)
	}
	gathered.wals[id] = w
	_, ours := replace(tls, id)
	ours.FxClose, ours.FxRead, ours.FxWrite = address(closeWAL), address(readWAL), address(writeWAL)
	ours.FxTruncate, ours.FxSync, ours.FxFileSize = address(truncateWAL), address(syncWAL), address(sizeWAL)
	keepFile(tls, file, &database{methods: methodsOf(file), index: index, wal: w})
	return nil
}

func walOf(id uintptr) (*wal, *sqlite3.Tsqlite3_io_methods) {
	gathered.RLock()
	defer gathered.RUnlock()
	w := gathered.wals[id]
	return w, w.table()
}

// writeWAL takes what follows upon the last write into memory. With the page that ends a commit all of it goes to the
// file. Anything else is written at once: frames, and sums of frames, that SQLite writes over.
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
	case code != sqlite3.SQLITE_OK: // this call has not happened: no later flush may make a commit of it
		w.n -= int(n)
		w.next -= int64(n)
	case w.size > before:
		w.grow(tls, id)
	}
	return code
}

// note looks at what SQLite writes: the first bytes of a log that is begun anew, or of a frame, or a page.
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

// flush writes what is in memory, which stays there if that fails: SQLite was told that it is written.
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

// grow writes zeros behind a commit that made the log longer. The room is free: all of it was written.
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

// syncWAL makes durable what is committed, and the commit that is being written.
func syncWAL(tls *libc.TLS, id uintptr, flags int32) int32 {
	w, _ := walOf(id)
	if code := w.flush(tls, id); code != sqlite3.SQLITE_OK {
		return code
	}
	s := w.committed()
	if w.begun != 0 && w.begun != s.generation { // the first commit to a log is what tells others of its salts
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
	gathered.Lock()
	delete(gathered.wals, id)
	gathered.Unlock()
	databases.Range(func(_, f any) bool {
		if f := f.(*database); f.wal == w {
			f.wal = nil
		}
		return true
	})
	libc.Xfree(tls, w.room) // nothing in it counts: there is no transaction
	restore(tls, id, w.methods)
	return method[func(*libc.TLS, uintptr) int32](m.FxClose)(tls, id)
}

// forget forgets what is in memory when the write lock is given back: a commit has left nothing there.
func (w *wal) forget() {
	if w.n > 0 {
		w.n, w.next = 0, nowhere
	}
	w.begun, w.end = 0, 0
}
