package search

import (
	"context"

	"vfsdb/node"
	"vfsdb/tree"
)

// A treeWalk visits what is below a directory: in the order of names, each directory before what is in it, symlinks as
// themselves. On an FS, entries that come and go meanwhile are visited or not; all others are visited once.
type treeWalk struct {
	ctx    context.Context
	viewer Viewer
	trail  trail

	// only returns the names of a directory that matter, in order; nil if any may. A nil only means all names.
	only func(dir *entry) []string

	// look runs in the transaction that lists the entry, before visit runs outside of it. It may be nil.
	look func(tx *tree.Tx, e *entry) error

	// visit reports whether to go into the entry, if it is a directory.
	visit func(e *entry) (into bool, err error)
}

// below visits all that is below dir.
func (w *treeWalk) below(dir *entry) error {
	if err := w.entries(dir); err != errStop {
		return err
	}
	return nil
}

func (w *treeWalk) entries(dir *entry) error {
	for after, more := "", true; more; {
		page, last, err := w.page(dir, after)
		if err != nil {
			return err
		}
		for _, e := range page {
			into, err := w.visit(e)
			if err == nil && into && e.Kind == node.KindDir {
				err = w.entries(e)
			}
			if err != nil {
				return err
			}
		}
		if more = !last; more {
			after = page[len(page)-1].Name
		}
	}
	return nil
}

// page reads the next entries of a directory, in one transaction, and reports whether they are the last.
func (w *treeWalk) page(dir *entry, after string) (page []*entry, last bool, err error) {
	err = view(w.ctx, w.viewer, func(tx *tree.Tx) (err error) {
		if after == "" {
			if err := w.trail.enter(tx, dir.Ino, dir.path); err != nil {
				return err
			}
		}
		list, end, err := w.list(tx, dir, after)
		if err != nil {
			return err
		}

		page, last = make([]*entry, len(list)), end
		for i, l := range list {
			page[i] = &entry{Entry: l, dir: dir.Ino, path: node.JoinPath(dir.path, l.Name), up: dir}
			if w.look == nil {
				continue
			}
			if err := w.look(tx, page[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return page, last, err
}

// list returns the entries of a page. A directory of which only some names matter is one page, however many it holds.
func (w *treeWalk) list(tx *tree.Tx, dir *entry, after string) (list []node.Entry, last bool, err error) {
	if w.only != nil {
		if names := w.only(dir); names != nil {
			list, err = lookUp(tx, dir.Ino, names)
			return list, true, err
		}
	}
	return readPage(tx, dir.Ino, after)
}
