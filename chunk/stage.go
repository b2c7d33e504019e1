package chunk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"syscall"

	"vfsdb/hold"
	"vfsdb/schema"
)

const (
	// batch is how many chunks are staged in one transaction. It takes about 5 ms, and others want to write too.
	batch = 4

	// shortStream is how many chunks of a stream stay in memory until Commit, if there are no more.
	shortStream = 8

	// streamBuffers is how many chunks one stream has in memory: one batch on its way to the file, one behind it, and
	// the chunk that is being filled.
	streamBuffers = shortStream + 1

	// ownBuffers of them every stream has for itself. All streams share spareBuffers for the others, so that many streams at
	// a time become slower rather than take much memory.
	ownBuffers   = 2
	spareBuffers = 4 * (streamBuffers - ownBuffers)
)

// spare has a token for each spare buffer that is in use.
var spare = make(chan struct{}, spareBuffers)

// A Stager stores one stream. ReadFrom takes it in, Commit makes content of it, and Close, which is always called, ends
// it. A stream of up to eight chunks stays in memory until Commit. A longer one is staged by then, except for its end: its
// chunks are stored, and nothing points at them. A Stager is used by one goroutine.
type Stager struct {
	staging // the writer's, until it has ended

	size int64
	body lines
	sum  Sum
	held []piece // hashed, and not yet given to the writer
	err  error   // why there is nothing to commit

	count int          // of our buffers, here or at the writer
	extra int          // how many of them hold a token of spare
	free  chan *buffer // those that hold nothing

	batches chan []piece  // to the writer; nil while there is none
	written chan struct{} // closed by the writer when it ends
	broken  chan struct{} // closed by the writer when it fails

	// The writer's, until it has ended.
	stored int // chunks
	failed error
}

// A piece is a chunk in memory that is not a hole.
type piece struct {
	buf   *buffer // nil if bytes has memory of its own
	bytes []byte
	frame []byte // nil: it is stored plain
	sum   Sum
}

// NewStager returns a Stager that stages under lease. It stores nothing yet.
func NewStager(db *schema.DB, lease *hold.Lease) *Stager {
	return &Stager{staging: staging{db: db, lease: lease}, err: errUnread, free: make(chan *buffer, streamBuffers)}
}

var errUnread = errors.New("chunk: no stream was read")

