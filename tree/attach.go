package tree

import (
	"context"

	"vfsdb/node"
)

// Attach returns a handle of an inode that the caller knows, of a tree that can be written, without a look at it: a
// transaction that has made the inode need not be committed. Until then the file has only the bytes that were written
// through handles. name is an entry that shows the inode, or none.
//
// Attach takes no lease and cannot fail, so it may be called inside a transaction, from when the inode still has a name. The
// caller keeps another handle of the store open for longer.
func (t *Tree) Attach(ctx context.Context, ino node.Ino, kind uint8, name node.Name) *Handle {
	h := &Handle{ctx: ctx, tree: t, ino: ino, kind: kind, name: name, mode: HandleMode{Write: kind == node.KindFile}, attached: true}
	h.register()
	return h
}

// Dirty reports whether something was written to the inode, by whichever handle of this store, that is not committed.
func (h *Handle) Dirty() bool { return h.shared.IsDirty() }

// Write is WriteAt without a commit: it takes as much of p as there is room for in memory, which may be nothing.
func (h *Handle) Write(p []byte, off int64) (int, error) {
	h.writing.RLock()
	defer h.writing.RUnlock()
	if err := h.mayWriteAt(p, off); err != nil {
		return 0, err
	}
	done := 0
	for done < len(p) {
		n := h.shared.Write(h.name, p[done:], off+int64(done))
		if n == 0 {
			break
		}
		done += n
	}
	return done, nil
}

// Over returns the size that the file has where its inode has a node, as the caller has read it since it asked for the turn.
// ok is false if a commit has begun or ended since: the caller reads the node again.
func (h *Handle) Over(n *node.Node, turn uint64) (size int64, ok bool) {
	c, ok := h.shared.Over(n.Content, turn, 0, 0)
	return c.Size(), ok
}

// Turn returns the turn, for Over.
func (h *Handle) Turn() uint64 { return h.shared.Now() }
