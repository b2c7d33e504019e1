package apply

import (
	"cmp"
	"context"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/tree"
)

// A place is a path that the branch has changed, or a directory above one.
type place struct {
	path         string     // "." is the top
	base, theirs *node.Node // what the trees have there, or nil

	host  *node.Node // what the directory has there, or nil. A content is that of a tree, or in read
	state hostdir.State
	read  *chunk.Item // the content, if it is of neither tree
	known bool        // the extended attributes are known
	fault error       // why it is not known what the directory has

	ino  node.Ino          // in the merge: of the file of ours; 0 if there is none
	want *node.Node        // what the directory is to have, or nil
	held *io.SectionReader // the content of want, if theirs does not have it there
	skip bool              // the place stays as it is
}

// branchChanged reports whether the branch has something else there than the base.
func (p *place) branchChanged() bool {
	return p.base == nil || p.theirs == nil || p.base.Ino != p.theirs.Ino || !node.Alike(p.base, p.theirs)
}

// dirOf returns the directory that a path is in.
func dirOf(p string) string { return path.Dir(p) }

// hostPath returns a path as package hostdir has it, where the top is "".
func hostPath(p string) string {
	if p == "." {
		return ""
	}
	return p
}

// find finds the places, with what the trees have there.
func (a *applier) find(ctx context.Context) error {
	return tree.ViewBoth(ctx, (*tree.Tree)(a.base), (*tree.Tree)(a.theirs), func(base, theirs *tree.Tx) error {
		paths, err := changedPaths(base, theirs)
		if err != nil {
			return err
		}

		// The directories above show whether the way is still there.
		for p := range maps.Clone(paths) {
			for p != "." {
				p = dirOf(p)
				paths[p] = true
			}
		}
		for p := range paths {
			a.places = append(a.places, &place{path: p})
		}
		slices.SortFunc(a.places, func(x, y *place) int {
			return cmp.Or(cmp.Compare(depth(x.path), depth(y.path)), cmp.Compare(x.path, y.path))
		})

		b, t := nodesOf(base), nodesOf(theirs)
		for _, p := range a.places {
			a.at[p.path] = p
			if p.base, err = b.node(p.path); err != nil {
				return err
			}
			if p.theirs, err = t.node(p.path); err != nil {
				return err
			}
		}
		return nil
	})
}

// depth counts the directories above a path.
func depth(p string) int {
	if p == "." {
		return 0
	}
	return strings.Count(p, "/") + 1
}

// changedPaths returns the paths at which two trees may show different files.
func changedPaths(a, b *tree.Tx) (map[string]bool, error) {
	delta, err := tree.Compare(a, b)
	if err != nil {
		return nil, err
	}
	paths := make(map[string]bool)
	for i, side := range []*tree.Tx{a, b} {
		if err := addPaths(paths, side, delta, i); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// addPaths adds the paths that one side of a difference has: 0 is the old one.
func addPaths(paths map[string]bool, tx *tree.Tx, delta *tree.Delta, side int) error {
	var inos []node.Ino
	for _, c := range delta.Inodes {
		inos = append(inos, c.Ino)
	}
	for _, c := range delta.Names {
		inos = append(inos, c.Dir)
	}
	if err := tx.FindNames(inos); err != nil {
		return err
	}

	finder := tx.PathFinder()
	for _, c := range delta.Inodes {
		list, err := finder.Paths(c.Ino)
		if err != nil {
			return err
		}
		for _, p := range list {
			paths[p] = true
		}
	}

	w := walker{tx, paths, make(map[string]bool)}
	for _, c := range delta.Names {
		ino := [...]node.Ino{c.Old, c.New}[side]
		if ino == 0 {
			continue
		}
		dir, err := finder.Path(c.Dir)
		if err != nil {
			return err
		}
		if dir == "" {
			continue // the root does not lead there
		}
		if err := w.below(node.JoinPath(dir, c.Base), ino, nil); err != nil {
			return err
		}
	}
	return nil
}

// A walker adds the paths below directories.
type walker struct {
	tx    *tree.Tx
	paths map[string]bool
	done  map[string]bool // paths whose paths below are there
}

// below adds the path of an inode, and all below it. above are the directories above it.
func (w *walker) below(p string, ino node.Ino, above []node.Ino) error {
	w.paths[p] = true
	if w.done[p] {
		return nil
	}
	n, err := w.tx.Node(ino)
	if err != nil || n == nil || !n.IsDir() {
		return err
	}
	if slices.Contains(above, ino) {
		return node.ErrBelowItself(ino)
	}
	w.done[p] = true

	list, err := w.tx.Children(ino)
	if err != nil {
		return err
	}
	for _, c := range list {
		if err := w.below(node.JoinPath(p, c.Base), c.Ino, append(above, ino)); err != nil {
			return err
		}
	}
	return nil
}

// A nodes looks up paths in a tree without following a symlink.
type nodes struct {
	tx   *tree.Tx
	dirs map[string]node.Ino // that were asked for; 0 is none
}

func nodesOf(tx *tree.Tx) *nodes { return &nodes{tx, map[string]node.Ino{".": tx.Root()}} }

// node returns the node at a path, or nil.
func (s *nodes) node(p string) (*node.Node, error) {
	ino := s.tx.Root()
	if p != "." {
		dir, err := s.dir(dirOf(p))
		if err != nil || dir == 0 {
			return nil, err
		}
		d, err := s.tx.Lookup(dir, path.Base(p))
		if err != nil || d.Ino == 0 {
			return nil, err
		}
		ino = d.Ino
	}
	n, err := s.tx.Node(ino)
	if err != nil || n == nil {
		return nil, err
	}
	copied := *n
	return &copied, nil
}

// dir returns the directory at a path, or 0.
func (s *nodes) dir(p string) (node.Ino, error) {
	if ino, known := s.dirs[p]; known {
		return ino, nil
	}
	n, err := s.node(p)
	if err != nil {
		return 0, err
	}
	s.dirs[p] = 0
	if n != nil && n.IsDir() {
		s.dirs[p] = n.Ino
	}
	return s.dirs[p], nil
}
