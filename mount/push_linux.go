package mount

import (
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
	"vfsdb/tree"
)

// pushBytes is how much is read in one transaction, and so the memory of a push. A push begins with less: the reader that
// has caused it asks for the next file at once.
const (
	pushBytes  = int64(1 << 20)
	firstBatch = int64(32 << 10)
)

// pushBuffers are kept from one push to the next.
var pushBuffers = sync.Pool{New: func() any { return new([pushBytes]byte) }}

// push stores the contents of files in the kernel, and reports whether that was of use. It runs beside the requests, never
// within one: the kernel may lock a page while it waits for an answer, and a push waits for the page.
func (f *frozen) push(files []node.Ino) (useful bool) {
	buf := pushBuffers.Get().(*[pushBytes]byte)
	defer pushBuffers.Put(buf)

	type loaded struct {
		ino  node.Ino
		text []byte
	}
	var batch []loaded
	for limit := firstBatch; len(files) > 0; limit = min(2*limit, pushBytes) {
		batch = batch[:0]
		room := buf[:]
		err := f.tree.View(f.ctx, func(tx *tree.Tx) error {
			for len(files) > 0 {
				if !f.ahead.waits(files[0]) { // the reader was quicker, but it does come this way
					files, useful = files[1:], true
					continue
				}
				n, err := tx.Node(files[0])
				if err != nil || n == nil {
					return err
				}
				size := n.Content.Size
				if size > int64(len(room)) || len(batch) > 0 && pushBytes-int64(len(room))+size > limit {
					return nil
				}
				r := tx.Tree().Store().Cache().NewPassing(n.Content)
				_, err = r.ReadAt(tx.DB(), room[:size], 0)
				r.Release()
				if err != nil {
					return err // the read that asks for it returns the fault
				}
				batch = append(batch, loaded{n.Ino, room[:size]})
				room, files = room[size:], files[1:]
			}
			return nil
		})

		missed := 0
		for _, l := range batch {
			if !f.ahead.take(l.ino) {
				continue
			}
			switch f.server.InodeNotifyStoreCache(f.number(l.ino), 0, l.text) {
			case fuse.OK:
				useful = true
			case fuse.ENOENT: // the kernel has forgotten the file
				if missed++; missed > len(batch)/2 {
					return false
				}
			default:
				return false
			}
		}
		if err != nil || len(batch) == 0 {
			return useful
		}
	}
	return useful
}

// pushes count the pushes that run, for the end of the mount.
type pushes struct {
	mu    sync.Mutex
	ended bool
	run   sync.WaitGroup
}

func (p *pushes) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.run.Add(1)
	}
	return !p.ended
}

func (p *pushes) end() { p.run.Done() }

// stop waits for the pushes that run, and lets none begin.
func (p *pushes) stop() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.run.Wait()
}