// ReadFrom takes in all of r, which may be a [Skipper]. It is called once. If r fails, ReadFrom returns its error, and there
// is nothing to commit. Long streams are written to the file meanwhile, so ReadFrom must not be called inside a
// transaction.
func (s *Stager) ReadFrom(ctx context.Context, r io.Reader) error {
	if s.err != errUnread {
		return errors.New("chunk: a Stager reads one stream")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.err = s.cut(ctx, r)
	if s.err != nil {
		cancel() // the writer need not write its chunks
	}
	if err := s.endWriter(); s.err == nil {
		s.err = err
	}
	if s.err != nil {
		s.drop()
	}
	s.sum = sumOf(s.size, s.body)
	s.trim()
	return s.err
}

// cut reads r to its end, chunk by chunk. The writer works beside it.
func (s *Stager) cut(ctx context.Context, r io.Reader) error {
	for i := int64(0); ; i++ {
		zeros, end, err := skip(r, i)
		if err != nil {
			return err
		}
		s.size += zeros
		if end {
			return nil
		}
		i += zeros / Size

		b, err := s.buffer(ctx)
		if err != nil {
			return err
		}

		n, err := fill(ctx, r, b[:])
		switch {
		case err != nil && err != io.EOF:
			s.free <- b
			return err
		case n > 0 && i >= chunks(MaxSize):
			s.free <- b
			return syscall.EFBIG
		}

		s.add(ctx, i, b, n)
		if err == io.EOF {
			return nil
		}
	}
}

// add takes over chunk i, the first n bytes of b.
func (s *Stager) add(ctx context.Context, i int64, b *buffer, n int) {
	s.size += int64(n)
	if isHole(b[:n]) {
		s.free <- b
		return
	}
	sum := SumOf(b[:n])
	s.body = s.body.add(i, sum)
	s.held = append(s.held, piece{buf: b, bytes: b[:n], frame: s.frame(b[:n]), sum: sum})
	if s.batches == nil && len(s.held) <= shortStream {
		return
	}
	for len(s.held) > batch {
		s.hand(ctx, batch)
	}
}

// buffer returns an empty buffer. If no more may be taken it waits for the writer to give some back.
func (s *Stager) buffer(ctx context.Context) (*buffer, error) {
	select {
	case <-s.broken:
		return nil, s.failed
	case b := <-s.free:
		return b, nil
	default:
	}

	if s.mayGrow() {
		s.count++
		return takeBuffer(), nil
	}

	if s.count == len(s.held) { // the writer has none
		s.hand(ctx, len(s.held))
	}
	select {
	case <-s.broken:
		return nil, s.failed
	case b := <-s.free:
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *Stager) mayGrow() bool {
	switch {
	case s.count == streamBuffers:
		return false
	case s.count < ownBuffers:
		return true
	}
	select {
	case spare <- struct{}{}:
		s.extra++
		return true
	default:
		return false
	}
}

// hand gives the first n held pieces to the writer. It does not wait.
func (s *Stager) hand(ctx context.Context, n int) {
	if s.batches == nil {
		s.batches = make(chan []piece, streamBuffers)
		s.written, s.broken = make(chan struct{}), make(chan struct{})
		go s.write(ctx)
	}
	s.batches <- slices.Clone(s.held[:n])
	s.held = slices.Delete(s.held, 0, n)
}

// write is the writer: it stages batches and frees their buffers, and after a failure only frees them.
func (s *Stager) write(ctx context.Context) {
	defer close(s.written)
	for pieces := range s.batches {
		if s.failed == nil {
			if _, s.failed = s.stage(ctx, pieces); s.failed != nil {
				close(s.broken)
			} else {
				s.stored += len(pieces)
			}
		}
		for _, p := range pieces {
			s.free <- p.buf
		}
	}
}

// endWriter waits for the writer, if there is one, and returns its error.
func (s *Stager) endWriter() error {
	if s.batches == nil {
		return nil
	}
	close(s.batches)
	<-s.written
	s.batches, s.broken = nil, nil
	return s.failed
}

// drop forgets the held pieces.
func (s *Stager) drop() {
	for _, p := range s.held {
		if p.buf != nil {
			s.free <- p.buf
		}
	}
	s.held, s.body = nil, nil
}

// trim gives back the buffers that hold nothing, and those that hold little.
func (s *Stager) trim() {
	for n, p := range s.held {
		if p.buf != nil && len(p.bytes) <= Size/8 {
			s.held[n] = piece{bytes: bytes.Clone(p.bytes), frame: p.frame, sum: p.sum}
			s.free <- p.buf
		}
	}
	for len(s.free) > 0 {
		giveBuffer(<-s.free)
		s.count--
	}
	s.settle()
}

// settle gives back the tokens of buffers that we no longer have.
func (s *Stager) settle() {
	for ; s.extra > 0 && s.extra > s.count-ownBuffers; s.extra-- {
		<-spare
	}
}

// Size returns the length of the stream.
func (s *Stager) Size() int64 { return s.size }

// Sum returns the sum that the content has once it is committed.
func (s *Stager) Sum() Sum { return s.sum }

// Commit stores the chunks that are still in memory, and the manifest, and returns the content. It is undone if tx is, and
// may then be called again, until Close.
func (s *Stager) Commit(tx *schema.Tx) (Content, error) {
	if s.err != nil {
		return Content{}, s.err
	}

	// If the chunks that were staged may be gone, they are looked up again.
	safe, err := s.secure(tx)
	if err != nil {
		return Content{}, err
	}
	if !safe {
		if _, err := retake(tx, s.body[:s.stored*lineSize]); err != nil {
			return Content{}, err
		}
	}

	var last int64
	for _, p := range s.held {
		id, _, err := putChunk(tx, p.sum, p.bytes, p.frame)
		if err != nil {
			return Content{}, err
		}
		last = id
	}
	return seal(tx, s.size, s.body, s.sum, last)
}

// Close ends the stream. It is called after the transaction of Commit is durable, or instead of Commit; later calls do
// nothing. It does not write, and may be called anywhere.
func (s *Stager) Close() error {
	s.err = fs.ErrClosed
	_ = s.endWriter() // the writer still runs if the source panicked
	s.drop()
	s.trim()
	s.count = 0
	s.settle()
	s.leave()
	return nil
}
