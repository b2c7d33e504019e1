package vfs

import (
	"io"
	"io/fs"
	"syscall"

	"vfsdb/node"
	"vfsdb/tree"
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

// ReadAt reads from an offset; [io.EOF] where the file ends before p is full.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if !f.readable() {
		return 0, f.check("read", false)
	}
	n, err := f.handle.ReadAt(p, off)
	if err == io.EOF {
		return n, err
	}
	return n, f.err("read", err)
}

// ReadDir returns the next n entries in order of their names, and [io.EOF] after the last; all that are left if n <=
// 0. Two calls may be of two moments.
func (f *File) ReadDir(n int) ([]fs.DirEntry, error) {
	f.position.Lock()
	defer f.position.Unlock()
	if err := f.check("readdir", true); err != nil {
		return nil, err
	}
	if !f.handle.IsDir() {
		return nil, f.err("readdir", syscall.ENOTDIR)
	}

	var entries []fs.DirEntry
	for n <= 0 || len(entries) < n {
		limit := tree.PageSize
		if n > 0 {
			limit = min(limit, n-len(entries))
		}
		var page []node.Entry
		err := f.fsys.View(f.ctx, func(tx *Tx) (err error) {
			page, err = tx.tree().Page(f.handle.Ino(), f.after, limit)
			return err
		})
		if err != nil {
			return entries, f.err("readdir", err)
		}
		for _, l := range page {
			entries = append(entries, &dirEntry{listed: l})
			f.after = l.Name
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
