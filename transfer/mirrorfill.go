package transfer

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/transfer/memo"
	"vfsdb/vfs"
)

// A filler makes a directory of the host equal to the tree.
type filler struct {
	at *memo.Dir
	*exporter
	top  *hostdir.Dir
	diff *memo.Difference
}

// apply makes the host equal to the tree.
func (f *filler) apply(ctx context.Context) error {
	// Other processes may not have the rights to change all directories. Finishing them sets their own.
	if os.Geteuid() > 0 {
		for d := range f.diff.Dirs {
			if err := f.top.Root.Chmod(inStore(d.Path), 0o700); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if err := f.strip(); err != nil {
		return err
	}
	for _, name := range f.diff.Removed {
		if err := f.top.RemoveAll(name); err != nil {
			return err
		}
	}

	w := &dirWriter{exporter: f.exporter, root: f.top.Root, groups: make(chan group, 8), first: make(map[vfs.Ino]string)}
	for d := range f.diff.Dirs {
		w.dirs = append(w.dirs, itemOf(d))
	}
	slices.SortFunc(w.dirs, func(a, b *item) int { return cmp.Compare(a.path, b.path) })
	slices.SortFunc(f.diff.Made, func(a, b *memo.Place) int { return cmp.Compare(a.Path, b.Path) })
	if err := w.work(ctx, func(ctx context.Context) error { return f.send(ctx, w) }); err != nil {
		return err
	}
	return f.at.Note(f.diff)
}

// strip removes from directories of the host the extended attributes that the tree does not have.
func (f *filler) strip() error {
	at := hostdir.Reopener{Top: f.top}
	defer at.Close()
	for d := range f.diff.Dirs {
		in, err := at.Dir(d.Path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue // it is made later
		}
		if err != nil {
			return err
		}
		err = in.LoseXattrs(func(name string) bool {
			_, has := d.Node.Xattrs.Get(name)
			return !has && node.CheckXattr(name) == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func itemOf(p *memo.Place) *item {
	base := ""
	if p.Path != "" {
		base = path.Base(p.Path)
	}
	return &item{path: p.Path, info: node.NewInfo(base, p.Node)}
}

// send makes the directories, and sends the files that are to be written.
func (f *filler) send(ctx context.Context, w *dirWriter) error {
	for _, d := range f.diff.Made {
		if err := f.top.Root.Mkdir(d.Path, 0o700); err != nil {
			if err := w.cannot(d.Path, err); err != nil {
				return err
			}
			continue
		}
		w.counted(itemOf(d), false)
	}

	at := hostdir.Reopener{Top: f.top}
	defer at.Close()
	for start := 0; start < len(f.diff.Files); {
		dir, end := parent(f.diff.Files[start].Path), start
		var names []string
		for ; end < len(f.diff.Files) && end < start+groupSize && parent(f.diff.Files[end].Path) == dir; end++ {
			names = append(names, path.Base(f.diff.Files[end].Path))
		}
		start = end
		in, err := at.Dir(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // it was refused, with all below it
		case err != nil:
			return err
		}
		if err := w.send(ctx, in, dir, names); err != nil {
			return err
		}
	}
	return nil
}
