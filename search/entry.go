package search

import (
	"context"
	"syscall"

	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// An entry is an entry of a directory that a search comes by.
type entry struct {
	node.Entry
	dir  node.Ino  // that holds it; 0 for the start of the search
	path string    // from the root of the tree, in the form of io/fs
	up   *entry    // the entry of dir; nil at the start of the search
	at   []cursor  // of a directory: where a pattern stands for the entries below
	info *vfs.Info // nil unless the search has read it
}

// locate resolves a path to an entry, whose own path has no symlinks. A missing entry is ENOENT.
func locate(tx *tree.Tx, name string) (*entry, error) {
	names := (*vfs.Tx)(tx)
	path, err := names.Resolve(name, true)
	if err != nil {
		return nil, bare(err)
	}
	info, err := names.Stat(name)
	if err != nil {
		return nil, bare(err)
	}
	n, err := tx.Node(info.Ino())
	if err != nil {
		return nil, err
	}
	return &entry{Entry: node.Entry{Name: info.Name(), Ino: n.Ino, Kind: n.Kind()}, path: path, info: info}, nil
}

// maxPage is how many entries of a directory a search reads at a time.
const maxPage = 512

// readPage returns the entries of a directory that come after a name, and whether they are the last.
func readPage(tx *tree.Tx, dir node.Ino, after string) (page []node.Entry, last bool, err error) {
	tx.Trim()
	page, err = tx.Page(dir, after, maxPage)
	return page, len(page) < maxPage, err
}

// lookUp returns those of some names that a directory has.
func lookUp(tx *tree.Tx, dir node.Ino, names []string) ([]node.Entry, error) {
	tx.Trim()
	var entries []node.Entry
	for _, name := range names {
		d, err := tx.Lookup(dir, name)
		if err != nil {
			return nil, err
		}
		if d.Ino != 0 {
			entries = append(entries, node.Entry{Name: name, Ino: d.Ino, Kind: d.Kind})
		}
	}
	return entries, nil
}

// A trail is the set of directories that a search has gone into.
type trail struct {
	dirs    node.InoSet
	first   int // how many directories are in it
	returns int // how often the search came by one of them again
}

// maxReturns bounds how often a search comes by directories again, beyond once for each.
const maxReturns = 1000

// enter is called before a search goes into a directory that it found under a path.
//
// To come by a directory twice is no fault if it was moved meanwhile. So the tree is asked about this moment: does the
// path lead through the directory twice, or has the directory two names? An entry that is listed but cannot be looked
// up answers neither, hence the bound.
func (t *trail) enter(tx *tree.Tx, dir node.Ino, path string) error {
	if t.dirs.Add(dir) {
		t.first++
		return nil
	}
	if t.returns++; t.returns > t.first+maxReturns {
		return schema.Corrupt("directory %d, and others, are listed again and again", dir)
	}

	_, err := (*vfs.Tx)(tx).Resolve(path, false)
	switch errno, _ := vfs.Errno(err); {
	case err == nil, errno == syscall.ENOENT, errno == syscall.ENOTDIR, errno == syscall.ELOOP, errno == syscall.ENAMETOOLONG:
		return tx.OneName(dir)
	}
	return bare(err)
}

// startDir walks to the directory where a search begins: anything else is ENOTDIR. The path of the result has no symlink
// in it, and no "..".
func startDir(ctx context.Context, v Viewer, name string) (at *entry, err error) {
	err = view(ctx, v, func(tx *tree.Tx) (err error) {
		at, err = locate(tx, name)
		return err
	})
	if err == nil && at.Kind != node.KindDir {
		err = syscall.ENOTDIR
	}
	return at, err
}
