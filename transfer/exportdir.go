package transfer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"

	"vfsdb/internal/parallel"
	"vfsdb/transfer/hostdir"
	"vfsdb/vfs"
)

// ExportDir copies the contents of the directory from of the store into the directory dest of the host. dest is created
// if it is missing, must be empty unless Overwrite is set, and gets the attributes of from. Files that the host cannot
// store are left out and listed in the Report. Damage in the store fails the export, unless Partial is set. A failed
// export leaves behind the files that it has written.
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
		exporter: x, root: root, own: hostdir.OwnFiles(fsys.Store().Path()), groups: make(chan group, 8),
		first: make(map[vfs.Ino]string),
	}
	if !x.only.Empty() {
		w.dirs = []*item{{info: top}}
	}
	if !w.o.Overwrite {
		if err := hostdir.CheckEmpty(root); err != nil {
			return nil, err
		}
	}
	if err := w.attend(ctx, w.run); err != nil {
		return nil, err
	}
	return &w.report, nil
}

// A dirWriter makes directories on the host, while workers write files into them.
type dirWriter struct {
	*exporter
	root   *os.Root
	own    []fs.FileInfo
	groups chan group
	dirs   []*item // the directories that were made; they get their attributes last

	mu    sync.Mutex
	first map[vfs.Ino]string // of a file with several names
	links []*item            // its further names, to be made after the first
}

// A group is some files of one directory.
type group struct {
	in    *hostdir.Dir
	dir   string
	names []string
}

const groupSize = 64

// run writes the whole tree.
func (w *dirWriter) run(ctx context.Context) error {
	return w.work(ctx, func(ctx context.Context) error { return w.dir(ctx, "") })
}

// work runs find, which makes directories and sends groups, while workers write the files. Links and attributes of
// directories come last.
func (w *dirWriter) work(ctx context.Context, find func(context.Context) error) error {
	err := parallel.Each(ctx, w.groups, find, w.write, func(g group) { g.in.Done() })
	if err != nil {
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

// dir writes the contents of a directory that exists on the host.
func (w *dirWriter) dir(ctx context.Context, name string) error {
	in, err := hostdir.Open(w.root, inStore(name))
	if err != nil {
		return w.cannot(name, err)
	}
	below, err := w.entries(ctx, name, in)
	in.Done()
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

// entries hands the files of a directory to the workers, and makes the directories in it, which it returns.
func (w *dirWriter) entries(ctx context.Context, name string, in *hostdir.Dir) (below []string, err error) {
	var names []string
	send := func() error {
		list := names
		names = nil
		return w.send(ctx, in, name, list)
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

// send gives files of a directory to the workers.
func (w *dirWriter) send(ctx context.Context, in *hostdir.Dir, dir string, names []string) error {
	select {
	case w.groups <- group{in.Use(), dir, names}:
		return nil
	case <-ctx.Done():
		in.Done()
		return ctx.Err()
	}
}

// mkdir makes a directory. It is not made if it was removed meanwhile, or cannot be.
func (w *dirWriter) mkdir(ctx context.Context, in *hostdir.Dir, name string, e fs.DirEntry) (made bool, err error) {
	info, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, w.removed(ctx, name)
	case err != nil:
		return false, w.unreadable(name, err)
	}

	err = in.Root.Mkdir(e.Name(), 0o700)
	if errors.Is(err, fs.ErrExist) && w.o.Overwrite {
		if there, statErr := in.Root.Lstat(e.Name()); statErr == nil && there.IsDir() {
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

// finish gives a directory its attributes.
func (w *dirWriter) finish(it *item) error {
	in, err := hostdir.Open(w.root, inStore(it.path))
	if err != nil {
		return w.cannot(it.path, err)
	}
	defer in.Done()
	err = w.putHost(in, ".", in.Self, it.info)
	if err == nil {
		err = in.SetTime(".", it.info.ModTime())
	}
	if err != nil {
		return w.cannot(it.path, err)
	}
	return nil
}
