package snapshot

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A Kind is the way in which a path differs.
type Kind string

const (
	Added    Kind = "added"
	Removed  Kind = "removed"
	Modified Kind = "modified" // content of a file, target of a symlink, number of a device
	Type     Kind = "type"     // another type of file has the name
	Mode     Kind = "mode"     // only permissions, owner or extended attributes differ
	Renamed  Kind = "renamed"  // the same file under another name; From is the old one
)

// A Change is one path that differs between two trees. Times alone are no change.
type Change struct {
	Kind Kind
	Path string    // in the new tree; if removed, in the old one
	From string    // if renamed: the path in the old tree
	Old  *vfs.Info // nil if added
	New  *vfs.Info // nil if removed

	OldSum, NewSum *vfs.Sum // of the contents of regular files, from DiffSums; nil from Diff, which does not look for them
}

// Diff yields the changes from tree a to tree b, sorted by path. It reads both at one moment. It costs as much as was
// changed since the two were one, and as much as lies below directories that came or went, because each path there is
// yielded. A renamed directory is one change. A file that was renamed and changed too is yielded twice, as renamed and
// as modified.
func Diff(ctx context.Context, a, b Tree) iter.Seq2[Change, error] { return changes(ctx, a, b, diff) }

// DiffSums is Diff with the sums of contents.
func DiffSums(ctx context.Context, a, b Tree) iter.Seq2[Change, error] {
	return changes(ctx, a, b, func(old, now *tree.Tx) ([]Change, error) {
		list, err := diff(old, now)
		for i := range list {
			if err == nil {
				list[i].OldSum, err = sumOf(old, list[i].Old)
			}
			if err == nil {
				list[i].NewSum, err = sumOf(now, list[i].New)
			}
		}
		return list, err
	})
}

// sumOf returns the sum of the content of a regular file, and nil for anything else.
func sumOf(tx *tree.Tx, info *vfs.Info) (*vfs.Sum, error) {
	if info == nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	sum, err := tx.SumOfInfo(info)
	return &sum, err
}

// changes yields what find finds out about two trees.
func changes(ctx context.Context, a, b Tree, find func(old, now *tree.Tx) ([]Change, error)) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		var changes []Change
		err := tree.ViewBoth(ctx, (*tree.Tree)(a.Tree()), (*tree.Tree)(b.Tree()), func(old, now *tree.Tx) (err error) {
			changes, err = find(old, now)
			return err
		})
		if err != nil {
			yield(Change{}, nameErr("diff", Label(a)+" "+Label(b), err))
			return
		}

		for _, c := range changes {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// Equal reports whether two trees show the same under all paths. The times of directories, which follow from their entries, do
// not count.
func Equal(ctx context.Context, a, b Tree) (equal bool, err error) {
	err = tree.ViewBoth(ctx, (*tree.Tree)(a.Tree()), (*tree.Tree)(b.Tree()), func(old, now *tree.Tx) error {
		delta, err := tree.Compare(old, now)
		if err != nil {
			return err
		}
		equal = len(delta.Names) == 0 && !slices.ContainsFunc(delta.Inodes, func(c tree.InodeChange) bool {
			return c.Old == nil || c.New == nil || !node.Alike(node.NodeOf(c.Old), node.NodeOf(c.New))
		})
		return nil
	})
	return equal, nameErr("compare", Label(a)+" "+Label(b), err)
}

// A differ turns rows that differ into paths that differ.
type differ struct {
	old, now *side
	changes  []Change

	renamed map[string]bool // new paths that are reported as renames
	left    map[string]bool // the old paths that those had
}

// diff returns the changes from one tree to another, sorted by path.
func diff(old, now *tree.Tx) ([]Change, error) {
	delta, err := tree.Compare(old, now)
	if err != nil {
		return nil, err
	}
	return changesOf(old, now, delta)
}

// changesOf returns the changes from one tree to another, which differ in delta, sorted by path.
func changesOf(old, now *tree.Tx, delta *tree.Delta) ([]Change, error) {
	d := &differ{old: newSide(old), now: newSide(now), renamed: make(map[string]bool), left: make(map[string]bool)}

	// Each side gets the entries that only it shows.
	for _, c := range delta.Names {
		if err := d.old.show(c.Name, c.Old); err != nil {
			return nil, err
		}
		if err := d.now.show(c.Name, c.New); err != nil {
			return nil, err
		}
	}

	// A directory can come or go without rows for its entries. Those came or went with it.
	if err := d.old.descend(d.now); err != nil {
		return nil, err
	}
	if err := d.now.descend(d.old); err != nil {
		return nil, err
	}

	if err := d.names(); err != nil {
		return nil, err
	}
	if err := d.inodes(delta.Inodes); err != nil {
		return nil, err
	}
	slices.SortStableFunc(d.changes, func(x, y Change) int { return cmp.Compare(x.Path, y.Path) })
	return d.changes, nil
}

// names adds the changes of entries: paths that came, went, moved, or show another inode.
func (d *differ) names() error {
	for _, ino := range d.now.shown() {
		if err := d.renames(ino); err != nil {
			return err
		}
	}

	for path, ino := range d.old.at {
		if d.left[path] {
			continue
		}
		if _, replaced := d.now.at[path]; replaced && !d.renamed[path] && !d.belowMoved(path) {
			continue // reported below, with the new one
		}
		if err := d.add(Removed, path, "", ino, 0); err != nil {
			return err
		}
	}

	for path, ino := range d.now.at {
		if d.renamed[path] {
			continue
		}
		was, replaced := d.old.at[path]
		if !replaced || d.left[path] || d.belowMoved(path) {
			if err := d.add(Added, path, "", 0, ino); err != nil {
				return err
			}
			continue
		}
		if err := d.replaced(path, was, ino); err != nil {
			return err
		}
	}
	return nil
}

// belowMoved reports whether a directory above a path was renamed, from there or to there. Then the path is a different
// place in each tree: its old entry moved along or is gone, and its new entry moved along or is new.
func (d *differ) belowMoved(path string) bool {
	for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
		if dir := path[:i]; d.renamed[dir] || d.left[dir] {
			return true
		}
	}
	return false
}

