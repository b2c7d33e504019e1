package run

import (
	"context"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/tree"
)

// An upper is the upper layer of an overlayfs that nobody changes any more: what a command changed, as the kernel wrote it
// down. It is read in two steps. readUpper takes in the entries and stores the contents, outside of any transaction. put
// compares the entries with the lower layer, and changes the tree, in the transaction of the one commit.
type upper struct {
	root  *upperInode
	batch *chunk.Batch // of large contents; nil if there are none
	owner *owner
}

// An upperEntry is a name in a directory of the upper layer. Without an inode it is a whiteout: the lower layer's entry of
// that name is gone.
type upperEntry struct {
	name  string
	inode *upperInode
}

// An upperInode is a file or directory of the upper layer. Its names, if it has several, share it.
type upperInode struct {
	mode     uint32 // as st_mode
	uid, gid uint32
	mtime    int64
	rdev     int64
	target   string       // of a symlink
	xattrs   node.Xattrs  // that the command has set, or seen
	exact    bool         // those are all that it has
	dir      *upperDir    // nil unless it is a directory
	data     upperContent // of a regular file
	origin   node.Ino     // that it was copied from, as the kernel noted it; 0 if unknown

	// What follows is found by a placer.
	ino   node.Ino    // of the tree; 0 as long as the file is not there
	from  tree.Place  // its name before it is in its place; that of the lower layer, if it is not parked
	toDir *upperInode // the directory of one of its names
	to    string      // that name
	at    tree.Place  // its place
	stays bool        // it keeps its name of the lower layer
	done  bool        // it is in its place: a file with its content, a directory without its entries
}

// An upperDir is a directory of the upper layer.
type upperDir struct {
	entries  []upperEntry // in order of their names
	opaque   bool         // it hides the lower layer's directory
	redirect string       // where the lower layer has its directory, if not under the same name; else ""
	same     bool         // it is as it was before the command: only the root can tell
}

// find returns the inode of a name. ok is false if the upper layer says nothing about it.
func (d *upperDir) find(name string) (inode *upperInode, ok bool) {
	lo, hi := 0, len(d.entries)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch e := d.entries[mid]; {
		case e.name == name:
			return e.inode, true
		case e.name < name:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return nil, false
}

// kind returns the type of file, one of the Kind constants.
func (i *upperInode) kind() uint8 { return uint8(i.mode >> 12) }

// An owner is the only one that a run without privileges knows: every file seems to be theirs. Files keep the owners that
// they have in the tree, and new ones get this one. nil is a run that knows all owners.
type owner struct{ uid, gid uint32 }

// put sets the attributes of a node, which has the type and the device number already. A symlink keeps its mode.
func (i *upperInode) put(n *node.Node, only *owner) {
	if n.Kind() != node.KindLink {
		n.Mode = n.Mode&^node.PermBits | i.mode&node.PermBits
	}
	n.Mtime, n.Xattrs = i.mtime, i.mergeXattrs(n.Xattrs)
	if only == nil || n.Ino == 0 {
		n.Uid, n.Gid = i.uid, i.gid
	}
}

// mergeXattrs returns the attributes of a file that has some already. Where the layer need not have those, the others are
// added to them; if there is no room for all, those that the command saw remain.
func (i *upperInode) mergeXattrs(all node.Xattrs) node.Xattrs {
	if i.exact {
		return i.xattrs
	}
	for name, value := range i.xattrs.All() {
		var err error
		if all, err = all.With(name, value); err != nil {
			return i.xattrs
		}
	}
	return all
}

// differs reports whether put would change a node.
func (i *upperInode) differs(n *node.Node, only *owner) bool {
	after := *n
	i.put(&after, only)
	return after != *n
}

// empty reports whether a command changed nothing at all.
func (u *upper) empty() bool { return len(u.root.dir.entries) == 0 && u.root.dir.same }

// close gives up the contents that no commit has named.
func (u *upper) close() error {
	if u.batch == nil {
		return nil
	}
	return u.batch.Close()
}

// put makes the tree what the command saw last. The tree must be as the lower layer was.
func (u *upper) put(ctx context.Context, tx *tree.Tx) error {
	p := placer{ctx: ctx, tx: tx, owner: u.owner, merged: make(map[node.Ino]*upperDir), known: make(map[node.Ino]*upperInode), above: make(map[node.Ino]bool)}
	if err := p.identify(u.root); err != nil {
		return err
	}
	return p.place(u.root)
}
