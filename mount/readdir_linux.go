package mount

import (
	"errors"
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
)

// The kernel names a place in a listing by a number. Ours is the number of entries before it, with . and .. as the first
// two. Where the tree never changes, that number leads to the same entry whenever it is asked for.

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

// get returns the cursor at a place, if it is remembered.
func (c *cursors) get(dir node.Ino, off uint64) (at cursor, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok = c.ended[dir]
	if !ok || at.off != off {
		return cursor{}, false
	}
	return at, true
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
	_, code := f.listPlus(in, out)
	return code
}

// listPlus is ReadDirPlus, and returns how many look-ups of inodes the reply has.
func (f *frozen) listPlus(in *fuse.ReadIn, out *fuse.DirEntryList) (looked int64, code fuse.Status) {
	code = f.list(in, func(tx *tree.Tx, e fuse.DirEntry) (bool, error) {
		entry := out.AddDirLookupEntry(e)
		if entry == nil || e.Name == "." || e.Name == ".." {
			return entry != nil, nil
		}
		n, err := tx.NodeOf(f.ino(in.NodeId), node.Entry{Name: e.Name, Ino: f.ino(e.Ino), Kind: uint8(e.Mode >> 12)})
		if errors.Is(err, schema.ErrCorrupt) {
			return true, nil // the name is listed; the look at it returns the fault
		}
		if err == nil {
			f.fillEntry(entry, n)
			f.nowKnown(f.ino(in.NodeId), n)
			looked++
		}
		return true, err
	})
	return looked, code
}

// list adds the entries from a place on, until add has no room for more.
func (f *frozen) list(in *fuse.ReadIn, add func(*tree.Tx, fuse.DirEntry) (bool, error)) fuse.Status {
	dir := f.ino(in.NodeId)
	for off, name := range []string{".", ".."} {
		if in.Offset > uint64(off) {
			continue
		}
		if more, _ := add(nil, fuse.DirEntry{Name: name, Ino: f.number(dir), Mode: node.ModeDir, Off: uint64(off) + 1}); !more {
			return fuse.OK
		}
	}

	// Programs that list the same directory at once are at different places of it: one of them is remembered.
	at, known := f.cursors.get(dir, in.Offset)
	skip := uint64(0)
	if !known {
		at = cursor{off: 2}
		skip = max(in.Offset, 2) - 2
	}

	err := f.tree.View(f.ctx, func(tx *tree.Tx) (err error) {
		for skip > 0 {
			page, err := tx.Page(dir, at.name, int(min(skip, tree.PageSize)))
			if err != nil || len(page) == 0 {
				return err
			}
			n := uint64(len(page))
			at = cursor{at.off + n, page[n-1].Name}
			skip -= n
		}
		at, err = f.listFrom(tx, dir, at, in.Size, add)
		return err
	})
	if err != nil {
		return status(err)
	}
	f.cursors.put(dir, at)
	return fuse.OK
}

// leastEntry is the least room that an entry takes in a reply to READDIRPLUS.
const leastEntry = 160

// listFrom adds the entries behind a place until the reply of size bytes is full, and returns the place of the last.
func (f *frozen) listFrom(tx *tree.Tx, dir node.Ino, at cursor, size uint32, add func(*tree.Tx, fuse.DirEntry) (bool, error)) (cursor, error) {
	limit := min(int(size/leastEntry)+1, tree.PageSize)
	for {
		page, err := tx.Page(dir, at.name, limit)
		if err != nil {
			return at, err
		}
		inos := make([]node.Ino, len(page))
		for i, e := range page {
			inos[i] = e.Ino
		}
		if err := tx.Prefetch(inos); err != nil {
			return at, err
		}

		for _, e := range page {
			more, err := add(tx, fuse.DirEntry{Name: e.Name, Ino: f.number(e.Ino), Mode: uint32(e.Kind) << 12, Off: at.off + 1})
			if err != nil || !more {
				return at, err
			}
			at = cursor{at.off + 1, e.Name}
		}
		if len(page) < limit {
			return at, nil
		}
	}
}
