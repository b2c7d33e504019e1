package transfer

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"vfsdb/vfs"
)

// A file of the host is not read if the store has one in its place with the same size and modification time. That is
// only as good as the times are. Whoever sets one back deceives us, which is why there is Checksum. A file that is
// changed twice within one tick of its file system's clock has one time for two contents. Therefore nothing is stored
// under a time that may still be in use: the store never needs to know when an import was, and what it shows may have
// been restored, branched or changed in mode since.

// A tick is how long a file may be changed under the same time. File systems that keep nanoseconds take them from a
// clock that moves every few milliseconds; those that keep whole seconds may keep every other one only.
const (
	fineTick   = 100 * time.Millisecond
	coarseTick = 2 * time.Second
)

// tickOf tells by a time how exact those of its file system are.
func tickOf(mtime time.Time) time.Duration {
	if mtime.Nanosecond() == 0 {
		return coarseTick
	}
	return fineTick
}

// young reports whether a file that is read now may be changed later and still have the same time. A time that lies
// farther ahead was set by hand.
func young(mtime, now time.Time) bool {
	age, tick := now.Sub(mtime), tickOf(mtime)
	return -tick <= age && age <= tick
}

// A kept is what the store has of a file that is not read.
type kept struct {
	ino     vfs.Ino
	changed int64
	size    int64
	as      bool // with the same attributes
}

// knownPage is how many files are looked up in one transaction.
const knownPage = 1024

// known looks up what the store has under the names of a directory of the host.
func (w *dirWalker) known(ctx context.Context, dir string, list []fs.DirEntry) (map[string]*vfs.Info, error) {
	known := make(map[string]*vfs.Info, len(list))
	for page := range slices.Chunk(list, knownPage) {
		err := w.fsys.View(ctx, func(tx *vfs.Tx) error {
			for _, d := range page {
				info, err := tx.Lstat(w.full(join(dir, d.Name())))
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

// knows reports whether the destination is there, so that it pays to look below it.
func (w *dirWalker) knows(ctx context.Context) (bool, error) {
	if w.o.Checksum {
		return false, nil
	}
	info, err := w.fsys.Stat(ctx, w.to)
	if _, ok := vfs.Errno(err); ok {
		return false, nil
	}
	return err == nil && info.IsDir(), err
}

// unread returns what the store has of a regular file if it need not be read, else nil.
func (w *dirWalker) unread(e *entry, info fs.FileInfo, there *vfs.Info) *kept {
	size := info.Size()
	mtime, exact := nanos(info.ModTime())
	switch {
	case there == nil || !there.Mode().IsRegular():
		return nil
	case !exact || there.Size() != size || !there.ModTime().Equal(time.Unix(0, mtime)):
		return nil
	case w.checkSize(size, size) != nil:
		return nil // whoever reads it refuses it
	}
	uid, gid := there.Owner()
	as := there.Mode() == e.mode && uint32(uid) == e.uid && uint32(gid) == e.gid
	return &kept{there.Ino(), there.ChangeTime().UnixNano(), size, as}
}

// keep adds a file that is not read.
func (w *dirWalker) keep(ctx context.Context, e *entry) error {
	w.tally.file(e.path, e.kept.size)
	return w.add(ctx, e)
}

// later puts off a file that was modified at mtime, a moment ago.
func (w *dirWalker) later(e *entry, mtime time.Time) {
	w.put.Lock()
	defer w.put.Unlock()
	w.late = append(w.late, e)
	if due := mtime.Add(tickOf(mtime)); due.After(w.due) {
		w.due = due
	}
}

// settle waits until the time of no file that was put off can be given to another content of it.
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

// errMoved says that files which were not read are no longer what they were in the store.
var errMoved = errors.New("the store has changed")

// moved returns which of the entries that were not read others have changed in the store since.
func (n *namer) moved(entries []*entry) (list []*entry, err error) {
	for _, e := range entries {
		if e.kept == nil || e.gone {
			continue
		}
		info, err := n.tx.Lstat(n.full(e.path))
		if _, ok := vfs.Errno(err); err != nil && !ok {
			return nil, err
		}
		if err != nil || info.Ino() != e.kept.ino || info.ChangeTime().UnixNano() != e.kept.changed {
			list = append(list, e)
		}
	}
	return list, nil
}

// whole reports whether the names of a file in the store are those that it has in the source, and no others.
func (im *importer) whole(tx *vfs.Tx, e *entry) (bool, error) {
	first, err := tx.Lstat(im.full(e.path))
	if err == nil && first.Mode().IsRegular() && first.Nlink() == 1+len(e.names) {
		for _, name := range e.names {
			other, err := tx.Lstat(im.full(name))
			if err != nil || other.Ino() != first.Ino() {
				return false, unlessErrno(err)
			}
		}
		return true, nil
	}
	return false, unlessErrno(err)
}

// unlessErrno returns an error that is about more than what a name stands for.
func unlessErrno(err error) error {
	if _, ok := vfs.Errno(err); ok {
		return nil
	}
	return err
}

// sameLinks reports whether a file with several names is there with the same ones and the same content.
func (n *namer) sameLinks(e *entry, full string) (bool, error) {
	if len(e.names) == 0 {
		return false, nil
	}
	if whole, err := n.im.whole(n.tx, e); !whole || err != nil {
		return false, err
	}
	sum, err := n.tx.Sum(full)
	return err == nil && sum == e.data.Sum(), err
}
