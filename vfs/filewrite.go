package vfs

import (
	"os"
	"syscall"

	"vfsdb/chunk"
)

// Write writes where the last Read, Write or Seek ended; with O_APPEND, at the end of the file, and commits that.
func (f *File) Write(p []byte) (int, error) {
	f.writing.RLock()
	defer f.writing.RUnlock()
	f.position.Lock()
	defer f.position.Unlock()
	if err := f.check("write", f.writable()); err != nil {
		return 0, err
	}
	if f.flag&os.O_APPEND != 0 {
		return f.append(p)
	}
	n, err := f.writeAt(p, f.off)
	f.off += int64(n)
	return n, err
}

// WriteAt writes at an offset. On a file opened with O_APPEND it is EINVAL.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	f.writing.RLock()
	defer f.writing.RUnlock()
	if err := f.check("write", f.writable()); err != nil {
		return 0, err
	}
	if f.flag&os.O_APPEND != 0 {
		return 0, pathErr("write", f.name, syscall.EINVAL)
	}
	return f.writeAt(p, off)
}

func (f *File) writeAt(p []byte, off int64) (int, error) {
	switch {
	case off < 0:
		return 0, pathErr("write", f.name, syscall.EINVAL)
	case off > maxSize-int64(len(p)):
		return 0, pathErr("write", f.name, syscall.EFBIG)
	}
	done := 0
	for done < len(p) {
		n := f.shared.write(f.name, p[done:], off+int64(done))
		if n == 0 {
			if err := f.commit(); err != nil {
				return done, err
			}
		}
		done += n
	}
	return done, f.ifSync()
}

// ifSync commits what a file opened with O_SYNC has written.
func (f *File) ifSync() error {
	if f.flag&os.O_SYNC == 0 {
		return nil
	}
	return f.commit()
}

// append commits p at the end of the file as it is then, after what was written before. At no other moment is it known
// where that is: another process may append too.
func (f *File) append(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	var size int64
	err := f.fsys.Update(f.ctx, func(tx *Tx) error {
		n, err := f.node(tx)
		if err != nil {
			return err
		}
		if err := tx.fold(n); err != nil {
			return err
		}
		old := n.content
		size = old.Size + int64(len(p))
		if size > maxSize {
			return syscall.EFBIG
		}
		content, err := chunk.Apply(tx.db, old, size, []chunk.Patch{{Off: old.Size, Data: p}})
		if err != nil {
			return err
		}
		return tx.rewriteOpen("append", f.name, n, content)
	})
	if err != nil {
		return 0, pathErr("write", f.name, err)
	}
	f.off = size
	return len(p), nil
}

// Truncate makes the file size bytes long. As a write, that is not committed yet. On a file that was not opened for
// writing it is EINVAL.
func (f *File) Truncate(size int64) error {
	f.writing.RLock()
	defer f.writing.RUnlock()
	if err := f.check("truncate", true); err != nil {
		return err
	}
	switch {
	case size < 0, !f.writable():
		return pathErr("truncate", f.name, syscall.EINVAL)
	case size > maxSize:
		return pathErr("truncate", f.name, syscall.EFBIG)
	}
	f.shared.truncate(f.name, size)
	return f.ifSync()
}

// Sync commits what was written to the file, by whichever File of this store. When it has returned nil, that is
// durable.
func (f *File) Sync() error {
	f.writing.RLock()
	defer f.writing.RUnlock()
	if err := f.check("sync", true); err != nil {
		return err
	}
	return f.commit()
}

// commit makes what was written to the inode part of the file.
func (f *File) commit() error {
	if f.shared == nil || !f.shared.dirty.Load() {
		return nil
	}
	return pathErr("write", f.name, f.fsys.Update(f.ctx, func(tx *Tx) error {
		n, err := f.node(tx)
		if err != nil {
			return err
		}
		return tx.fold(n)
	}))
}
