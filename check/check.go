package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// This file runs the checks one after another, and collects the faults that they find.

// Options set how thorough a [Run] is. A nil *Options is the zero value: everything.
type Options struct {
	// Quick leaves out reading and hashing every chunk. All other rules are checked.
	Quick bool

	// MaxFaults ends the check once this number of faults is found; 0 means 1000.
	MaxFaults int

	// Progress, if not nil, is called now and then with the bytes of chunks that were hashed, and how many there are,
	// on the goroutine of the caller.
	Progress func(done, total int64)
}

// A Report holds the faults that a [Run] found, and how much it looked at.
type Report struct {
	Faults    []Fault
	Branches  int64 // with a name
	Snapshots int64
	Inodes    int64 // rows, of all branches and all history, as of the next four
	Dirents   int64
	Blobs     int64
	Manifests int64
	Bytes     int64 // of blobs; hashed unless Quick
}

// OK reports whether no fault was found.
func (r *Report) OK() bool { return len(r.Faults) == 0 }

// A Fault is one broken promise of the file, with the tree and the path that it touches, as far as they are known.
type Fault struct {
	What     string
	Branch   string
	Snapshot string // "" if the head of the branch is touched
	Path     string
}

// String returns the fault in one line: the tree, the path, and the broken promise.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(plainly(f.Branch))
	if f.Snapshot != "" {
		b.WriteString("@" + plainly(f.Snapshot))
	}

	for _, part := range []string{plainly(f.Path), f.What} {
		if b.Len() > 0 && part != "" {
			b.WriteString(": ")
		}
		b.WriteString(part)
	}
	return b.String()
}

// plainly quotes a text that would not stand in one line.
func plainly(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(s)
	}
	return s
}

// Run checks the whole store, all branches and snapshots of it, and reports where one of these rules does not hold:
//
//   - all tables and indexes are there, the file is well formed, as far as SQLite finds, and each index has the rows of
//     its table;
//   - the lifetimes of one key do not overlap and end by the present epoch; the lineages lead to moments that can no
//     longer change;
//   - in every head and every snapshot, each entry that the root leads to shows an inode of its type, the names of an
//     inode are as many as its nlink, and directories have one name and no cycle;
//   - the log of changes and calls has no gaps, and names branches, epochs and calls that there are or were; calls count
//     their changes, and trails lead to them;
//   - content has its canonical form, and each manifest and chunk that is named is there, is of the right length and
//     has its sum;
//   - content that is stored as patches has a base, which is kept for it.
//
// The store may be in use meanwhile: each tree is read at one moment, and chunks a few at a time. Damage is a fault in the
// report; an error means that the check could not be finished.
func Run(ctx context.Context, fsys *vfs.FS, options *Options) (*Report, error) {
	c := &checker{db: (*tree.Tree)(fsys).Store().DB(), report: &Report{}, seen: make(map[Fault]bool)}
	if options != nil {
		c.o = *options
	}
	if c.o.MaxFaults <= 0 {
		c.o.MaxFaults = 1000
	}

	// History comes before the rows, because it lists the trees that their faults are reported in.
	for _, step := range []func(context.Context) error{
		c.checkFile, c.checkHistory, c.checkChanges, c.checkOther, c.checkTrails, c.checkCalls, c.checkSteps, c.checkInodes, c.checkDirents, c.checkOrphans, c.checkViews, c.checkManifests, c.checkBlobs, c.checkPacks, c.checkPatches, c.checkCounters,
	} {
		err := step(ctx)
		switch {
		case err == errEnough:
			return c.report, nil
		case err == nil:
			continue
		case !isDamage(err):
			return c.report, fmt.Errorf("check: %w", err)
		}

		// The step cannot go on, but those after it may.
		if err := c.fault(Fault{What: "cannot be read: " + err.Error()}); err != nil {
			return c.report, nil
		}
	}
	return c.report, nil
}

// A checker is one run of the check.
type checker struct {
	db      *schema.DB
	o       Options
	report  *Report
	seen    map[Fault]bool
	trees   []subject // the trees that history retains
	lastIno int64
}

// errEnough ends a check that has found as many faults as were asked for.
var errEnough = errors.New("enough faults")

// fault reports a fault, once.
func (c *checker) fault(f Fault) error {
	if c.seen[f] {
		return nil
	}
	c.seen[f] = true
	c.report.Faults = append(c.report.Faults, f)
	if len(c.report.Faults) >= c.o.MaxFaults {
		return errEnough
	}
	return nil
}

// isDamage reports whether an error may come from a damaged file. Those of the context, of a closed store and of a system
// that is out of room or rights do not.
func isDamage(err error) bool {
	for _, other := range []error{
		context.Canceled, context.DeadlineExceeded, fs.ErrClosed, syscall.EBUSY, syscall.ENOMEM, syscall.ENOSPC, syscall.EACCES,
	} {
		if errors.Is(err, other) {
			return false
		}
	}
	return true
}

// checkFile looks for the tables, and asks SQLite about the file. It knows pages and rows, not what they mean.
func (c *checker) checkFile(ctx context.Context) error {
	var complaints []string

	err := c.db.View(ctx, func(tx *schema.Tx) (err error) {
		missing, err := tx.Layout()
		if err != nil {
			return err
		}
		for _, what := range missing {
			complaints = append(complaints, what+" is missing")
		}

		more, err := tx.Integrity(c.o.MaxFaults)
		complaints = append(complaints, more...)
		return err
	})
	if err != nil {
		return err
	}

	for _, text := range complaints {
		if err := c.fault(Fault{What: "file: " + strings.ReplaceAll(text, "\n", "; ")}); err != nil {
			return err
		}
	}
	return ctx.Err()
}
