package tree

import (
	"context"
	"io/fs"
	"sync"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/hold"
	"vfsdb/memory"
	"vfsdb/node"
	"vfsdb/schema"
)

// A Handle is an open file or directory, by its number. It is safe for concurrent use, and its errors are bare.
//
// All handles of one open store that have the same inode of a head open share what was written through them and is not
// committed yet, see [memory.OpenInode]. So each sees at once what the others write. A frozen handle shows what was
// committed when it was opened, whatever happens to the file.
type Handle struct {
	ctx    context.Context
	tree   *Tree
	ino    node.Ino
	kind   uint8
	name   node.Name // the entry that it was opened by; changes are recorded under it
	opened node.Node
	mode   HandleMode
	shared *memory.OpenInode // of a regular file that is not frozen

	attached bool // by Attach

	writing sync.RWMutex // held to write by Close, and else by what may commit; taken before mu

	mu     sync.Mutex
	closed bool
	reader *chunk.Reader      // of the content that was committed at the last read
	gen    *memory.Generation // in which it was; nil if that is not known
}

// A HandleMode is the use of a handle. The zero mode reads.
type HandleMode struct {
	Write  bool // it may be written to, and Close commits; EROFS if it is frozen
	Sync   bool // each write is committed before it returns
	Frozen bool // it shows the content that is committed when it is opened; every handle on a past moment does
}

// OpenInode opens an inode by its number.
func (t *Tree) OpenInode(ctx context.Context, ino node.Ino, mode HandleMode) (*Handle, error) {
	return t.Open(ctx, mode, nil, func(tx *Tx) (node.Name, *node.Node, error) {
		n, err := tx.Node(ino)
		if err == nil && n == nil {
			err = syscall.ENOENT
		}
		return node.Name{}, n, err
	})
}

// Open opens the inode that find returns, with the entry that shows it. prepare, if there is one, runs first and may
// write. Nothing that find has found is collected before the handle is closed.
func (t *Tree) Open(ctx context.Context, mode HandleMode, prepare func() error, find func(*Tx) (node.Name, *node.Node, error)) (*Handle, error) {
	h := &Handle{ctx: ctx, tree: t, mode: mode}
	h.mode.Frozen = mode.Frozen || t.Frozen()
	if mode.Write && (h.mode.Frozen || t.store.db.ReadOnly()) {
		return nil, syscall.EROFS
	}

	// The lease comes first, and nothing is published until the handle is registered: from then on a collector asks us
	// before it takes what only we still see.
	st := t.store
	if err := st.lease.Hold(ctx); err != nil {
		return nil, err
	}
	st.opening.RLock()
	defer st.opening.RUnlock()

	err := error(nil)
	if prepare != nil {
		err = prepare()
	}
	if err == nil {
		err = h.find(find)
	}
	if err != nil {
		st.lease.Drop()
		return nil, err
	}
	h.register()
	return h, nil
}

// find finds the inode, and refuses what cannot be opened.
func (h *Handle) find(find func(*Tx) (node.Name, *node.Node, error)) error {
	return h.tree.Look(h.ctx, func(tx *Tx) error {
		name, n, err := find(tx)
		if err != nil {
			return err
		}
		switch {
		case h.mode.Write && n.IsDir():
			return syscall.EISDIR
		case n.Kind() != node.KindFile && n.Kind() != node.KindDir:
			return syscall.ENXIO // a fifo, socket or device has no other end here
		}
		h.ino, h.kind, h.name, h.opened = n.Ino, n.Kind(), name, *n
		h.show(tx.mem.Gen, n.Content)
		return nil
	})
}

// register notes what the handle needs kept: the inode, or where it is frozen its content.
func (h *Handle) register() {
	st, c := h.tree.store, h.opened.Content
	pin := hold.Pin{}
	switch {
	case !h.mode.Frozen:
		pin = hold.Pin{Kind: hold.Inode, Branch: h.tree.at.Branch, ID: int64(h.ino)}
	case c.Manifest != 0:
		pin = hold.Pin{Kind: hold.Manifest, ID: c.Manifest}
	case c.Blob != 0:
		pin = hold.Pin{Kind: hold.Blob, ID: c.Blob}
	}

	st.mu.Lock()
	defer st.mu.Unlock()
	st.handles[h] = pin
	if !h.mode.Frozen && h.kind == node.KindFile {
		h.shared = st.inodes.Share(memory.BranchIno{Branch: h.tree.at.Branch, Ino: h.ino})
	}
}

