package transfer

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/vfs"
)

// ExportOptions say how a tree goes out. A nil *ExportOptions is the zero value.
type ExportOptions struct {
	// Overwrite lets ExportDir write into a directory that is not empty. Files that are in the way are replaced,
	// directories entered; what else is there stays.
	Overwrite bool

	// Partial leaves out what cannot be read because it is damaged, and lists it in the Report, instead of failing.
	Partial bool

	// Owner gives files the stored user and group, where the process may (it is root).
	Owner bool

	// Progress is called after each file that was written, on the goroutine of the caller.
	Progress func(Progress)
}

// listPage is how many names are listed in one transaction, and loadBytes about how many bytes are loaded in one.
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

func (i *item) large() bool { return i.info.Mode().IsRegular() && i.info.Size() > chunk.Size }

// An exporter reads a tree of the store.
type exporter struct {
	tally
	fsys *vfs.FS // the tree that goes out
	o    ExportOptions
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
	x.tell = x.o.Progress
	return x, nil
}

// cause is what an error says of a path.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// inStore is the path of the exporter's tree for a path inside what goes out.
func inStore(name string) string {
	if name == "" {
		return "."
	}
	return name
}

// list calls fn for each entry of a directory, in order of their names.
func (x *exporter) list(ctx context.Context, dir string, fn func(fs.DirEntry) error) error {
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

// load reads files of a directory, with the contents of small ones, until it has much in memory. It returns how many of
// the names it has been through; what is no longer there is left out.
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

// open opens a large file. It shows the file as it is from now on, so the item is brought up to date.
func (x *exporter) open(ctx context.Context, it *item) (*vfs.File, error) {
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