// renames pairs the paths that an inode lost with those that it gained.
func (d *differ) renames(ino vfs.Ino) error {
	gained, lost := slices.Sorted(slices.Values(d.now.names[ino])), slices.Sorted(slices.Values(d.old.names[ino]))
	same := func(p string) bool { return d.now.at[p] == ino && d.old.at[p] == ino }
	gained, lost = slices.DeleteFunc(gained, same), slices.DeleteFunc(lost, same)

	for i := range min(len(gained), len(lost)) {
		d.renamed[gained[i]], d.left[lost[i]] = true, true
		if err := d.add(Renamed, gained[i], lost[i], ino, ino); err != nil {
			return err
		}
	}
	return nil
}

// replaced adds the change of a path that shows another inode than before.
func (d *differ) replaced(path string, was, is vfs.Ino) error {
	if was == is {
		return nil
	}
	old, err := d.old.tx.Info(was)
	if err != nil {
		return err
	}
	now, err := d.now.tx.Info(is)
	if err != nil {
		return err
	}
	if kind := KindOf(old, now); kind != "" {
		d.changes = append(d.changes, Change{Kind: kind, Path: path, Old: old, New: now})
	}
	return nil
}

// add adds a change with what the two trees know of the inodes; 0 is none.
func (d *differ) add(kind Kind, path, from string, was, is vfs.Ino) (err error) {
	c := Change{Kind: kind, Path: path, From: from}
	if was != 0 {
		if c.Old, err = d.old.tx.Info(was); err != nil {
			return err
		}
	}
	if is != 0 {
		if c.New, err = d.now.tx.Info(is); err != nil {
			return err
		}
	}
	d.changes = append(d.changes, c)
	return nil
}

// inodes adds the changes of files that both sides show, under each of their present paths.
func (d *differ) inodes(list []tree.InodeChange) error {
	for _, c := range list {
		kind := KindOf(c.Old, c.New)
		if kind == "" {
			continue
		}

		paths, err := d.now.dirs.Paths(c.Ino)
		if err != nil {
			return err
		}
		var before []string
		if len(d.now.names[c.Ino]) > 0 {
			if before, err = d.old.dirs.Paths(c.Ino); err != nil {
				return err
			}
		}

		for _, path := range paths {
			if !d.covered(c.Ino, path, len(before) > 0) {
				d.changes = append(d.changes, Change{Kind: kind, Path: path, Old: c.Old, New: c.New})
			}
		}
	}
	return nil
}

// covered reports whether the changes of entries already cover an inode under a path. shown is whether the old
// tree had a path to it.
func (d *differ) covered(ino vfs.Ino, path string, shown bool) bool {
	was, old := d.old.at[path]
	if _, now := d.now.at[path]; !now {
		return false
	}

	switch {
	case !old && !shown:
		return true // it was added
	case old && was != ino && !d.renamed[path]:
		return true // it replaced another
	case !old && !d.renamed[path]:
		return true // a further link, which was added
	}
	return false
}

// KindOf returns how a file differs from another; "" if only in its times, links or number, or if one of them is nil.
func KindOf(a, b *vfs.Info) Kind {
	switch {
	case a == nil || b == nil:
		return ""
	case a.Mode().Type() != b.Mode().Type():
		return Type
	case !a.SameContent(b) || a.Target() != b.Target() || a.Rdev() != b.Rdev():
		return Modified
	}

	au, ag := a.Owner()
	bu, bg := b.Owner()
	if a.Mode() != b.Mode() || au != bu || ag != bg || node.NodeOf(a).Xattrs != node.NodeOf(b).Xattrs {
		return Mode
	}
	return ""
}
