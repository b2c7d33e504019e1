package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"vfsdb/schema"
)

const (
	// batch is how many chunks are staged in one transaction. It takes 10 to 20 ms, and others want to write too. A stream
	// of no more than that stays in memory until Commit.
	batch = 8

	// streamBuffers is how many chunks one stream has in memory: one batch on its way to the file, one being filled.
	streamBuffers = 2 * batch

	// ownBuffers of them are every stream's due. The others come out of spareBuffers, as long as there are any, so that many
	// streams at a time become slower before they become large.
	ownBuffers   = 2
	spareBuffers = 4 * (streamBuffers - ownBuffers)
)

// spare has a token for each buffer beyond their due that streams have.
var spare = make(chan struct{}, spareBuffers)

// A Stager stores one stream. ReadFrom takes it in, Commit makes content of it, and Close, which is always called, ends
// it. A stream of up to eight chunks stays in memory until Commit; of a longer one all but the end is staged by then:
// stored where nothing points at it. A Stager is used by one goroutine.
type Stager struct {
	db    *schema.DB
	lease *Lease

	size int64
	body lines
	sum  Sum
	held []piece // hashed, and not yet given to the writer
	err  error   // why there is nothing to commit

	count int          // of buffers that we have, here or at the writer
	extra int          // of them, how many hold a token of spare
	free  chan *buffer // of them, those that hold nothing

	batches chan []piece  // to the writer; nil while there is none
	written chan struct{} // closed by the writer when it ends
	broken  chan struct{} // closed by the writer when it fails

	// The writer's, until it has ended.
	row    int64 // of the lease that we stage under; 0 if nothing is staged
	staged int   // chunks
	lost   bool  // a lease that we staged under is gone
	failed error
}

// A piece is a chunk in memory that is not a hole.
type piece struct {
	buf   *buffer // nil if bytes has memory of its own
	bytes []byte
	sum   Sum
}

// NewStager returns a Stager that stages under lease. It does nothing yet.
func NewStager(db *schema.DB, lease *Lease) *Stager {
	return &Stager{db: db, lease: lease, err: errUnread, free: make(chan *buffer, streamBuffers)}
}

var (
	errUnread = errors.New("chunk: no stream was read")
	errStale  = fmt.Errorf("staged chunks were collected while this process was suspended: %w", syscall.ESTALE)
)

// ReadFrom takes in all of r, in pieces of whatever size it yields, and is called once. If r fails, its error is returned,
// and nothing is there to commit. Long streams are written to the database meanwhile, so ReadFrom must not be called inside a transaction.
func (s *Stager) ReadFrom(ctx context.Context, r io.Reader) error {
	if s.err != errUnread {
		return errors.New("chunk: a Stager reads one stream")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.err = s.cut(ctx, r)
	if s.err != nil {
		cancel() // what waits to be written need not be
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
	s.held = append(s.held, piece{buf: b, bytes: b[:n], sum: sum})
	if len(s.held) > batch {
		s.hand(ctx, batch)
	}
}

// buffer returns an empty buffer. If there are no more to be had it waits for the writer to give some back.
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

// hand gives the first n pieces of what is held to the writer. It does not wait.
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
			if s.failed = s.stage(ctx, pieces); s.failed != nil {
				close(s.broken)
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

// stage stores chunks that nothing points at, in one transaction, under the lease.
func (s *Stager) stage(ctx context.Context, pieces []piece) (err error) {
	if s.row == 0 {
		if s.row, err = s.lease.join(ctx); err != nil {
			return err
		}
	}
	err = s.db.Update(ctx, func(tx *schema.Tx) error { return s.stageIn(tx, pieces) })
	for err == errNoLease {
		s.lost = s.lost || s.staged > 0
		if s.row, err = s.lease.lost(ctx, s.row); err != nil {
			return err
		}
		err = s.db.Update(ctx, func(tx *schema.Tx) error { return s.stageIn(tx, pieces) })
	}
	if err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	s.staged += len(pieces)
	return nil
}

func (s *Stager) stageIn(tx *schema.Tx, pieces []piece) error {
	if err := stageUnder(tx, s.row, time.Now()); err != nil {
		return err
	}
	for _, p := range pieces {
		id, found, err := putChunk(tx, p.sum, p.bytes)
		if err != nil {
			return err
		}
		if !found {
			continue // above the floor
		}
		if err := addPin(tx, s.row, Pin{Kind: PinBlob, ID: id}); err != nil {
			return err
		}
	}
	return nil
}

// drop forgets what is held.
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
			s.held[n] = piece{bytes: bytes.Clone(p.bytes), sum: p.sum}
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

// Commit stores what is still in memory, and the manifest, and returns the content. Like the rest of tx it is undone if tx
// is, and may then be tried again, until Close.
func (s *Stager) Commit(tx *schema.Tx) (Content, error) {
	if s.err != nil {
		return Content{}, s.err
	}
	if err := s.secure(tx); err != nil {
		return Content{}, err
	}
	var last int64
	for _, p := range s.held {
		id, _, err := putChunk(tx, p.sum, p.bytes)
		if err != nil {
			return Content{}, err
		}
		last = id
	}
	return seal(tx, s.size, s.body, s.sum, last)
}

// secure makes sure that a collector takes none of the staged chunks when the lease lets go of them, nor has taken any.
func (s *Stager) secure(tx *schema.Tx) error {
	if s.staged == 0 {
		return nil
	}
	there, err := hasLease(tx, s.row)
	if err != nil {
		return err
	}
	busy, err := collecting(tx)
	if err != nil {
		return err
	}
	if there && !s.lost && !busy {
		return nil
	}
	for n := range s.staged {
		_, sum := s.body.at(n)
		id, err := findBlob(tx, sum)
		if err != nil {
			return err
		}
		if id == 0 {
			return errStale
		}
		if err := touch(tx, PinBlob, id); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the stream. It is called after the transaction of Commit is durable, or instead of it; later calls do nothing.
// It does not write, and may be called anywhere.
func (s *Stager) Close() error {
	s.err = fs.ErrClosed
	_ = s.endWriter() // which is still there if the source panicked
	s.drop()
	s.trim()
	s.count = 0
	s.settle()
	if s.row != 0 {
		s.lease.leave()
		s.row = 0
	}
	return nil
}
