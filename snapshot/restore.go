package snapshot

import (
	"cmp"
	"context"
	"syscall"
	"time"

	"vfsdb/history"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Restore gives the head of fsys the state of another tree: of a snapshot, or of a branch as it is now. It costs as
// much as the two differ. The state that it replaces is kept as the snapshot undo, so a restore can itself be undone.
// All of it is one commit.
func Restore(ctx context.Context, fsys *vfs.FS, to Tree) (undo *Snapshot, err error) {
	return RestoreIf(ctx, fsys, to, nil)
}

// RestoreIf is [Restore] with a condition: check sees the changes of that very commit, and if it returns an error,
// nothing changes and the error is returned. check may be nil.
func RestoreIf(ctx context.Context, fsys *vfs.FS, to Tree, check func([]Change) error) (undo *Snapshot, err error) {
	err = fsys.Update(ctx, func(tx *vfs.Tx) error {
		info, err := restoreIf(tx, to, "", "before restore of "+Label(to), check)
		if err != nil {
			return err
		}
		undo, err = openIn(tx, info)
		return err
	})
	if err != nil {
		return nil, nameErr("restore", fsys.Head(), err)
	}
	return undo, nil
}

// checkRestore hands check the changes that a restore would make.
func checkRestore(tx *vfs.Tx, to Tree, check func([]Change) error) error {
	then, err := (*tree.Tx)(tx).On((*tree.Tree)(to.Tree()))
	if err != nil {
		return err
	}
	changes, err := diff((*tree.Tx)(tx), then)
	if err != nil {
		return err
	}
	return check(changes)
}

// DiffIn returns the changes from a tree to the head that a transaction writes, which differ in delta now. See [Diff].
func DiffIn(tx *vfs.Tx, from Tree, delta *tree.Delta) ([]Change, error) {
	then, err := (*tree.Tx)(tx).On((*tree.Tree)(from.Tree()))
	if err != nil {
		return nil, err
	}
	return changesOf(then, (*tree.Tx)(tx), delta)
}

// Become gives the head what delta has as new, row by row. It records each changed path as an event of the given op, and keeps
// no undo. An entry that does not change is only recorded.
func Become(tx *tree.Tx, delta *tree.Delta, op journal.Op) error {
	log, err := NewChangeLog(tx, op, delta)
	if err != nil {
		return err
	}
	kinds := make(map[node.Ino]uint8)
	for _, c := range delta.Inodes {
		if c.New != nil {
			kinds[c.Ino] = node.NodeOf(c.New).Kind()
		}
	}
	for _, c := range delta.Names {
		if err := becomeName(tx, c, kinds); err != nil {
			return err
		}
	}

	var nodes []*node.Node
	for _, c := range delta.Inodes {
		if c.New != nil {
			nodes = append(nodes, node.NodeOf(c.New))
		} else if err := tx.DropNode(c.Ino); err != nil {
			return err
		}
	}
	if err := tx.PutNodes(nodes...); err != nil {
		return err
	}
	return log.Record()
}

// RestoreIn is [Restore] as a part of a transaction on the head of a branch. The replaced state is kept under the given
// name and note; an empty name makes one up. The tree must have been opened before the transaction began.
func RestoreIn(tx *vfs.Tx, to Tree, name, note string) (Info, error) {
	return RestoreIfIn(tx, to, name, note, nil)
}

// RestoreIfIn is [RestoreIn] with the condition of [RestoreIf].
func RestoreIfIn(tx *vfs.Tx, to Tree, name, note string, check func([]Change) error) (Info, error) {
	info, err := restoreIf(tx, to, name, note, check)
	return info, nameErr("restore", (*tree.Tx)(tx).Tree().Name(), err)
}

func restoreIf(tx *vfs.Tx, to Tree, name, note string, check func([]Change) error) (Info, error) {
	if check != nil {
		if err := checkRestore(tx, to, check); err != nil {
			return Info{}, err
		}
	}
	undo := Info{Name: cmp.Or(name, MadeUpName("undo")), Created: time.Now(), Note: note}
	return undo, restore(tx, to, &undo)
}

// restore names the state of the head as undo, and then gives the head the state of another tree.
func restore(tx *vfs.Tx, to Tree, undo *Info) error {
	// Writes of open files that are not committed yet are replaced too, so the undo has to contain them.
	if err := (*tree.Tx)(tx).TakeWrites(); err != nil {
		return err
	}
	if err := create(tx, undo); err != nil {
		return err
	}
	return nameErr("restore", undo.Branch, become((*tree.Tx)(tx), (*tree.Tree)(to.Tree())))
}

// become makes the head equal to another tree, times included, and notes that it is what that tree is: a later merge of
// the two begins here. The tree may be of the past, another branch, or an ancestor, of the same store (else EXDEV); a
// directory that OpenRoot stands on is EINVAL, on either side. Open Files whose inode is not in it get ESTALE.
func become(tx *tree.Tx, to *tree.Tree) error {
	if !tx.Tree().Whole() || !to.Whole() {
		return syscall.EINVAL
	}
	src, err := tx.On(to)
	if err != nil {
		return err
	}
	delta, err := tree.Compare(tx, src)
	if err != nil {
		return err
	}
	if err := Become(tx, delta, journal.OpRestore); err != nil {
		return err
	}

	at := src.Moment()
	if !at.Final() && at != tx.Moment() {
		if at, err = src.Freeze(); err != nil {
			return err
		}
	}
	if at == tx.Moment() {
		return nil
	}
	return history.Become(tx.DB(), tx.Moment().Branch, at)
}

// becomeName makes a name show another inode. kinds has the types of those that change too.
func becomeName(tx *tree.Tx, c tree.NameChange, kinds map[node.Ino]uint8) error {
	switch {
	case c.New == c.Old:
		return nil
	case c.New == 0:
		return tx.DropEntry(c.Name)
	}
	kind, known := kinds[c.New]
	if !known {
		n, err := tx.Node(c.New)
		if err != nil {
			return err
		}
		if n == nil {
			return schema.Corrupt("inode %d is missing", c.New)
		}
		kind = n.Kind()
	}
	return tx.PutEntry(c.Name, c.New, kind)
}
