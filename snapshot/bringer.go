package snapshot

import (
	"math"
	"slices"

	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
)

// A bringer plans how places of the head come to show what another tree shows. It reads both, and writes nothing.
//
// Each inode of the other tree gets one that stands for it in the head: the one that is in its place, if that will do; else
// the one of its own number, if no other place shows that; else a new one. So files keep their identity as far as that is
// possible, and no name outside of the places shows anything else than before.
type bringer struct {
	tx, src *tree.Tx
	dirs    tree.PathFinder // of the head, as it is
	tops    []string        // the places
	beside  string          // the directory of the last place, as its piece names it
	goals   []goal          // what they are to show
	copies  int             // the number of the last copy
	copied  []string        // the paths of src that are in it

	out    map[node.Name]node.Ino  // what names are to show; 0 is nothing
	nodes  map[node.Ino]*node.Node // what inodes are to be
	stands map[standKey]node.Ino   // the inode of the head that stands for one of src
	taken  map[node.Ino]bool       // inodes of the head that stand for one
	leave  []tree.NameChange       // what has to go from the places

	equal     int      // files that need no change
	conflicts []string // paths of files that are in conflict, and stay so
}

// A standKey is an inode of the other tree, and the copy that it is for: in each, another one stands for it.
type standKey struct {
	ino  node.Ino
	copy int
}

func newBringer(tx *tree.Tx, from Tree) (*bringer, error) {
	src, err := tx.On((*tree.Tree)(from.Tree()))
	if err != nil {
		return nil, err
	}
	return &bringer{
		tx: tx, src: src, dirs: tx.PathFinder(), copies: 1,
		out: make(map[node.Name]node.Ino), nodes: make(map[node.Ino]*node.Node),
		stands: make(map[standKey]node.Ino), taken: make(map[node.Ino]bool),
	}, nil
}

// add plans a new inode, and returns its number.
func (b *bringer) add(n *node.Node) (node.Ino, error) {
	id, err := b.tx.DB().NextID("ino")
	if err != nil {
		return 0, err
	}
	n.Ino, n.Btime, n.Nlink = node.Ino(id), b.tx.Now(), 0
	b.nodes[n.Ino] = n
	return n.Ino, nil
}

// plan returns what has to change; nil if nothing has.
func (b *bringer) plan() (*tree.Delta, error) {
	for _, g := range b.goals {
		if err := b.place(g); err != nil {
			return nil, err
		}
	}
	for _, left := range b.leave {
		if _, planned := b.out[left.Name]; !planned {
			b.out[left.Name] = 0
		}
		if err := b.leaveBelow(left.Old, new(node.InoSet)); err != nil {
			return nil, err
		}
	}
	if err := b.leaveStale(); err != nil {
		return nil, err
	}
	return b.delta()
}

// place plans that a name shows an inode of the other tree, with all that is below.
func (b *bringer) place(g goal) error {
	d, err := b.tx.Lookup(g.name.Dir, g.name.Base)
	if err != nil {
		return err
	}
	var cur *node.Node
	if d.Ino != 0 {
		if cur, err = b.tx.Node(d.Ino); err != nil {
			return err
		}
	}

	key := standKey{g.then.Ino, g.copy}
	ino, known := b.stands[key]
	if !known {
		if ino, err = b.choose(g, cur); err != nil {
			return err
		}
		b.stands[key], b.taken[ino] = ino, true
	}
	b.out[g.name] = ino
	if cur != nil && cur.Ino != ino {
		b.leave = append(b.leave, tree.NameChange{Name: g.name, Old: cur.Ino})
	}
	switch {
	case known && g.then.IsDir():
		return schema.Corrupt("directory %d has several names", g.then.Ino)
	case known:
		return nil
	case b.nodes[ino] != nil: // it is new
		return b.placeBelow(g, nil, ino)
	}

	was, err := b.tx.Node(ino)
	if err != nil {
		return err
	}
	is := like(g.then, was)
	b.nodes[ino] = is
	if is.Conflict != "" {
		b.conflicts = append(b.conflicts, g.path)
	}
	if cur != nil && cur.Ino == ino && !is.IsDir() && node.Alike(was, is) {
		b.equal++
	}
	return b.placeBelow(g, was, ino)
}

