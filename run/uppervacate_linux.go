package run

import (
	"fmt"
	"syscall"

	"vfsdb/node"
	"vfsdb/tree"
)

// errTooLong is the error of a path that the tree cannot have.
var errTooLong = syscall.ENAMETOOLONG

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
