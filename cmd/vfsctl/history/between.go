package history

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// trees finds out which arguments are trees, and which are paths.
func (d *differ) trees() (from, to snapshot.Tree, err error) {
	names, dash := d.Args, d.Cmd.ArgsLenAtDash()
	if dash >= 0 {
		names, d.o.Paths = d.Args[:dash], slices.Clone(d.Args[dash:])
	}
	var trees []snapshot.Tree
	path := "" // behind a REF:
	for len(names) > 0 && len(trees) < 2 {
		tree, below, err := d.tree(names[0])
		if err != nil {
			return nil, nil, err
		}
		if tree == nil {
			break
		}
		if below != "" && path != "" && below != path {
			d.two = &pair{path, below}
		}
		path = cmp.Or(below, path)
		trees, names = append(trees, tree), names[1:]
	}
	if d.two != nil && (len(names) > 0 || len(d.o.Paths) > 0) {
		return nil, nil, cli.Usage(d.Cmd, "diff %s %s compares two files, and takes no further path", d.Args[0], d.Args[1])
	}
	if d.two != nil {
		return trees[0], trees[1], nil
	}
	if path != "" && path != "." {
		names = append([]string{path}, names...)
	}

	if len(trees) < 2 && d.Gone != nil {
		return nil, nil, d.Gone
	}
	to = d.FS
	switch len(trees) {
	case 2:
		from, to = trees[0], trees[1]
	case 1:
		from = trees[0]
	default:
		if from, err = before(d, d.FS); err != nil {
			return nil, nil, err
		}
	}

	// What is no tree is a path, if one of the trees has it.
	for _, name := range names {
		if dash < 0 && (has(d, from, name) || has(d, to, name)) {
			d.o.Paths = append(d.o.Paths, name)
			continue
		}
		gone := &fs.PathError{Op: "diff", Path: name, Err: syscall.ENOENT}
		if len(trees) == 2 {
			return nil, nil, gone
		}
		return nil, nil, cli.NoTree(d, d.FS, "snapshot or branch", name, gone)
	}
	if from == nil {
		return nil, nil, &cli.UsageError{
			Err:  errors.New("diff needs a tree to compare with: the branch has no snapshot yet, and was forked from none"),
			Try:  d.Invoke("log", "-p"),
			Hint: "that shows each call as a patch; after " + d.Invoke("snapshot", "create", "NAME") + " diff compares with the snapshot",
		}
	}
	return from, to, nil
}

// tree finds the tree that an argument begins with, and the path behind it if it is REF:PATH; nil if it is a path alone.
func (d *differ) tree(arg string) (tree snapshot.Tree, below string, err error) {
	tree, err = snapshot.ResolveRef(d, d.FS, arg)
	var unknown *fs.PathError
	if err == nil || !errors.As(err, &unknown) || !errors.Is(err, fs.ErrNotExist) {
		return tree, "", err
	}

	there, name, err := d.Of(arg)
	if err != nil || name == arg {
		return nil, "", err
	}
	return there.FS, cli.Rooted(name), nil
}

// has reports whether a tree has a path. A nil tree has none.
func has(ctx context.Context, t snapshot.Tree, name string) bool {
	if t == nil {
		return false
	}
	_, err := t.Tree().Lstat(ctx, name)
	return err == nil
}

// before returns the tree that stands before another one: the last snapshot before it on its branch, else the moment of the
// fork; nil if there is neither.
func before(ctx context.Context, fsys *vfs.FS) (snapshot.Tree, error) {
	at := fsys.Moment()
	list, err := snapshot.List(ctx, fsys)
	if err != nil {
		return nil, err
	}
	for _, s := range slices.Backward(list) {
		if s.Moment.Branch == at.Branch && s.Moment.Epoch < at.Epoch {
			return snapshot.At(ctx, fsys, s)
		}
	}

	branches, err := fsys.Store().Branches(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range branches {
		if b.ID == at.Branch && b.Base != "" {
			fork, err := fsys.At(ctx, b.Fork)
			if err != nil {
				return nil, err
			}
			return fork, nil
		}
	}
	return nil, nil
}
