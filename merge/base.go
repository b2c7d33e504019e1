package merge

import (
	"time"

	"vfsdb/history"
	"vfsdb/schema"
	"vfsdb/tree"
)

// A finder finds the base of two trees, in a transaction that writes.
type finder struct {
	tx    *tree.Tx
	depth int
}

// maxBases bounds how deep bases of bases are looked for. Deeper than that the first of several serves alone.
const maxBases = 32

// base returns the best moment that two trees have in common. If there are several, none of which is in another, it
// merges them: the result is in memory only. Trees with nothing in common have the empty tree.
func (f finder) base(a, b *tree.Tx) (*view, []history.Moment, error) {
	moments, err := history.Bases(f.tx.DB(), a.Moment(), b.Moment())
	if err != nil {
		return nil, nil, err
	}
	if len(moments) == 0 {
		return newView(nil), nil, nil
	}

	merged, err := f.stand(moments[0])
	if err != nil {
		return nil, nil, err
	}
	if f.depth == maxBases {
		return merged, moments[:1], nil
	}
	f.depth++
	for _, at := range moments[1:] {
		next, err := f.stand(at)
		if err != nil {
			return nil, nil, err
		}
		below, _, err := f.base(merged.tx, next.tx)
		if err != nil {
			return nil, nil, err
		}
		m := newMerger(below, merged, next)
		m.now, m.virtual = time.Now().UnixNano(), true
		m.label[Theirs] = "base"
		if err := m.run(); err != nil {
			return nil, nil, err
		}
		merged = m.out
	}
	return merged, moments, nil
}

// stand returns the tree of a moment.
func (f finder) stand(at history.Moment) (*view, error) {
	store := f.tx.Tree().Store()
	stand := store.AtIn
	if at.Epoch == schema.Head {
		stand = store.Stand
	}
	t, err := stand(f.tx.DB(), at)
	if err != nil {
		return nil, err
	}
	on, err := f.tx.On(t)
	if err != nil {
		return nil, err
	}
	return newView(on), nil
}
