package vfs

import (
	"syscall"

	"vfsdb/chunk"
)

// This file is where searches read the tree: paths, pages of directories, inodes and contents.

// An entry is an entry of a directory that a search comes by.
type entry struct {
	listed
	dir  Ino      // that holds it; 0 for the root
	path string   // from the root of the tree, in the form of io/fs
	up   *entry   // what the search knows of dir; nil for the start of the search
	at   []cursor // of a directory: where a pattern stands for the entries below
	info *Info    // nil unless the search has read it
}

// locate finds what a path leads to, and the path without symlinks. Nothing there is ENOENT.
func locate(tx *Tx, name string, follow bool) (*entry, error) {
	p, err := tx.walk(name, follow)
	if err != nil {
		return nil, err
	}
	if p.ino == 0 {
		return nil, syscall.ENOENT
	}
	return &entry{listed: listed{p.base, p.ino, p.kind}, dir: p.dir, path: p.path()}, nil
}

// readPage returns the entries of a directory that come after a name, and whether they are the last.
func readPage(tx *Tx, dir Ino, after string) (page []listed, last bool, err error) {
	tx.cache.trim() // a Tx that searches a large tree must not remember all of it
	page, err = tx.page(dir, after, pageSize)
	return page, len(page) < pageSize, err
}

// lookUp returns those of some names that a directory has.
func lookUp(tx *Tx, dir Ino, names []string) ([]listed, error) {
	tx.cache.trim()
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

// prefetch reads the inodes of some files with one query, if the numbers lie close together, as those of files do that
// were made together. Otherwise each is read when it is needed.
func prefetch(tx *Tx, files []candidate) error {
	var first, last Ino
	n := 0
	for _, f := range files {
		if _, known := tx.knownNode(f.ino); known {
			continue
		}
		if n == 0 {
			first = f.ino
		}
		first, last = min(first, f.ino), max(last, f.ino)
		n++
	}

	if n < 4 || int64(last-first) > 4*int64(n) || len(tx.fsys.levels) > 1 {
		return nil
	}
	return tx.loadInodes(first, last)
}

// newReader returns a Reader of a content that leaves the store's cache to others: a search reads each content once.
func newReader(tx *Tx, c chunk.Content) *chunk.Reader { return tx.fsys.store.cache.NewPassing(c) }

// A trail is the set of directories that a search has gone into.
type trail struct{ entered }

// maxReturns bounds how often a search comes by directories again, beyond once for each.
const maxReturns = 1000

// enter is called before a search goes into a directory that it found under a path.
//
// To come by a directory twice is no fault if it was moved meanwhile. So the tree is asked about this moment: does the
// path lead through the directory twice, or has the directory two names? An entry that is listed but cannot be looked
// up answers neither, hence the bound.
func (t *trail) enter(tx *Tx, dir Ino, path string) error {
	if t.add(dir) {
		return nil
	}
	if t.again > t.first+maxReturns {
		return corrupt("directory %d, and others, are listed again and again", dir)
	}
	if _, err := tx.walk(path, false); err != nil && !harmless(err) {
		return err
	}
	return tx.oneName(dir)
}
