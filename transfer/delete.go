package transfer

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"vfsdb/node"
	"vfsdb/transfer/gitignore"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// With Delete, names go that the source does not have. They are found in the transaction that makes the names, before
// any is made, so the store cannot change between the two. To find them costs one pass over the directories below the
// destination. A directory that goes as a whole is only walked if something below it may have to stay.

// A removal is a name below the destination that goes, and with that of a directory all that is below it.
type removal struct {
	tree.Place
	name string // inside the destination
	ino  vfs.Ino
	dir  bool
}

// A deleter finds the removals of an import.
type deleter struct {
	*namer
	im      *importer
	entries []*entry // of the source, sorted by path
	next    int      // the entry that is likely to be asked for next, since the store sorts names too
	seen    node.InoSet
	list    []removal
}

// remove removes from the destination what the source does not have. entries are all of the source, sorted by path.
func (im *importer) remove(ctx context.Context, n *namer, entries []*entry) error {
	list, err := im.removals(n, entries)
	if err != nil {
		return err
	}

	for _, r := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.dir {
			err = n.tx.RemoveTree(r.Place)
		} else {
			err = n.tx.Unlink(r.Place)
		}
		if err != nil {
			return fmt.Errorf("delete %q: %w", r.name, err)
		}
		n.done.Deleted++
	}
	return nil
}

// removals returns what is in the destination and not in the source.
func (im *importer) removals(n *namer, entries []*entry) ([]removal, error) {
	top, err := n.dir(n.top, false)
	if err != nil {
		return nil, err
	}
	d := deleter{namer: n, im: im, entries: entries}
	_, err = d.below("", top.ino, nil)
	return d.list, err
}

// below lists the removals below a directory, and reports whether any of its names stay. rules are those of the
// directories above.
func (d *deleter) below(dir string, ino vfs.Ino, rules *gitignore.Rules) (stay bool, err error) {
	if !d.seen.Add(ino) {
		return false, node.ErrBelowItself(ino)
	}
	if own := d.im.rules[dir]; own != nil {
		rules = own
	}

	for e, err := range d.tx.Entries(ino, "") {
		if err != nil {
			return false, fmt.Errorf("delete below %q: %w", dir, err)
		}
		name := join(dir, e.Name)
		r := removal{tree.Place{Dir: ino, Base: e.Name, Path: d.full(name)}, name, e.Ino, e.Kind == node.KindDir}
		kept, err := d.one(r, rules)
		if err != nil {
			return false, err
		}
		stay = stay || kept
	}
	return stay, nil
}

// one lists the removals of a name and of all below it, and reports whether the name stays.
func (d *deleter) one(r removal, rules *gitignore.Rules) (stays bool, err error) {
	source := d.source(r.name)
	switch {
	case d.im.ours[r.name] || d.im.leavesOut(r.name, r.dir, rules):
		return true, nil
	case source != nil && source.mode.IsDir() == r.dir:
		if r.dir {
			_, err = d.below(r.name, r.ino, rules)
		}
		return true, err
	}

	// A directory goes as a whole, unless Exclude or GitIgnore protects something below it.
	before := len(d.list)
	if r.dir && (d.im.o.GitIgnore || len(d.im.globs) > 0) {
		if stays, err = d.below(r.name, r.ino, rules); stays || err != nil {
			return stays, err
		}
	}
	d.list = append(d.list[:before], r)
	return false, nil
}

// source returns the entry of the source with a path inside the destination, or nil.
func (d *deleter) source(name string) *entry {
	i := d.next
	if i == len(d.entries) || d.entries[i].path != name {
		var ok bool
		i, ok = slices.BinarySearchFunc(d.entries, name, func(e *entry, name string) int { return cmp.Compare(e.path, name) })
		if !ok {
			return nil
		}
	}
	d.next = i + 1
	return d.entries[i]
}
