package merge

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"vfsdb/history"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A Side is one of the three trees of a merge.
type Side = node.Side

// The sides of a merge.
const (
	Base   = node.Base   // what both come from; as a preference: neither
	Ours   = node.Ours   // the target
	Theirs = node.Theirs // the source
)

// Options are the optional parts of a merge. A nil *Options is the zero value.
type Options struct {
	// Prefer decides what this merge would conflict about: Ours or Theirs. Conflicts of names are kept all the same, but for
	// a file that one side removed and the other edited. Conflicts of earlier merges stay: only a file that the merge
	// removes takes them with it.
	Prefer Side

	// DryRun finds out the result, and changes nothing. It waits for other writers, as a merge does.
	DryRun bool

	// Label names the source in conflicts, and in the names of files that the merge puts beside others. "" is the name of the
	// snapshot or the branch that the source is. One with a NUL is EINVAL.
	Label string
}

// A Result is what a merge has done.
type Result struct {
	Base        []vfs.Moment // the moments that target and source had in common; several if each had taken in the other's past
	UpToDate    bool         // the target had all of the source already: nothing was changed
	FastForward bool         // the target had not changed since: it is now what the source is
	Changes     []snapshot.Change
	Conflicts   []Conflict // all of the target, earlier ones too
	Added       []Conflict // those of them that this merge made, or added to
	Undo        string     // the snapshot of the state before; "" if nothing was changed
}

// errDry ends the transaction of a dry run.
var errDry = errors.New("dry run")

// Into merges the changes of another tree of the same store into the head of target, in one commit: those since the best
// moment that both have in common. It costs as much as was changed on both sides. It does not fail for conflicts: what
// conflicts stays as it was in the target, and [Conflicts] lists it. The state before is kept as a snapshot. Writes of
// open files of this process are taken along, on both sides.
//
// A source of another store is EXDEV. A target of the past is EROFS. A directory that OpenRoot stands on, on either side,
// and the target itself as source, are EINVAL.
func Into(ctx context.Context, target *vfs.FS, source snapshot.Tree, options *Options) (*Result, error) {
	var o Options
	if options != nil {
		o = *options
	}
	from := source.Tree()

	var result *Result
	err := target.Update(ctx, func(tx *vfs.Tx) (err error) {
		result, err = into(tx, from, cmp.Or(o.Label, snapshot.Label(source)), o)
		if err == nil && o.DryRun {
			err = errDry
		}
		return err
	})
	if err != nil && err != errDry {
		return nil, mergeErr(from, target, err)
	}
	return result, nil
}

func mergeErr(from, to *vfs.FS, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	if errors.As(err, &pe) || errors.As(err, &le) {
		return err
	}
	return &os.LinkError{Op: "merge", Old: nameOf((*tree.Tree)(from)), New: nameOf((*tree.Tree)(to)), Err: err}
}

// nameOf names a tree in conflicts: by its branch, since the tree that a file was opened for has the name of the file.
func nameOf(t *tree.Tree) string { return cmp.Or(t.Head(), t.Name()) }

// into is a merge within a transaction.
func into(vtx *vfs.Tx, from *vfs.FS, label string, o Options) (*Result, error) {
	tx := (*tree.Tx)(vtx)
	switch {
	case (*tree.Tree)(from).DB() != tx.Tree().DB():
		return nil, syscall.EXDEV
	case !tx.Tree().Whole() || !(*tree.Tree)(from).Whole():
		return nil, because(syscall.EINVAL, "one of them is a directory")
	case from.Moment() == tx.Moment():
		return nil, because(syscall.EINVAL, "both are the same tree")
	case strings.Contains(label, "\x00"):
		return nil, because(syscall.EINVAL, "the label has a NUL")
	}
	src, err := tx.On((*tree.Tree)(from))
	if err != nil {
		return nil, err
	}
	for _, side := range []*tree.Tx{tx, src} {
		if side.Tree().Frozen() {
			continue
		}
		if err := side.TakeWrites(); err != nil {
			return nil, err
		}
	}

	f := finder{tx: tx}
	base, moments, err := f.base(tx, src)
	if err != nil {
		return nil, err
	}
	r := &Result{Base: moments}
	theirs := newView(src)
	delta, err := compare(base, theirs)
	if err != nil {
		return nil, err
	}
	before, err := conflictsIn(tx)
	if err != nil {
		return nil, err
	}
	if len(delta.Names)+len(delta.Inodes) == 0 {
		r.UpToDate, r.Conflicts = true, before
		return r, nil
	}

	undo, err := snapshot.CreateIn(vtx, snapshot.MadeUpName("undo"), "before merge of "+label)
	if err != nil {
		return nil, err
	}
	r.Undo = undo.Name
	at, err := momentOf(src)
	if err != nil {
		return nil, err
	}
	if delta, r.FastForward, err = bring(tx, base, theirs, delta, label, o); err != nil {
		return nil, err
	}
	if err := history.AddMerge(tx.DB(), tx.Moment().Branch, at); err != nil {
		return nil, err
	}

	past, err := tx.Tree().Store().AtIn(tx.DB(), undo.Moment)
	if err != nil {
		return nil, err
	}
	if r.Changes, err = snapshot.DiffIn(vtx, (*vfs.FS)(past), delta); err != nil {
		return nil, err
	}
	r.Conflicts, err = conflictsIn(tx)
	r.Added = added(before, r.Conflicts)
	return r, err
}

