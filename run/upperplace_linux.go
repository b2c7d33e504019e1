package run

import (
	"context"
	"fmt"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A placer makes a tree what an upper layer shows over it, from the top down: a directory is where it belongs before anything
// is put into it. So nothing is ever moved below itself.
type placer struct {
	ctx    context.Context
	tx     *tree.Tx
	owner  *owner
	merged map[node.Ino]*upperDir   // directories of the lower layer that the upper one adds to
	known  map[node.Ino]*upperInode // files of the tree that the upper layer has
	above  map[node.Ino]bool        // directories that something is moved out of, from any depth
	parked int                      // files that had to leave a name before theirs was free
	gone   []lost
	dirs   []*upperInode // in the order of their paths
}

// A lost is a name that is to go when all else is in its place.
type lost struct {
	at  tree.Place
	ino node.Ino
}

// place puts every file of the upper layer into its place, removes what is gone, and sets the attributes of directories.
func (p *placer) place(root *upperInode) error {
	for _, inode := range p.known {
		if !inode.stays {
			if err := p.noteAbove(inode.from.Dir); err != nil {
				return err
			}
		}
	}
	if err := p.fill(root, "."); err != nil {
		return err
	}

	for _, lost := range p.gone {
		d, err := p.tx.Lookup(lost.at.Dir, lost.at.Base)
		if err != nil {
			return err
		}
		if d.Ino != lost.ino {
			continue // it has moved
		}
		if err := p.remove(lost.at, d.Kind); err != nil {
			return err
		}
	}

	// Directories come last, because each change of an entry is one of their times.
	now := p.tx.NewNode(0).Mtime
	for _, dir := range p.dirs {
		if err := p.setDir(dir, now); err != nil {
			return fmt.Errorf("%q: %w", dir.at.Path, err)
		}
	}
	return nil
}

// noteAbove notes a directory of the lower layer, and those above it.
func (p *placer) noteAbove(dir node.Ino) error {
	for dir != 0 && !p.above[dir] {
		p.above[dir] = true
		names, err := p.tx.NamesOf(dir)
		if err != nil || len(names) != 1 {
			return err
		}
		dir = names[0].Dir
	}
	return nil
}

// fill gives a directory of the tree the entries of the upper layer.
func (p *placer) fill(dir *upperInode, path string) error {
	p.dirs = append(p.dirs, dir)
	dir.done = true
	for _, e := range dir.dir.entries {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		at := tree.Place{Dir: dir.ino, Base: e.name, Path: node.JoinPath(path, e.name)}
		if err := p.entry(at, e.inode); err != nil {
			return fmt.Errorf("%q: %w", at.Path, err)
		}
		if e.inode != nil && e.inode.dir != nil {
			if err := p.fill(e.inode, at.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry makes a name show what the upper layer shows there.
func (p *placer) entry(at tree.Place, inode *upperInode) error {
	there, err := p.tx.Lookup(at.Dir, at.Base)
	switch {
	case err != nil:
		return err
	case inode == nil && there.Ino != 0:
		p.gone = append(p.gone, lost{at, there.Ino})
		return nil
	case inode == nil:
		return nil
	case len(at.Path) > node.MaxPath:
		return syscall.ENAMETOOLONG
	case inode.dir != nil:
		return p.directory(at, there, inode)
	}
	return p.file(at, there, inode)
}

// directory puts a directory into its place.
func (p *placer) directory(at tree.Place, there node.Dirent, inode *upperInode) error {
	inode.at = at
	if inode.ino != 0 && inode.ino == there.Ino {
		return nil
	}
	if err := p.vacate(at, there); err != nil {
		return err
	}
	if inode.ino != 0 {
		return p.tx.Rename(inode.from, at)
	}
	made := p.tx.NewNode(node.ModeDir)
	inode.put(made, p.owner)
	if err := p.tx.Create(at, made, chunk.Sum{}); err != nil {
		return err
	}
	inode.ino = made.Ino
	return nil
}

// file puts a file into a place: the first time with its content, then as a further name of it.
func (p *placer) file(at tree.Place, there node.Dirent, inode *upperInode) error {
	switch {
	case inode.ino != 0 && inode.ino == there.Ino:
		inode.at = at
	case inode.done:
		return p.link(inode.at, at, there)
	case inode.ino == 0:
		return p.create(at, there, inode)
	case inode.stays:
		if err := p.link(inode.from, at, there); err != nil {
			return err
		}
		inode.at = at
	default:
		if err := p.vacate(at, there); err != nil {
			return err
		}
		if err := p.tx.Rename(inode.from, at); err != nil {
			return err
		}
		inode.at = at
	}

	if inode.done {
		return nil
	}
	inode.done = true
	return p.update(inode)
}

// link makes a place a further name of the file at another.
func (p *placer) link(from, at tree.Place, there node.Dirent) error {
	if err := p.vacate(at, there); err != nil {
		return err
	}
	return p.tx.Link(from, at)
}

// create makes a new file. A file that has the name loses it in the same step, if it is needed nowhere else.
func (p *placer) create(at tree.Place, there node.Dirent, inode *upperInode) (err error) {
	made := p.tx.NewNode(inode.mode)
	made.Target, made.Rdev = inode.target, inode.rdev
	inode.put(made, p.owner)
	var sum chunk.Sum
	if inode.data != nil {
		sum = inode.data.Sum()
		if made.Content, err = inode.data.commit(p.tx); err != nil {
			return err
		}
	}

	if inode.data != nil && there.Ino != 0 && there.Kind != node.KindDir && p.known[there.Ino] == nil {
		err = p.tx.Replace(at, made, sum)
	} else if err = p.vacate(at, there); err == nil {
		err = p.tx.Create(at, made, sum)
	}
	inode.ino, inode.at, inode.done = made.Ino, at, true
	return err
}

// update gives a file that the tree has its content and attributes, if they differ.
func (p *placer) update(inode *upperInode) error {
	there, err := p.tx.Node(inode.ino)
	switch {
	case err != nil:
		return err
	case there == nil:
		return fmt.Errorf("inode %d is gone: %w", inode.ino, errUpper)
	}

	set := func(n *node.Node) { inode.put(n, p.owner) }
	if inode.data != nil {
		if err := p.tx.Fold(there); err != nil {
			return err
		}
		content, err := inode.data.commit(p.tx)
		if err != nil {
			return err
		}
		if content != there.Content {
			return p.tx.SetContent(inode.at, vfs.OpWrite, content, inode.data.Sum(), set)
		}
	}
	if !inode.differs(there, p.owner) {
		return nil
	}
	return p.tx.SetAttr(inode.at, vfs.OpSetattr, set)
}

// setDir sets the attributes of a directory. A time that follows from a change of its entries, which is recorded, is no
// change of its own.
func (p *placer) setDir(dir *upperInode, now int64) error {
	there, err := p.tx.Node(dir.ino)
	switch {
	case err != nil:
		return err
	case there == nil:
		return fmt.Errorf("directory %d is gone: %w", dir.ino, errUpper)
	case !dir.differs(there, p.owner):
		return nil
	}
	after := *there
	dir.put(&after, p.owner)
	after.Mtime = there.Mtime
	if there.Mtime == now && after == *there {
		after.Mtime = dir.mtime
		return p.tx.PutNodes(&after)
	}
	return p.tx.SetAttr(dir.at, vfs.OpSetattr, func(n *node.Node) { dir.put(n, p.owner) })
}

// vacate frees a name. A file that gets another name later, or is a directory that has such files somewhere below, is parked
// in the root: so two directories can swap names.
func (p *placer) vacate(at tree.Place, there node.Dirent) error {
	if there.Ino == 0 {
		return nil
	}
	inode := p.known[there.Ino]
	if inode == nil && !p.above[there.Ino] {
		return p.remove(at, there.Kind)
	}

	to, err := p.refuge(inode)
	if err != nil {
		return err
	}
	if err := p.tx.Rename(at, to); err != nil {
		return err
	}
	if inode != nil {
		inode.from, inode.stays = to, false
	} else {
		p.gone = append(p.gone, lost{to, there.Ino})
	}
	return nil
}

// refuge returns where a file goes that has to leave its name: its own place, if that is free, or else a name to park it.
func (p *placer) refuge(inode *upperInode) (tree.Place, error) {
	if inode != nil && inode.toDir.done {
		to := tree.Place{Dir: inode.toDir.ino, Base: inode.to}
		d, err := p.tx.Lookup(to.Dir, to.Base)
		if err != nil || d.Ino == 0 {
			return to, err
		}
	}
	return p.parking()
}

// parking returns a name in the root that is free.
func (p *placer) parking() (tree.Place, error) {
	for {
		p.parked++
		name := fmt.Sprintf(".run-moves-%d", p.parked)
		d, err := p.tx.Lookup(p.tx.Root(), name)
		if err != nil {
			return tree.Place{}, err
		}
		if d.Ino == 0 {
			return tree.Place{Dir: p.tx.Root(), Base: name, Path: name}, nil
		}
	}
}

// remove removes a name, and all below it.
func (p *placer) remove(at tree.Place, kind uint8) error {
	if kind == node.KindDir {
		return p.tx.RemoveTree(at)
	}
	return p.tx.Unlink(at)
}
