package vfstest

import (
	"fmt"
	"path"

	"vfsdb/snapshot"
)

// CheckDiff returns what is wrong with the changes that are said to lead from one tree to another; nil if they are
// true, and tell all that differs. It does not know how a diff is made, only what one must mean: each path of the new
// tree comes from one of the old, its own or the one that a renamed directory above it had, unless it is told as added;
// what it comes from equals it, or the change is told; and what nothing comes from is told as removed.
func CheckDiff(old, now *Model, changes []snapshot.Change) error {
	d := diffCheck{
		old: old, now: now, was: old.paths(), is: now.paths(),
		added: map[string]bool{}, removed: map[string]bool{}, from: map[string]string{}, told: map[string]snapshot.Kind{},
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

type diffCheck struct {
	old, now       *Model
	was, is        map[string]int
	added, removed map[string]bool
	from           map[string]string
	told           map[string]snapshot.Kind
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
		if !isThere || d.told[c.Path] != "" {
			return fmt.Errorf("not in the new tree, or told twice")
		}
		d.told[c.Path] = c.Kind
	}
	return nil
}

func (d *diffCheck) check() error {
	used := map[string]bool{}
	for p, id := range d.is {
		source, ok := d.source(p)
		if !ok {
			if !d.added[p] {
				return fmt.Errorf("%s is below something that was added, and not told", p)
			}
			continue
		}
		before, wasThere := d.was[source]
		if !wasThere {
			return fmt.Errorf("%s is new and not told", p)
		}
		used[source] = true
		if want := differs(d.old.nodes[before], d.now.nodes[id]); want != d.told[p] {
			return fmt.Errorf("%s, from %s, is %q, told as %q", p, source, want, d.told[p])
		}
	}
	for p := range d.was {
		if !used[p] && !d.removed[p] {
			return fmt.Errorf("%s is gone and not told", p)
		}
		if used[p] && d.removed[p] {
			return fmt.Errorf("%s is told as removed and is not", p)
		}
	}
	return nil
}

// source returns the path in the old tree that a path of the new one comes from; it is not ok if the path is new.
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

// differs is the kind of change from one node to another.
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