func (h *Handle) unregister() {
	st := h.tree.store
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.handles, h)
	if h.shared != nil {
		st.inodes.Unshare(h.shared)
	}
}

// Ino returns the number of the inode.
func (h *Handle) Ino() node.Ino { return h.ino }

// IsDir reports whether a directory is open.
func (h *Handle) IsDir() bool { return h.kind == node.KindDir }

// Check returns [fs.ErrClosed] once the handle, or its store, is closed.
func (h *Handle) Check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.check()
}

// check is Check for a caller that holds mu.
func (h *Handle) check() error {
	if h.closed || h.tree.store.closed.Load() {
		return fs.ErrClosed
	}
	return nil
}

// node returns the committed inode as it is now; ESTALE once it is gone.
func (h *Handle) node(tx *Tx) (*node.Node, error) {
	n, err := tx.Node(h.ino)
	switch {
	case err != nil || n != nil:
		return n, err
	case h.attached && !tx.db.Writable():
		return &node.Node{Ino: h.ino, Mode: uint32(h.kind) << 12}, nil // it is made, and not committed yet
	}
	return nil, syscall.ESTALE
}

// Node returns the inode as it is now, with the size that writes which are not committed give it; of a frozen handle as it
// was opened.
func (h *Handle) Node() (n node.Node, err error) {
	switch err := h.Check(); {
	case err != nil:
		return n, err
	case h.mode.Frozen:
		return h.opened, nil
	}

	for current := false; !current && err == nil; {
		turn := h.shared.Now()
		err = h.tree.Look(h.ctx, func(tx *Tx) error {
			node, err := h.node(tx)
			if err != nil {
				return err
			}
			n = *node
			var c chunk.Cover
			c, current = h.shared.Over(n.Content, turn, 0, 0)
			n.Content.Size = c.Size()
			return nil
		})
	}
	return n, err
}

// Sum returns the sum of the committed content of a regular file. A directory is EISDIR.
func (h *Handle) Sum() (sum chunk.Sum, err error) {
	if err := h.Check(); err != nil {
		return sum, err
	}
	err = h.tree.View(h.ctx, func(tx *Tx) error {
		n := &h.opened
		if !h.mode.Frozen {
			if n, err = h.node(tx); err != nil {
				return err
			}
		}
		if err := n.CheckRegular(); err != nil {
			return err
		}
		sum, err = chunk.SumOfContent(tx.db, n.Content)
		return err
	})
	return sum, err
}

// Extents returns the ranges of a frozen file that are stored, in order; EBADF if the handle is not frozen, for its ranges
// could be others by the time that they are read.
func (h *Handle) Extents() ([]chunk.Extent, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch err := h.check(); {
	case err != nil:
		return nil, err
	case !h.mode.Frozen:
		return nil, syscall.EBADF
	case h.kind == node.KindDir:
		return nil, syscall.EISDIR
	}
	var list []chunk.Extent
	err := h.tree.store.db.View(h.ctx, func(db *schema.Tx) (err error) {
		list, err = chunk.Extents(db, h.reader.Content())
		return err
	})
	return list, err
}

// Close ends the handle. If it is open for writing, or is the last of its inode, the writes to the inode are committed
// first. A second Close is [fs.ErrClosed].
func (h *Handle) Close() error {
	h.writing.Lock()
	defer h.writing.Unlock()
	if err := h.end(); err != nil {
		return err
	}

	st := h.tree.store
	var err error
	if s := h.shared; s != nil {
		if last := st.inodes.Leave(s); s.IsDirty() && (h.mode.Write || last) {
			err = h.commit()
		}
	}
	h.unregister()
	if !h.attached {
		st.lease.Drop()
	}
	return err
}

// end refuses later calls.
func (h *Handle) end() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return fs.ErrClosed
	}
	h.closed = true
	if h.reader != nil {
		h.reader.Release()
	}
	return nil
}
