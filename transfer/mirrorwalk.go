package transfer

import (
	"context"
	"io/fs"
	"slices"

	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/transfer/memo"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A bringer finds what was changed in the directory of a Mirror since it was filled.
type bringer struct {
	m *memo.Dir
	*dirWalker
	shown  map[string]hostdir.State // what the host has, by path
	byID   map[hostdir.ID]*memo.File
	groups map[hostdir.ID]*hostFile // files with several names
	order  []*hostFile

	dirs  []*entry // directories that are new or have other attributes
	links []*entry // further names, and files that are not regular
}

// A hostFile is a file of the host with several names.
type hostFile struct {
	names []*entry
	first fs.FileInfo
	fresh bool // one of the names is not as it is known to be
}

func (b *bringer) nothing() bool {
	return len(b.dirs)+len(b.links)+len(b.pending) == 0 && len(b.shown) == len(b.m.Known)
}

// find walks the directory. It sends the regular files that were changed to the workers.
func (b *bringer) find(ctx context.Context) error {
	info, err := b.top.Self.Stat()
	if err != nil {
		return err
	}
	if err := b.dir(ctx, b.top, "", info); err != nil {
		return err
	}

	// A file with several names that was changed gets all of them anew.
	var again []*entry
	for _, f := range b.order {
		if !f.fresh {
			continue
		}
		first := f.names[0]
		for _, e := range f.names[1:] {
			e.same = first
			first.names = append(first.names, e.path)
			b.links = append(b.links, e)
		}
		if f.first.Mode().IsRegular() {
			again = append(again, first)
			continue
		}
		at := hostdir.Reopener{Top: b.top}
		in, err := at.Dir(parent(first.path))
		if err == nil {
			err = b.special(in, first, f.first)
		}
		at.Close()
		if err != nil {
			b.drop(first, err)
		}
	}
	return b.sendAgain(ctx, again)
}

// dir walks one directory, which is open.
func (b *bringer) dir(ctx context.Context, in *hostdir.Dir, name string, info fs.FileInfo) error {
	now, known := hostdir.StateOf(info), b.m.Known[name]
	b.shown[name] = now
	if !b.m.Same(known, now) || !b.m.Settled(now) {
		b.dirs = append(b.dirs, b.entry(in, ".", name, info))
	}
	list, err := in.List()
	if err != nil {
		b.refuse(name, err)
	}

	for _, info := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		inside := join(name, info.Name())
		if !info.IsDir() {
			err = b.other(ctx, in, inside, info)
		} else {
			err = b.sub(ctx, in, inside, info.Name())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bringer) sub(ctx context.Context, above *hostdir.Dir, name, base string) error {
	in, info, err := above.Sub(base)
	if err != nil {
		b.refuse(name, err)
		return nil
	}
	defer in.Done()
	return b.dir(ctx, in, name, info)
}

// other takes anything but a directory.
func (b *bringer) other(ctx context.Context, in *hostdir.Dir, name string, info fs.FileInfo) error {
	now := hostdir.StateOf(info)
	b.shown[name] = now
	fresh := !b.m.Same(b.m.Known[name], now)

	id, linked := hostdir.Identity(info)
	switch {
	case linked:
		f := b.groups[id]
		if f == nil {
			f = &hostFile{first: info}
			b.groups[id], b.order = f, append(b.order, f)
		}
		f.names, f.fresh = append(f.names, b.entry(in, info.Name(), name, info)), f.fresh || fresh
		return nil
	case !fresh:
		return nil
	}

	e := b.entry(in, info.Name(), name, info)
	if info.Mode().IsRegular() {
		return b.send(ctx, in, e)
	}
	if err := b.special(in, e, info); err != nil {
		b.drop(e, err)
	}
	return nil
}

// special takes a symlink, fifo, socket or device.
func (b *bringer) special(in *hostdir.Dir, e *entry, info fs.FileInfo) (err error) {
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		e.target, err = in.Root.Readlink(info.Name())
	case fs.ModeNamedPipe, fs.ModeSocket, fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
	default:
		err = errUnknownType
	}
	if err == nil {
		b.links = append(b.links, e)
	}
	return err
}

// was returns what is known of the file that has a path now.
func (b *bringer) was(name string) *memo.File { return b.m.Was(name, b.shown, b.byID) }

// keepAttr gives an entry those attributes of the tree that were not changed on the host. The host may not be able to show all
// of them.
func (b *bringer) keepAttr(e *entry) {
	now, ok := b.shown[e.path]
	known := b.was(e.path)
	if known == nil || !ok || known.Host.Mode.Type() != now.Mode.Type() {
		return
	}
	if known.Host.Mode == now.Mode {
		e.mode = node.FileMode(known.Node.Mode)
	}
	if known.Host.Uid == now.Uid && known.Host.Gid == now.Gid {
		e.uid, e.gid = known.Node.Uid, known.Node.Gid
	}
	if known.Host.Mtime == now.Mtime {
		e.mtime = known.Node.Mtime
	}

	if e.xattrs != nil && len(known.Left) > 0 {
		all, err := known.PutBack(e.xattrs.Xattrs)
		if err != nil {
			b.refuse(e.path, err)
		}
		e.xattrs = &xattrs{all, true}
	}
}

// dropSame drops the files that were looked at only because a change of them may have been too quick for the clock, and that are
// as they were.
func (b *bringer) dropSame(ctx context.Context) error {
	for _, list := range [][]*entry{b.pending, b.links, b.dirs} {
		for _, e := range list {
			b.keepAttr(e)
		}
	}

	same := make(map[*entry]bool)
	err := b.fsys.View(ctx, func(tx *vfs.Tx) error {
		for _, list := range [][]*entry{b.pending, b.links, b.dirs} {
			for _, e := range list {
				if e.gone || e.same != nil || !b.looksSame(e) {
					continue
				}
				sum, err := (*tree.Tx)(tx).SumOf(&b.m.Known[e.path].Node)
				if err != nil {
					return err
				}
				same[e] = e.data == nil || e.data.Sum() == sum
			}
		}
		return nil
	})
	drop := func(e *entry) bool { return same[e.first()] }
	b.pending, b.links, b.dirs = slices.DeleteFunc(b.pending, drop), slices.DeleteFunc(b.links, drop), slices.DeleteFunc(b.dirs, drop)
	return err
}

// looksSame reports whether all but the content of a file is as it is known, under all of its names.
func (b *bringer) looksSame(e *entry) bool {
	n := b.m.NodeOf(b.shown, append([]string{e.path}, e.names...))
	return n != nil && e.target == n.Target && (e.xattrs == nil || e.xattrs.Xattrs == n.Xattrs)
}
