package mount

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// fold makes what was written to a file a part of the transaction, with the time of the write.
func (l *live) fold(tx *tree.Tx, ino node.Ino) error {
	h, wrote := l.inodes.mark(ino)
	if h == nil || wrote == 0 && !h.Dirty() {
		return nil
	}
	n, err := tx.Node(ino)
	if err != nil || n == nil {
		return err
	}

	p, err := l.placeOfInode(tx, ino)
	if err != nil {
		return err
	}

	now, ctime := tx.Now(), n.Ctime
	if wrote != 0 {
		tx.SetNow(wrote)
		defer tx.SetNow(now)
	}
	if err := tx.FoldAt(n, p); err != nil {
		return err
	}
	n.Ctime = max(n.Ctime, ctime)
	l.inodes.folded(ino)
	return nil
}

// killMode returns a mode without the bits that a change of the file, or of its owner, takes away.
func killMode(mode uint32) uint32 {
	mode &^= syscall.S_ISUID
	if mode&syscall.S_IXGRP != 0 {
		mode &^= syscall.S_ISGID
	}
	return mode
}

// SetAttr changes attributes, and the size.
func (l *live) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	ino := l.ino(in.NodeId)
	if size, ok := in.GetSize(); ok {
		if code := l.truncate(ino, size); !code.Ok() {
			return code
		}
	}
	if in.Valid&fuse.FATTR_KILL_SUIDGID != 0 { // with each truncation by a user
		if err := l.killSuid(ino); err != nil {
			return status(err)
		}
	}
	if op := opOf(in); op != "" {
		if err := l.batch.do(func(tx *tree.Tx) error { return l.setAttr(tx, ino, op, in) }); err != nil {
			return status(err)
		}
	}

	n, err := l.node(ino)
	if err != nil {
		return status(err)
	}
	out.SetTimeout(forever)
	l.fillAttr(&out.Attr, &n)
	return fuse.OK
}

// opOf returns what a request changes beside the size; "" if that is nothing.
func opOf(in *fuse.SetAttrIn) vfs.Op {
	switch {
	case in.Valid&(fuse.FATTR_UID|fuse.FATTR_GID) != 0:
		return "chown"
	case in.Valid&fuse.FATTR_MODE != 0:
		return "chmod"
	case in.Valid&(fuse.FATTR_MTIME|fuse.FATTR_ATIME) != 0:
		return "chtimes"
	}
	return ""
}

func (l *live) setAttr(tx *tree.Tx, ino node.Ino, op vfs.Op, in *fuse.SetAttrIn) error {
	if err := l.fold(tx, ino); err != nil {
		return err
	}
	p, err := l.placeOfInode(tx, ino)
	if err != nil {
		return err
	}

	return tx.SetAttr(p, op, func(n *node.Node) {
		if mode, ok := in.GetMode(); ok {
			n.Mode = n.Mode&^node.PermBits | mode
		}
		uid, setUid := in.GetUID()
		gid, setGid := in.GetGID()
		if setUid {
			n.Uid = uid
		}
		if setGid {
			n.Gid = gid
		}
		if (setUid || setGid) && n.Kind() == node.KindFile {
			n.Mode = killMode(n.Mode)
		}

		switch mtime, ok := in.GetMTime(); {
		case ok && in.Valid&fuse.FATTR_MTIME_NOW != 0:
			n.Mtime = tx.Now()
		case ok:
			n.Mtime = node.Nanos(mtime)
		}
	})
}

// truncate changes the size of a file. As a write that is not in the transaction yet.
func (l *live) truncate(ino node.Ino, size uint64) fuse.Status {
	n, err := l.node(ino)
	switch {
	case err != nil:
		return status(err)
	case n.Kind() != node.KindFile:
		return status(n.CheckRegular())
	case size > uint64(node.MaxSize):
		return fuse.Status(syscall.EFBIG)
	case int64(size) == n.Content.Size:
		return status(l.batch.do(func(tx *tree.Tx) error { return l.touch(tx, ino) }))
	}
	err = l.withHandle(ino, func(h *tree.Handle) error {
		if err := h.Truncate(int64(size)); err != nil {
			return err
		}
		return l.batch.wrote(ino, 0)
	})
	return status(err)
}

// touch sets the times of a file to the present, as a truncation to the size that it has does.
func (l *live) touch(tx *tree.Tx, ino node.Ino) error {
	if err := l.fold(tx, ino); err != nil {
		return err
	}
	p, err := l.placeOfInode(tx, ino)
	if err != nil {
		return err
	}
	return tx.SetAttr(p, "chtimes", func(n *node.Node) { n.Mtime = tx.Now() })
}
