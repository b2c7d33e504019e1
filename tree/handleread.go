package tree

import (
	"syscall"

	"vfsdb/chunk"
	"vfsdb/memory"
	"vfsdb/node"
	"vfsdb/schema"
)

// ReadAt reads from an offset. It returns [io.EOF] where the file ends before p is full. A directory is EISDIR.
func (h *Handle) ReadAt(p []byte, off int64) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch err := h.check(); {
	case err != nil:
		return 0, err
	case h.kind == node.KindDir:
		return 0, syscall.EISDIR
	case off < 0:
		return 0, syscall.EINVAL
	case len(p) == 0:
		return 0, nil
	}
	if h.known() {
		if n, held, err := h.reader.ReadHeld(p, off); held {
			return n, err
		}
	}
	return h.readAt(p, off)
}

// show lets reads use the content c, which was committed in the generation g.
func (h *Handle) show(g *memory.Generation, c chunk.Content) {
	h.gen = g
	if h.reader == nil || h.reader.Content() != c {
		if h.reader != nil {
			h.reader.Release()
		}
		h.reader = h.tree.store.cache.NewReader(c)
	}
}

// known reports whether all of the file is what the Reader reads, found out without a transaction.
func (h *Handle) known() bool {
	switch {
	case h.ctx.Err() != nil:
		return false
	case h.mode.Frozen:
		return true
	case h.shared.IsDirty(): // before the generation: a commit in between begins another
		return false
	}

	shared := h.tree.store.memory
	g := shared.Current()
	if g == nil || g == h.gen {
		return g != nil
	}
	m := shared.Cached(g, h.tree.at)
	if !m.TreeKnown() {
		return false
	}
	n, ok := m.Node(h.ino)
	if ok = ok && n != nil; ok {
		h.show(g, n.Content)
	}
	return ok
}

func (h *Handle) readAt(p []byte, off int64) (n int, err error) {
	if h.mode.Frozen {
		err = h.tree.store.db.View(h.ctx, func(db *schema.Tx) (err error) {
			n, err = h.reader.ReadAt(db, p, off)
			return err
		})
		return n, err
	}

	for current := false; !current && err == nil; {
		turn := h.shared.Now()
		err = h.tree.View(h.ctx, func(tx *Tx) error {
			committed, err := h.node(tx)
			if err != nil {
				return err
			}
			var c chunk.Cover
			if c, current = h.shared.Over(committed.Content, turn, off, min(off, node.MaxSize)+int64(len(p))); !current {
				return nil
			}
			h.show(tx.mem.Gen, committed.Content)
			n, err = c.Read(tx.db, h.reader, p)
			return err
		})
	}
	return n, err
}
