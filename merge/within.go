package merge

import (
	"cmp"
	"slices"

	"vfsdb/node"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// IntoIn is [Into] as a part of a transaction on the head of the target. A dry run is a transaction that its caller ends
// with an error. The source must have been opened before the transaction began.
func IntoIn(tx *vfs.Tx, source snapshot.Tree, options *Options) (*Result, error) {
	var o Options
	if options != nil {
		o = *options
	}
	from, to := source.Tree(), (*vfs.FS)((*tree.Tx)(tx).Tree())
	r, err := into(tx, from, cmp.Or(o.Label, snapshot.Label(source)), o)
	if err != nil {
		return nil, mergeErr(from, to, err)
	}
	return r, nil
}

// ConflictsIn is [Conflicts] as a part of a transaction.
func ConflictsIn(tx *vfs.Tx) ([]Conflict, error) {
	list, err := conflictsIn((*tree.Tx)(tx))
	return list, pathErr("conflicts", (*tree.Tx)(tx).Tree().Name(), err)
}

// ContentIn is [Content] as a part of the transaction in which a conflict was found.
func ContentIn(tx *vfs.Tx, c Conflict, side Side) ([]byte, error) {
	data, err := sideOf((*tree.Tx)(tx), c, side)
	return data, pathErr("merge", c.Path, err)
}

// ResolveIn is [Resolve] as a part of a transaction.
func ResolveIn(tx *vfs.Tx, path string, take Take) error {
	n, err := conflicted(tx, path)
	if err == nil {
		err = resolve((*tree.Tx)(tx), tx, path, n, take)
	}
	return pathErr("resolve", path, err)
}

// added returns the conflicts of now that were not there before, or with other terms.
func added(before, now []Conflict) []Conflict {
	type state struct {
		ino   node.Ino
		terms node.Conflict
	}
	was := make(map[state]bool)
	for _, c := range before {
		was[state{c.ino, c.terms}] = true
	}
	return slices.DeleteFunc(slices.Clone(now), func(c Conflict) bool { return was[state{c.ino, c.terms}] })
}
