package tree

import (
	"iter"
	"slices"
	"syscall"

	"vfsdb/node"
	"vfsdb/schema"
)

// climb yields the entries that lead from a directory up to the root of the branch: the one that shows the directory,
// the one that shows the directory of that, and so on. It ends at the root, and at a directory that has lost its name.
func (tx *Tx) climb(dir node.Ino) iter.Seq2[node.Name, error] {
	return func(yield func(node.Name, error) bool) {
		var seen node.Circle
		for dir != schema.RootIno {
			err := seen.To(dir)
			if err != nil {
				yield(node.Name{}, err)
				return
			}

			names, err := tx.namesOf(dir)
			if err != nil {
				yield(node.Name{}, err)
				return
			}
			if len(names) == 0 || !yield(names[0], nil) {
				return
			}
			dir = names[0].Dir
		}
	}
}

// A PathFinder finds the paths of directories from a directory above them, and remembers those that it has found. It is
// valid as long as its transaction moves no directory.
type PathFinder struct {
	tx    *Tx
	top   node.Ino
	known map[node.Ino]string // "" if top does not lead there; nil if nothing is to be remembered
}

// PathFinder returns a PathFinder from the root of the tree.
func (tx *Tx) PathFinder() PathFinder { return PathFinder{tx, tx.tree.root, make(map[node.Ino]string)} }

// Path returns the path of a directory, "." for the top itself, and "" if the top does not lead there.
func (f PathFinder) Path(dir node.Ino) (string, error) {
	path, found := f.recall(dir)
	if found {
		return path, nil
	}

	// Climb to a directory whose path is known.
	var names []node.Name
	for name, err := range f.tx.climb(dir) {
		if err != nil {
			return "", err
		}
		names = append(names, name)
		if path, found = f.recall(name.Dir); found {
			break
		}
	}

	// On the way back down each directory has the path of the one above it, and its name.
	for i, name := range slices.Backward(names) {
		if path != "" {
			path = node.JoinPath(path, name.Base)
		}
		at := dir
		if i > 0 {
			at = names[i-1].Dir
		}
		if f.known != nil {
			f.known[at] = path
		}
	}
	return path, nil
}

func (f PathFinder) recall(dir node.Ino) (string, bool) {
	if dir == f.top {
		return ".", true
	}
	path, known := f.known[dir]
	return path, known
}

// PathFrom returns the path of a directory from a directory above it, "." for that itself. If it does not lead there,
// that is ENOENT.
func (tx *Tx) PathFrom(top, dir node.Ino) (string, error) {
	path, err := PathFinder{tx: tx, top: top}.Path(dir)
	if err == nil && path == "" {
		err = syscall.ENOENT
	}
	return path, err
}

// Paths returns the paths that lead to an inode from the top, sorted. There are none if it has lost its names, or lies below a
// directory that has.
func (f PathFinder) Paths(ino node.Ino) ([]string, error) {
	if ino == f.top {
		return []string{"."}, nil
	}
	names, err := f.tx.namesOf(ino)
	if err != nil {
		return nil, err
	}

	var paths []string
	for _, name := range names {
		dir, err := f.Path(name.Dir)
		if err != nil {
			return nil, err
		}
		if dir != "" {
			paths = append(paths, node.JoinPath(dir, name.Base))
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// Paths returns the paths of the tree that lead to an inode, sorted: see [PathFinder.Paths].
func (tx *Tx) Paths(ino node.Ino) ([]string, error) {
	return PathFinder{tx: tx, top: tx.tree.root}.Paths(ino)
}

// BranchPath turns a path from the root of the tree into one from the root of the branch. They differ below OpenRoot.
func (tx *Tx) BranchPath(path string) (string, error) {
	if tx.tree.root == schema.RootIno {
		return path, nil
	}

	// A verb cannot move what is above its own root, but another Tx can.
	if tx.above == "" || tx.moves != tx.mem.Moves() {
		above, err := tx.PathFrom(schema.RootIno, tx.tree.root)
		if err != nil {
			return "", err
		}
		tx.above, tx.moves = above, tx.mem.Moves()
	}
	if path == "." {
		return tx.above, nil
	}
	return node.JoinPath(tx.above, path), nil
}

// CachedPath returns the value that CachePath has kept of a path from a directory, while nothing has changed since.
func (tx *Tx) CachedPath(root node.Ino, follow bool, path string) (end any, ok bool) {
	return tx.mem.Path(root, follow, path)
}

// CachePath keeps the end of a path, which leads to the inode n: a value of the room that takes paths apart.
func (tx *Tx) CachePath(root node.Ino, follow bool, path string, n *node.Node, end any) {
	tx.mem.PutPath(root, follow, path, n, end)
}
