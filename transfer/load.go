package transfer

import (
	"context"
	"io/fs"
	"os"
	"path"
	"time"

	"vfsdb/chunk"
	"vfsdb/internal/sparse"
	"vfsdb/transfer/hostdir"
)

// file reads and adds a regular file. Workers call it.
func (w *dirWalker) file(ctx context.Context, f found) error {
	if w.o.DryRun {
		return w.probe(ctx, f)
	}
	if err := w.load(ctx, f.in, f.entry, w.last); err != nil || f.data == nil {
		return err
	}
	w.tally.file(f.path, f.data.Size())
	return w.add(ctx, f.entry)
}

// rereadFile reads a file after all that was not read when the walk came by.
func (w *dirWalker) rereadFile(ctx context.Context, e *entry) error {
	in, err := w.top.Below(parent(e.path))
	if err != nil {
		w.drop(e, err)
		return nil
	}
	defer in.Done()
	return w.load(ctx, in, e, true)
}

// load stores the content of a regular file of the host. A file that was modified a moment ago is put off until last.
func (w *dirWalker) load(ctx context.Context, in *hostdir.Dir, e *entry, last bool) error {
	f, err := in.OpenFile(path.Base(e.path))
	if err != nil {
		w.drop(e, err)
		return nil
	}
	defer f.Close()

	now := time.Now()
	info, err := w.stat(f)
	if err != nil {
		w.drop(e, err)
		return nil
	}
	if w.doomed() {
		return nil // the walk goes on only to find other files that cannot be read
	}

	// The last time around, a file that is still being modified gets a time by which the next import reads it again.
	e.attr = e.again(info)
	if !w.settled && hostdir.Young(info.ModTime(), now) {
		if !last {
			w.later(e, info.ModTime())
			return nil
		}
		e.mtime--
	}

	source := sparse.NewSource(f)
	if e.data, err = w.batch.Add(ctx, source); err != nil && (source.Err == nil || ctx.Err() != nil) {
		return err // the store failed, not the file
	}
	if err != nil {
		w.drop(e, err)
	}
	return nil
}

// stat describes an open file of the host, and refuses one that is no regular file, or too large.
func (w *dirWalker) stat(f *os.File) (fs.FileInfo, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errUnknownType
	}
	return info, w.checkSize(info.Size(), chunk.MaxSize)
}
