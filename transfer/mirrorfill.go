package transfer

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/transfer/memo"
	"vfsdb/vfs"
)

// A filler brings a directory of the host to what the tree is.
type filler struct {
	at *memo.Dir
	*exporter
	top  *hostdir.Dir
	diff *memo.Difference
}

// apply makes the host what the tree is.
func (f *filler) apply(ctx context.Context) error {
	// Other processes may not have the rights to change all directories. Finishing them sets their own.
	if os.Geteuid() > 0 {
		for d := range f.diff.Dirs {
			if err := f.top.Root.Chmod(inStore(d.Path), 0o700); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for _, name := range f.diff.Removed {
		if err := f.remove(name); err != nil {
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
	return f.note()
}

func itemOf(p *memo.Place) *item {
	base := ""
	if p.Path != "" {
		base = path.Base(p.Path)
	}
	return &item{path: p.Path, info: node.NewInfo(base, p.Node)}
}

// remove removes a name of the host and all below it, if need be after it got the rights.
func (f *filler) remove(name string) error {
	err := f.top.Root.RemoveAll(name)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	err = fs.WalkDir(f.top.Root.FS(), name, func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			if err := f.top.Root.Chmod(name, 0o700); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f.top.Root.RemoveAll(name)
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

// note looks at what was written, and remembers it.
func (f *filler) note() error {
	for name := range f.at.Known {
		if !f.diff.Shown[name] {
			delete(f.at.Known, name)
		}
	}
	at := hostdir.Reopener{Top: f.top}
	defer at.Close()
	for _, p := range slices.AppendSeq(f.diff.Files, maps.Keys(f.diff.Dirs)) {
		delete(f.at.Known, p.Path)
		if err := f.look(&at, p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (f *filler) look(at *hostdir.Reopener, p *memo.Place) error {
	in, base := f.top, path.Base(p.Path)
	info, err := in.Self.Stat()
	if p.Path != "" {
		if in, err = at.Dir(parent(p.Path)); err == nil {
			info, err = in.Root.Lstat(base)
		}
	}
	if err != nil {
		return err
	}
	f.at.Known[p.Path] = memo.After(p.Path, hostdir.StateOf(info), p.Node, nil).LeaveOut(in, base)
	return nil
}
