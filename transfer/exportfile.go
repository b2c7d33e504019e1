package transfer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"vfsdb/internal/sparse"
	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/vfs"
)

// write writes the files of a group. Workers call it.
func (w *dirWriter) write(ctx context.Context, g group) error {
	for names := g.names; len(names) > 0; {
		items, through, err := w.load(ctx, g.dir, names)
		if err != nil {
			return err
		}
		names = names[through:]
		for _, it := range items {
			if err := w.item(ctx, g.in, it); err != nil {
				return err
			}
		}
	}
	return nil
}

// item writes anything but a directory.
func (w *dirWriter) item(ctx context.Context, in *hostdir.Dir, it *item) error {
	if it.info.IsDir() {
		return nil // it was another type when it was listed
	}
	if it.info.Nlink() > 1 && w.later(it) {
		return nil
	}
	if it.info.Mode().IsRegular() {
		return w.regular(ctx, in, it)
	}

	base := it.base()
	err := w.replacing(in, base, func() error {
		if it.info.Mode().Type() == fs.ModeSymlink {
			return in.Root.Symlink(it.info.Target(), base)
		}
		return in.Mknod(base, it.info.Mode(), node.UnixPerm(it.info.Mode()), it.info.Rdev())
	})
	if err == nil {
		err = w.putHost(in, base, nil, it.info)
	}
	if err == nil {
		err = in.SetTime(base, it.info.ModTime())
	}
	if err != nil {
		return w.cannot(it.path, err)
	}
	w.counted(it, false)
	return nil
}

// later puts off the further names of a file, and reports whether this is one.
func (w *dirWriter) later(it *item) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.first[it.info.Ino()]; !ok {
		w.first[it.info.Ino()] = it.path
		return false
	}
	w.links = append(w.links, &item{path: it.path, info: it.info})
	return true
}

// replacing runs create. If something is in the way, and the options allow it, that is removed first.
func (w *dirWriter) replacing(in *hostdir.Dir, base string, create func() error) error {
	err := create()
	if !errors.Is(err, fs.ErrExist) || !w.o.Overwrite {
		return err
	}

	there, statErr := in.Root.Lstat(base)
	switch {
	case statErr != nil:
		return err
	case there.IsDir():
		return errIsDir
	case hostdir.IsOwn(w.own, there):
		return hostdir.ErrOwn
	}
	if err := in.Root.Remove(base); err != nil {
		return err
	}
	return create()
}

// regular writes a regular file.
func (w *dirWriter) regular(ctx context.Context, in *hostdir.Dir, it *item) error {
	var content *vfs.File
	if it.large() {
		var err error
		if content, err = w.open(ctx, it); content == nil {
			return err
		}
		defer content.Close()
	}

	var f *os.File
	base := it.base()
	err := w.replacing(in, base, func() (err error) {
		f, err = in.Root.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	if err != nil {
		return w.cannot(it.path, err)
	}

	err = w.fill(ctx, f, in, it, content)
	if unread := (*sparse.ReadError)(nil); errors.As(err, &unread) {
		_ = in.Root.Remove(base) // a part of it is not the file
		return w.unreadable(it.path, unread.Err)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", it.path, err)
	}
	w.counted(it, false)
	w.file(it.path, it.info.Size())
	return nil
}

// fill gives a new file its content and attributes, and closes it. The content of a small file is in the item.
func (w *dirWriter) fill(ctx context.Context, f *os.File, in *hostdir.Dir, it *item, content *vfs.File) (err error) {
	if content != nil {
		err = sparse.Copy(ctx, f, content, it.info.Size())
	} else {
		err = sparse.Write(f, it.data)
	}
	if err == nil {
		err = w.putHost(in, it.base(), f, it.info)
	}

	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = in.SetTime(it.base(), it.info.ModTime())
	}
	return err
}

// link makes a further name of a file that is written.
func (w *dirWriter) link(it *item) error {
	in, err := hostdir.Open(w.root, inStore(parent(it.path)))
	if err != nil {
		return w.cannot(it.path, err)
	}
	defer in.Done()

	err = w.replacing(in, it.base(), func() error {
		return w.root.Link(w.first[it.info.Ino()], it.path)
	})
	if err != nil {
		return w.cannot(it.path, err)
	}
	w.counted(it, true)
	return nil
}
