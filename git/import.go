package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// ImportOptions select what an import makes. A nil *ImportOptions is the zero value.
type ImportOptions struct {
	// Branch is the branch that the import makes. It may exist if its tree is empty. "" is the branch main for [Import],
	// and for [ImportRepo] the name of what is imported.
	Branch string

	// History makes a snapshot of each commit, not only of the last one. The log then has the author of each commit as
	// the actor of its changes.
	History bool

	// Progress is called after each commit and each content, on the goroutine of the caller.
	Progress func(commits, bytes int64)
}

// Import makes a branch from a stream that git fast-export has written, or another program for git fast-import. The
// stream is one line of commits. Tags, resets, notes and what else concerns no commit of the line is passed over.
//
// The contents of the stream take up space until a collection if the import fails. The branch is there only when all is,
// unless it existed: then it has the commits before the failure. A stream that is not well formed is a [StreamError]. A
// path that git or the store has no place for is listed in the Report, and so is a submodule.
func Import(ctx context.Context, fsys *vfs.FS, r io.Reader, o *ImportOptions) (*Report, error) {
	return importFrom(ctx, fsys, r, nil, o)
}

// importFrom is Import of a stream whose contents are in a repository, if objects is not nil.
func importFrom(ctx context.Context, fsys *vfs.FS, r io.Reader, objects *objects, o *ImportOptions) (*Report, error) {
	im := &importer{ctx: ctx, in: newScanner(r), marks: make(map[string]*blob), objects: objects}
	if o != nil {
		im.o = *o
	}
	im.o.Branch = cmp.Or(im.o.Branch, vfs.MainBranch)
	if err := im.run(fsys); err != nil {
		return nil, fmt.Errorf("import into branch %s: %w", im.o.Branch, err)
	}
	return &im.report, nil
}

// An importer is one import.
type importer struct {
	ctx    context.Context
	in     *scanner
	o      ImportOptions
	report Report

	head  *vfs.FS // of the branch
	batch *chunk.Batch
	loader
	marks map[string]*blob // by the mark, or by the id in the repository

	objects *objects

	done bool   // the stream has to end with done
	mark string // of the last commit
	last header
}

// run makes the branch, and brings it under its name when all commits are in.
func (im *importer) run(fsys *vfs.FS) error {
	// The longest name of a snapshot has to be one.
	if err := vfs.CheckName(im.snapshotName(&header{oid: "000000000000"})); err != nil {
		return err
	}
	if fsys.Store().ReadOnly() {
		return syscall.EROFS
	}
	made, err := im.begin(fsys)
	if err != nil {
		return err
	}

	err = im.fill()
	if err == nil && made != "" {
		err = snapshot.RenameBranch(im.ctx, fsys, made, im.o.Branch)
	}
	if err != nil && made != "" {
		err = errors.Join(err, snapshot.DeleteBranch(context.WithoutCancel(im.ctx), fsys, made))
	}
	im.report.Branch = im.o.Branch
	return err
}

// begin finds the branch if it is there and empty. Else it makes one, whose name is returned.
func (im *importer) begin(fsys *vfs.FS) (made string, err error) {
	im.head, err = fsys.Branch(im.ctx, im.o.Branch)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// A snapshot must not have the name either: a branch could not get it in the end.
		if _, err := snapshot.Open(im.ctx, fsys, im.o.Branch); !errors.Is(err, fs.ErrNotExist) {
			return "", cmp.Or(err, error(&fs.PathError{Op: "git import", Path: im.o.Branch, Err: syscall.EEXIST}))
		}
		made = snapshot.MadeUpName("import")
		im.head, err = snapshot.Branch(im.ctx, fsys, nil, made)
		return made, err
	case err != nil:
		return "", err
	}
	list, err := im.head.ReadDirPage(im.ctx, ".", "", 1)
	if err == nil && len(list) > 0 {
		err = &fs.PathError{Op: "git import", Path: im.o.Branch, Err: fmt.Errorf("it has files: %w", syscall.EEXIST)}
	}
	return "", err
}

// fill brings all commits of the stream into the branch.
func (im *importer) fill() error {
	im.batch = (*tree.Tree)(im.head).NewBatch(im.ctx)
	defer im.batch.Close()
	im.loader.start(im.ctx, im.batch)
	defer im.loader.stop()

	if err := im.read(); err != nil {
		return err
	}
	if im.report.Commits == 0 {
		return im.in.wrong("it ends without a commit")
	}
	if im.o.History {
		return nil
	}
	return im.head.Update(im.ctx, func(tx *vfs.Tx) error { return im.name(tx, &im.last) })
}

// name makes a snapshot of a commit.
func (im *importer) name(tx *vfs.Tx, h *header) error {
	im.report.Snapshot = im.snapshotName(h)
	_, err := snapshot.CreateIn(tx, im.report.Snapshot, h.note())
	return err
}

// snapshotName is the name of the snapshot of a commit: the branch, and the first digits of the id or the number of
// the commit.
func (im *importer) snapshotName(h *header) string {
	if h.oid != "" {
		return fmt.Sprintf("%s-%.12s", im.o.Branch, h.oid)
	}
	return fmt.Sprintf("%s-%d", im.o.Branch, h.number)
}

// load stores a content, and reports how far the import has come.
func (im *importer) load(b *blob, size int64, r io.Reader) error {
	im.report.Bytes += size
	err := im.loader.load(b, size, r)
	im.progress()
	return err
}

// progress reports how far the import has come.
func (im *importer) progress() {
	if im.o.Progress != nil {
		im.o.Progress(im.report.Commits, im.report.Bytes)
	}
}
