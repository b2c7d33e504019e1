package purge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"vfsdb/gc"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Copies says what becomes of other files that have content of a purged one.
type Copies int

const (
	RefuseCopies Copies = iota // Run fails with a [SharedError]
	PurgeCopies                // they are purged too
	KeepCopies                 // they keep it, and so does the store
)

// Options are the optional parts of a purge. A nil *Options is the zero value.
type Options struct {
	// Recursive takes a path that led to a directory for all files that were ever in it, or below. Without it that is
	// EISDIR. The directories stay.
	Recursive bool

	Copies Copies

	// Reason is recorded with the purge, for people; up to 4096 bytes.
	Reason string

	// DryRun reports what would go, and changes nothing. Others may have the store open.
	DryRun bool
}

// A File is a file that a purge removes, or that shares content with one.
type File struct {
	Ino      int64
	Places   []Place // that show it; none if only moments do that nothing keeps
	Versions int     // different contents
	Bytes    int64   // of these
}

// A Place is a path in a tree.
type Place struct {
	Branch   string
	Snapshot string // "" for the head of the branch
	Path     string
}

// String writes the place as a command takes it: main:dir/file, or before:dir/file in a snapshot.
func (p Place) String() string {
	if p.Snapshot != "" {
		return p.Snapshot + ":" + p.Path
	}
	return p.Branch + ":" + p.Path
}

// A Report counts the work of a purge.
type Report struct {
	Files  []File // that were purged
	Shared []File // that have content of them, and were not

	Changes int64 // of the record that lost a sum or a target
	Calls   int64 // of the record that lost their digest, error and command

	Finished bool // an earlier purge was finished too

	Packs    int64 // made anew
	Cleared  int64 // unused bytes that became zero
	Searched int64 // bytes of the file, and of those beside it
	Samples  int   // of removed bytes that were looked for
}

// A SharedError is the error of a purge of files whose content others have too. There is at least one, and each has a place.
// It is EMLINK.
type SharedError struct{ Files []File }

func (e *SharedError) Error() string {
	where := e.Files[0].Places[0]
	if n := len(e.Files); n > 1 {
		return fmt.Sprintf("%d other files have the same content, or a part of it, such as %s", n, where)
	}
	return "another file has the same content, or a part of it: " + where.String()
}

func (e *SharedError) Unwrap() error { return syscall.EMLINK }

// A FoundError is the error of a purge after which samples of the removed bytes are still there: in files that have the same
// bytes in another content, or in a name, a note or the record. It is EEXIST. The purge is finished all the same.
type FoundError struct {
	Samples, Of int      // how many were found, of how many
	Holders     []Holder // those with the most first, at most 20
}

// A Holder is a file with samples of removed bytes.
type Holder struct {
	Place   Place
	Samples int
}

func (e *FoundError) Error() string {
	what := fmt.Sprintf("%d of %d samples of the removed bytes are still in the file", e.Samples, e.Of)
	switch n := len(e.Holders); n {
	case 0:
		return what + ", outside of contents: in a name, a note or the log"
	case 1:
		return fmt.Sprintf("%s: %s has %d", what, e.Holders[0].Place, e.Holders[0].Samples)
	default:
		return fmt.Sprintf("%s: %s has %d, and %d more files have some", what, e.Holders[0].Place, e.Holders[0].Samples, n-1)
	}
}

func (e *FoundError) Unwrap() error { return syscall.EEXIST }

// Run purges what the paths led to, in any branch at any moment, from the store in a file. It finishes an earlier purge
// first; without paths it does nothing else.
//
// A path by which neither a tree nor the record knows a file that has left anything is ENOENT, and then nothing is purged. A
// store that anybody has open is EBUSY. If Run fails later it may be run again: see [Unfinished].
func Run(ctx context.Context, file string, paths []string, options *Options) (*Report, error) {
	p := &purger{path: file, report: &Report{}}
	if options != nil {
		p.o = *options
	}
	err := p.run(ctx, paths)
	if named := (*fs.PathError)(nil); err != nil && !errors.As(err, &named) {
		err = fmt.Errorf("purge %s: %w", file, err)
	}
	return p.report, err
}

// Unfinished returns when a purge began that was cut short; ok is false if there is none. What it removes may still be in
// the file.
func Unfinished(ctx context.Context, fsys *vfs.FS) (began time.Time, ok bool, err error) {
	err = (*tree.Tree)(fsys).DB().View(ctx, func(tx *schema.Tx) (err error) {
		began, ok, err = unfinished(tx)
		return err
	})
	return began, ok, err
}

func unfinished(tx *schema.Tx) (began time.Time, ok bool, err error) {
	at, ok, err := tx.Int(`SELECT at FROM purge`)
	return time.Unix(0, at), ok, err
}

