package billyfs

import (
	"context"
	"io/fs"
	"sync"

	"vfsdb/vfs"
)

// A lockKey is the file that a lock is about. A file has one number on all branches, so the branch belongs to the key.
type lockKey struct {
	store  *vfs.Store
	branch int64
	ino    vfs.Ino
}

// locks are the locks that open files of this process have. A channel is closed when its lock is given back.
var locks = struct {
	sync.Mutex
	held map[lockKey]chan struct{}
}{held: map[lockKey]chan struct{}{}}

// A heldLock is the lock of one open file: none, or that of key.
type heldLock struct {
	mu    sync.Mutex
	key   lockKey
	free  chan struct{} // nil without a lock
	ended bool          // the file is closed
}

func (h *heldLock) acquire(ctx context.Context, key lockKey) error {
	for {
		other, err := h.try(key)
		if other == nil {
			return err
		}
		select {
		case <-other:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// try takes the lock if it is free, or returns what is closed when it may be.
func (h *heldLock) try(key lockKey) (other <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return nil, fs.ErrClosed
	}
	if h.free != nil {
		return nil, nil
	}

	locks.Lock()
	defer locks.Unlock()
	if held := locks.held[key]; held != nil {
		return held, nil
	}

	h.key, h.free = key, make(chan struct{})
	locks.held[key] = h.free
	return nil, nil
}

// release gives the lock back, if there is one. After the end of the file it takes none any more.
func (h *heldLock) release(end bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = h.ended || end
	if h.free == nil {
		return
	}

	locks.Lock()
	defer locks.Unlock()
	delete(locks.held, h.key)
	close(h.free)
	h.free = nil
}
