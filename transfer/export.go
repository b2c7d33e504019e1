package transfer

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/snapshot"
	"vfsdb/transfer/since"
	"vfsdb/vfs"
)

// ExportOptions control how a tree goes out. A nil *ExportOptions is the zero value.
type ExportOptions struct {
	// Overwrite lets ExportDir write into a directory that is not empty. Files that are in the way are replaced,
	// directories are entered, and all others stay.
	Overwrite bool

	// Partial leaves out files that are damaged, and lists them in the Report, instead of failing.
	Partial bool

	// Since leaves out what a tree with the same root, such as a snapshot, has as well. What is left goes out as a whole, with
	// the directories that lead to it. A time alone is no difference. Names that only Since has are in the Report. If nothing
	// differs, an archive has no entry.
	Since snapshot.Tree

	// Owner gives files the stored user and group, where the process may (it is root).
	Owner bool

	// Progress is called after each file that was written, on the goroutine of the caller.
	Progress func(Progress)
}

// One transaction lists at most listPage names, or loads about loadBytes bytes.
const (
	listPage  = 512
	loadBytes = 1 << 20
)

// An item is a file of the store on its way out.
type item struct {
	path string
	info *vfs.Info
	data []byte // of a regular file of at most one chunk; the content of a larger one is read by itself
}

// base returns the last segment of the path.
func (i *item) base() string { return i.path[len(i.path)-len(i.info.Name()):] }

// large reports whether the content is not in data.
func (i *item) large() bool { return i.info.Mode().IsRegular() && i.info.Size() > chunk.Size }

// An exporter reads a tree of the store.
type exporter struct {
	tally
	fsys *vfs.FS // the tree that goes out
	o    ExportOptions
	only *since.Selection // with Since
}

func newExporter(ctx context.Context, fsys *vfs.FS, from string, o *ExportOptions) (*exporter, error) {
	if from == "" {
		from = "/"
	}
	top, err := fsys.OpenRoot(ctx, from)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: from, Err: cause(err)}
	}
	x := &exporter{fsys: top}
	if o != nil {
		x.o = *o
	}
	x.progress = x.o.Progress
	if x.o.Since != nil {
		if x.only, err = since.Select(ctx, x.o.Since, fsys, from); err != nil {
			return nil, err
		}
		x.report.Removed = x.only.Removed
	}
	return x, nil
}

// cause returns an error without the path that wraps it.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// list calls fn for each entry of a directory that goes out, in order of their names. Each page is a transaction of its own:
// fn may wait for the host, and the log of the store would grow meanwhile.
func (x *exporter) list(ctx context.Context, dir string, fn func(fs.DirEntry) error) error {
	if names, some := x.only.Names(dir); some {
		return x.listOnly(ctx, dir, names, fn)
	}
	for after := ""; ; {
		page, err := x.fsys.ReadDirPage(ctx, inStore(dir), after, listPage)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return x.removed(ctx, dir)
		case err != nil:
			return x.unreadable(dir, err)
		}
		for _, e := range page {
			if err := fn(e); err != nil {
				return err
			}
			after = e.Name()
		}
		if len(page) < listPage {
			return nil
		}
	}
}

// listOnly is list of a part of the names.
func (x *exporter) listOnly(ctx context.Context, dir string, names []string, fn func(fs.DirEntry) error) error {
	for _, name := range names {
		info, err := x.fsys.Lstat(ctx, join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = x.removed(ctx, join(dir, name))
		case err != nil:
			err = x.unreadable(join(dir, name), err)
		default:
			err = fn(fs.FileInfoToDirEntry(info))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// load reads files of a directory, with the contents of small ones, until about loadBytes are in memory. It returns how
// many of the names it has handled. It leaves out files that no longer exist.
func (x *exporter) load(ctx context.Context, dir string, names []string) (items []*item, through int, err error) {
	var gone []string
	err = x.fsys.View(ctx, func(tx *vfs.Tx) error {
		held := int64(0)
		for _, name := range names {
			if through > 0 && held >= loadBytes {
				return nil
			}

			it, err := loadItem(tx, join(dir, name))
			switch {
			case errors.Is(err, fs.ErrNotExist):
				gone = append(gone, join(dir, name))
			case err != nil:
				if err := x.unreadable(join(dir, name), err); err != nil {
					return err
				}
			default:
				items = append(items, it)
				held += int64(len(it.data))
			}
			through++
		}
		return nil
	})

	for _, name := range gone {
		if err == nil {
			err = x.removed(ctx, name)
		}
	}
	return items, through, err
}

func loadItem(tx *vfs.Tx, name string) (*item, error) {
	info, err := tx.Lstat(inStore(name))
	if err != nil {
		return nil, err
	}
	it := &item{path: name, info: info}
	if info.Mode().IsRegular() && !it.large() {
		it.data, err = tx.ReadFile(name)
	}
	return it, err
}

// open opens a large file. A file that is left out is nil, without an error.
func (x *exporter) open(ctx context.Context, it *item) (*vfs.File, error) {
	f, err := x.openFrozen(ctx, it)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, x.removed(ctx, it.path)
	case err != nil:
		return nil, x.unreadable(it.path, err)
	}
	return f, nil
}

// openFrozen opens a large file as it is now, and brings the item up to date with it.
func (x *exporter) openFrozen(ctx context.Context, it *item) (*vfs.File, error) {
	f, err := x.fsys.OpenFrozen(ctx, it.path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	it.info = info.(*vfs.Info)
	if !it.info.Mode().IsRegular() {
		f.Close()
		return nil, syscall.ESTALE
	}
	return f, nil
}

// counted adds an item that has gone out to the Report.
func (x *exporter) counted(it *item, linked bool) {
	x.count(func(r *Report) {
		switch {
		case linked || it.info.Mode().Type() == fs.ModeSymlink:
			r.Links++
		case !it.info.IsDir():
			r.Files++
			r.Bytes += it.info.Size()
		case it.path != "":
			r.Dirs++
		}
	})
}
