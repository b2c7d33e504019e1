package transfer

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A namer gives entries their names in one transaction. It looks up each directory once, and then names by number.
type namer struct {
	tx     *tree.Tx
	to     destination
	top    string // where the destination leads, from the root of the tree; "" is the root
	refuse func(name string, err error)
	known  map[string]*directory // by the path from the root of the tree
	done   Report
}

// A directory is one that exists. The way to it leads through no symlink.
type directory struct {
	ino   node.Ino
	above *directory // nil for the root of the tree
}

// within reports whether a directory is another one, or lies below that.
func (d *directory) within(ino node.Ino) bool {
	for ; d != nil; d = d.above {
		if d.ino == ino {
			return true
		}
	}
	return false
}

// at returns the place of a path whose last segment is an entry of the directory.
func (d *directory) at(full string) tree.Place {
	return tree.Place{Dir: d.ino, Base: full[strings.LastIndexByte(full, '/')+1:], Path: full}
}

// begin makes the destination, and begins to name entries in it.
func (n *namer) begin(tx *vfs.Tx) error {
	if err := tx.MkdirAll(string(n.to), 0o755); err != nil {
		return err
	}
	return n.stand(tx)
}

// stand begins to look at the destination, which need not exist.
func (n *namer) stand(tx *vfs.Tx) error {
	top, err := tx.Resolve(string(n.to), true)
	if err != nil {
		return err
	}
	if top != "." {
		n.top = top
	}
	n.tx = (*tree.Tx)(tx)
	n.known = map[string]*directory{"": {ino: n.tx.Root()}}
	return nil
}

// add adds the entries that this transaction has named to a Report.
func (n *namer) add(r *Report) {
	r.Files += n.done.Files
	r.Dirs += n.done.Dirs
	r.Links += n.done.Links
	r.Bytes += n.done.Bytes
	r.Unread += n.done.Unread
	r.Deleted += n.done.Deleted
}

// name gives an entry its name. An error that concerns this entry alone is a refusal.
func (n *namer) name(e *entry) error {
	if e.gone {
		return nil
	}
	err := n.place(e)
	switch {
	case err == nil:
		return nil
	case !refusable(err):
		return fmt.Errorf("%q: %w", e.path, err)
	}
	e.gone = true
	n.refuse(e.path, err)
	return nil
}

// place makes a directory, the first name of a file, or a further name of one.
func (n *namer) place(e *entry) error {
	if len(n.to.path(e.path)) > maxPath {
		return syscall.ENAMETOOLONG
	}
	if e.mode.IsDir() {
		_, err := n.dir(n.full(e.path), true)
		if err == nil && e.path != "" {
			n.done.Dirs++
		}
		return err
	}
	p, err := n.at(n.full(e.path), true)
	if err != nil {
		return err
	}

	first := e.first()
	switch {
	case first.gone && first.data == nil && first.twin == nil && first.mode.IsRegular():
		return errFirstName
	case first.placed != "":
		if err := n.link(first.placed, p); err != nil {
			return err
		}
		n.done.Links++
		return nil
	}

	if err := n.create(first, p); err != nil {
		return err
	}
	first.placed = e.path
	return nil
}

// finish sets the attributes of directories.
func (n *namer) finish(dirs []*entry) error {
	for _, e := range dirs {
		if e.gone {
			continue
		}
		p, err := n.at(n.full(e.path), false)
		if err == nil {
			err = n.setAttr(p, e.attr)
		}
		if err != nil && !refusable(err) {
			return fmt.Errorf("%q: %w", e.path, err)
		}
	}
	return nil
}

// full returns the path from the root of the tree of a path inside the destination.
func (n *namer) full(name string) string {
	if name == "" {
		return n.top
	}
	return join(n.top, name)
}

// at returns the place of a path from the root of the tree. With create, the directories above it are made.
func (n *namer) at(full string, create bool) (tree.Place, error) {
	if full == "" {
		return tree.Place{Ino: n.tx.Root(), Path: "."}, nil
	}
	above, err := n.dir(parent(full), create)
	if err != nil {
		return tree.Place{}, err
	}
	return above.at(full), nil
}

// dir returns a directory by its path from the root of the tree. With create, it is made if it is missing.
func (n *namer) dir(full string, create bool) (*directory, error) {
	if d := n.known[full]; d != nil {
		return d, nil
	}
	above, err := n.dir(parent(full), create)
	if err != nil {
		return nil, err
	}

	p := above.at(full)
	there, err := n.tx.Lookup(p.Dir, p.Base)
	switch {
	case err != nil:
		return nil, err
	case there.Ino == 0 && !create:
		return nil, syscall.ENOENT
	case there.Ino == 0:
		made := n.tx.NewNode(node.ModeDir | 0o755)
		if err := n.tx.Create(p, made, chunk.Sum{}); err != nil {
			return nil, err
		}
		there.Ino = made.Ino
	case there.Kind != node.KindDir:
		return nil, errNotDir
	case above.within(there.Ino):
		return nil, node.ErrBelowItself(there.Ino)
	}

	d := &directory{there.Ino, above}
	n.known[full] = d
	return d, nil
}

// refusable reports whether an error is about one name, so that others may still go in.
func refusable(err error) bool {
	if errors.Is(err, errFirstName) {
		return true
	}
	errno, ok := vfs.Errno(err)
	if !ok {
		return false
	}
	switch errno {
	case syscall.ENOENT, syscall.EEXIST, syscall.EISDIR, syscall.ENOTDIR, syscall.ENOTEMPTY, syscall.EINVAL, syscall.ENAMETOOLONG,
		syscall.ELOOP, syscall.EPERM, syscall.EFBIG:
		return true
	}
	return false
}
