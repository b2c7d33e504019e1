package transfer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"vfsdb/vfs"
)

// ExportDir puts what is inside the directory from of the store inside the directory dest of the host, which is created
// if it is missing, must be empty unless the options say Overwrite, and gets the attributes of from. What the host
// cannot store is left out and listed in the Report. What is damaged in the store fails the export, unless the options
// say Partial. A failure leaves behind what was written until then.
func ExportDir(ctx context.Context, fsys *vfs.FS, from, dest string, o *ExportOptions) (*Report, error) {
	report, err := exportDir(ctx, fsys, from, dest, o)
	if err != nil {
		return nil, fmt.Errorf("export %s to %s: %w", from, dest, err)
	}
	return report, nil
}

func exportDir(ctx context.Context, fsys *vfs.FS, from, dest string, o *ExportOptions) (*Report, error) {
	x, err := newExporter(ctx, fsys, from, o)
	if err != nil {
		return nil, err
	}
	top, err := x.fsys.Stat(ctx, ".")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dest, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dest)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w := &dirWriter{
		exporter: x, root: root, own: ownFiles(fsys), groups: make(chan group, 8),
		dirs: []*item{{info: top}}, first: make(map[vfs.Ino]string),
	}
	if !w.o.Overwrite {
		if err := checkEmpty(root); err != nil {
			return nil, err
		}
	}
	if err := w.attend(ctx, w.run); err != nil {
		return nil, err
	}
	return &w.report, nil
}

func checkEmpty(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	if names, _ := d.Readdirnames(1); len(names) > 0 {
		return syscall.ENOTEMPTY
	}
	return nil
}

// A dirWriter makes directories on the host, while workers write the files into them.
type dirWriter struct {
	*exporter
	root   *os.Root
	own    []fs.FileInfo
	groups chan group
	dirs   []*item // those that were made: they get their attributes last

	mu    sync.Mutex
	first map[vfs.Ino]string // of a file with several names
	links []*item            // its other names, to be made when the first is there
}

// A group is some files of one directory.
type group struct {
	in    *hostDir
	dir   string
	names []string
}

const groupSize = 64

