package mount

import (
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
	"vfsdb/tree"
)

// The kernel names a place in a listing by a number. Ours is the number of entries before it, with . and .. as the first
// two. Since the tree never changes, that number leads to the same entry whenever it is asked for.

// cursors remember the name before a place in a listing, where the last reply for a directory ended: the kernel mostly
// goes on there, and otherwise the entries before it are counted again. They are safe for concurrent use.
type cursors struct {
	mu    sync.Mutex
	ended map[node.Ino]cursor
}

type cursor struct {
	off  uint64
	name string
}

// maxCursors bounds the cursors. When there are more, all are dropped.
const maxCursors = 1 << 10

func (c *cursors) get(dir node.Ino, off uint64) (name string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.ended[dir]
	return at.name, off > 0 && at.off == off
}

func (c *cursors) put(dir node.Ino, at cursor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil || len(c.ended) >= maxCursors {
		c.ended = make(map[node.Ino]cursor)
	}
	c.ended[dir] = at
}

func (f *frozen) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.list(in, func(_ *tree.Tx, e fuse.DirEntry) (bool, error) { return out.AddDirEntry(e), nil })
}

// ReadDirPlus is ReadDir with what Lookup returns for each entry, so that the kernel need not ask.
func (f *frozen) ReadDirPlus(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.list(in, func(tx *tree.Tx, e fuse.DirEntry) (bool, error) {
		entry := out.AddDirLookupEntry(e)
		if entry == nil || e.Name == "." || e.Name == ".." {
			return entry != nil, nil
		}
		n, err := tx.NodeOf(f.ino(in.NodeId), node.Entry{Name: e.Name, Ino: node.Ino(e.Ino), Kind: uint8(e.Mode >> 12)})
		if err == nil {
			fillEntry(entry, n)
		}
		return true, err
	})
}

// list adds the entries from a place on, until add has no room for more.
func (f *frozen) list(in *fuse.ReadIn, add func(*tree.Tx, fuse.DirEntry) (bool, error)) fuse.Status {
	dir := f.ino(in.NodeId)
	for off, name := range []string{".", ".."} {
		if in.Offset > uint64(off) {
			continue
		}
		if more, _ := add(nil, fuse.DirEntry{Name: name, Ino: uint64(dir), Mode: node.ModeDir, Off: uint64(off) + 1}); !more {
			return fuse.OK
		}
	}

	at := cursor{off: 2}
	skip := uint64(0)
	if in.Offset > 2 {
		var known bool
		if at.name, known = f.cursors.get(dir, in.Offset); known {
			at.off = in.Offset
		} else {
			skip = in.Offset - 2
		}
	}

	err := f.tree.View(f.ctx, func(tx *tree.Tx) error {
		for e, err := range tx.Entries(dir, at.name) {
			if err != nil {
				return err
			}
			if skip > 0 {
				skip--
				at = cursor{at.off + 1, e.Name}
				continue
			}
			more, err := add(tx, fuse.DirEntry{Name: e.Name, Ino: uint64(e.Ino), Mode: uint32(e.Kind) << 12, Off: at.off + 1})
			if err != nil || !more {
				return err
			}
			at = cursor{at.off + 1, e.Name}
		}
		return nil
	})
	if err != nil {
		return status(err)
	}
	f.cursors.put(dir, at)
	return fuse.OK
}
