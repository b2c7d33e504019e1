package apply

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"vfsdb/chunk"
	"vfsdb/merge"
	"vfsdb/node"
	"vfsdb/snapshot"
	"vfsdb/transfer/hostdir"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// errDone ends the transaction of the merge, of which the store keeps nothing.
var errDone = errors.New("the merge is done")

// maxHeld is the largest content that an apply writes and the branch does not have: it is read into memory.
const maxHeld = 64 << 20

// merge finds out what the directory is to have in each place.
func (a *applier) merge(ctx context.Context) error {
	main, err := a.theirs.Branch(ctx, vfs.MainBranch)
	if err != nil {
		return err
	}
	err = main.Update(ctx, func(tx *vfs.Tx) error {
		if err := a.mergeIn((*tree.Tx)(tx)); err != nil {
			return err
		}
		return errDone
	})
	if err == errDone {
		return nil
	}
	return err
}

func (a *applier) mergeIn(tx *tree.Tx) error {
	name := snapshot.MadeUpName("apply")
	if err := tx.Fork(a.base.Moment(), name); err != nil {
		return err
	}
	head, err := tx.Tree().Store().HeadIn(tx.DB(), name)
	if err != nil {
		return err
	}
	ours, err := tx.On(head)
	if err != nil {
		return err
	}

	m := oursMaker{applier: a, tx: ours, linked: make(map[node.Ino]hostdir.ID)}
	if err := m.run(); err != nil {
		return err
	}
	before, err := freeze(ours)
	if err != nil {
		return err
	}

	if err := merge.Three((*vfs.Tx)(ours), a.base, a.theirs, a.label, nil); err != nil {
		return err
	}
	if err := a.wants(before, ours); err != nil {
		return err
	}
	if err := a.findConflicts(before, ours); err != nil {
		return err
	}
	theirs, err := ours.On((*tree.Tree)(a.theirs))
	if err != nil {
		return err
	}
	if err := a.findBeside(before, ours, theirs); err != nil {
		return err
	}
	for _, p := range a.places {
		if err := a.hold(ours, p); err != nil {
			return err
		}
	}
	if a.dry {
		return a.draw(ours)
	}
	return nil
}

// freeze returns the tree of a head as it is now.
func freeze(head *tree.Tx) (*tree.Tx, error) {
	info, err := snapshot.CreateIn((*vfs.Tx)(head), "", "")
	if err != nil {
		return nil, err
	}
	past, err := head.Tree().Store().AtIn(head.DB(), info.Moment)
	if err != nil {
		return nil, err
	}
	return head.On(past)
}

// wants notes what the result of the merge has in each place, and what ours had.
func (a *applier) wants(before, merged *tree.Tx) error {
	was, is := nodesOf(before), nodesOf(merged)
	for _, p := range a.places {
		n, err := was.node(p.path)
		if err != nil {
			return err
		}
		p.ino = 0
		if n != nil {
			p.ino = n.Ino
		}
		if p.want, err = is.node(p.path); err != nil {
			return err
		}

		// What could not be looked at stays. That matters where the branch has changed it.
		if p.fault != nil {
			p.skip = true
			if p.branchChanged() {
				a.conflict(p.path, hostdir.Reason(p.fault))
			}
		}
	}
	return nil
}

// findConflicts notes which places stay as they are, because the directory has changed them in another way than the branch.
func (a *applier) findConflicts(before, merged *tree.Tx) error {
	list, err := merge.ConflictsIn((*vfs.Tx)(merged))
	if err != nil {
		return err
	}
	at := nodesOf(merged)
	for _, c := range list {
		n, err := at.node(c.Path)
		if err != nil {
			return err
		}
		if n == nil {
			continue
		}
		if err := a.keep(n.Ino, c, before, merged); err != nil {
			return err
		}
	}
	return nil
}

// keep leaves a file as it is in the directory, under all its names.
func (a *applier) keep(ino node.Ino, c merge.Conflict, before, merged *tree.Tx) error {
	a.kept[ino] = true
	shown := a.at[c.Path]
	for _, side := range []*tree.Tx{merged, before} {
		list, err := side.Paths(ino)
		if err != nil {
			return err
		}
		for _, at := range list {
			if p := a.at[at]; p != nil {
				p.skip = true
				if shown == nil || p.host != nil {
					shown = p
				}
			}
		}
	}

	why := "the branch and the directory have changed it in different ways: " + strings.Join(c.Parts, ", ")
	switch {
	case shown == nil:
		return nil // it stands beside another one: findBeside lists that
	case shown.host == nil:
		why = "the branch has changed it, and the directory has it no more"
	case shown.theirs == nil:
		why = "the branch has it here no more, and the directory has changed it"
	}
	a.conflict(shown.path, why)
	return nil
}

// findBeside finds what the merge has put beside something else: where the branch has it, the directory has another file. It is
// not made, and its old names stay.
func (a *applier) findBeside(before, merged, theirs *tree.Tx) error {
	paths, err := changedPaths(before, merged)
	if err != nil {
		return err
	}
	is := nodesOf(merged)
	for path := range paths {
		if p := a.at[path]; p != nil && p.theirs != nil {
			continue
		}
		n, err := is.node(path)
		if err != nil {
			return err
		}
		if n == nil {
			continue
		}
		old, err := before.Paths(n.Ino)
		if err != nil {
			return err
		}
		if slices.Contains(old, path) {
			continue
		}

		there, err := theirs.Paths(n.Ino)
		if err != nil {
			return err
		}
		a.kept[n.Ino] = true
		for _, at := range slices.Concat(old, there) {
			if p := a.at[at]; p != nil {
				p.skip = true
				a.conflict(at, "the directory has another file where the branch has this one")
			}
		}
	}
	return nil
}

// hold reads the content that a place is to get, if the branch does not have it there.
func (a *applier) hold(merged *tree.Tx, p *place) error {
	if p.skip || p.want == nil || p.want.Kind() != node.KindFile || !p.rewrites() {
		return nil
	}
	if t := p.theirs; t != nil && t.Kind() == node.KindFile && t.Content == p.want.Content {
		return nil
	}
	if p.want.Content.Size > maxHeld {
		a.kept[p.want.Ino], p.skip = true, true
		a.conflict(p.path, "the directory has another content, which is too large to be moved")
		return nil
	}
	if a.dry {
		return nil
	}

	data, err := readAll(merged, p.want.Content)
	if err != nil {
		return err
	}
	p.held, err = a.spill.keep(data)
	return err
}

// readAll reads a content.
func readAll(tx *tree.Tx, c chunk.Content) ([]byte, error) {
	data := make([]byte, c.Size)
	n, err := chunk.Read(tx.DB(), c, data, 0)
	if err == io.EOF {
		err = nil
	}
	return data[:n], err
}