// like returns what an inode of the head becomes to be like one of the other tree; was is nil if the head does not have it.
func like(then, was *node.Node) *node.Node {
	is := then.Copy()
	is.Ino, is.Btime, is.Ctime = then.Ino, then.Btime, then.Ctime
	if was != nil {
		is.Ino, is.Btime, is.Ctime = was.Ino, was.Btime, was.Ctime
		is.Nlink, is.Conflict = was.Nlink, was.Conflict
	}
	return is
}

// placeBelow places the entries of a directory of the other tree, for which ino stands, that is was in the head.
func (b *bringer) placeBelow(g goal, was *node.Node, ino node.Ino) error {
	if !g.then.IsDir() {
		return nil
	}
	then, err := b.src.Page(g.then.Ino, "", math.MaxInt)
	if err != nil {
		return err
	}
	var now []node.Child
	if was != nil {
		if now, err = b.tx.Children(ino); err != nil {
			return err
		}
	}

	// Both trees read the inodes at once that are looked at next.
	wanted := make(map[string]bool, len(then))
	inos := make([]node.Ino, 0, len(then)+len(now))
	for _, e := range then {
		wanted[e.Name] = true
		inos = append(inos, e.Ino)
	}
	if err := b.src.FindNodes(inos); err != nil {
		return err
	}
	for _, c := range now {
		inos = append(inos, c.Ino)
		if !wanted[c.Base] {
			b.leave = append(b.leave, tree.NameChange{Name: c.Name, Old: c.Ino})
		}
	}
	if err := b.tx.FindNodes(inos); err != nil {
		return err
	}

	for _, e := range then {
		n, err := b.src.NodeOf(g.then.Ino, e)
		if err != nil {
			return err
		}
		if err := b.place(goal{node.Name{Dir: ino, Base: e.Name}, node.JoinPath(g.path, e.Name), n, g.copy}); err != nil {
			return err
		}
	}
	return nil
}

// choose returns the inode of the head that stands for one of the other tree, in a place that shows cur now.
func (b *bringer) choose(g goal, cur *node.Node) (node.Ino, error) {
	if cur != nil && (cur.Kind() != g.then.Kind() || b.taken[cur.Ino]) {
		cur = nil
	}
	if cur != nil {
		keep, err := b.keeps(g.then, cur)
		if err != nil || keep {
			return cur.Ino, err
		}
	}
	if g.copy == 0 && !b.taken[g.then.Ino] {
		own, err := b.tx.Node(g.then.Ino)
		if err != nil {
			return 0, err
		}
		free, err := b.isFree(own)
		if err != nil || free {
			return g.then.Ino, err
		}
	}
	if cur != nil {
		other, err := b.src.Node(cur.Ino)
		if err != nil {
			return 0, err
		}
		if other == nil || g.copy > 0 {
			free, err := b.isFree(cur)
			if err != nil || free {
				return cur.Ino, err
			}
		}
	}
	return b.add(g.then.Copy())
}

// keeps reports whether what stands in a place goes on to do so.
func (b *bringer) keeps(then, cur *node.Node) (bool, error) {
	alike := node.Alike(cur, like(then, cur))
	switch {
	case cur.Ino == then.Ino:
		return cur.IsDir() || cur.Nlink == 1 || alike, nil
	case cur.IsDir():
		other, err := b.src.Node(cur.Ino)
		return other == nil, err
	case alike && cur.Nlink == 1 && then.Nlink == 1:
		return true, nil
	case cur.Conflict != "":
		return b.isFree(cur)
	}
	return false, nil
}

// isFree reports whether the places show all names of an inode of the head. Nil is no inode.
func (b *bringer) isFree(n *node.Node) (bool, error) {
	if n == nil {
		return true, nil
	}
	names, err := b.tx.NamesOf(n.Ino)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		outside, err := b.isOutside(name)
		if err != nil || outside {
			return false, err
		}
	}
	return true, nil
}

// isOutside reports whether a path leads to a name of the head that is in none of the places.
func (b *bringer) isOutside(name node.Name) (bool, error) {
	dir, err := b.dirs.Path(name.Dir)
	if err != nil || dir == "" {
		return false, err
	}
	path := node.JoinPath(dir, name.Base)
	return !slices.ContainsFunc(b.tops, func(top string) bool { return node.Within(path, top) }), nil
}
