package tree

import (
	"slices"
	"strings"
	"syscall"

	"vfsdb/node"
	"vfsdb/schema"
)

// A Place is an entry of a directory, which exists or not: what an operation by number works on. With Dir 0 it is the
// inode Ino, whatever names that has, or has lost.
type Place struct {
	Dir  node.Ino
	Base string
	Ino  node.Ino // only where Dir is 0

	// Path leads to the place from the root of the tree. The event of an operation has it. If it is empty, the
	// operation climbs from the directory to find it.
	Path string

	// Chain lists the directories from the root of the tree down to Dir. If it is nil, an operation that must know
	// them climbs.
	Chain []node.Ino
}

// shown returns the inode at a place. An entry that does not exist is ENOENT, an inode that is gone ESTALE.
func (tx *Tx) shown(p Place) (*node.Node, error) {
	if p.Dir == 0 {
		n, err := tx.Node(p.Ino)
		if err == nil && n == nil {
			err = syscall.ESTALE
		}
		return n, err
	}
	d, err := tx.Lookup(p.Dir, p.Base)
	if err != nil {
		return nil, err
	}
	return tx.NodeOf(p.Dir, node.Entry{Name: p.Base, Ino: d.Ino, Kind: d.Kind})
}

// inoAt returns the inode number that an entry shows, 0 if it does not exist.
func (tx *Tx) inoAt(p Place) (node.Ino, error) {
	d, err := tx.Lookup(p.Dir, p.Base)
	return d.Ino, err
}

// vacant checks that a name can be made at a place: EEXIST if there is one.
func (tx *Tx) vacant(p Place) error {
	if err := p.check(); err != nil {
		return err
	}
	d, err := tx.Lookup(p.Dir, p.Base)
	if err == nil && d.Ino != 0 {
		err = syscall.EEXIST
	}
	return err
}

// check refuses a name that no entry can have.
func (p Place) check() error {
	switch {
	case len(p.Base) > node.MaxName:
		return syscall.ENAMETOOLONG
	case p.Dir == 0, p.Base == "", p.Base == ".", p.Base == "..", strings.ContainsAny(p.Base, "/\x00"):
		return syscall.EINVAL
	}
	return nil
}

// parent returns the directory that p stands in. One that was removed meanwhile takes no new names: ENOENT.
func (tx *Tx) parent(p Place) (*node.Node, error) {
	dir, err := tx.Node(p.Dir)
	switch {
	case err != nil:
		return nil, err
	case dir == nil:
		return nil, schema.Corrupt("directory %d has no inode", p.Dir)
	case !dir.IsDir():
		return nil, syscall.ENOTDIR
	case dir.Nlink == 0:
		return nil, syscall.ENOENT
	}
	return dir, nil
}

// below reports whether a place lies in a directory, or further down.
func (tx *Tx) below(p Place, dir node.Ino) (bool, error) {
	if p.Chain != nil {
		return slices.Contains(p.Chain, dir), nil
	}
	if p.Dir == dir {
		return true, nil
	}
	for name, err := range tx.climb(p.Dir) {
		if err != nil || name.Dir == dir {
			return err == nil, err
		}
	}
	return false, nil
}

// eventPath returns the path of a place from the root of the branch, as events have it; "" if no path leads there.
func (tx *Tx) eventPath(p Place) (string, error) {
	switch {
	case p.Path != "":
		return tx.BranchPath(p.Path)
	case p.Dir != 0:
		dir, err := tx.PathFrom(schema.RootIno, p.Dir)
		if err != nil {
			return "", err
		}
		return node.JoinPath(dir, p.Base), nil
	}
	paths, err := PathFinder{tx: tx, top: schema.RootIno}.Paths(p.Ino)
	if err != nil || len(paths) == 0 {
		return "", err
	}
	return paths[0], nil
}

// recordAt records what an operation did at an event path. A file that no path leads to is no part of the tree: what
// happens to it is not recorded.
func (tx *Tx) recordAt(path string, c change) error {
	if path == "" {
		return nil
	}
	c.Path = path
	return tx.record(c)
}
