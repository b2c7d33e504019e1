package transfer

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// Progress tells how far a transfer is, after each file. Calls follow each other, never two at a time.
type Progress struct {
	Files, Bytes int64
	Path         string // of the last file, inside the tree
}

// A Report says what went in or out.
type Report struct {
	Files   int64 // regular files, fifos, sockets and devices
	Dirs    int64
	Links   int64 // symlinks, and names of a file beyond its first
	Bytes   int64 // in regular files, holes included
	Unread  int64 // of Files, those that an import took to be in the store already
	Refused []Refusal

	// Xattrs are the names of the extended attributes that an import left out, since the store has no place for them,
	// and of how many files. ACLs are among them.
	Xattrs map[string]int64
}

// A Refusal is an entry that was left out.
type Refusal struct {
	Path string
	Why  string

	err error
}

// A RefusedError is an import that changed nothing because some entries could not go in. errors.Is finds the reasons.
type RefusedError struct{ Refused []Refusal }

// maxNamed is how many refusals the text of a RefusedError names.
const maxNamed = 10

func (e *RefusedError) Error() string {
	if len(e.Refused) == 1 {
		return fmt.Sprintf("%q is refused: %s", e.Refused[0].Path, e.Refused[0].Why)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d entries are refused:", len(e.Refused))
	for i, r := range e.Refused {
		if i == maxNamed {
			fmt.Fprintf(&b, "\nand %d more", len(e.Refused)-i)
			break
		}
		fmt.Fprintf(&b, "\n%q: %s", r.Path, r.Why)
	}
	return b.String()
}

// Unwrap returns the reasons.
func (e *RefusedError) Unwrap() []error {
	var all []error
	for _, r := range e.Refused {
		if r.err != nil {
			all = append(all, r.err)
		}
	}
	return all
}

// A tally is a Report in the making, and tells of its progress. It is safe for concurrent use.
type tally struct {
	mu     sync.Mutex
	report Report
	tell   func(Progress)
	seen   Progress

	told  chan Progress   // to attend; nil where tell is called at once
	leave <-chan struct{} // closed when attend takes nothing more
}

// file counts a regular file as progress.
func (t *tally) file(path string, size int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen.Files++
	t.seen.Bytes += size
	t.seen.Path = path
	switch {
	case t.tell == nil:
	case t.told == nil:
		t.tell(t.seen)
	default:
		select {
		case t.told <- t.seen:
		case <-t.leave:
		}
	}
}

// attend runs work, which uses several goroutines, and meanwhile tells of its progress on this one: what the caller's
// function does there, a panic included, happens to the caller.
func (t *tally) attend(ctx context.Context, work func(context.Context) error) error {
	if t.tell == nil {
		return work(ctx)
	}
	ctx, stop := context.WithCancel(ctx)
	var worker sync.WaitGroup
	defer func() {
		stop()
		worker.Wait()
		t.told = nil
	}()
	t.told, t.leave = make(chan Progress), ctx.Done()
	ended := make(chan error, 1)
	worker.Go(func() { ended <- work(ctx) })
	for {
		select {
		case p := <-t.told:
			t.tell(p)
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

// refuse notes an entry that is left out.
func (t *tally) refuse(path string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Refused = append(t.report.Refused, Refusal{Path: path, Why: reason(err), err: err})
}

// without notes extended attributes of a file that are left out.
func (t *tally) without(names []string) {
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

// reason is the text of an error without the path and the verb that wrap it, since the Refusal names the path.
func reason(err error) string {
	for {
		switch e := err.(type) {
		case *fs.PathError:
			err = e.Err
		case *os.LinkError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		default:
			return err.Error()
		}
	}
}
