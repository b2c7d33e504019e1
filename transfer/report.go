package transfer

import (
	"context"
	"sync"

	"vfsdb/transfer/hostdir"
)

// Progress is how far a transfer has come. It is reported after each file, never by two calls at a time.
type Progress struct {
	Files, Bytes int64
	Path         string // of the last file, inside the tree
}

// A Report counts what went in or out.
type Report struct {
	Files   int64 // regular files, fifos, sockets and devices
	Dirs    int64
	Links   int64 // symlinks, and names of a file beyond its first
	Bytes   int64 // in regular files, holes included
	Unread  int64 // of Files, those that an import did not read, because the store had them already
	Deleted int64 // names that Delete removed; a directory with all below it is one
	Refused []Refusal

	// Removed are the paths that the tree of Since has and the exported one has not, sorted. What was below one of them is gone
	// with it.
	Removed []string

	// Plan is what an import with DryRun would change, sorted by path.
	Plan []PlannedChange

	// Xattrs has the names of the extended attributes that were left out, each with the number of files that had it: by an
	// import, because the store has no place for them, ACLs among them; by an export, because its destination has none.
	Xattrs map[string]int64
}

// A tally is a Report in the making, which reports its progress. It is safe for concurrent use.
type tally struct {
	mu       sync.Mutex
	report   Report
	progress func(Progress) // the caller's; may be nil
	last     Progress

	events chan Progress   // to attend; nil where progress is called at once
	closed <-chan struct{} // closed when attend takes no more events
}

// file counts a regular file as progress.
func (t *tally) file(path string, size int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last.Files++
	t.last.Bytes += size
	t.last.Path = path

	switch {
	case t.progress == nil:
	case t.events == nil:
		t.progress(t.last)
	default:
		select {
		case t.events <- t.last:
		case <-t.closed:
		}
	}
}

// attend runs work, which uses several goroutines, and reports its progress on this one. So a panic of the caller's
// function happens where the caller can recover from it.
func (t *tally) attend(ctx context.Context, work func(context.Context) error) error {
	if t.progress == nil {
		return work(ctx)
	}

	ctx, stop := context.WithCancel(ctx)
	var worker sync.WaitGroup
	defer func() {
		stop()
		worker.Wait()
		t.events = nil
	}()
	t.events, t.closed = make(chan Progress), ctx.Done()

	ended := make(chan error, 1)
	worker.Go(func() { ended <- work(ctx) })
	for {
		select {
		case p := <-t.events:
			t.progress(p)
		case err := <-ended:
			return err
		}
	}
}

// count changes the Report.
func (t *tally) count(change func(*Report)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.report)
}

// refuse adds an entry that is left out to the Report.
func (t *tally) refuse(path string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Refused = append(t.report.Refused, Refusal{Path: path, Why: hostdir.Reason(err), err: err})
}

// skipXattrs adds extended attributes of a file, which are left out, to the Report.
func (t *tally) skipXattrs(names []string) {
	if len(names) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.report.Xattrs == nil {
		t.report.Xattrs = make(map[string]int64)
	}
	for _, name := range names {
		t.report.Xattrs[name]++
	}
}

// refusals returns how many entries were left out so far.
func (t *tally) refusals() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.report.Refused)
}
