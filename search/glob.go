package search

import (
	"context"
	"slices"

	"vfsdb/node"
	"vfsdb/tree"
)

// Glob returns the paths of the tree that match a pattern, sorted, in the form of io/fs. A path that leads through a
// symlink to a directory is not among them, nor is the root, unless the pattern is "." or "/".
//
// `*` and `?` match within a name, a leading dot too; `[a-z]` and `[^a-z]` match one character; `{a,b/c}` are
// alternatives; `\` takes the meaning off the next character. A segment `**` matches any number of names, none
// included: at the end, none only for a directory. A slash at the end asks for directories; one in front means nothing.
//
// A malformed pattern is EINVAL, and so are an empty one, one of over 4096 bytes, and one whose braces stand for
// several hundred alternatives.
//
// Only directories in which something can match are read. On a [vfs.FS], each page of one is a moment of its own.
func Glob(ctx context.Context, v Viewer, pattern string) ([]string, error) {
	paths, err := glob(ctx, v, pattern)
	if err != nil {
		return nil, pathErr("glob", pattern, err)
	}
	slices.Sort(paths) // a walk has a/b before a.b
	return paths, nil
}

func glob(ctx context.Context, v Viewer, text string) ([]string, error) {
	p, err := compile(text)
	if err != nil {
		return nil, err
	}
	root, err := startDir(ctx, v, "/")
	if err != nil {
		return nil, err
	}

	var paths []string
	if p.root() {
		paths = append(paths, root.path)
	}
	err = p.below(ctx, v, root, nil, func(e *entry) error {
		if p.match(e.up.at, e.Name, e.Kind == node.KindDir) {
			paths = append(paths, e.path)
		}
		return nil
	})
	return paths, err
}

// below visits what is below start, but only directories in which the pattern can match. An entry matches if it does at
// its up.at.
func (p *Pattern) below(
	ctx context.Context, v Viewer, start *entry, look func(*tree.Tx, *entry) error, visit func(*entry) error,
) error {
	if start.at = p.begin(); len(start.at) == 0 {
		return nil
	}
	w := treeWalk{
		ctx:    ctx,
		viewer: v,
		only:   func(dir *entry) []string { return p.names(dir.at) },
		look:   look,
		visit: func(e *entry) (bool, error) {
			if err := visit(e); err != nil || e.Kind != node.KindDir {
				return false, err
			}
			e.at = p.next(e.up.at, e.Name)
			return len(e.at) > 0, nil
		},
	}
	return w.below(start)
}
