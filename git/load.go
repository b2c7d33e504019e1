package git

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"sync"

	"vfsdb/chunk"
)

// A blob is a content. Its item is there once the loader has waited.
type blob struct{ item *chunk.Item }

// A loader stores the contents of a stream. Small ones are read into memory, and hashed and stored by workers while the
// stream is read on. Larger ones are stored as they are read.
type loader struct {
	ctx     context.Context
	batch   *chunk.Batch
	buffers chan []byte
	jobs    chan job
	workers sync.WaitGroup
	busy    sync.WaitGroup // contents that workers have not stored yet

	mu     sync.Mutex
	failed error
}

// A job is a content in memory.
type job struct {
	data []byte
	to   *blob
}

// start starts the workers.
func (l *loader) start(ctx context.Context, batch *chunk.Batch) {
	n := min(4, runtime.GOMAXPROCS(0))
	l.ctx, l.batch = ctx, batch
	l.jobs, l.buffers = make(chan job), make(chan []byte, 4*n)
	for range 4 * n {
		l.buffers <- nil
	}
	for range n {
		l.workers.Go(l.work)
	}
}

// stop ends the workers.
func (l *loader) stop() {
	close(l.jobs)
	l.workers.Wait()
}

func (l *loader) work() {
	for j := range l.jobs {
		item, err := l.batch.Add(l.ctx, bytes.NewReader(j.data))
		if err != nil {
			l.fail(err)
		}
		j.to.item = item
		l.buffers <- j.data
		l.busy.Done()
	}
}

func (l *loader) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = err
	}
}

// failure returns why a content could not be stored.
func (l *loader) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// load stores a content.
func (l *loader) load(b *blob, size int64, r io.Reader) (err error) {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	if size > chunk.Size {
		b.item, err = l.batch.Add(l.ctx, r)
		return err
	}
	if err := l.failure(); err != nil {
		return err
	}

	p := <-l.buffers
	if int64(cap(p)) < size {
		p = make([]byte, size, max(size, 16<<10))
	}
	p = p[:size]
	if _, err := io.ReadFull(r, p); err != nil {
		l.buffers <- p
		return err
	}
	l.busy.Add(1)
	l.jobs <- job{p, b}
	return nil
}

// wait waits until all contents are stored.
func (l *loader) wait() error {
	l.busy.Wait()
	if err := l.failure(); err != nil {
		return err
	}
	return l.batch.Flush()
}
