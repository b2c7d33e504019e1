package vfs

import (
	"context"
	"io/fs"

	"vfsdb/node"
)

// A dirEntry is one entry of a directory. It is an [fs.DirEntry] that knows its type without another look-up.
type dirEntry struct {
	listed node.Entry
	info   func() (*Info, error)
}

// Name returns the entry's name.
func (e *dirEntry) Name() string { return e.listed.Name }

// IsDir reports whether the entry is a directory.
func (e *dirEntry) IsDir() bool { return e.listed.Kind == node.KindDir }

// Type returns the type bits of the entry's mode.
func (e *dirEntry) Type() fs.FileMode { return node.KindMode(e.listed.Kind) }

// Ino returns the inode number.
func (e *dirEntry) Ino() Ino { return e.listed.Ino }

// Info describes the file itself, not what a symlink points at. It is read when it is asked for: a file removed
// meanwhile is ENOENT.
func (e *dirEntry) Info() (fs.FileInfo, error) {
	info, err := e.info()
	if err != nil {
		return nil, pathErr("lstat", e.listed.Name, err)
	}
	return info, nil
}

func (e *dirEntry) String() string { return fs.FormatDirEntry(e) }

// ReadDir returns the entries of a directory, sorted by name as bytes. An entry knows its type, and its number by a
// method Ino() [Ino]. Its Info, of the file itself, is read when asked for: ENOENT once it is removed.
func (tx *Tx) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := tx.findDir(name)
	if err != nil {
		return nil, pathErr("readdir", name, err)
	}
	var all []fs.DirEntry
	for e, err := range tx.tree().Entries(n.Ino, "") {
		if err != nil {
			return nil, pathErr("readdir", name, err)
		}
		all = append(all, tx.entry(e))
	}
	return all, nil
}

// ReadDirPage returns up to limit entries whose names come after a name; "" begins. A page shorter than limit is the
// last. Entries that come or go between pages do not disturb the others.
func (tx *Tx) ReadDirPage(name, after string, limit int) ([]fs.DirEntry, error) {
	n, err := tx.findDir(name)
	if err != nil {
		return nil, pathErr("readdir", name, err)
	}
	page, err := tx.tree().Page(n.Ino, after, max(limit, 0))
	if err != nil {
		return nil, pathErr("readdir", name, err)
	}
	entries := make([]fs.DirEntry, len(page))
	for i, l := range page {
		entries[i] = tx.entry(l)
	}
	return entries, nil
}

// entry makes a dirEntry that describes itself from this transaction.
func (tx *Tx) entry(l node.Entry) *dirEntry {
	return &dirEntry{listed: l, info: func() (*Info, error) { return tx.tree().InfoOf(l) }}
}

// ReadDir returns the entries of a directory at one moment, see [Tx.ReadDir].
func (fsys *FS) ReadDir(ctx context.Context, name string) (entries []fs.DirEntry, err error) {
	err = fsys.view(ctx, "readdir", name, func(tx *Tx) (err error) {
		entries, err = tx.ReadDir(name)
		return err
	})
	fsys.detach(ctx, entries)
	return entries, err
}

// ReadDirPage returns a part of a directory, see [Tx.ReadDirPage].
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
		e := e.(*dirEntry)
		e.info = func() (info *Info, err error) {
			err = fsys.look(ctx, func(tx *Tx) (err error) {
				info, err = tx.tree().InfoOf(e.listed)
				return err
			})
			return info, err
		}
	}
}
