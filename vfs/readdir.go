package vfs

import (
	"context"
	"io/fs"
	"syscall"
)

// An Entry is one entry of a directory. It is an [fs.DirEntry] that needs no further look-up to tell the type.
type Entry struct {
	listed
	info func() (*Info, error)
}

// Name returns the entry's name.
func (e *Entry) Name() string { return e.name }

// IsDir reports whether the entry is a directory.
func (e *Entry) IsDir() bool { return e.kind == kindDir }

// Type returns the type bits of the entry's mode.
func (e *Entry) Type() fs.FileMode { return kindMode(e.kind) }

// Ino returns the inode number.
func (e *Entry) Ino() Ino { return e.ino }

// Info describes the file itself, not what a symlink points at. It is read when it is asked for: a file removed
// meanwhile is ENOENT.
func (e *Entry) Info() (fs.FileInfo, error) {
	info, err := e.info()
	if err != nil {
		return nil, pathErr("lstat", e.name, err)
	}
	return info, nil
}

func (e *Entry) String() string { return fs.FormatDirEntry(e) }

// ReadDir returns the entries of a directory, sorted by name as bytes.
func (tx *Tx) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := tx.findDir(name)
	if err != nil {
		return nil, pathErr("readdir", name, err)
	}
	var all []fs.DirEntry
	for after := ""; ; {
		if err := tx.db.Context().Err(); err != nil {
			return nil, pathErr("readdir", name, err)
		}
		page, err := tx.page(n.ino, after, pageSize)
		if err != nil {
			return nil, pathErr("readdir", name, err)
		}
		for _, l := range page {
			all = append(all, tx.entry(l))
		}
		if len(page) < pageSize {
			return all, nil
		}
		after = page[len(page)-1].name
	}
}

// ReadDirPage returns up to limit entries of a directory whose names come after the name after; "" begins. A page
// shorter than limit is the last. Entries that come and go between pages do not disturb the others.
func (tx *Tx) ReadDirPage(name, after string, limit int) ([]fs.DirEntry, error) {
	n, err := tx.findDir(name)
	if err != nil {
		return nil, pathErr("readdir", name, err)
	}
	page, err := tx.page(n.ino, after, max(limit, 0))
	if err != nil {
		return nil, pathErr("readdir", name, err)
	}
	entries := make([]fs.DirEntry, len(page))
	for i, l := range page {
		entries[i] = tx.entry(l)
	}
	return entries, nil
}

// entry makes an Entry that describes itself from this transaction.
func (tx *Tx) entry(l listed) *Entry {
	return &Entry{listed: l, info: func() (*Info, error) { return tx.infoOf(l) }}
}

// infoOf describes a listed inode.
func (tx *Tx) infoOf(l listed) (*Info, error) {
	if tx.db.Ended() {
		return nil, fs.ErrClosed
	}
	n, err := tx.inode(l.ino)
	switch {
	case err != nil:
		return nil, err
	case n == nil:
		return nil, tx.goneOrLost(l.ino)
	case n.nlink == 0:
		return nil, syscall.ENOENT
	case n.kind() != l.kind:
		return nil, errKind(l.name, l.kind, n)
	}
	return newInfo(l.name, n), nil
}

// goneOrLost says why an inode that was listed is not there: somebody has removed it, or it still has names, and its row
// is lost.
func (tx *Tx) goneOrLost(ino Ino) error {
	names, err := tx.namesOf(ino)
	switch {
	case err != nil:
		return err
	case len(names) > 0:
		return corrupt("entry %q of directory %d shows inode %d, which is missing", names[0].Base, names[0].Dir, ino)
	}
	return syscall.ENOENT
}

// errKind is damage: an inode never becomes another type of file, and each entry that shows it says which it is.
func errKind(name string, kind uint8, n *inode) error {
	return corrupt("entry %q shows a %s, but inode %d is a %s", name, kindName(int64(kind)), n.ino, kindName(int64(n.kind())))
}

// Info describes an inode of the tree, or returns nil if the tree does not have it. Its name is empty.
func (tx *Tx) Info(ino Ino) (*Info, error) {
	n, err := tx.inode(ino)
	if err != nil || n == nil {
		return nil, err
	}
	return newInfo("", n), nil
}

// ReadDir returns the entries of a directory, sorted by name as bytes. All of them are of one moment.
func (fsys *FS) ReadDir(ctx context.Context, name string) (entries []fs.DirEntry, err error) {
	err = fsys.view(ctx, "readdir", name, func(tx *Tx) (err error) {
		entries, err = tx.ReadDir(name)
		return err
	})
	fsys.detach(ctx, entries)
	return entries, err
}

// ReadDirPage returns a part of a directory, see [Tx.ReadDirPage]. Each page is a moment of its own.
func (fsys *FS) ReadDirPage(ctx context.Context, name, after string, limit int) (entries []fs.DirEntry, err error) {
	err = fsys.view(ctx, "readdir", name, func(tx *Tx) (err error) {
		entries, err = tx.ReadDirPage(name, after, limit)
		return err
	})
	fsys.detach(ctx, entries)
	return entries, err
}

// detach lets entries outlive the transaction that read them: each describes itself from a new one.
func (fsys *FS) detach(ctx context.Context, entries []fs.DirEntry) {
	for _, e := range entries {
		e := e.(*Entry)
		e.info = func() (info *Info, err error) {
			err = fsys.look(ctx, func(tx *Tx) (err error) {
				info, err = tx.infoOf(e.listed)
				return err
			})
			return info, err
		}
	}
}
