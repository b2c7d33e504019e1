package tree

import (
	"slices"

	"vfsdb/history"
)

// Base returns the moment that two trees of one store have in common: the latest moment of a branch that both come from.
// Each side has changed exactly the rows in which its tree differs from that moment. ok is false if the trees have no
// moment in common, as when one was forked empty.
func Base(a, b *Tx) (base history.Moment, ok bool) {
	i, j := meet(a.tree.levels, b.tree.levels)
	if i == len(a.tree.levels) {
		return history.Moment{}, false
	}
	x, y := a.tree.levels[i], b.tree.levels[j]
	return history.Moment{Branch: x.Branch, Epoch: min(x.Cap, y.Cap)}, true
}

// meet finds the nearest branch that two lineages lead through, and returns its place in each; the lengths of both if
// there is none.
func meet(a, b []history.Level) (i, j int) {
	for i, l := range a {
		if j := slices.IndexFunc(b, func(m history.Level) bool { return m.Branch == l.Branch }); j >= 0 {
			return i, j
		}
	}
	return len(a), len(b)
}
