package engine

import (
	"fmt"
	"sync/atomic"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	regionSize = 32 << 10 // of the index of a log: SQLite asks a VFS for that much at a time

	writeLock      = 0 // SQLite's WAL_WRITE_LOCK
	checkpointLock = 1 // and WAL_CKPT_LOCK
)

// A walIndex is the beginning of the index of a log, in memory that all processes share: a [Header] and its copy, and then
// the state that checkpoints share.
type walIndex struct {
	version, _, commits uint32
	_                   uint16
	pageSize            uint16 // 1 means 64 KiB
	frames              uint32 // that are committed
	pages               uint32
	_                   [2]uint32
	salts               uint64
	_                   uint64
	_                   Header
	folded              uint32 // frames that are in the database file
}

// indexOf returns the index of the log of an open database file. The log must be open.
func indexOf(tls *libc.TLS, file uintptr) (*walIndex, error) {
	if methodsOf(file) == 0 {
		return nil, ErrUnavailable
	}
	m := at[sqlite3.Tsqlite3_io_methods](methodsOf(file))
	if m.FiVersion < 2 || m.FxShmMap == 0 || m.FxShmLock == 0 {
		return nil, ErrUnavailable
	}
	slot := malloc(tls, 8)
	defer libc.Xfree(tls, slot)
	*at[uintptr](slot) = 0
	shmMap := method[func(*libc.TLS, uintptr, int32, int32, int32, uintptr) int32](m.FxShmMap)
	code := shmMap(tls, file, 0, regionSize, 0, slot)
	mapped := *at[uintptr](slot)
	if code != sqlite3.SQLITE_OK || mapped == 0 {
		return nil, fmt.Errorf("%w: xShmMap returned %d", ErrUnavailable, code)
	}
	return at[walIndex](mapped), nil
}

// generation returns the salts of the log; 0 if nobody has written to it yet.
func (s *walIndex) generation() uint64 { return atomic.LoadUint64(&s.salts) }

// committed returns where the committed frames of the log end; 0 if there are none.
func (s *walIndex) committed() int64 { return s.offset(atomic.LoadUint32(&s.frames)) }

// copied returns where the frames end that a checkpoint has copied: all of them are durable in the log.
func (s *walIndex) copied() int64 { return s.offset(atomic.LoadUint32(&s.folded)) }

func (s *walIndex) offset(frames uint32) int64 {
	if frames == 0 {
		return 0
	}
	pageSize := int64(s.pageSize)
	if pageSize == 1 {
		pageSize = 64 << 10
	}
	return logHead + int64(frames)*(frameHead+pageSize)
}

// copyAnew has the next checkpoint, of whatever process, copy all frames of the log. The checkpoint lock must be held.
func (s *walIndex) copyAnew() { atomic.StoreUint32(&s.folded, 0) }
