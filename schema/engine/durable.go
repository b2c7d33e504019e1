package engine

import (
	"encoding/binary"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	logHead   = 32 // bytes before the first frame
	frameHead = 24 // and before each page

	mostBytes = 128<<10 - 1 // that the engine's unix files read or write at a time
)

// A log tracks how much of the log of one connection is durable.
type log struct {
	methods uintptr // of the engine
	index   *walIndex

	generation uint64 // the salts of the log that the other fields are about
	safe       int64  // this many bytes are durable
	doubt      int64  // the bytes from safe to here may have been dropped, and then no sync writes them
	open       bool   // so may the bytes behind doubt that were being written when a sync failed
}

// newLog returns the state of a log that was opened just now. The host may have dropped any of it before, and reported that
// to another descriptor.
func newLog(methods uintptr, index *walIndex) log {
	// The order matters: a connection that restarts the log meanwhile first sets the count of committed frames to 0.
	l := log{methods: methods, index: index, generation: index.generation(), open: true}
	l.doubt = index.committed()
	l.safe = min(l.doubt, index.copied())
	return l
}

// A span is the part of a generation that a sync makes durable.
type span struct {
	generation uint64
	committed  int64 // this many bytes are committed
	end        int64
	alone      bool // nobody else writes to the log
}

// committed returns the span that a checkpoint needs to be durable.
func (l *log) committed() span {
	end := l.index.committed()
	return span{generation: l.index.generation(), committed: end, end: end}
}

// sync makes s durable. Bytes in doubt are written again before each sync. A sync that fails puts all of s in doubt, and is
// tried a second time.
func (l *log) sync(tls *libc.TLS, id uintptr, flags int32, s span) int32 {
	if l.generation != s.generation {
		// All of it was written after the last sync of this descriptor, and after it was opened.
		l.generation, l.safe, l.doubt, l.open = s.generation, 0, 0, false
	}
	l.safe = min(l.safe, s.committed) // later bytes were written since
	if l.open && (s.alone || s.committed > l.doubt) {
		l.doubt, l.open = s.committed, false // the bytes that were being written are committed, or undone
	}

	for tried := false; ; tried = true {
		if l.safe < l.doubt {
			if code := l.writeAgain(tls, id, min(l.doubt, s.end)); code != sqlite3.SQLITE_OK {
				return code
			}
		}

		code := method[func(*libc.TLS, uintptr, int32) int32](l.table().FxSync)(tls, id, flags)
		if code == sqlite3.SQLITE_OK {
			l.safe = s.end
			return code
		}
		l.doubt, l.open = s.end, !s.alone
		if tried {
			return code
		}
	}
}

// writeAgain reads the bytes from the safe part to end from the file and writes them once more. The sums of the frames prove
// that they are the bytes that were written. If the host has lost them, no sync succeeds until the file is opened anew.
func (l *log) writeAgain(tls *libc.TLS, id uintptr, end int64) int32 {
	if end == 0 {
		return sqlite3.SQLITE_OK
	}
	room := malloc(tls, mostBytes)
	defer libc.Xfree(tls, room)

	// The head of the log begins the chain of sums, and is written again if it is not safe.
	if code := l.read(tls, id, room, logHead, 0); code != sqlite3.SQLITE_OK {
		return code
	}
	c, ok := chainOf(view(room, logHead))
	if !ok || c.salts != l.generation {
		return sqlite3.SQLITE_IOERR_FSYNC
	}
	next, frame := max(l.safe, logHead), int64(c.frame)
	if l.safe > logHead {
		if code := l.read(tls, id, room, frameHead, next-frame); code != sqlite3.SQLITE_OK {
			return code
		}
		c.resume(view(room, frameHead))
	} else if code := l.write(tls, id, room, logHead, 0); code != sqlite3.SQLITE_OK {
		return code
	}

	for next < end {
		n := int(min(end-next, mostBytes/frame*frame))
		if code := l.read(tls, id, room, n, next); code != sqlite3.SQLITE_OK {
			return code
		}

		for frames := view(room, n); len(frames) > 0; frames = frames[c.frame:] {
			if len(frames) < c.frame || !c.follows(frames[:c.frame]) {
				return sqlite3.SQLITE_IOERR_FSYNC
			}
		}

		if code := l.write(tls, id, room, n, next); code != sqlite3.SQLITE_OK {
			return code
		}
		next += int64(n)
	}
	return sqlite3.SQLITE_OK
}

func (l *log) table() *sqlite3.Tsqlite3_io_methods { return at[sqlite3.Tsqlite3_io_methods](l.methods) }

func (l *log) read(tls *libc.TLS, id, p uintptr, n int, off int64) int32 {
	return method[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](l.table().FxRead)(tls, id, p, int32(n), off)
}

func (l *log) write(tls *libc.TLS, id, p uintptr, n int, off int64) int32 {
	return method[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](l.table().FxWrite)(tls, id, p, int32(n), off)
}

// A chain computes the sums of a log: the sum of each frame is over all frames of the generation up to it.
type chain struct {
	order binary.ByteOrder // of the words that are summed
	salts uint64
	frame int // bytes of one
	sum   [2]uint32
}

// chainOf begins the chain of a log with the bytes before its first frame. It reports false if they are not the head of a
// log.
func chainOf(head []byte) (*chain, bool) {
	const magic = 0x377f0682 // or that and 1
	c := &chain{order: binary.LittleEndian, salts: binary.NativeEndian.Uint64(head[16:])}
	first := binary.BigEndian.Uint32(head)
	if first&1 != 0 {
		c.order = binary.BigEndian
	}
	c.frame = frameHead + int(binary.BigEndian.Uint32(head[8:]))
	c.add(head[:24])
	return c, first&^1 == magic && c.frame <= frameHead+64<<10 && c.is(head[24:])
}

// resume continues the chain behind a frame, which begins with head.
func (c *chain) resume(head []byte) {
	c.sum[0], c.sum[1] = binary.BigEndian.Uint32(head[16:]), binary.BigEndian.Uint32(head[20:])
}

// follows adds a frame to the chain, and reports whether it is the next one.
func (c *chain) follows(frame []byte) bool {
	c.add(frame[:8])
	c.add(frame[frameHead:])
	return binary.NativeEndian.Uint64(frame[8:]) == c.salts && c.is(frame[16:])
}

func (c *chain) is(sum []byte) bool {
	return c.sum[0] == binary.BigEndian.Uint32(sum) && c.sum[1] == binary.BigEndian.Uint32(sum[4:])
}

func (c *chain) add(p []byte) {
	s0, s1 := c.sum[0], c.sum[1]
	if c.order == binary.LittleEndian {
		for ; len(p) >= 8; p = p[8:] {
			s0 += binary.LittleEndian.Uint32(p) + s1
			s1 += binary.LittleEndian.Uint32(p[4:]) + s0
		}
	} else {
		for ; len(p) >= 8; p = p[8:] {
			s0 += binary.BigEndian.Uint32(p) + s1
			s1 += binary.BigEndian.Uint32(p[4:]) + s0
		}
	}
	c.sum = [2]uint32{s0, s1}
}
