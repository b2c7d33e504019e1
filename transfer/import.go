package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/transfer/gitignore"
	"vfsdb/transfer/glob"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// ImportOptions select what an import takes, and how. A nil *ImportOptions is the zero value: everything goes in, or
// nothing does.
type ImportOptions struct {
	// Exclude are globs in the dialect of doublestar. A glob with a slash is matched on the path inside the source, one
	// without on the last segment, at any depth. A slash at its end restricts a glob to directories. Everything inside
	// an excluded directory is excluded.
	Exclude []string

	// GitIgnore leaves out .git, and everything that the .gitignore files inside the source exclude.
	GitIgnore bool

	// Partial makes the names of each batch as soon as it is stored, and lists in the Report the entries that cannot go
	// in, instead of failing.
	Partial bool

	// MaxFileSize refuses larger files. 0 leaves the limit to the store, except for holes in an archive: a few bytes of
	// an archive can claim a hole of any size, so the limit there is 1 TiB.
	MaxFileSize int64

	// Delete removes names from the destination that the directory of the host does not have, in the commit that makes
	// the others. Names that Exclude and GitIgnore leave out stay, and so do the directories that hold them. A file gives
	// way to a directory of its name, and a directory to a file. Delete is for ImportDir alone. With Partial it is EINVAL,
	// because a source that is not read whole does not show what is gone.
	Delete bool

	// DryRun lists in the Report what ImportDir would change, counts as if it had, and writes nothing. The tree may be
	// one that cannot be written. A file counts as modified if its content differs: those are compared that an import
	// would read and that have the size of the store's.
	DryRun bool

	// Checksum reads every file of a directory. Without it a file is not read if the store has one in its place with
	// the same size and the same modification time, to the nanosecond.
	Checksum bool

	// Check is called at the beginning of each transaction that makes names. Its error ends the import.
	Check func(*vfs.Tx) error

	// Progress is called after each file that was read, or need not be, on the goroutine of the caller.
	Progress func(Progress)
}

// A partial import makes names as soon as this much is pending.
const (
	partialEntries = 1024
	partialBytes   = 16 << 20
)

// An importer collects entries whose contents are stored, and gives them their names.
type importer struct {
	tally
	fsys  *vfs.FS
	to    destination
	o     ImportOptions
	globs glob.List
	batch *chunk.Batch

	// reread reads a file after all.
	reread func(context.Context, *entry) error

	rules map[string]*gitignore.Rules // of the directories of the host whose .gitignore file has some
	ours  map[string]bool             // names of the host that the store's own files have

	xattrBytes atomic.Int64 // of attributes that are kept

	naming sync.Mutex // held while names are made

	pend    sync.Mutex // guards the fields below
	pending []*entry
	bytes   int64    // in pending
	dirs    []*entry // get their attributes last, because filling a directory changes its mtime
}

func newImporter(ctx context.Context, fsys *vfs.FS, to string, o *ImportOptions) (*importer, error) {
	im := &importer{fsys: fsys, to: destination(cmp.Or(to, "/"))}
	if o != nil {
		im.o = *o
	}
	im.progress = im.o.Progress
	if im.o.Delete && im.o.Partial {
		return nil, fmt.Errorf("the options Delete and Partial exclude each other: %w", syscall.EINVAL)
	}

	var err error
	if im.globs, err = glob.Parse(im.o.Exclude); err != nil {
		return nil, err
	}
	if im.o.DryRun {
		return im, nil
	}
	if fsys.Frozen() || fsys.Store().ReadOnly() {
		return nil, syscall.EROFS
	}
	im.batch = (*tree.Tree)(fsys).NewBatch(ctx)
	return im, nil
}

// close ends the batch, if there is one.
func (im *importer) close() {
	if im.batch != nil {
		im.batch.Close()
	}
}

// doomed reports whether the import can only end with an error.
func (im *importer) doomed() bool { return !im.o.Partial && im.refusals() > 0 }

// checkSize refuses a file that is too large.
func (im *importer) checkSize(size, limit int64) error {
	if im.o.MaxFileSize > 0 {
		limit = im.o.MaxFileSize
	}
	if size > limit {
		return fmt.Errorf("%d bytes: %w", size, syscall.EFBIG)
	}
	return nil
}

// add takes an entry whose content is in the batch. A partial import names the pending entries when there are many.
func (im *importer) add(ctx context.Context, e *entry) error {
	im.pend.Lock()
	im.pending = append(im.pending, e)
	if e.mode.IsDir() {
		im.dirs = append(im.dirs, e)
	}
	if e.data != nil {
		im.bytes += e.data.Size()
	}
	due := im.o.Partial && !im.o.DryRun && (len(im.pending) >= partialEntries || im.bytes >= partialBytes)
	im.pend.Unlock()

	if !due {
		return nil
	}
	return im.commit(ctx, false)
}

// finish runs last, which names the pending entries or plans to, unless the import is doomed, and returns the outcome of
// the import. err is the error, if any, that ended the source.
func (im *importer) finish(ctx context.Context, err error, last func(context.Context) error) (*Report, error) {
	switch {
	case err == nil && im.doomed():
		err = &RefusedError{im.report.Refused}
	case err == nil || im.o.Partial && ctx.Err() == nil:
		err = errors.Join(err, last(ctx))
	}
	if err != nil && !im.o.Partial {
		return nil, err
	}
	return &im.report, err
}

// commitLast gives the pending entries their names, and ends the import.
func (im *importer) commitLast(ctx context.Context) error { return im.commit(ctx, true) }

// commit gives all pending entries their names, in one transaction. The last commit also finishes the directories.
func (im *importer) commit(ctx context.Context, last bool) error {
	im.naming.Lock()
	defer im.naming.Unlock()
	im.pend.Lock()
	entries := im.pending
	im.pending, im.bytes = nil, 0
	im.pend.Unlock()

	slices.SortStableFunc(entries, func(a, b *entry) int { return cmp.Compare(a.path, b.path) })
	for {
		again, err := im.tryCommit(ctx, entries, last)
		if !errors.Is(err, errMoved) {
			return err
		}

		// The store changed some of the files that were not read. Read those, and try again.
		for _, e := range again {
			e.twin = nil
			if err := im.reread(ctx, e); err != nil {
				return err
			}
		}
		if im.doomed() {
			return &RefusedError{im.report.Refused}
		}
	}
}

// tryCommit is commit, unless some entries have to be read again first: then it changes nothing, and returns them with
// errMoved.
func (im *importer) tryCommit(ctx context.Context, entries []*entry, last bool) (again []*entry, err error) {
	if err := im.batch.Flush(); err != nil {
		return nil, err
	}

	n := namer{to: im.to, refuse: im.refuse}
	err = im.fsys.Update(ctx, func(tx *vfs.Tx) (err error) {
		if im.o.Check != nil {
			if err := im.o.Check(tx); err != nil {
				return err
			}
		}
		if again, err = moved(tx, im.to, entries); err != nil {
			return err
		}
		if len(again) > 0 {
			return errMoved
		}

		if err := n.begin(tx); err != nil {
			return err
		}
		if im.o.Delete {
			if err := im.remove(ctx, &n, entries); err != nil {
				return err
			}
		}
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := n.name(e); err != nil {
				return err
			}
		}

		if im.doomed() {
			return &RefusedError{im.report.Refused}
		}
		if last {
			return n.finish(im.dirs)
		}
		return nil
	})
	if err == nil {
		im.count(n.add)
	}
	return again, err
}
