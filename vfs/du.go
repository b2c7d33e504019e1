package vfs

import "context"

// A Usage says what a part of the tree consists of.
type Usage struct {
	Files    int64 // regular files
	Dirs     int64
	Symlinks int64
	Others   int64 // fifos, sockets and device nodes
	Bytes    int64 // the length of all regular files, holes included; shared content counts each time
}

// DiskUsage counts what is at and under a path. A file with several names is one file. A symlink at the path is
// followed, one below it is not. These are logical numbers: what is stored is less, because equal chunks are stored
// once. Errors: ENOENT.
func (tx *Tx) DiskUsage(name string) (Usage, error) {
	return tx.ground().usage(name)
}

// DiskUsage counts what is at and under a path, see [Tx.DiskUsage]. Each page of a directory is a moment of its own.
func (fsys *FS) DiskUsage(ctx context.Context, name string) (Usage, error) {
	return fsys.ground(ctx).usage(name)
}

func (t ground) usage(name string) (Usage, error) {
	c := counting{several: make(map[Ino]bool)}
	if err := c.all(t, name); err != nil {
		return Usage{}, pathErr("du", name, err)
	}
	return c.Usage, nil
}

// A counting is one DiskUsage that runs.
type counting struct {
	Usage
	several map[Ino]bool // counted files that have more names
}

func (c *counting) all(t ground, name string) error {
	var start *visited
	err := t.short(func(tx *Tx) (err error) {
		if start, err = tx.locate(name, true); err != nil {
			return err
		}
		return c.look(tx, start)
	})
	if err != nil || start.kind != kindDir {
		return err
	}
	w := treeWalk{ground: t, look: c.look, visit: func(*visited) (bool, error) { return true, nil }}
	return w.below(start)
}

// look counts an entry.
func (c *counting) look(tx *Tx, e *visited) error {
	if e.kind == kindDir {
		c.Dirs++
		return nil
	}
	n, err := tx.listedNode(e)
	if err != nil || c.several[n.ino] {
		return err
	}
	if n.nlink > 1 {
		c.several[n.ino] = true
	}
	switch e.kind {
	case kindFile:
		c.Files++
		c.Bytes += n.content.Size
	case kindLink:
		c.Symlinks++
	default:
		c.Others++
	}
	return nil
}
