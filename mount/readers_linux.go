package mount

import (
	"io"
	"sync"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/tree"
)

// readers are the files that were read last, each with the chunk that its last read needed. They are safe for concurrent
// use.
type readers struct {
	mu    sync.Mutex
	byIno map[node.Ino]*reader
	clock int64
}

// maxReaders bounds the readers that nobody uses. Each has a chunk of up to 512 KiB.
const maxReaders = 16

// A reader reads one file. The kernel reads ahead with several requests at a time, which take turns.
type reader struct {
	ino   node.Ino
	users int   // guarded by the mu of readers
	used  int64 // the clock when it was given back last

	mu      sync.Mutex
	content *chunk.Reader  // nil before the first read
	extents []chunk.Extent // of seek, if known
	known   bool
}

// take returns the reader of an inode, for one request.
func (rs *readers) take(ino node.Ino) *reader {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r := rs.byIno[ino]
	if r == nil {
		if rs.byIno == nil {
			rs.byIno = make(map[node.Ino]*reader)
		}
		r = &reader{ino: ino}
		rs.byIno[ino] = r
	}
	r.users++
	return r
}

// give ends the request. When too many readers are idle, the one that was used least recently goes.
func (rs *readers) give(r *reader) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.clock++
	r.users--
	r.used = rs.clock
	if len(rs.byIno) <= maxReaders {
		return
	}

	var oldest *reader
	for _, r := range rs.byIno {
		if r.users == 0 && (oldest == nil || r.used < oldest.used) {
			oldest = r
		}
	}
	if oldest == nil {
		return
	}
	delete(rs.byIno, oldest.ino)
	if oldest.content != nil { // nil where it could not be opened
		oldest.content.Release()
	}
}

// readAt reads from an offset, and less than p only at the end of the file.
func (r *reader) readAt(f *frozen, p []byte, off int64) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.content != nil && !f.head {
		if n, held, err := r.content.ReadHeld(p, off); held {
			return n, unlessEOF(err)
		}
	}

	err = f.tree.View(f.ctx, func(tx *tree.Tx) error {
		if err := r.open(tx, f.head); err != nil {
			return err
		}
		n, err = r.content.ReadAt(tx.DB(), p, off)
		return unlessEOF(err)
	})
	return n, err
}

// open finds the content of the file, once; of a head each time, since it may be another one.
func (r *reader) open(tx *tree.Tx, head bool) error {
	if r.content != nil && !head {
		return nil
	}
	n, err := tx.Node(r.ino)
	switch {
	case err != nil:
		return err
	case n == nil:
		return syscall.ESTALE
	}
	if err := n.CheckRegular(); err != nil {
		return err
	}

	if r.content != nil {
		if r.content.Content() == n.Content {
			return nil
		}
		r.content.Release()
	}
	r.content, r.known = tx.Tree().Store().Cache().NewReader(n.Content), false
	return nil
}

func unlessEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