func (w *dirWriter) run(ctx context.Context) error {
	g, both := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(w.groups)
		return w.dir(both, "")
	})
	for range min(4, runtime.GOMAXPROCS(0)) {
		g.Go(func() error {
			var err error
			for group := range w.groups {
				if err == nil {
					err = w.write(both, group)
				}
				group.in.done()
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, it := range w.links {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.link(it); err != nil {
			return err
		}
	}
	for _, it := range slices.Backward(w.dirs) {
		if err := w.finish(it); err != nil {
			return err
		}
	}
	return nil
}

// dir writes what is in a directory that is there.
func (w *dirWriter) dir(ctx context.Context, name string) error {
	in, err := w.openDir(name)
	if err != nil {
		return w.cannot(name, err)
	}
	below, err := w.fill(ctx, name, in)
	in.done()
	if err != nil {
		return err
	}
	for _, sub := range below {
		if err := w.dir(ctx, sub); err != nil {
			return err
		}
	}
	return nil
}

// fill hands the files of a directory to the workers, and makes the directories in it, which it returns.
func (w *dirWriter) fill(ctx context.Context, name string, in *hostDir) (below []string, err error) {
	var names []string
	send := func() error {
		select {
		case w.groups <- group{in.use(), name, names}:
			names = nil
			return nil
		case <-ctx.Done():
			in.done()
			return ctx.Err()
		}
	}
	err = w.list(ctx, name, func(e fs.DirEntry) error {
		if e.IsDir() {
			made, err := w.mkdir(ctx, in, join(name, e.Name()), e)
			if made {
				below = append(below, join(name, e.Name()))
			}
			return err
		}
		if names = append(names, e.Name()); len(names) == groupSize {
			return send()
		}
		return nil
	})
	if err == nil && len(names) > 0 {
		err = send()
	}
	return below, err
}

func (w *dirWriter) mkdir(ctx context.Context, in *hostDir, name string, e fs.DirEntry) (made bool, err error) {
	info, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, w.removed(ctx, name)
	case err != nil:
		return false, w.unreadable(name, err)
	}
	err = in.root.Mkdir(e.Name(), 0o700)
	if errors.Is(err, fs.ErrExist) && w.o.Overwrite {
		if there, statErr := in.root.Lstat(e.Name()); statErr == nil && there.IsDir() {
			err = nil
		}
	}
	if err != nil {
		return false, w.cannot(name, err)
	}
	it := &item{path: name, info: info.(*vfs.Info)}
	w.dirs = append(w.dirs, it)
	w.counted(it, false)
	return true, nil
}

// cannot refuses an entry that the host cannot store, unless the error is about more than this entry.
func (w *dirWriter) cannot(name string, err error) error {
	switch errno, _ := vfs.Errno(err); errno {
	case syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, syscall.EDQUOT:
		return fmt.Errorf("%q: %w", name, errno)
	}
	w.refuse(name, err)
	return nil
}

// write writes the files of a group.
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
func (w *dirWriter) item(ctx context.Context, in *hostDir, it *item) error {
	if it.info.IsDir() {
		return nil // something else had the name when it was listed
	}
	if it.info.Nlink() > 1 && w.later(it) {
		return nil
	}
	base := it.path[len(it.path)-len(it.info.Name()):]
	if it.info.Mode().IsRegular() {
		return w.regular(ctx, in, base, it)
	}
	err := w.replacing(in, base, func() error {
		if it.info.Mode().Type() == fs.ModeSymlink {
			return in.root.Symlink(it.info.Target(), base)
		}
		return in.mknod(base, it.info)
	})
	if err == nil {
		err = w.setOwner(in, base, it.info)
	}
	if err == nil {
		err = in.setTime(base, it.info.ModTime())
	}
	if err != nil {
		return w.cannot(it.path, err)
	}
	w.counted(it, false)
	return nil
}

// later puts the second and further names of a file off.
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

// replacing runs create, and where the options allow it removes what is in the way.
func (w *dirWriter) replacing(in *hostDir, base string, create func() error) error {
	err := create()
	if !errors.Is(err, fs.ErrExist) || !w.o.Overwrite {
		return err
	}
	there, statErr := in.root.Lstat(base)
	switch {
	case statErr != nil:
		return err
	case there.IsDir():
		return errIsDir
	case isOwn(w.own, there):
		return errOwn
	}
	if err := in.root.Remove(base); err != nil {
		return err
	}
	return create()
}

var errOwn = fmt.Errorf("the store itself has this name: %w", syscall.EPERM)

func (w *dirWriter) regular(ctx context.Context, in *hostDir, base string, it *item) error {
	var content *vfs.File
	if it.large() {
		f, err := w.open(ctx, it)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return w.removed(ctx, it.path)
		case err != nil:
			return w.unreadable(it.path, err)
		}
		defer f.Close()
		content = f
	}
	var f *os.File
	err := w.replacing(in, base, func() (err error) {
		f, err = in.root.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	if err != nil {
		return w.cannot(it.path, err)
	}
	if content != nil {
		err = copySparse(ctx, f, content, it.info.Size())
	} else {
		err = writeSparse(f, it.data)
	}
	if err == nil {
		err = w.setOwner(in, base, it.info)
	}
	if err == nil {
		err = f.Chmod(it.info.Mode())
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = in.setTime(base, it.info.ModTime())
	}
	if unread := (*readError)(nil); errors.As(err, &unread) {
		_ = in.root.Remove(base) // a part of it is not the file
		return w.unreadable(it.path, unread.err)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", it.path, err)
	}
	w.counted(it, false)
	w.file(it.path, it.info.Size())
	return nil
}

// setOwner gives a file its owner, if the options say so and the process may.
func (w *dirWriter) setOwner(in *hostDir, base string, info *vfs.Info) error {
	if !w.o.Owner || os.Geteuid() != 0 {
		return nil
	}
	uid, gid := info.Owner()
	return in.root.Lchown(base, uid, gid)
}

// link makes another name of a file that is there.
func (w *dirWriter) link(it *item) error {
	dir := parent(it.path)
	in, err := w.openDir(dir)
	if err != nil {
		return w.cannot(it.path, err)
	}
	defer in.done()
	err = w.replacing(in, it.path[len(it.path)-len(it.info.Name()):], func() error {
		return w.root.Link(w.first[it.info.Ino()], it.path)
	})
	if err != nil {
		return w.cannot(it.path, err)
	}
	w.counted(it, true)
	return nil
}

// finish gives a directory its attributes.
func (w *dirWriter) finish(it *item) error {
	in, err := w.openDir(it.path)
	if err != nil {
		return w.cannot(it.path, err)
	}
	defer in.done()
	err = w.setOwner(in, ".", it.info)
	if err == nil {
		err = in.self.Chmod(it.info.Mode())
	}
	if err == nil {
		err = in.setTime(".", it.info.ModTime())
	}
	if err != nil {
		return w.cannot(it.path, err)
	}
	return nil
}
