package search

import (
	"runtime"
	"sync"

	"vfsdb/tree"
)

// A batch is some files that follow each other in a walk. One goroutine searches them.
type batch struct {
	files    []candidate
	outcomes []outcome
	err      error         // that ended the batch after outcomes
	done     chan struct{} // closed when the batch is searched
}

// An outcome is the result for one file.
type outcome struct {
	path    string
	matches []GrepMatch
	binary  bool // not searched
	large   bool // not searched, or not to its end
	scanned bool
}

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

// take puts the outcomes of a batch into the result. The matches are put together at the end.
func (g *grep) take(b *batch) error {
	for _, f := range b.outcomes {
		if f.scanned {
			g.result.FilesScanned++
		}

		full := false
		f.matches, full = g.upToText(f.matches)
		if room := g.o.Max - g.count; g.o.Max > 0 && len(f.matches) > room {
			g.matches = append(g.matches, f.matches[:room])
			g.result.Truncated = true
			return errStop
		}
		if len(f.matches) > 0 {
			g.matches = append(g.matches, f.matches)
			g.count += len(f.matches)
		}
		if full {
			g.result.Truncated = true
			return errStop
		}

		if f.large {
			g.result.SkippedLarge = append(g.result.SkippedLarge, f.path)
		}
		if f.binary {
			g.result.SkippedBinary = append(g.result.SkippedBinary, f.path)
		}
	}
	return b.err
}

// upToText returns the matches up to the one that reaches MaxText; full reports that one does.
func (g *grep) upToText(list []GrepMatch) (some []GrepMatch, full bool) {
	if g.o.MaxText <= 0 {
		return list, false
	}
	for i := range list {
		if g.text += list[i].held(); g.text >= g.o.MaxText {
			return list[:i+1], true
		}
	}
	return list, false
}

// held returns about how much memory a match holds.
func (m *GrepMatch) held() int64 {
	const header = 16 // of a string
	n := header + len(m.Text)
	for _, lines := range [][]string{m.Before, m.After} {
		for _, line := range lines {
			n += header + len(line)
		}
	}
	return int64(n)
}
