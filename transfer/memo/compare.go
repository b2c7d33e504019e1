package memo

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A Difference is how the tree on the host differs from one of the store.
type Difference struct {
	Shown   map[string]bool // all paths of the tree
	Removed []string        // paths of the host that go, each with all below it
	Made    []*Place        // directories that the host does not have
	Dirs    map[*Place]bool // directories whose attributes or names change
	Files   []*Place        // anything else to be written, by directory

	d      *Dir
	tree   *tree.Tree
	top    *hostdir.Dir
	seen   node.InoSet
	linked map[node.Ino]*linkedNode
}

// A Place is a path of the tree, and the node that it shows.
type Place struct {
	Path  string
	Node  *node.Node
	above *Place // the directory that it is in; nil for the root
}

// Compare finds how the tree on the host, whose directory is top, differs from one of the store that does not change.
func (d *Dir) Compare(ctx context.Context, fsys *vfs.FS, top *hostdir.Dir) (*Difference, error) {
	f := &Difference{
		Shown: make(map[string]bool, len(d.Known)), Dirs: make(map[*Place]bool),
		d: d, tree: (*tree.Tree)(fsys), top: top, linked: make(map[node.Ino]*linkedNode),
	}
	return f, f.compare(ctx)
}

// A linkedNode is a file with several names.
type linkedNode struct {
	names []*Place
	ids   map[hostdir.ID]bool // of the files that the host has under these names
	fresh bool                // some of them are to be written
}

// Nothing reports whether there is no difference.
func (f *Difference) Nothing() bool {
	return len(f.Removed)+len(f.Made)+len(f.Dirs)+len(f.Files) == 0 && len(f.Shown) == len(f.d.Known)
}

// compare finds what differs.
func (f *Difference) compare(ctx context.Context) error {
	root := &Place{}
	err := f.view(ctx, func(tx *tree.Tx) (err error) {
		root.Node, err = tx.Node(tx.Root())
		return err
	})
	if err != nil {
		return err
	}
	info, err := f.top.Self.Stat()
	if err != nil {
		return err
	}
	if err := f.dir(ctx, f.top, root, info); err != nil {
		return err
	}

	// A file with several names is one file on the host, or it is written again under all of them.
	for _, l := range f.linked {
		if !l.fresh && len(l.ids) == 1 {
			continue
		}
		for _, p := range l.names {
			f.write(p, true)
		}
	}
	slices.SortFunc(f.Files, func(a, b *Place) int {
		return cmp.Or(cmp.Compare(path.Dir(a.Path), path.Dir(b.Path)), cmp.Compare(a.Path, b.Path))
	})
	return nil
}

func (f *Difference) view(ctx context.Context, fn func(*tree.Tx) error) error {
	return f.tree.View(ctx, fn)
}

// dir compares a directory of the tree with one of the host, which is open; in and info are nil if the host has none.
func (f *Difference) dir(ctx context.Context, in *hostdir.Dir, at *Place, info fs.FileInfo) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !f.seen.Add(at.Node.Ino) {
		return node.ErrBelowItself(at.Node.Ino)
	}
	f.Shown[at.Path] = true
	names, err := f.names(ctx, at)
	if err != nil {
		return err
	}
	hosts := make(map[string]fs.FileInfo, len(names))
	if in != nil {
		list, err := in.List()
		if err != nil {
			return err
		}
		for _, h := range list {
			hosts[h.Name()] = h
		}
	}

	if in == nil || !f.isSame(at, info) {
		f.Dirs[at] = true
	}
	for _, p := range names {
		base := path.Base(p.Path)
		if err := f.name(ctx, in, p, hosts[base]); err != nil {
			return err
		}
		delete(hosts, base)
	}
	for base := range hosts {
		f.Removed = append(f.Removed, join(at.Path, base))
		f.Dirs[at] = true
	}
	return nil
}

