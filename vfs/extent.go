package vfs

import (
	"syscall"

	"vfsdb/chunk"
	"vfsdb/schema"
)

// Extents returns the ranges of an open file that are stored, in order. Between them, and after the last, the file is
// zeros that take no space. It is for frozen files, see [FS.OpenFrozen]; another is EBADF, for its ranges could be
// others by the time that they are read.
func (f *File) Extents() ([]chunk.Extent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.checkLocked("extents", f.frozen); err != nil {
		return nil, err
	}
	if f.kind == kindDir {
		return nil, pathErr("extents", f.name, syscall.EISDIR)
	}
	var list []chunk.Extent
	err := f.fsys.store.db.View(f.ctx, func(db *schema.Tx) (err error) {
		list, err = chunk.Extents(db, f.reader.Content())
		return err
	})
	return list, pathErr("extents", f.name, err)
}
