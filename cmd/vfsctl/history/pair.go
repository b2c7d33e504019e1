package history

import (
	"context"

	"vfsdb/patch"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A pair is two files of different names that diff compares, each in its tree.
type pair struct{ from, to string }

// pairs prints how two files differ, and returns their number: 0 or 1.
func (d *differ) pairs(a, b snapshot.Tree) (n int, err error) {
	files := patch.Pair(d, a, d.two.from, b, d.two.to, d.options())
	if d.patch || d.stat {
		err = paged(d.App, func() (err error) {
			n, err = d.print(files)
			return err
		})
		return n, err
	}

	for f, err := range files {
		if err != nil {
			return n, err
		}
		n++
		switch {
		case d.JSON:
			err = d.pairJSON(a, b, &f)
		case d.names:
			err = d.Out.Line(d.Out.Name(f.Path))
		default:
			err = d.Out.Line(Line(d.Out, snapshot.KindOf(f.Old, f.New), f.From, false) + " -> " + d.Out.Name(f.Path))
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// pairJSON prints two files that differ, with their sums.
func (d *differ) pairJSON(a, b snapshot.Tree, f *patch.File) (err error) {
	c := snapshot.Change{Kind: snapshot.KindOf(f.Old, f.New), Path: f.Path, From: f.From, Old: f.Old, New: f.New}
	if c.OldSum, err = sumOf(d, a, c.Old); err != nil {
		return err
	}
	if c.NewSum, err = sumOf(d, b, c.New); err != nil {
		return err
	}
	return d.Out.JSON(newChangeJSON(c))
}

// sumOf returns the sum of the content of a regular file, and nil for anything else.
func sumOf(ctx context.Context, t snapshot.Tree, info *vfs.Info) (sum *vfs.Sum, err error) {
	if !info.Mode().IsRegular() {
		return nil, nil
	}
	err = t.Tree().View(ctx, func(tx *vfs.Tx) error {
		s, err := tx.SumOf(info)
		sum = &s
		return err
	})
	return sum, err
}