// names lists a directory of the tree.
func (f *Difference) names(ctx context.Context, at *Place) (list []*Place, err error) {
	err = f.view(ctx, func(tx *tree.Tx) error {
		page, err := tx.Page(at.Node.Ino, "", math.MaxInt)
		if err != nil {
			return err
		}

		inos := make([]node.Ino, len(page))
		for i, e := range page {
			inos[i] = e.Ino
		}
		if err := tx.Prefetch(inos); err != nil {
			return err
		}

		for _, e := range page {
			n, err := tx.NodeOf(at.Node.Ino, e)
			if err != nil {
				return err
			}
			list = append(list, &Place{join(at.Path, e.Name), n, at})
		}
		return nil
	})
	return list, err
}

// name compares a name of the tree with what the host has there, or nil.
func (f *Difference) name(ctx context.Context, above *hostdir.Dir, p *Place, info fs.FileInfo) error {
	if p.Node.IsDir() {
		if info != nil && info.IsDir() {
			return f.sub(ctx, above, p)
		}
		if info != nil {
			f.Removed = append(f.Removed, p.Path)
		}
		f.Made = append(f.Made, p)
		f.Dirs[p.above] = true
		return f.dir(ctx, nil, p, nil)
	}

	f.Shown[p.Path] = true
	same := info != nil && f.isSame(p, info)
	if p.Node.Nlink > 1 {
		l := f.linked[p.Node.Ino]
		if l == nil {
			l = &linkedNode{ids: make(map[hostdir.ID]bool)}
			f.linked[p.Node.Ino] = l
		}
		l.names = append(l.names, p)
		l.fresh = l.fresh || !same
		if info != nil {
			l.ids[hostdir.StateOf(info).ID] = true
		}
		return nil
	}
	if !same {
		f.write(p, info != nil)
	}
	return nil
}

// write writes a file. there is whether the host may have something in its place.
func (f *Difference) write(p *Place, there bool) {
	if there {
		f.Removed = append(f.Removed, p.Path)
	}
	f.Files = append(f.Files, p)
	f.Dirs[p.above] = true
}

// sub compares a directory that both have. One that cannot be read gets the rights for it.
func (f *Difference) sub(ctx context.Context, above *hostdir.Dir, p *Place) error {
	base := path.Base(p.Path)
	in, info, err := above.Sub(base)
	if errors.Is(err, fs.ErrPermission) {
		if err := above.Root.Chmod(base, 0o700); err != nil {
			return err
		}
		in, info, err = above.Sub(base)
	}
	if err != nil {
		return err
	}
	defer in.Done()
	return f.dir(ctx, in, p, info)
}

// isSame reports whether the host has a file as it is known to be, and as the tree has it.
func (f *Difference) isSame(p *Place, info fs.FileInfo) bool {
	known := f.d.Known[p.Path]
	return known != nil && known.Node == Identity(p.Node) && f.d.Same(known, hostdir.StateOf(info))
}

// join is path.Join for clean paths, where "" is the top.
func join(dir, base string) string {
	if dir == "" {
		return base
	}
	return dir + "/" + base
}

// Note looks at what was written to the host after a comparison, so that it is known.
func (d *Dir) Note(f *Difference) error {
	for name := range d.Known {
		if !f.Shown[name] {
			delete(d.Known, name)
		}
	}
	at := hostdir.Reopener{Top: f.top}
	defer at.Close()
	for _, p := range slices.AppendSeq(f.Files, maps.Keys(f.Dirs)) {
		delete(d.Known, p.Path)
		if err := d.look(&at, f.top, p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (d *Dir) look(at *hostdir.Reopener, top *hostdir.Dir, p *Place) error {
	in, base := top, path.Base(p.Path)
	info, err := in.Self.Stat()
	if p.Path != "" {
		if in, err = at.Dir(above(p.Path)); err == nil {
			info, err = in.Root.Lstat(base)
		}
	}
	if err != nil {
		return err
	}
	d.Known[p.Path] = After(p.Path, hostdir.StateOf(info), p.Node, nil).LeaveOut(in, base)
	return nil
}

// above returns the directory that a path is in; "" is the top.
func above(name string) string {
	dir, _ := path.Split(name)
	return strings.TrimSuffix(dir, "/")
}
