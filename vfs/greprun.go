package vfs

import (
	"runtime"
	"sync"
)

// A batch is some files that follow each other in a walk. One goroutine searches them.
type batch struct {
	files []named
	found []searched
	err   error         // what came after found
	done  chan struct{} // closed when it is searched
}

// A searched is what the search of one file came to.
type searched struct {
	path    string
	matches []GrepMatch
	binary  bool // not searched
	large   bool // not searched, or not to its end
	scanned bool
}

const (
	// minBatch and maxBatch are how many files are in the first batch, and in those that come late.
	minBatch, maxBatch = 16, 128

	// maxGrepWorkers bounds how many goroutines search for one Grep: each has a connection while it reads.
	maxGrepWorkers = 8

	// grepView is how many bytes are searched in one transaction, about.
	grepView = 4 << 20
)

// run searches the files of a walk. The goroutine that calls it lists them, gives them away in batches, and takes what
// was found back in the order of the walk. While it waits for that it searches too; on a Tx there is nobody else.
func (g *grep) run(w *grepWalk) error {
	var wait sync.WaitGroup
	defer wait.Wait()
	defer g.cancel() // those who still search need not go on
	workers := min(runtime.GOMAXPROCS(0), maxGrepWorkers)
	if g.alone {
		workers = 1
	}
	ahead := 1 + 8*(workers-1)
	jobs := make(chan *batch, ahead)
	defer close(jobs)
	for range workers - 1 {
		wait.Go(func() {
			s := grepScanner{grep: g}
			for b := range jobs {
				s.search(b)
			}
		})
	}
	own := grepScanner{grep: g}
	var queue []*batch // in the order of the walk
	for size, more := minBatch, true; more || len(queue) > 0; {
		if more && len(queue) < ahead {
			b := &batch{done: make(chan struct{})}
			if b.err = g.viewer.View(g.ctx, func(tx *Tx) (err error) {
				b.files, more, err = w.next(tx, size)
				return err
			}); b.err != nil {
				more = false
			}
			size = min(2*size, maxBatch)
			queue = append(queue, b)
			jobs <- b
			continue
		}
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

// take puts what a batch came to into the result. The matches are put together at the end.
func (g *grep) take(b *batch) error {
	for _, f := range b.found {
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

// upToText is the beginning of some matches, until MaxText is reached; full if it is.
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

// held is what a match holds in memory, about.
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
