package vfs

import (
	"io"
	"io/fs"
	"syscall"

	"vfsdb/schema"
)

// Read reads from where the last Read, Write or Seek ended.
func (f *File) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.readAt(p, f.off)
	f.off += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

// ReadAt reads from an offset. It returns [io.EOF] where the file ends before p is full.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.readAt(p, off)
}

func (f *File) readAt(p []byte, off int64) (int, error) {
	if err := f.check("read", f.readable()); err != nil {
		return 0, err
	}
	switch {
	case f.kind == kindDir:
		return 0, pathErr("read", f.name, syscall.EISDIR)
	case off < 0:
		return 0, pathErr("read", f.name, syscall.EINVAL)
	case len(p) == 0:
		return 0, nil
	}
	if !f.writable() && f.ctx.Err() == nil && !f.fsys.store.closed.Load() {
		if n, held, err := f.reader.ReadHeld(p, off); held {
			return n, err
		}
	}
	n := 0
	err := f.fsys.store.db.View(f.ctx, func(db *schema.Tx) (err error) {
		if !f.writable() {
			n, err = f.reader.ReadAt(db, p, off)
			return err
		}
		n, err = f.readLatest(db, p, off)
		return err
	})
	if err == io.EOF {
		return n, err
	}
	return n, pathErr("read", f.name, err)
}

// readLatest reads what is committed now, with our own writes laid over.
func (f *File) readLatest(db *schema.Tx, p []byte, off int64) (int, error) {
	tx, err := f.fsys.begin(db)
	if err != nil {
		return 0, err
	}
	node, err := f.node(tx)
	if err != nil {
		return 0, err
	}
	size := max(node.content.Size, f.wrote.end)
	if off >= size {
		return 0, io.EOF
	}
	wanted := len(p)
	p = p[:min(int64(wanted), size-off)]
	if f.reader.Content() != node.content {
		f.reader.Release()
		f.reader = f.fsys.store.cache.NewReader(node.content)
	}
	n, err := f.reader.ReadAt(db, p, off)
	if err != nil && err != io.EOF {
		return 0, err
	}
	clear(p[n:])
	f.wrote.readOver(p, off)
	if len(p) < wanted {
		return len(p), io.EOF
	}
	return len(p), nil
}

// ReadDir returns the next n entries of a directory, in order of their names, and [io.EOF] after the last; all that
// are left if n <= 0. Pages of one listing may be of different moments: names are never returned twice.
func (f *File) ReadDir(n int) ([]fs.DirEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check("readdir", true); err != nil {
		return nil, err
	}
	if f.kind != kindDir {
		return nil, pathErr("readdir", f.name, syscall.ENOTDIR)
	}
	var entries []fs.DirEntry
	for n <= 0 || len(entries) < n {
		limit := pageSize
		if n > 0 {
			limit = min(limit, n-len(entries))
		}
		var page []listed
		err := f.fsys.View(f.ctx, func(tx *Tx) (err error) {
			page, err = tx.page(f.ino, f.after, limit)
			return err
		})
		if err != nil {
			return entries, pathErr("readdir", f.name, err)
		}
		for _, l := range page {
			entries = append(entries, &Entry{listed: l})
			f.after = l.name
		}
		if len(page) < limit {
			break
		}
	}
	f.fsys.detach(f.ctx, entries)
	if n > 0 && len(entries) == 0 {
		return nil, io.EOF
	}
	return entries, nil
}
