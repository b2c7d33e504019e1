package vfs

import (
	"slices"
	"strings"
	"syscall"

	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
)

// maxLinks is how many symlinks a walk follows.
const maxLinks = 40

// A place is where a path leads: an entry of a directory, that may or may not exist.
type place struct {
	dir   Ino    // the directory that holds base
	base  string // "" if the path is the root
	ino   Ino    // 0 if there is nothing
	kind  uint8
	up    bool     // the path ends in "..": a verb that takes the name away refuses
	chain []Ino    // the directories from the root down to dir
	names []string // of those below the root
}

// walk resolves a path from the root of the tree. It follows a symlink on the way, and one at the end if follow is set:
// 40 of them pass and the next is ELOOP. `..` is taken after symlinks, and at the root it stays there. If the last
// segment does not exist, the place has no ino. A missing directory before it is ENOENT, and a file there ENOTDIR.
func (tx *Tx) walk(name string, follow bool) (place, error) {
	w, err := tx.walker(name, follow)
	if err != nil {
		return place{}, err
	}
	return w.run()
}

// walker checks a path and stands at its start.
func (tx *Tx) walker(name string, follow bool) (walker, error) {
	w := walker{tx: tx, rest: name, follow: follow}
	switch {
	case name == "":
		return w, syscall.ENOENT
	case len(name) > node.MaxPath:
		return w, syscall.ENAMETOOLONG
	case strings.IndexByte(name, 0) >= 0:
		return w, syscall.EINVAL
	}
	return w, tx.checkRoot()
}

// checkRoot fails with ENOENT once the directory that an OpenRoot tree stands on is gone.
func (tx *Tx) checkRoot() error {
	if tx.tree().Root() == schema.RootIno {
		return nil
	}
	n, err := tx.tree().Node(tx.tree().Root())
	if err == nil && (n == nil || n.Nlink == 0) {
		err = syscall.ENOENT
	}
	if err != nil || !tx.tree().DB().Writable() {
		return err
	}
	// A write below a directory that was removed higher up would be lost.
	_, err = tx.tree().PathFrom(schema.RootIno, tx.tree().Root())
	return err
}

type walker struct {
	tx     *Tx
	rest   string // what is still to be walked
	follow bool
	links  int
	chain  []Ino    // directories from the root to where we are
	names  []string // the names that led there; one fewer than chain
	gap    string   // the segment before rest that is missing, where that ended the walk
}

func (w *walker) run() (place, error) {
	room := new(struct { // for most paths
		chain [8]Ino
		names [8]string
	})
	w.chain, w.names = append(room.chain[:0], w.tx.tree().Root()), room.names[:0]
	for {
		seg := w.next()
		switch seg {
		case "":
			return w.here(), nil
		case "..":
			if len(w.chain) > 1 {
				w.chain, w.names = w.chain[:len(w.chain)-1], w.names[:len(w.names)-1]
				if w.done() {
					p := w.here()
					p.up = true
					return p, nil
				}
			}
			continue
		}
		if len(seg) > node.MaxName {
			return place{}, syscall.ENAMETOOLONG
		}

		dir := w.chain[len(w.chain)-1]
		d, err := w.tx.tree().Lookup(dir, seg)
		if err != nil {
			return place{}, err
		}

		last := w.done()
		switch {
		case d.Kind == node.KindDir && slices.Contains(w.chain, d.Ino):
			return place{}, node.ErrBelowItself(d.Ino)
		case d.Kind == node.KindLink && d.Ino != 0 && (!last || w.follow):
			if err := w.expand(d.Ino); err != nil {
				return place{}, err
			}
		case last:
			return place{dir: dir, base: seg, ino: d.Ino, kind: d.Kind, chain: w.chain, names: w.names}, nil
		case d.Ino == 0:
			w.gap = seg
			return place{}, syscall.ENOENT
		case d.Kind != node.KindDir:
			return place{}, syscall.ENOTDIR
		default:
			w.chain = append(w.chain, d.Ino)
			w.names = append(w.names, seg)
		}
	}
}