// A purger is one Run.
type purger struct {
	path   string
	o      Options
	report *Report
	hooked func(step string) error // called after each step; nil but in tests

	needles *needles
	gone    plan
}

func (p *purger) run(ctx context.Context, paths []string) error {
	if len(p.o.Reason) > maxReason {
		return fmt.Errorf("%w: a reason has at most %d bytes", syscall.EINVAL, maxReason)
	}
	if p.o.DryRun {
		return p.open(ctx, func(fsys *vfs.FS, db *schema.DB) error { return p.forecast(ctx, fsys, db, paths) })
	}

	err := p.open(ctx, func(fsys *vfs.FS, db *schema.DB) error { return p.erase(ctx, fsys, db, paths) })
	if err != nil || len(p.report.Files) == 0 && !p.report.Finished {
		return err
	}

	// The store is opened anew: its memories are of a past that is no more.
	if err := p.open(ctx, func(fsys *vfs.FS, db *schema.DB) error { return p.clean(ctx, fsys, db) }); err != nil {
		return err
	}
	found, err := p.search()
	if err != nil {
		return err
	}
	return p.open(ctx, func(fsys *vfs.FS, db *schema.DB) error { return p.finish(ctx, fsys, db, found) })
}

// maxReason bounds the reason, as the record does.
const maxReason = 4096

// open runs a step with the store open, and closes it.
func (p *purger) open(ctx context.Context, step func(*vfs.FS, *schema.DB) error) error {
	fsys, err := vfs.Open(ctx, p.path, &vfs.Options{MustExist: true, ReadOnly: p.o.DryRun})
	if err != nil {
		return err
	}
	db := (*tree.Tree)(fsys).DB()
	p.path = db.Path()
	return errors.Join(step(fsys, db), fsys.Close())
}

// forecast finds out what would go.
func (p *purger) forecast(ctx context.Context, fsys *vfs.FS, db *schema.DB, paths []string) error {
	return db.View(ctx, func(tx *schema.Tx) (err error) {
		_, p.report.Finished, err = unfinished(tx)
		if err == nil && len(paths) > 0 {
			err = p.plan(tx, fsys, paths)
		}
		return err
	})
}

// erase removes the rows of the files in one transaction, and notes that the purge is not finished.
func (p *purger) erase(ctx context.Context, fsys *vfs.FS, db *schema.DB, paths []string) error {
	err := db.Update(ctx, func(tx *schema.Tx) (err error) {
		if _, p.report.Finished, err = unfinished(tx); err != nil || len(paths) == 0 {
			return err
		}
		err = p.plan(tx, fsys, paths)
		if err == nil && len(p.gone.inos) == 0 {
			return nil // the earlier one has removed all of it
		}
		if err == nil && p.o.Copies == RefuseCopies && len(p.report.Shared) > 0 {
			err = &SharedError{p.report.Shared}
		}
		if err != nil {
			return err
		}

		if p.needles, err = p.gone.samples(tx); err != nil {
			return err
		}
		if err := p.gone.erase(tx, fsys, p); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT OR REPLACE INTO purge (id, at) VALUES (1024, ?)`, time.Now().UnixNano()); err != nil {
			return err
		}
		return db.Alone()
	})
	if err != nil {
		return err
	}
	return p.tell("erase")
}

// clean removes what the rows referred to from the file, and empties its log.
func (p *purger) clean(ctx context.Context, fsys *vfs.FS, db *schema.DB) error {
	if err := db.Alone(); err != nil {
		return err
	}
	if _, err := gc.Run(ctx, fsys, &gc.Options{KeepChanges: -1}); err != nil {
		return err
	}
	if err := p.tell("collect"); err != nil {
		return err
	}
	if err := p.repack(ctx, db); err != nil {
		return err
	}
	if err := db.View(ctx, p.gone.check); err != nil {
		return err
	}

	scrubbed, err := db.Scrub(ctx)
	if err != nil {
		return err
	}
	p.report.Cleared = scrubbed.Bytes
	if err := p.tell("scrub"); err != nil {
		return err
	}
	if err := db.EmptyLog(ctx); err != nil {
		return err
	}
	return p.tell("empty")
}

// finish takes the note away, and fails if samples were found.
func (p *purger) finish(ctx context.Context, fsys *vfs.FS, db *schema.DB, found map[int]bool) error {
	err := db.Update(ctx, func(tx *schema.Tx) error {
		_, err := tx.Exec(`DELETE FROM purge WHERE id = 1024`)
		return err
	})
	if err != nil || len(found) == 0 {
		return err
	}
	holders, err := p.explain(ctx, fsys, db, found)
	if err != nil {
		return err
	}
	return &FoundError{len(found), len(p.needles.list), holders}
}

func (p *purger) tell(step string) error {
	if p.hooked == nil {
		return nil
	}
	return p.hooked(step)
}
