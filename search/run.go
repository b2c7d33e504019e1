package search

import (
	"runtime"
	"sync"

	"vfsdb/tree"
)

const (
	// minBatch and maxBatch are how many files are in the first batch, and in late ones.
	minBatch, maxBatch = 16, 128

	// maxWorkers bounds how many goroutines search for one Grep: each has a connection while it reads.
	maxWorkers = 8

	// viewBytes is about how many bytes are searched in one transaction.
	viewBytes = 4 << 20
)

// run searches the files that l lists.
//
// The goroutine that calls run lists the files, hands them out in batches, and takes the outcomes back in the order of
// the walk. While it waits for the next one it searches batches itself; on a Tx it does so alone.
func (g *grep) run(l *lister) error {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers)
	if g.alone {
		workers = 1
	}
	ahead := 1 + 8*(workers-1)
	jobs := make(chan *batch, ahead)

	// Whatever ends the search, the workers stop too, and are waited for.
	var wait sync.WaitGroup
	defer wait.Wait()
	defer g.cancel()
	defer close(jobs)
	for range workers - 1 {
		wait.Go(func() {
			s := scanner{grep: g}
			for b := range jobs {
				s.search(b)
			}
		})
	}

	own := scanner{grep: g}
	var queue []*batch // in the order of the walk
	for size, more := minBatch, true; more || len(queue) > 0; {
		// List one more batch, as long as the workers are not far behind.
		if more && len(queue) < ahead {
			b := &batch{done: make(chan struct{})}
			if b.err = view(g.ctx, g.viewer, func(tx *tree.Tx) (err error) {
				b.files, more, err = l.next(tx, size)
				return err
			}); b.err != nil {
				more = false
			}
			size = min(2*size, maxBatch)
			queue = append(queue, b)
			jobs <- b
			continue
		}

		// Take the first batch if it is done, or search one that no worker has begun.
		select {
		case <-queue[0].done:
			if err := g.take(queue[0]); err != nil {
				return err
			}
			queue = queue[1:]
		case b := <-jobs:
			own.search(b)
		}
	}
	return nil
}

// search searches the files of a batch, unless they could not be listed.
func (s *scanner) search(b *batch) {
	defer close(b.done)
	b.outcomes = make([]outcome, 0, len(b.files))
	s.count, s.text = 0, 0

	for left := b.files; len(left) > 0 && b.err == nil; {
		b.err = view(s.files, s.viewer, func(tx *tree.Tx) error {
			s.inos = s.inos[:0]
			for _, f := range left {
				s.inos = append(s.inos, f.ino)
			}
			if err := tx.Prefetch(s.inos); err != nil {
				return err
			}

			for room := int64(viewBytes); len(left) > 0 && room > 0; left = left[1:] {
				size, err := s.file(tx, b, left[0])
				if err != nil {
					return err
				}
				if s.o.Max > 0 && s.count > s.o.Max || s.full() {
					left = nil // nobody will ask for the rest
					return nil
				}
				room -= size
			}
			return nil
		})
	}
}
