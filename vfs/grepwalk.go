package vfs

// A grepWalk lists the files to be searched, in the order of a walk, some at a time. It stands still in between, and
// so can go on in another transaction.
type grepWalk struct {
	*grep
	prefix int // the length of what stands before the paths that patterns are matched on
	seen   entered
	open   []*listing // the directories from the start down to where it stands
}

// A listing is a directory of which a part is listed.
type listing struct {
	dir  named
	page []listed // what is listed and was not looked at yet
	last string   // the name that was listed last
	all  bool     // nothing comes after page
}

// A named is a file to be searched, or a directory, by its path.
type named struct {
	path string
	ino  Ino
}

// next lists at least n more files, in one transaction; fewer only if more is false. It may be some more, as many as
// are in a page.
func (w *grepWalk) next(tx *Tx, n int) (files []named, more bool, err error) {
	for pages := 0; len(files) < n && pages < n; pages++ {
		if len(w.open) == 0 {
			return files, false, nil
		}
		top := w.open[len(w.open)-1]
		if len(top.page) == 0 {
			if top.all {
				w.open = w.open[:len(w.open)-1]
				continue
			}
			if err := w.list(tx, top); err != nil {
				return nil, false, err
			}
		}
		files = w.through(top, files)
	}
	return files, true, nil
}

// list lists the next page of a directory.
func (w *grepWalk) list(tx *Tx, d *listing) (err error) {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	tx.cache.trim() // a Tx that searches a large tree must not remember all of it
	if d.last == "" {
		if err := w.seen.enter(tx, d.dir.ino, d.dir.path); err != nil {
			return err
		}
	}
	if d.page, err = tx.page(d.dir.ino, d.last, pageSize); err != nil {
		return err
	}
	if d.all = len(d.page) < pageSize; !d.all {
		d.last = d.page[len(d.page)-1].name
	}
	return nil
}

// through goes through the page of a directory, up to a directory that is to be gone into, or the end.
func (w *grepWalk) through(d *listing, files []named) []named {
	for i, l := range d.page {
		e := visited{listed: l, path: join(d.dir.path, l.name)}
		rel := e.path[w.prefix:]
		switch {
		case e.kind != kindDir && e.kind != kindFile, anyMatches(w.exclude, rel, &e):
		case e.kind == kindDir:
			d.page = d.page[i+1:]
			w.open = append(w.open, &listing{dir: named{e.path, e.ino}})
			return files
		case len(w.include) == 0, anyMatches(w.include, rel, &e):
			files = append(files, named{e.path, e.ino})
		}
	}
	d.page = nil
	return files
}
