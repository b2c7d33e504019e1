package chunk

import (
	"context"
	"io"
	"io/fs"
	"sync"
	"syscall"

	"vfsdb/hold"
	"vfsdb/schema"
)

const (
	// batchBytes and batchChunks bound how much of a Batch is staged in one transaction. Many small files are as much
	// work as a few chunks.
	batchBytes  = 8 * Size
	batchChunks = 1024

	// batchSlabs is how many slabs a Batch has in memory: one on its way to the file, one being filled.
	batchSlabs = 2
)

// A Batch stores many contents with few transactions: small contents share one, up to a few chunks of bytes. Add takes
// one content in, Flush waits until all are stored, [Item.Commit] makes each a Content, and Close, which is always
// called, ends the Batch. Nothing points at staged chunks: without a Commit they are garbage when the Batch ends. Add may
// be called by several goroutines at a time, so that they read and hash while another transaction runs.
type Batch struct {
	staging // the writer's, until Flush has returned

	ctx     context.Context
	mu      sync.Mutex
	current *slab
	free    chan *slab
	full    chan *slab
	written chan struct{} // closed by the writer when it ends
	checked *schema.Tx    // the last transaction that committed something
	safe    bool          // the result of secure in it

	failure sync.Mutex
	failed  error
}

// A slab is the chunks of one transaction.
type slab struct {
	bytes  []byte
	pieces []piece
	owners []*Item // the content that each piece belongs to
}

// An Item is one content of a Batch.
type Item struct {
	batch *Batch
	size  int64
	body  lines
	blob  int64 // the chunk, where there is only one
}

// NewBatch returns a Batch that stages under lease until ctx ends. Chunks that are in memory then are not stored.
func NewBatch(ctx context.Context, db *schema.DB, lease *hold.Lease) *Batch {
	b := &Batch{
		ctx:     ctx,
		staging: staging{db: db, lease: lease},
		free:    make(chan *slab, batchSlabs), full: make(chan *slab),
		written: make(chan struct{}),
	}
	for range batchSlabs {
		b.free <- new(slab)
	}
	go b.write()
	return b
}

// Add takes in all of r, which may be a [Skipper]. If r fails, Add returns its error and the Batch goes on; a failure to
// store ends the Batch. Add may wait for a transaction, so it must not be called inside one.
func (b *Batch) Add(ctx context.Context, r io.Reader) (*Item, error) {
	buf := takeBuffer()
	defer giveBuffer(buf)
	s := &Item{batch: b}
	for i := int64(0); ; i++ {
		zeros, end, err := skip(r, i)
		if err != nil {
			return nil, err
		}
		s.size += zeros
		if end {
			return s, nil
		}
		i += zeros / Size

		n, err := fill(ctx, r, buf[:])
		switch {
		case err != nil && err != io.EOF:
			return nil, err
		case n > 0 && i >= chunks(MaxSize):
			return nil, syscall.EFBIG
		}

		s.size += int64(n)
		if p := buf[:n]; !isHole(p) {
			sum := SumOf(p)
			s.body = s.body.add(i, sum)
			if err := b.put(s, sum, p, b.frame(p)); err != nil {
				return nil, err
			}
		}

		if err == io.EOF {
			return s, nil
		}
	}
}

// put copies a chunk of s into the current slab. A slab that is full goes to the writer.
func (b *Batch) put(s *Item, sum Sum, p, frame []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	if c := b.current; c != nil && (len(c.bytes)+len(p) > batchBytes || len(c.pieces) == batchChunks) {
		b.hand()
	}
	if b.current == nil {
		if b.free == nil {
			return fs.ErrClosed
		}
		b.current = <-b.free
		if err := b.error(); err != nil {
			return err
		}
	}

	c := b.current
	if c.bytes == nil {
		c.bytes = make([]byte, 0, batchBytes)
	}
	start := len(c.bytes)
	c.bytes = append(c.bytes, p...)
	c.pieces = append(c.pieces, piece{bytes: c.bytes[start:len(c.bytes):len(c.bytes)], frame: frame, sum: sum})
	c.owners = append(c.owners, s)
	return nil
}

// hand gives the current slab to the writer.
func (b *Batch) hand() {
	b.full <- b.current
	b.current = nil
}

// write is the writer: it stages slabs and frees them, and after a failure only frees them.
func (b *Batch) write() {
	defer close(b.written)
	for c := range b.full {
		if b.error() == nil {
			ids, err := b.stage(b.ctx, c.pieces)
			if err != nil {
				b.fail(err)
			}
			for n, id := range ids {
				c.owners[n].blob = id
			}
		}
		clear(c.owners)
		*c = slab{bytes: c.bytes[:0], pieces: c.pieces[:0], owners: c.owners[:0]}
		b.free <- c
	}
}

func (b *Batch) fail(err error) {
	b.failure.Lock()
	defer b.failure.Unlock()
	b.failed = err
}

func (b *Batch) error() error {
	b.failure.Lock()
	defer b.failure.Unlock()
	return b.failed
}

// Flush waits until everything that Add has returned is stored. It must not be called inside a transaction.
func (b *Batch) Flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.free == nil {
		return fs.ErrClosed
	}

	// The slab that is being filled is written, or freed if it is empty.
	switch {
	case b.current == nil:
	case len(b.current.pieces) > 0:
		b.hand()
	default:
		b.free <- b.current
		b.current = nil
	}

	// When all slabs are free, all are written.
	var all []*slab
	for range batchSlabs {
		all = append(all, <-b.free)
	}
	for _, c := range all {
		b.free <- c
	}
	return b.error()
}

// Close ends the Batch. It is called after the last Commit is durable, or instead of it; later calls do nothing.
func (b *Batch) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.free == nil {
		return nil
	}
	close(b.full)
	<-b.written
	b.free, b.current = nil, nil
	b.fail(fs.ErrClosed)
	b.leave()
	return nil
}

// Size returns the length of the content.
func (s *Item) Size() int64 { return s.size }

// Sum returns the sum of the content.
func (s *Item) Sum() Sum { return sumOf(s.size, s.body) }

// In reports whether the content is staged in this database.
func (s *Item) In(db *schema.DB) bool { return s.batch.db == db }

// Commit returns the content, after Flush. Like the rest of tx it is undone if tx is, and may be called again, in any
// transaction before Close.
func (s *Item) Commit(tx *schema.Tx) (Content, error) {
	b := s.batch
	if err := b.error(); err != nil {
		return Content{}, err
	}
	if b.checked != tx {
		safe, err := b.secure(tx)
		if err != nil {
			return Content{}, err
		}
		b.checked, b.safe = tx, safe
	}
	if !b.safe {
		last, err := retake(tx, s.body)
		if err != nil {
			return Content{}, err
		}
		s.blob = last
	}
	return seal(tx, s.size, s.body, s.Sum(), s.blob)
}
