package check

import (
	"vfsdb/node"
	"vfsdb/schema"
)

// This file checks the shape of a tree: every directory leads up to the root, and inodes have as many names as links.

// Where following a directory up ends.
const (
	unknown  = iota
	walking  // being followed
	reached  // at the root
	orphaned // at a directory without a name, which RemoveAll left for gc
	lost     // nowhere: at a fault that is reported already
)

// checkReach follows every directory up, and finds those that lead round in a circle or to a directory that is missing.
func (v *view) checkReach() error {
	var trail []int32
	for i := range v.nodes {
		if v.nodes[i].kind != node.KindDir {
			continue
		}

		// Go up until the end is known, and note the way.
		trail = trail[:0]
		at := int32(i)
		for v.nodes[at].state == unknown {
			n := &v.nodes[at]
			trail = append(trail, at)
			n.state = walking
			switch {
			case n.ino == schema.RootIno:
				n.state = reached
			case n.parent >= 0:
				at = n.parent
			case n.parent == noName:
				n.state = orphaned
			default:
				n.state = lost
				if err := v.faultOf(n.ino, "directory %d has its name in a directory that is missing", n.ino); err != nil {
					return err
				}
			}
		}

		// The walk may have come back to a directory of its own trail.
		end := v.nodes[at].state
		if end == walking {
			end = lost
			if err := v.faultOf(v.nodes[at].ino, "directory %d is below itself", v.nodes[at].ino); err != nil {
				return err
			}
		}

		// All of the trail ends there, so no directory is followed twice.
		for _, on := range trail {
			v.nodes[on].state = end
		}
	}
	return nil
}

// checkOdd reports the oddities that the root leads to. The entries below an orphan may be half reaped.
func (v *view) checkOdd() error {
	for _, o := range v.odd {
		dir := v.find(int64(o.name.Dir))
		if dir < 0 || v.nodes[dir].state != reached {
			continue
		}
		if err := v.faultOfName(o.name, o.what); err != nil {
			return err
		}
	}
	return nil
}

// checkLinks compares the stored link counts with the entries that were counted, below orphans too. The root has one
// link and no name. An inode without names has nlink 0, and waits for gc or for the process that has it open. A
// branch that is forked meanwhile inherits it, so no tree shows whether a process still waits.
func (v *view) checkLinks() error {
	for i := range v.nodes {
		n := &v.nodes[i]
		names := n.names
		if n.ino == schema.RootIno {
			names++
		}
		if n.nlink != names {
			if err := v.faultOf(n.ino, "inode %d has nlink %d and %d names", n.ino, n.nlink, names); err != nil {
				return err
			}
			continue
		}
		if n.kind != node.KindDir && n.parent == noParent {
			if err := v.faultOf(n.ino, "inode %d has its name in a directory that is missing", n.ino); err != nil {
				return err
			}
		}
	}
	return nil
}
