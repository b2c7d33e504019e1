package search

import (
	"context"

	"vfsdb/node"
	"vfsdb/tree"
)

// Totals count the entries of a part of a tree.
type Totals struct {
	Files    int64 // regular files
	Dirs     int64
	Symlinks int64
	Others   int64 // fifos, sockets and device nodes
	Bytes    int64 // the length of all regular files, holes included; shared content counts each time
}

// Usage counts the entries at and below a path. A file with several names is one file. A symlink at the path is followed,
// one below it is not. The numbers are logical: the store holds less, because equal chunks are stored once.
//
// On a [vfs.FS], each page of a directory is a moment of its own. Errors: ENOENT.
func Usage(ctx context.Context, v Viewer, name string) (Totals, error) {
	c := census{several: make(map[node.Ino]bool)}
	if err := c.all(ctx, v, name); err != nil {
		return Totals{}, pathErr("du", name, err)
	}
	return c.Totals, nil
}

// A census is one Usage that runs.
type census struct {
	Totals
	several map[node.Ino]bool // counted files that have more names
}

func (c *census) all(ctx context.Context, v Viewer, name string) error {
	var start *entry
	err := view(ctx, v, func(tx *tree.Tx) (err error) {
		if start, err = locate(tx, name); err != nil {
			return err
		}
		return c.look(tx, start)
	})
	if err != nil || start.Kind != node.KindDir {
		return err
	}

	w := treeWalk{ctx: ctx, viewer: v, look: c.look, visit: func(*entry) (bool, error) { return true, nil }}
	return w.below(start)
}

// look counts an entry.
func (c *census) look(tx *tree.Tx, e *entry) error {
	if e.Kind == node.KindDir {
		c.Dirs++
		return nil
	}

	// A file counts under the first of its names.
	n, err := tx.NodeOf(e.dir, e.Entry)
	if err != nil || c.several[n.Ino] {
		return err
	}
	if n.Nlink > 1 {
		c.several[n.Ino] = true
	}

	switch e.Kind {
	case node.KindFile:
		c.Files++
		c.Bytes += n.Content.Size
	case node.KindLink:
		c.Symlinks++
	default:
		c.Others++
	}
	return nil
}
