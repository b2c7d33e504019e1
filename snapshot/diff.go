package snapshot

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"vfsdb/schema"
	"vfsdb/vfs"
)

// A Kind says how a path differs.
type Kind string

const (
	Added    Kind = "added"
	Removed  Kind = "removed"
	Modified Kind = "modified" // content of a file, target of a symlink, number of a device
	Type     Kind = "type"     // another type of file has the name
	Mode     Kind = "mode"     // only permissions or owner differ
	Renamed  Kind = "renamed"  // the same file under another name; From says which it had
)

// A Change is one path that differs between two trees. Times alone are no change.
type Change struct {
	Kind Kind
	Path string    // in the new tree; of something removed, in the old one
	From string    // if renamed: the path in the old tree
	Old  *vfs.Info // nil if added
	New  *vfs.Info // nil if removed
}

// Diff yields what differs from tree a to tree b, sorted by path. Both are read at one moment. It costs what was
// changed since the two were one, and what lies below directories that came or went, whose paths are yielded one by
// one. A renamed directory is one change. A renamed file that was changed too is yielded twice, as renamed and as
// modified.
func Diff(ctx context.Context, a, b Tree) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		var changes []Change
		err := vfs.ViewBoth(ctx, a.Tree(), b.Tree(), func(old, now *vfs.Tx) (err error) {
			changes, err = diff(old, now)
			return err
		})
		if err != nil {
			yield(Change{}, nameErr("diff", describe(a)+" "+describe(b), err))
			return
		}
		for _, c := range changes {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// A differ turns rows that differ into paths that differ.
type differ struct {
	old, now *side
	changes  []Change

	renamed map[string]bool // new paths that are told as renames
	left    map[string]bool // and the old ones that they came from
}

// A side is one of the two trees, with the entries that differ in it.
type side struct {
	tx    *vfs.Tx
	names map[vfs.Ino][]string // paths of entries that only this side shows, by what they show
	at    map[string]vfs.Ino   // the same by path
	dirs  map[vfs.Ino]string   // paths of directories, with a slash at the end; "/" below nothing that is reachable
	full  map[vfs.Ino]string   // directories all of whose entries were added, by the same paths
}

func newSide(tx *vfs.Tx) *side {
	return &side{tx: tx, names: make(map[vfs.Ino][]string), at: make(map[string]vfs.Ino), dirs: map[vfs.Ino]string{tx.Root(): ""}, full: make(map[vfs.Ino]string)}
}

func diff(old, now *vfs.Tx) ([]Change, error) {
	delta, err := vfs.Compare(old, now)
	if err != nil {
		return nil, err
	}
	d := &differ{old: newSide(old), now: newSide(now), renamed: make(map[string]bool), left: make(map[string]bool)}
	for _, c := range delta.Names {
		if err := d.old.show(c.Name, c.Old); err != nil {
			return nil, err
		}
		if err := d.now.show(c.Name, c.New); err != nil {
			return nil, err
		}
	}
	// A directory that came or went without rows for what is below it: that came or went too.
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

// show records that the side shows ino under a name, if the root leads there.
func (s *side) show(name vfs.Name, ino vfs.Ino) error {
	if ino == 0 {
		return nil
	}
	dir, err := s.dir(name.Dir)
	if err != nil || dir == unreachable {
		return err
	}
	s.add(dir+name.Base, ino)
	return nil
}

func (s *side) add(path string, ino vfs.Ino) {
	if _, seen := s.at[path]; seen {
		return
	}
	s.at[path] = ino
	s.names[ino] = append(s.names[ino], path)
}

const (
	unreachable = "/"
	climbing    = "//" // the path is being found out
)

// dir returns the path of a directory.
func (s *side) dir(ino vfs.Ino) (string, error) {
	if path, ok := s.dirs[ino]; path == climbing {
		return "", schema.Corrupt("directory %d lies below itself", ino)
	} else if ok {
		return path, nil
	}
	s.dirs[ino] = climbing
	names, err := s.tx.NamesOf(ino)
	if err != nil {
		return "", err
	}
	path := unreachable
	if len(names) > 0 {
		above, err := s.dir(names[0].Dir)
		if err != nil {
			return "", err
		}
		if above != unreachable {
			path = above + names[0].Base + "/"
		}
	}
	s.dirs[ino] = path
	return path, nil
}

// descend adds what lies below directories that this side shows and the other does not reach.
func (s *side) descend(other *side) error {
	var tops []vfs.Ino
	for ino := range s.names {
		tops = append(tops, ino)
	}
	slices.Sort(tops)
	for _, ino := range tops {
		info, err := s.tx.Info(ino)
		if err != nil {
			return err
		}
		if info == nil || !info.IsDir() {
			continue
		}
		reached, err := other.reaches(ino)
		if err != nil {
			return err
		}
		if !reached {
			if err := s.below(ino, s.names[ino][0]+"/", other); err != nil {
				return err
			}
		}
	}
	return nil
}

// reaches reports whether the root leads to a directory.
func (s *side) reaches(ino vfs.Ino) (bool, error) {
	info, err := s.tx.Info(ino)
	if err != nil || info == nil {
		return false, err
	}
	path, err := s.dir(ino)
	return path != unreachable, err
}

// below adds the entries of a directory and of those in it.
func (s *side) below(dir vfs.Ino, path string, other *side) error {
	if was, done := s.full[dir]; done && was != path {
		return schema.Corrupt("directory %d is %s and %s", dir, was, path)
	} else if done {
		return nil
	}
	s.full[dir] = path
	children, err := s.tx.Children(dir)
	if err != nil {
		return err
	}
	for _, c := range children {
		s.add(path+c.Base, c.Ino)
		if !c.IsDir {
			continue
		}
		// A directory that the other side reaches was moved: what is in it is told by its own rows.
		reached, err := other.reaches(c.Ino)
		if err != nil {
			return err
		}
		if !reached {
			if err := s.below(c.Ino, path+c.Base+"/", other); err != nil {
				return err
			}
		}
	}
	return nil
}

// names yields the changes of entries: paths that came, went, moved, or show something else.
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
			continue // told with the new one
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

// belowMoved reports whether a directory above a path was renamed, from there or to there. Then the path is not the
// same place in both trees: what was there went along or is gone, what is there came along or is new.
func (d *differ) belowMoved(path string) bool {
	for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
		if dir := path[:i]; d.renamed[dir] || d.left[dir] {
			return true
		}
	}
	return false
}

// shown lists the inodes with entries on this side.
func (s *side) shown() []vfs.Ino {
	list := make([]vfs.Ino, 0, len(s.names))
	for ino := range s.names {
		list = append(list, ino)
	}
	slices.Sort(list)
	return list
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

// replaced tells how one path shows another inode than before.
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
	if kind := compare(old, now); kind != "" {
		d.changes = append(d.changes, Change{Kind: kind, Path: path, Old: old, New: now})
	}
	return nil
}

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

// inodes yields the changes of files that both sides show: under each of the paths that they have now.
func (d *differ) inodes(list []vfs.InodeChange) error {
	for _, c := range list {
		kind := compare(c.Old, c.New)
		if kind == "" {
			continue
		}
		paths, err := d.now.paths(c.Ino)
		if err != nil {
			return err
		}
		var before []string
		if len(d.now.names[c.Ino]) > 0 {
			if before, err = d.old.paths(c.Ino); err != nil {
				return err
			}
		}
		for _, path := range paths {
			_, was := d.old.at[path]
			_, is := d.now.at[path]
			if is && !was && len(before) == 0 {
				continue // told as added
			}
			if is && was && d.old.at[path] != c.Ino && !d.renamed[path] {
				continue // told as replaced
			}
			if is && !was && !d.renamed[path] {
				continue // a further link, told as added
			}
			d.changes = append(d.changes, Change{Kind: kind, Path: path, Old: c.Old, New: c.New})
		}
	}
	return nil
}

// paths returns the paths that lead to an inode.
func (s *side) paths(ino vfs.Ino) ([]string, error) {
	if ino == s.tx.Root() {
		return []string{"."}, nil
	}
	names, err := s.tx.NamesOf(ino)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range names {
		dir, err := s.dir(name.Dir)
		if err != nil {
			return nil, err
		}
		if dir != unreachable {
			paths = append(paths, dir+name.Base)
		}
	}
	return paths, nil
}

// compare tells how a file differs from another; "" if only in its times, links or number.
func compare(a, b *vfs.Info) Kind {
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
	if a.Mode() != b.Mode() || au != bu || ag != bg {
		return Mode
	}
	return ""
}
