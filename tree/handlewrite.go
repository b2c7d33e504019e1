package tree

import (
	"syscall"

	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/node"
)

// WriteAt writes at an offset. It is committed by Sync, by Close, and by the write that finds no room in memory; in mode Sync
// before it returns. A handle that is not for writing is EBADF, and what would end beyond the largest file EFBIG.
func (h *Handle) WriteAt(p []byte, off int64) (int, error) {
	h.writing.RLock()
	defer h.writing.RUnlock()
	if err := h.mayWriteAt(p, off); err != nil {
		return 0, err
	}

	done := 0
	for done < len(p) {
		n := h.shared.Write(h.name, p[done:], off+int64(done))
		if n == 0 {
			if err := h.commit(); err != nil {
				return done, err
			}
		}
		done += n
	}
	return done, h.ifSync()
}

// ifSync commits what was written, if the mode of the handle is Sync.
func (h *Handle) ifSync() error {
	if !h.mode.Sync {
		return nil
	}
	return h.commit()
}

// mayWrite refuses a call on a handle that is closed, or is not for writing.
func (h *Handle) mayWrite() error {
	err := h.Check()
	if err == nil && !h.mode.Write {
		err = syscall.EBADF
	}
	return err
}

// mayWriteAt is mayWrite for bytes at an offset.
func (h *Handle) mayWriteAt(p []byte, off int64) error {
	switch err := h.mayWrite(); {
	case err != nil:
		return err
	case off < 0:
		return syscall.EINVAL
	case off > node.MaxSize-int64(len(p)):
		return syscall.EFBIG
	}
	return nil
}

// Append commits p at the end of the file as it is then, after what was written before, and returns where it ends. At no
// other moment is it known where that is: another process may append too.
func (h *Handle) Append(p []byte) (size int64, err error) {
	h.writing.RLock()
	defer h.writing.RUnlock()
	if err := h.mayWrite(); err != nil {
		return 0, err
	}

	err = h.tree.Update(h.ctx, func(tx *Tx) error {
		n, err := h.node(tx)
		if err != nil {
			return err
		}
		if err := tx.Fold(n); err != nil {
			return err
		}
		old := n.Content

		size = old.Size + int64(len(p))
		if size > node.MaxSize {
			return syscall.EFBIG
		}

		content, err := chunk.Apply(tx.db, old, size, []chunk.Patch{{Off: old.Size, Data: p}})
		if err != nil {
			return err
		}
		return tx.rewriteOpen(journal.OpAppend, h.name, n, content)
	})
	return size, err
}

// Truncate makes the file size bytes long. As a write, that is not committed yet. On a handle that is not for writing it is
// EINVAL, as ftruncate has it.
func (h *Handle) Truncate(size int64) error {
	h.writing.RLock()
	defer h.writing.RUnlock()
	switch err := h.Check(); {
	case err != nil:
		return err
	case size < 0, !h.mode.Write:
		return syscall.EINVAL
	case size > node.MaxSize:
		return syscall.EFBIG
	}
	h.shared.Truncate(h.name, size)
	return h.ifSync()
}

// Sync commits what was written to the inode, by whichever handle of this store. When it has returned nil, that is durable.
func (h *Handle) Sync() error {
	h.writing.RLock()
	defer h.writing.RUnlock()
	if err := h.Check(); err != nil {
		return err
	}
	return h.commit()
}

// commit makes what was written to the inode part of the file.
func (h *Handle) commit() error {
	if !h.shared.IsDirty() {
		return nil
	}
	return h.tree.Update(h.ctx, func(tx *Tx) error {
		n, err := h.node(tx)
		if err != nil {
			return err
		}
		return tx.Fold(n)
	})
}
