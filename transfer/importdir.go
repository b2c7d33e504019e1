package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"vfsdb/internal/parallel"
	"vfsdb/node"
	"vfsdb/transfer/gitignore"
	"vfsdb/transfer/hostdir"
	"vfsdb/vfs"
)

// ImportDir copies the contents of the directory src of the host into the directory to of the store, which is created
// with its parents if need be and gets the attributes of src. It keeps contents with their holes, 12 mode bits, owners,
// modification times from 1678 to 2261 (others become the nearest of those), symlinks, hard links, fifos, sockets, devices,
// and on Linux and macOS the extended attributes of the namespace user. It leaves out others, and names them in the Report. If
// src contains the files of the store itself, it leaves them out too.
//
// Names and extended attributes that src does not have stay in the destination, unless Delete is set. Delete decides in the commit, so it also
// removes what others have added to the destination since the import began.
//
// All of it becomes visible in one commit, or nothing does: a file that cannot be read, or a name that cannot be made,
// fails the import with a [RefusedError]. With Partial such files are listed in the Report instead.
func ImportDir(ctx context.Context, fsys *vfs.FS, src, to string, o *ImportOptions) (*Report, error) {
	report, err := importDir(ctx, fsys, src, to, o)
	if err != nil {
		err = fmt.Errorf("import %s: %w", src, err)
	}
	return report, err
}

func importDir(ctx context.Context, fsys *vfs.FS, src, to string, o *ImportOptions) (*Report, error) {
	info, err := os.Stat(src)
	switch {
	case err != nil:
		return nil, errors.Unwrap(err)
	case !info.IsDir():
		return nil, syscall.ENOTDIR
	}
	top, err := hostdir.Top(src)
	if err != nil {
		return nil, cause(err)
	}
	defer top.Done()
	im, err := newImporter(ctx, fsys, to, o)
	if err != nil {
		return nil, err
	}
	defer im.close()
	im.rules, im.ours = make(map[string]*gitignore.Rules), make(map[string]bool)

	w := &dirWalker{importer: im, top: top, own: hostdir.OwnFiles(fsys.Store().Path()), names: make(map[hostdir.ID]*entry)}
	w.exact = im.o.Delete && top.KeepsXattrs(node.XattrSpace+"none")
	im.reread = w.rereadFile
	last := im.commitLast
	if im.o.DryRun {
		last = w.plan
	}
	return im.finish(ctx, w.attend(ctx, func(ctx context.Context) error { return w.run(ctx) }), last)
}

// A dirWalker walks a directory of the host, while workers read the files that it finds. It goes from directory to
// directory by descriptors, so that nothing outside of the source can be read.
type dirWalker struct {
	*importer
	top   *hostdir.Dir
	own   []fs.FileInfo
	files chan found // to the workers
	names map[hostdir.ID]*entry
	first []*entry // of files with several names. They wait for the end of the walk, when all names are known
	links []*entry // the further names

	exact   bool // the extended attributes of a file are all that it has afterwards
	settled bool // nobody changes the source any more

	put  sync.Mutex // guards the fields below
	late []*entry   // modified a moment ago
	due  time.Time  // when they may be read
	last bool       // they are being read
}

// A found is a regular file to be read, and the directory that it is in.
type found struct {
	*entry
	in *hostdir.Dir
}

// run walks the directory in up to three rounds: first most files, then those with several names, at last those that
// were modified a moment ago.
func (w *dirWalker) run(ctx context.Context) error {
	info, err := w.top.Self.Stat()
	if err != nil {
		return err
	}
	there, err := w.hasDestination(ctx)
	if err != nil {
		return err
	}
	err = w.work(ctx, func(ctx context.Context) error { return w.dir(ctx, w.top, "", info, nil, there) })
	if err == nil && len(w.first) > 0 {
		err = w.work(ctx, w.linkedFiles)
	}
	if err == nil && len(w.late) > 0 && !w.doomed() {
		if err = w.settle(ctx); err == nil {
			w.last = true
			err = w.work(ctx, func(ctx context.Context) error { return w.sendAgain(ctx, w.late) })
		}
	}
	if err != nil {
		return err
	}

	for _, e := range w.links {
		if err := w.add(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// work runs find, which sends files, and the workers that read them.
func (w *dirWalker) work(ctx context.Context, find func(context.Context) error) error {
	w.files = make(chan found, 64)
	return parallel.Each(ctx, w.files, find, w.file, func(f found) { f.in.Done() })
}

// send gives a file to the workers.
func (w *dirWalker) send(ctx context.Context, in *hostdir.Dir, e *entry) error {
	select {
	case w.files <- found{e, in.Use()}:
		return nil
	case <-ctx.Done():
		in.Done()
		return ctx.Err()
	}
}

// sendAgain gives files to the workers that were put off.
func (w *dirWalker) sendAgain(ctx context.Context, files []*entry) error {
	at := hostdir.Reopener{Top: w.top}
	defer at.Close()
	slices.SortStableFunc(files, func(a, b *entry) int { return cmp.Compare(parent(a.path), parent(b.path)) })
	for _, e := range files {
		in, err := at.Dir(parent(e.path))
		if err != nil {
			w.drop(e, err)
			continue
		}
		if err := w.send(ctx, in, e); err != nil {
			return err
		}
	}
	return nil
}
