package vfstest

import (
	"fmt"
	"path"

	"vfsdb/snapshot"
)

// CheckDiff returns an error unless the changes are exactly those from one tree to another. It does not know how a diff
// is made, only its meaning:
//
//   - A path of the new tree has a source in the old tree, unless it is reported as added. The source has the same
//     path, or the path that a renamed directory above it had.
//   - A path equals its source, unless a change is reported for it.
//   - A path of the old tree that is no source is reported as removed.
func CheckDiff(old, now *Model, changes []snapshot.Change) error {
	d := diffCheck{
		old: old, now: now, was: old.paths(), is: now.paths(),
		added: map[string]bool{}, removed: map[string]bool{}, from: map[string]string{}, changed: map[string]snapshot.Kind{},
	}
	d.was["."], d.is["."] = modelRoot, modelRoot
	for i, c := range changes {
		if i > 0 && c.Path < changes[i-1].Path {
			return fmt.Errorf("%q after %q", c.Path, changes[i-1].Path)
		}
		if err := d.take(c); err != nil {
			return fmt.Errorf("%s %s (from %q): %w", c.Kind, c.Path, c.From, err)
		}
	}
	return d.check()
}

// A diffCheck compares reported changes with two trees.
type diffCheck struct {
	old, now       *Model
	was, is        map[string]int
	added, removed map[string]bool
	from           map[string]string
	changed        map[string]snapshot.Kind
}

// take reads one change, and checks that it is possible.
func (d *diffCheck) take(c snapshot.Change) error {
	_, wasThere := d.was[c.Path]
	after, isThere := d.is[c.Path]

	switch c.Kind {
	case snapshot.Added:
		d.added[c.Path] = true
		if !isThere || c.New == nil || c.Old != nil {
			return fmt.Errorf("not in the new tree")
		}
	case snapshot.Removed:
		d.removed[c.Path] = true
		if !wasThere || c.Old == nil || c.New != nil {
			return fmt.Errorf("not in the old tree")
		}
	case snapshot.Renamed:
		before, wasThere := d.was[c.From]
		if !wasThere || !isThere || before != after {
			return fmt.Errorf("not the same file")
		}
		d.from[c.Path] = c.From
	default:
		if !isThere || d.changed[c.Path] != "" {
			return fmt.Errorf("not in the new tree, or reported twice")
		}
		d.changed[c.Path] = c.Kind
	}
	return nil
}

// check checks all paths of both trees against the changes.
func (d *diffCheck) check() error {
	used := map[string]bool{} // the sources
	for p, id := range d.is {
		source, ok := d.source(p)
		if !ok {
			if !d.added[p] {
				return fmt.Errorf("%s is below something that was added, and not reported", p)
			}
			continue
		}

		before, wasThere := d.was[source]
		if !wasThere {
			return fmt.Errorf("%s is new and not reported", p)
		}
		used[source] = true
		if want := differs(d.old.nodes[before], d.now.nodes[id]); want != d.changed[p] {
			return fmt.Errorf("%s, from %s, is %q, reported as %q", p, source, want, d.changed[p])
		}
	}

	for p := range d.was {
		if !used[p] && !d.removed[p] {
			return fmt.Errorf("%s is gone and not reported", p)
		}
		if used[p] && d.removed[p] {
			return fmt.Errorf("%s is reported as removed and is not", p)
		}
	}
	return nil
}

// source returns the path in the old tree from which a path of the new tree comes. It is not ok if the path is new.
func (d *diffCheck) source(p string) (string, bool) {
	if from, ok := d.from[p]; ok {
		return from, true
	}
	if d.added[p] {
		return "", false
	}
	dir, base := path.Dir(p), path.Base(p)
	if dir == "." {
		return p, true
	}
	above, ok := d.source(dir)
	return path.Join(above, base), ok
}

// differs returns the kind of change from one node to another.
func differs(a, b *node) snapshot.Kind {
	switch {
	case a.mode.Type() != b.mode.Type():
		return snapshot.Type
	case a.target != b.target, a.data != nil && a.data.sum != b.data.sum:
		return snapshot.Modified
	case a.mode != b.mode:
		return snapshot.Mode
	}
	return ""
}