// momentOf returns the moment of a tree, and ends the epoch of a head for that.
func momentOf(src *tree.Tx) (history.Moment, error) {
	if at := src.Moment(); at.Final() {
		return at, nil
	}
	return src.Freeze()
}

// bring changes the head: to what the source is if nothing has changed since the base, else to the merge of the three. It
// returns what it has changed.
func bring(tx *tree.Tx, base, theirs *view, byTheirs *tree.Delta, label string, o Options) (delta *tree.Delta, forward bool, err error) {
	var byOurs *tree.Delta
	if base.tx != nil {
		if byOurs, err = compare(base, newView(tx)); err != nil {
			return nil, false, err
		}
		if len(byOurs.Names)+len(byOurs.Inodes) == 0 {
			return byTheirs, true, snapshot.Become(tx, byTheirs, journal.OpMerge)
		}
	}

	m := newMerger(base, newView(tx), theirs)
	m.byOurs, m.byTheirs = byOurs, byTheirs
	delta, err = m.three(tx, label, o)
	return delta, false, err
}

// Three merges into the head of a transaction what changed from one tree to another, whatever branches they are of: with the
// moment after a change as base, and the one before as theirs, it takes that change back. It notes no merge and keeps no
// undo. The label names theirs in conflicts. Trees of another store are EXDEV, directories EINVAL.
func Three(tx *vfs.Tx, base, theirs snapshot.Tree, label string, options *Options) error {
	var o Options
	if options != nil {
		o = *options
	}

	ours := (*tree.Tx)(tx)
	var views [2]*view
	for i, t := range []snapshot.Tree{base, theirs} {
		if !(*tree.Tree)(t.Tree()).Whole() || !ours.Tree().Whole() {
			return syscall.EINVAL
		}
		on, err := ours.On((*tree.Tree)(t.Tree()))
		if err != nil {
			return err
		}
		views[i] = newView(on)
	}

	if err := ours.TakeWrites(); err != nil {
		return err
	}
	_, err := newMerger(views[0], newView(ours), views[1]).three(ours, label, o)
	return err
}

// three merges, and gives the head of ours the result. It returns what changes by that.
func (m *merger) three(tx *tree.Tx, label string, o Options) (*tree.Delta, error) {
	m.now, m.prefer = time.Now().UnixNano(), o.Prefer
	m.label = [3]string{Base: "base", Ours: nameOf(tx.Tree()), Theirs: label}
	if err := m.run(); err != nil {
		return nil, err
	}
	return m.write(tx)
}

// write gives the head the result, and returns what that changes.
func (m *merger) write(tx *tree.Tx) (*tree.Delta, error) {
	names, inos := make(map[node.Name]bool), make(map[node.Ino]bool)
	for name := range m.out.names {
		names[name] = true
	}
	for ino := range m.out.nodes {
		inos[ino] = true
	}
	delta, err := differing(m.ours, m.out, names, inos)
	if err != nil {
		return nil, err
	}
	for _, c := range delta.Inodes {
		if c.New == nil {
			return nil, schema.Corrupt("inode %d is missing in a merge", c.Ino)
		}
	}
	return delta, snapshot.Become(tx, delta, journal.OpMerge)
}
