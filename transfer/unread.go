package transfer

import (
	"context"
	"io/fs"
	"slices"
	"time"

	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/vfs"
)

// A file of the host is not read if the store has one in its place with the same size and modification time. That is
// only as good as the times are. A time that was set back by hand deceives an import, which is why Checksum exists. A
// file that is changed twice within one tick of its file system's clock has one time for two contents. Therefore no
// content is stored under a time that may still be in use. So the store never needs to know when an import was, and its
// file may have been restored, branched or changed in mode since.

// lookUpPage is how many files are looked up in one transaction.
const lookUpPage = 1024

// lookUp returns the files that the store has under the names of a directory of the host.
func (w *dirWalker) lookUp(ctx context.Context, dir string, list []fs.FileInfo) (map[string]*vfs.Info, error) {
	known := make(map[string]*vfs.Info, len(list))
	for page := range slices.Chunk(list, lookUpPage) {
		err := w.fsys.View(ctx, func(tx *vfs.Tx) error {
			for _, d := range page {
				info, err := tx.Lstat(w.to.path(join(dir, d.Name())))
				switch _, ok := vfs.Errno(err); {
				case err == nil:
					known[d.Name()] = info
				case !ok:
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return known, nil
}

// hasDestination reports whether the store has the destination, so that looking below it pays.
func (w *dirWalker) hasDestination(ctx context.Context) (bool, error) {
	if w.o.Checksum {
		return false, nil
	}
	info, err := w.fsys.Stat(ctx, string(w.to))
	if _, ok := vfs.Errno(err); ok {
		return false, nil
	}
	return err == nil && info.IsDir(), err
}

// twinOf returns the twin of a regular file that need not be read, else nil. there is the file in its place, if any.
func (w *dirWalker) twinOf(e *entry, info fs.FileInfo, there *vfs.Info) *twin {
	size := info.Size()
	mtime, exact := hostdir.Nanos(info.ModTime())
	switch {
	case there == nil || !there.Mode().IsRegular():
		return nil
	case !exact || there.Size() != size || !there.ModTime().Equal(time.Unix(0, mtime)):
		return nil
	case w.checkSize(size, size) != nil:
		return nil // reading it is refused
	}

	return &twin{there.Ino(), there.ChangeTime().UnixNano(), size, !e.differs(node.NodeOf(there))}
}

// keep adds a file that is not read.
func (w *dirWalker) keep(ctx context.Context, e *entry) error {
	w.tally.file(e.path, e.twin.size)
	return w.add(ctx, e)
}

// later puts off a file that was modified at mtime, a moment ago.
func (w *dirWalker) later(e *entry, mtime time.Time) {
	w.put.Lock()
	defer w.put.Unlock()
	w.late = append(w.late, e)
	if due := mtime.Add(hostdir.TickOf(mtime)); due.After(w.due) {
		w.due = due
	}
}

// settle waits until no file that was put off can get another content under its present time.
func (w *dirWalker) settle(ctx context.Context) error {
	timer := time.NewTimer(time.Until(w.due) + time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
