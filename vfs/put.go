package vfs

import (
	"context"
	"io/fs"
	"syscall"
	"time"

	"vfsdb/chunk"
	"vfsdb/journal"
)

// NewBatch returns a [chunk.Batch], which stores many contents out of sight until ctx ends, for [Tx.Put] to give them
// names. It must be closed.
func (fsys *FS) NewBatch(ctx context.Context) *chunk.Batch {
	b := chunk.NewBatch(ctx, fsys.store.db, fsys.store.lease)
	if fsys.store.compress {
		b.Compress()
	}
	return b
}

// prepare cuts and hashes data, and compresses it if the store is to.
func (st *store) prepare(data []byte) *chunk.Prepared {
	p := chunk.Prepare(data)
	if st.compress {
		p.Compress()
	}
	return p
}

// An Attr is what a file has beside its name and its content.
type Attr struct {
	Mode     fs.FileMode // the 12 permission bits; its type is not looked at
	Uid, Gid uint32
	ModTime  time.Time
}

// Put makes a regular file of a content that is stored already, with all of its attributes. What has the name is
// replaced: a regular file without other names keeps its inode, anything else gives way to a new file, and a symlink is
// not followed. A directory is EISDIR, content that another store has EXDEV. Nothing changes if the file is there just
// so.
func (tx *Tx) Put(name string, staged *chunk.Staged, a Attr) error {
	return pathErr("put", name, tx.put(name, staged, a))
}

func (tx *Tx) put(name string, staged *chunk.Staged, a Attr) error {
	if err := tx.writable(); err != nil {
		return err
	}
	p, err := tx.walk(name, false)
	if err != nil {
		return err
	}
	switch {
	case p.kind == kindDir && p.ino != 0:
		return syscall.EISDIR
	case !staged.In(tx.fsys.store.db):
		return syscall.EXDEV
	}
	content, err := staged.Commit(tx.db)
	if err != nil {
		return err
	}
	lost := change{Change: journal.Change{Op: "create"}}
	if p.ino != 0 {
		n, err := tx.inode(p.ino)
		switch {
		case err != nil:
			return err
		case n == nil:
			return corrupt("entry %q of directory %d shows inode %d, which is missing", p.base, p.dir, p.ino)
		case n.kind() == kindFile && n.nlink == 1:
			return tx.putOver(p, n, staged, content, a)
		}
		if lost, err = tx.loss("write", n); err != nil {
			return err
		}
		if err := tx.unlink(p, n); err != nil {
			return err
		}
		p.ino = 0
	}
	n := &inode{mode: modeFile | unixPerm(a.Mode), uid: a.Uid, gid: a.Gid, mtime: nanos(a.ModTime), content: content}
	if err := tx.create(p, n); err != nil {
		return err
	}
	lost.Grew += content.Size
	lost.is(n, staged.Sum())
	return tx.recordAt(p, lost)
}

// putOver makes a file that exists what it shall be.
func (tx *Tx) putOver(p place, n *inode, staged *chunk.Staged, content chunk.Content, a Attr) error {
	if err := tx.fold(n); err != nil {
		return err
	}
	if n.content == content {
		if !tx.setAttrs(n, a) {
			return nil
		}
		return tx.recordAt(p, change{Change: journal.Change{Op: "setattr"}})
	}
	c := change{Change: journal.Change{Op: "write", Grew: content.Size - n.content.Size}}
	if err := tx.was(&c, n); err != nil {
		return err
	}
	tx.keepFound(n)
	n.content = content
	tx.change(n)
	tx.setAttrs(n, a)
	c.is(n, staged.Sum())
	return tx.recordAt(p, c)
}

// SetAttr sets all attributes of a file at once. A symlink is not followed, and keeps its mode.
func (tx *Tx) SetAttr(name string, a Attr) error {
	return pathErr("setattr", name, tx.setAttrOf(name, a))
}

func (tx *Tx) setAttrOf(name string, a Attr) error {
	if err := tx.writable(); err != nil {
		return err
	}
	p, n, err := tx.find(name, false)
	if err != nil || !tx.setAttrs(n, a) {
		return err
	}
	return tx.recordAt(p, change{Change: journal.Change{Op: "setattr"}})
}

// setAttrs sets all attributes, and reports whether any was another.
func (tx *Tx) setAttrs(n *inode, a Attr) bool {
	mode, mtime := n.mode, nanos(a.ModTime)
	if n.kind() != kindLink {
		mode = mode&^permBits | unixPerm(a.Mode)
	}
	if n.mode == mode && n.uid == a.Uid && n.gid == a.Gid && n.mtime == mtime {
		return false
	}
	n.mode, n.uid, n.gid, n.mtime = mode, a.Uid, a.Gid, mtime
	tx.change(n)
	return true
}
