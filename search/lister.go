package search

import (
	"vfsdb/node"
	"vfsdb/tree"
)

// A lister lists the files to be searched, in the order of a walk, some at a time. It keeps its place in between, so it
// can go on in another transaction.
type lister struct {
	*grep
	prefix int // the length of the part before the paths that patterns are matched on
	trail  trail
	open   []*listing // the directories from the start down to where it stands
}

// A listing is a directory of which a part is listed.
type listing struct {
	dir  candidate
	page []node.Entry // entries that are listed and still to be looked at
	last string       // the name that was listed last
	all  bool         // nothing comes after page
}

// next lists at least n more files, in one transaction, and up to a page of entries more than that. There are fewer only
// if more is false, or after as many pages as files were asked for.
func (l *lister) next(tx *tree.Tx, n int) (files []candidate, more bool, err error) {
	for pages := 0; len(files) < n && pages < n; pages++ {
		if len(l.open) == 0 {
			return files, false, nil
		}
		top := l.open[len(l.open)-1]
		if len(top.page) == 0 {
			if top.all {
				l.open = l.open[:len(l.open)-1]
				continue
			}
			if err := l.list(tx, top); err != nil {
				return nil, false, err
			}
		}
		files = l.through(top, files)
	}
	return files, true, nil
}

// list lists the next page of a directory.
func (l *lister) list(tx *tree.Tx, d *listing) (err error) {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	if d.last == "" {
		if err := l.trail.enter(tx, d.dir.ino, d.dir.path); err != nil {
			return err
		}
	}

	if d.page, d.all, err = readPage(tx, d.dir.ino, d.last); err != nil {
		return err
	}
	if !d.all {
		d.last = d.page[len(d.page)-1].Name
	}
	return nil
}

// through goes through the page of a directory, up to a directory to go into, or to the end.
func (l *lister) through(d *listing, files []candidate) []candidate {
	for i, one := range d.page {
		e := entry{Entry: one, path: node.JoinPath(d.dir.path, one.Name)}
		rel := e.path[l.prefix:]
		switch {
		case e.Kind != node.KindDir && e.Kind != node.KindFile, anyMatches(l.exclude, rel, &e):
		case e.Kind == node.KindDir:
			d.page = d.page[i+1:]
			l.open = append(l.open, &listing{dir: candidate{e.path, e.Ino}})
			return files
		case len(l.include) == 0, anyMatches(l.include, rel, &e):
			files = append(files, candidate{e.path, e.Ino})
		}
	}
	d.page = nil
	return files
}
