package vfs

import (
	"os"
	"syscall"

	"vfsdb/chunk"
)

// Write writes where the last Read, Write or Seek ended; with O_APPEND, at the end of the file.
func (f *File) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
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
	f.mu.Lock()
	defer f.mu.Unlock()
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
		if f.wrote.full() {
			if err := f.commit(); err != nil {
				return done, err
			}
		}
		done += f.wrote.write(p[done:], off+int64(done))
	}
	if f.flag&os.O_SYNC != 0 {
		return done, f.commit()
	}
	return done, nil
}

// append commits p at the end of the file as it is then.
func (f *File) append(p []byte) (int, error) {
	var size int64
	err := f.fsys.Update(f.ctx, func(tx *Tx) error {
		n, err := f.node(tx)
		if err != nil {
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
		return f.rewrite(tx, "append", n, content)
	})
	if err != nil {
		return 0, pathErr("write", f.name, err)
	}
	f.off = size
	return len(p), nil
}

// commit makes what was written part of the file.
func (f *File) commit() error {
	if f.wrote.empty() {
		return nil
	}
	err := f.fsys.Update(f.ctx, func(tx *Tx) error {
		n, err := f.node(tx)
		if err != nil {
			return err
		}
		content, err := chunk.Apply(tx.db, n.content, max(n.content.Size, f.wrote.end), f.wrote.patches())
		if err != nil {
			return err
		}
		return f.rewrite(tx, "write", n, content)
	})
	if err != nil {
		return pathErr("write", f.name, err)
	}
	f.wrote = overlay{}
	return nil
}

// Sync commits what was written. When it has returned nil, that is durable.
func (f *File) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check("sync", true); err != nil {
		return err
	}
	return f.commit()
}

// Truncate commits what was written and makes the file size bytes long.
func (f *File) Truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check("truncate", f.writable()); err != nil {
		return err
	}
	switch {
	case size < 0:
		return pathErr("truncate", f.name, syscall.EINVAL)
	case size > maxSize:
		return pathErr("truncate", f.name, syscall.EFBIG)
	}
	if err := f.commit(); err != nil {
		return err
	}
	return pathErr("truncate", f.name, f.fsys.Update(f.ctx, func(tx *Tx) error {
		n, err := f.node(tx)
		if err != nil {
			return err
		}
		content, err := chunk.Apply(tx.db, n.content, size, nil)
		if err != nil {
			return err
		}
		return f.rewrite(tx, "truncate", n, content)
	}))
}

// rewrite gives the file another content. It is recorded under the name that the file was opened by, or the first that
// it has now; a file without a name is no part of the tree.
func (f *File) rewrite(tx *Tx, op string, n *inode, content chunk.Content) error {
	if p, err := tx.walk(f.name, true); err == nil && p.ino == n.ino {
		return tx.rewrite(op, p, n, content)
	}
	c, err := tx.contentChange(op, n, content)
	if err != nil {
		return err
	}
	paths, err := tx.branchPaths(n.ino)
	if err != nil || len(paths) == 0 {
		return err
	}
	c.path = paths[0]
	return tx.record(c)
}
