package run

import (
	"fmt"
	"strings"

	"vfsdb/node"
	"vfsdb/tree"
)

// identify finds out which files of the upper layer are files of the tree, with their numbers. It only reads. There are
// three rounds, because a file that was moved has a better claim to its number than one that has its old name.
func (p *placer) identify(root *upperInode) error {
	root.ino = p.tx.Root()
	root.at = tree.Place{Ino: root.ino, Path: "."}
	p.known[root.ino] = root
	for _, round := range []func(dir *upperInode, name string, inode *upperInode) error{p.merge, p.followOrigin, p.sameName} {
		if root.dir.opaque {
			return errUpper
		}
		p.merged[root.ino] = root.dir
		if err := p.each(root, round); err != nil {
			return err
		}
	}
	return nil
}

// each calls fn for the entries below a directory that show something, from the top down.
func (p *placer) each(dir *upperInode, fn func(dir *upperInode, name string, inode *upperInode) error) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	for _, e := range dir.dir.entries {
		if e.inode == nil {
			continue
		}
		if err := fn(dir, e.name, e.inode); err != nil {
			return err
		}
		if e.inode.dir != nil {
			if err := p.each(e.inode, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// merge finds the directory of the lower layer that a directory is merged with.
func (p *placer) merge(dir *upperInode, name string, inode *upperInode) error {
	if inode.dir == nil || inode.dir.opaque {
		return nil
	}
	from, err := p.lower(dir, name, inode.dir.redirect)
	if err != nil || from.Dir == 0 {
		return err
	}
	d, err := p.tx.Lookup(from.Dir, from.Base)
	if err != nil || d.Ino == 0 || d.Kind != node.KindDir {
		return err
	}

	if p.known[d.Ino] != nil {
		return fmt.Errorf("directory %d is shown twice: %w", d.Ino, errUpper)
	}
	p.merged[d.Ino] = inode.dir
	p.claim(inode, d.Ino, from, dir, name)
	return nil
}

// lower returns where the lower layer has the directory that stands under a name: there, or where a redirect leads, which is
// an absolute path or another name. It has no directory number if that is nowhere.
func (p *placer) lower(dir *upperInode, name, redirect string) (tree.Place, error) {
	switch path, absolute := strings.CutPrefix(redirect, "/"); {
	case !absolute && redirect != "":
		name = redirect
	case absolute:
		at := tree.Place{Dir: p.tx.Root()}
		for {
			var more bool
			if at.Base, path, more = strings.Cut(path, "/"); !more {
				return at, nil
			}
			d, err := p.tx.Lookup(at.Dir, at.Base)
			if err != nil || d.Kind != node.KindDir {
				return tree.Place{}, err
			}
			at = tree.Place{Dir: d.Ino}
		}
	}
	return tree.Place{Dir: dir.ino, Base: name}, nil
}

// followOrigin finds the file of the lower layer that a file was before it was moved.
func (p *placer) followOrigin(dir *upperInode, name string, inode *upperInode) error {
	if inode.origin == 0 || inode.ino != 0 || p.known[inode.origin] != nil {
		return nil
	}
	n, err := p.tx.Node(inode.origin)
	if err != nil || n == nil || !inode.canBe(n) {
		return err
	}
	names, err := p.tx.NamesOf(n.Ino)
	if err != nil || len(names) != 1 {
		return err
	}
	if shown, err := p.shows(names[0]); shown || err != nil {
		return err
	}
	p.claim(inode, n.Ino, tree.Place{Dir: names[0].Dir, Base: names[0].Base}, dir, name)
	return nil
}

// canBe reports whether a file of the upper layer can take the place of a node and keep its number. The kernel parts a file
// from its other names when it copies it up.
func (i *upperInode) canBe(n *node.Node) bool {
	return i.kind() == n.Kind() && n.Nlink == 1 && i.rdev == n.Rdev && i.target == n.Target && !n.IsDir()
}

// shows reports whether a name of the lower layer is still to be seen. It is not if the upper layer has that name, or one of
// a directory above.
func (p *placer) shows(name node.Name) (bool, error) {
	for hops := 0; hops < node.MaxPath; hops++ {
		if dir := p.merged[name.Dir]; dir != nil {
			_, hidden := dir.find(name.Base)
			return !hidden, nil
		}
		above, err := p.tx.NamesOf(name.Dir)
		if err != nil {
			return false, err
		}
		if len(above) != 1 {
			return false, nil
		}
		name = above[0]
	}
	return false, errUpper
}

// sameName takes a file for the one that the lower layer has under the same name.
func (p *placer) sameName(dir *upperInode, name string, inode *upperInode) error {
	if inode.dir != nil || inode.ino != 0 && inode.stays || dir.ino == 0 {
		return nil
	}
	d, err := p.tx.Lookup(dir.ino, name)
	if err != nil || d.Ino == 0 || d.Kind != inode.kind() {
		return err
	}
	if inode.ino != 0 {
		inode.stays = d.Ino == inode.ino
		return nil
	}
	if p.known[d.Ino] != nil {
		return nil
	}

	n, err := p.tx.NodeOf(dir.ino, node.Entry{Name: name, Ino: d.Ino, Kind: d.Kind})
	if err != nil || !inode.canBe(n) {
		return err
	}
	p.claim(inode, n.Ino, tree.Place{Dir: dir.ino, Base: name}, dir, name)
	inode.stays = true
	return nil
}

// claim makes a file of the upper layer the inode of a number, whose name in the lower layer is from.
func (p *placer) claim(inode *upperInode, ino node.Ino, from tree.Place, dir *upperInode, name string) {
	inode.ino, inode.from, inode.toDir, inode.to = ino, from, dir, name
	p.known[ino] = inode
	if inode.dir != nil {
		inode.stays = from.Dir == dir.ino && from.Base == name
	}
}
