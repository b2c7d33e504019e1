package snapshot

import (
	"context"
	"iter"
	"syscall"

	"vfsdb/journal"
	"vfsdb/schema"
	"vfsdb/tree"
)

// A Deed is what one call did, or one commit that is part of no call: a [vfs.CallRecord], the calls that it Undid, and its
// Events, as far as they are asked for. Of a commit the ID is 0.
type Deed = journal.Deed

// DeedOptions select deeds for [Deeds]: with changes at one of the Paths, of an Op, of calls that changed Trees, of a Session, an Actor or a Tool, Since a
// number, From a time To a time, the Oldest first. Events is how many changes of each deed are read; -1 is all. Nil selects
// all deeds, newest first, and reads none of their changes.
type DeedOptions = journal.DeedOptions

// Deeds yields what was done to a tree, also on the branches that it was forked from, whose changes are those of [vfs.FS.Log]. A
// deed counts all changes of its call, but its events are those that were asked for. A path is cleaned but not resolved, and is
// followed back through renames. A tree below OpenRoot is EINVAL.
func Deeds(ctx context.Context, t Tree, options *DeedOptions) iter.Seq2[Deed, error] {
	of := (*tree.Tree)(t.Tree())
	var o DeedOptions
	if options != nil {
		o = *options
	}
	return func(yield func(Deed, error) bool) {
		if !of.Whole() {
			yield(Deed{}, nameErr("log", ".", syscall.EINVAL))
			return
		}
		paths := make([]string, len(o.Paths))
		for i, path := range o.Paths {
			paths[i] = journal.Clean(path)
		}
		o.Paths = paths

		view := func(ctx context.Context, fn func(*schema.Tx) error) error {
			return of.View(ctx, func(tx *tree.Tx) error { return fn(tx.DB()) })
		}
		source := journal.Source{Branch: of.Moment().Branch, Epoch: of.Moment().Epoch, View: view}
		for deed, err := range journal.Deeds(ctx, source, &o) {
			if !yield(deed, err) {
				return
			}
		}
	}
}
