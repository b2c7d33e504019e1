package vfs

import (
	"io"
	"io/fs"
	"syscall"

	"vfsdb/schema"
)

// Read reads from where the last Read, Write or Seek ended.
func (f *File) Read(p []byte) (int, error) {
	f.position.Lock()
	defer f.position.Unlock()
	n, err := f.ReadAt(p, f.off)
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
	if err := f.checkLocked("read", f.readable()); err != nil {
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
	if f.known() {
		if n, held, err := f.reader.ReadHeld(p, off); held {
			return n, err
		}
	}
	n, err := f.readAt(p, off)
	if err == io.EOF {
		return n, err
	}
	return n, pathErr("read", f.name, err)
}

// known reports whether all of the file is what the Reader reads, found out without a transaction.
func (f *File) known() bool {
	switch {
	case f.ctx.Err() != nil:
		return false
	case f.frozen:
		return true
	case f.shared.dirty.Load(): // before the era: what is committed in between begins another
		return false
	}
	facts := &f.fsys.store.facts
	e := facts.now(f.fsys.store.db)
	if e == nil || e == f.era {
		return e != nil
	}
	if _, kept := facts.trees.get(e, f.fsys.at); !kept {
		return false
	}
	n, ok := facts.nodes.get(e, nodeFact{f.fsys.at, f.ino})
	if ok = ok && n != nil; ok {
		f.show(e, n.content)
	}
	return ok
}

func (f *File) readAt(p []byte, off int64) (n int, err error) {
	if f.frozen {
		err = f.fsys.store.db.View(f.ctx, func(db *schema.Tx) (err error) {
			n, err = f.reader.ReadAt(db, p, off)
			return err
		})
		return n, err
	}
	for current := false; !current && err == nil; {
		turn := f.shared.now()
		err = f.fsys.View(f.ctx, func(tx *Tx) error {
			node, err := f.node(tx)
			if err != nil {
				return err
			}
			var c cover
			if c, current = f.shared.over(node.content, turn, off, min(off, maxSize)+int64(len(p))); !current {
				return nil
			}
			f.show(tx.era, node.content)
			n, err = f.readCovered(tx.db, p, c)
			return err
		})
	}
	return n, err
}

// readCovered reads the range of a cover: what is committed, with what lies over it.
func (f *File) readCovered(db *schema.Tx, p []byte, c cover) (int, error) {
	if c.off >= c.size {
		return 0, io.EOF
	}
	wanted := len(p)
	p = p[:min(int64(wanted), c.size-c.off)]
	n := 0
	if shown := max(0, c.shows-c.off); shown > 0 && !c.hides() {
		var err error
		if n, err = f.reader.ReadAt(db, p[:min(int64(len(p)), shown)], c.off); err != nil && err != io.EOF {
			return 0, err
		}
	}
	clear(p[n:])
	c.lay(p)
	if len(p) < wanted {
		return len(p), io.EOF
	}
	return len(p), nil
}

// ReadDir returns the next n entries of a directory, in order of their names, and [io.EOF] after the last; all that
// are left if n <= 0. Pages of one listing may be of different moments: names are never returned twice.
func (f *File) ReadDir(n int) ([]fs.DirEntry, error) {
	f.position.Lock()
	defer f.position.Unlock()
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