// next takes the next segment off the rest; "" at the end. Empty segments and "." vanish.
func (w *walker) next() string {
	for {
		w.rest = strings.TrimLeft(w.rest, "/")
		seg, rest, _ := strings.Cut(w.rest, "/")
		w.rest = rest
		if seg != "." {
			return seg
		}
	}
}

// done reports whether nothing but empty segments and "." is left.
func (w *walker) done() bool {
	for rest := w.rest; ; {
		seg, after, more := strings.Cut(rest, "/")
		if seg != "" && seg != "." {
			return false
		}
		if !more {
			return true
		}
		rest = after
	}
}

// expand puts the target of a symlink before the rest.
func (w *walker) expand(ino Ino) error {
	if w.links++; w.links > maxLinks {
		return syscall.ELOOP
	}
	n, err := w.tx.tree().Node(ino)
	if err != nil {
		return err
	}
	if n == nil {
		return corrupt("symlink %d has no inode", ino)
	}
	if n.Kind() != node.KindLink {
		return corrupt("an entry shows a symlink, but inode %d is a %s", ino, node.KindName(int64(n.Kind())))
	}
	if strings.HasPrefix(n.Target, "/") {
		w.chain, w.names = w.chain[:1], w.names[:0]
	}
	w.rest = n.Target + "/" + w.rest
	return nil
}

// here is the place of the directory that the walk stands in.
func (w *walker) here() place {
	top := len(w.chain) - 1
	p := place{ino: w.chain[top], kind: node.KindDir, chain: w.chain}
	if top > 0 {
		p.dir, p.base, p.chain, p.names = w.chain[top-1], w.names[top-1], w.chain[:top], w.names[:top-1]
	}
	return p
}

// A pathEnd is where a path leads, as the path cache keeps it.
type pathEnd struct {
	place place
	node  *node.Node
}

// find is walk for verbs that need something to be there: nothing is ENOENT.
func (tx *Tx) find(name string, follow bool) (place, *node.Node, error) {
	if end, ok := tx.tree().CachedPath(tx.tree().Root(), follow, name); ok {
		end := end.(*pathEnd)
		return end.place, end.node, nil
	}
	p, n, err := tx.search(name, follow)
	if err == nil {
		tx.tree().CachePath(tx.tree().Root(), follow, name, n, &pathEnd{p, n})
	}
	return p, n, err
}

func (tx *Tx) search(name string, follow bool) (place, *node.Node, error) {
	p, err := tx.walk(name, follow)
	if err != nil {
		return p, nil, err
	}
	n, err := tx.at(p)
	return p, n, err
}

// at returns the inode at a place, and ENOENT if there is none.
func (tx *Tx) at(p place) (*node.Node, error) {
	return tx.tree().NodeOf(p.dir, node.Entry{Name: p.base, Ino: p.ino, Kind: p.kind})
}

// entry is the place for the operations by number.
func (p place) entry() tree.Place {
	return tree.Place{Dir: p.dir, Base: p.base, Ino: p.ino, Path: p.path(), Chain: p.chain}
}

// findDir is find for a directory: anything else is ENOTDIR. A directory far down must have one name. In a damaged tree
// with two names at each of many levels, a caller that lists one directory after the other would walk endless paths.
func (tx *Tx) findDir(name string) (*node.Node, error) {
	p, n, err := tx.find(name, true)
	switch {
	case err != nil:
		return nil, err
	case !n.IsDir():
		return nil, syscall.ENOTDIR
	case len(p.chain) > farDown:
		return n, tx.tree().OneName(n.Ino)
	}
	return n, nil
}

// farDown is from how many directories above it on a directory is looked at more closely.
const farDown = 8

// path is the path from the root of the tree to a place that a walk found.
func (p place) path() string {
	switch {
	case p.base == "":
		return "."
	case len(p.names) == 0:
		return p.base
	}
	var b strings.Builder
	b.Grow(len(p.base) + 16*len(p.names))
	for _, name := range p.names {
		b.WriteString(name)
		b.WriteByte('/')
	}
	b.WriteString(p.base)
	return b.String()
}
