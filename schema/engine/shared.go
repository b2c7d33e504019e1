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

// A shared is how the first region of the index of a log begins, in memory that all processes share: a [Header] and its
// copy, and then what checkpoints have to know of each other.
type shared struct {
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

// sharedOf finds the index of the log of an open database file. Its log must be open.
func sharedOf(tls *libc.TLS, file uintptr) (*shared, error) {
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
	return at[shared](mapped), nil
}

// generation returns the salts of the log; 0 if nobody has written to it yet.
func (s *shared) generation() uint64 { return atomic.LoadUint64(&s.salts) }

// committed returns where the committed frames of the log end; 0 if there are none.
func (s *shared) committed() int64 { return s.offset(atomic.LoadUint32(&s.frames)) }

// copied returns where the frames end that a checkpoint has copied: all of them are durable in the log.
func (s *shared) copied() int64 { return s.offset(atomic.LoadUint32(&s.folded)) }

func (s *shared) offset(frames uint32) int64 {
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
func (s *shared) copyAnew() { atomic.StoreUint32(&s.folded, 0) }
