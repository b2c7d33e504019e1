package vfs

import (
	"context"
	"errors"
	"syscall"
)

// A Viewer is what a search looks at. An [FS] is one: each look is a moment of its own, so a long search holds no moment
// of the file. A [Tx] is one: all looks are its one moment. Any other Viewer must be safe for concurrent use, as an FS
// is.
type Viewer interface {
	View(ctx context.Context, fn func(*Tx) error) error
}

// A visited is one entry that a search comes by.
type visited struct {
	listed
	path string   // from the root of the tree, in the form of io/fs
	up   *visited // the directory that holds it; nil for the start of the search
	at   []cursor // of a directory: what a pattern still asks of the entries below
	info *Info    // what look has read, if it did
}

// start walks to where a search begins. A symlink is followed if follow is set; the path has none in it, and no "..".
func start(ctx context.Context, v Viewer, name string, follow bool) (at *visited, err error) {
	err = v.View(ctx, func(tx *Tx) (err error) {
		at, err = tx.locate(name, follow)
		return err
	})
	return at, err
}

// startDir is start for a directory: anything else is ENOTDIR.
func startDir(ctx context.Context, v Viewer, name string) (*visited, error) {
	at, err := start(ctx, v, name, true)
	if err == nil && at.kind != kindDir {
		err = syscall.ENOTDIR
	}
	return at, err
}

// locate finds what a path leads to, and its own path from the root of the tree.
func (tx *Tx) locate(name string, follow bool) (*visited, error) {
	p, err := tx.walk(name, follow)
	if err != nil {
		return nil, err
	}
	if p.ino == 0 {
		return nil, syscall.ENOENT
	}
	return &visited{listed: listed{p.base, p.ino, p.kind}, path: p.path()}, nil
}

// A treeWalk visits what is below a directory: in the order of names, each directory before what is in it, symlinks as
// themselves. What comes and goes meanwhile on an FS is visited or not; the rest is, once.
type treeWalk struct {
	ctx     context.Context
	viewer  Viewer
	entered entered

	// only names the entries of a directory that matter, in order; nil if any may. It may be left out.
	only func(dir *visited) []string

	// look runs in the transaction that lists the entry, before visit does outside of it. It may be left out.
	look func(tx *Tx, e *visited) error

	// visit tells whether to go into the entry, if it is a directory.
	visit func(e *visited) (into bool, err error)
}

// errStop ends a walk early, without an error.
var errStop = errors.New("stop here")

// below visits all that is below dir.
func (w *treeWalk) below(dir *visited) error {
	if err := w.entries(dir); err != errStop {
		return err
	}
	return nil
}

func (w *treeWalk) entries(dir *visited) error {
	for after := ""; ; {
		page, more, err := w.page(dir, after)
		if err != nil {
			return err
		}
		for _, e := range page {
			into, err := w.visit(e)
			if err == nil && into && e.kind == kindDir {
				err = w.entries(e)
			}
			if err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
		after = page[len(page)-1].name
	}
}

// page lists the next entries of a directory, in one transaction.
func (w *treeWalk) page(dir *visited, after string) (page []*visited, more bool, err error) {
	err = w.viewer.View(w.ctx, func(tx *Tx) error {
		tx.cache.trim() // a Tx that searches a large tree must not remember all of it
		if after == "" {
			if err := w.entered.enter(tx, dir.ino, dir.path); err != nil {
				return err
			}
		}
		entries, last, err := w.list(tx, dir, after)
		if err != nil {
			return err
		}
		more = !last
		page = make([]*visited, len(entries))
		for i, l := range entries {
			page[i] = &visited{listed: l, path: join(dir.path, l.name), up: dir}
			if w.look == nil {
				continue
			}
			if err := w.look(tx, page[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return page, more, err
}

// list returns the entries of a page. A directory of which only some names matter is one page, however many it holds.
func (w *treeWalk) list(tx *Tx, dir *visited, after string) (entries []listed, last bool, err error) {
	if w.only != nil {
		if names := w.only(dir); names != nil {
			entries, err = tx.pick(dir.ino, names)
			return entries, true, err
		}
	}
	entries, err = tx.page(dir.ino, after, pageSize)
	return entries, len(entries) < pageSize, err
}

// pick returns those of the names that a directory has.
func (tx *Tx) pick(dir Ino, names []string) ([]listed, error) {
	var entries []listed
	for _, name := range names {
		d, err := tx.lookup(dir, name)
		if err != nil {
			return nil, err
		}
		if d.ino != 0 {
			entries = append(entries, listed{name, d.ino, d.kind})
		}
	}
	return entries, nil
}

// listedNode returns the inode of an entry that was listed in this same transaction.
func (tx *Tx) listedNode(e *visited) (*inode, error) {
	n, err := tx.inode(e.ino)
	switch {
	case err != nil:
		return nil, err
	case n == nil:
		return nil, corrupt("entry %q shows inode %d, which is missing", e.path, e.ino)
	case n.kind() != e.kind:
		return nil, errKind(e.path, e.kind, n)
	}
	return n, nil
}
