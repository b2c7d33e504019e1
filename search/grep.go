package search

import (
	"context"
	"slices"

	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Grep searches the lines of files for a text, or with Regex for a regular expression, in the order of a walk. A line
// ends at "\n"; that, and a "\r" before it, are not part of it. Symlinks below Path are not followed. Grep stops at the
// first match beyond Max, and then reports that the result is truncated.
//
// Contents are verified as they are read. Grep may know from an earlier search by this process that a content has no
// match: then the file counts as searched, and is not read again.
//
// On a [vfs.FS], several files are searched at once, each at a moment of its own: one that is removed before its turn
// is passed over.
//
// Errors: ENOENT (no such path), EINVAL (a bad pattern, an empty one, a regular expression above 16 KiB, a literal one of
// more than one line, one that is not UTF-8 with Regex or IgnoreCase, or a Path that is neither file nor directory).
func Grep(ctx context.Context, v Viewer, pattern string, o *GrepOptions) (*GrepResult, error) {
	files, cancel := context.WithCancel(ctx)
	defer cancel()

	_, alone := v.(*vfs.Tx)
	g := grep{viewer: v, alone: alone, ctx: ctx, files: files, cancel: cancel}
	return g.all(pattern, o)
}

func (g *grep) all(pattern string, o *GrepOptions) (*GrepResult, error) {
	if o != nil {
		g.o = *o
	}
	if g.o.Path == "" {
		g.o.Path = "/"
	}
	if g.o.MaxFileSize == 0 {
		g.o.MaxFileSize = DefaultMaxFileSize
	}
	if err := g.search(pattern); err != nil && err != errStop {
		return nil, pathErr("grep", g.o.Path, err)
	}
	g.result.Matches = slices.Concat(g.matches...)
	return &g.result, nil
}

func (g *grep) search(text string) (err error) {
	if g.matcher, err = newLineMatcher(text, g.o.Regex, g.o.IgnoreCase); err != nil {
		return err
	}
	if g.include, err = newFilters(g.o.Include); err != nil {
		return err
	}
	if g.exclude, err = newFilters(g.o.Exclude); err != nil {
		return err
	}

	var start *entry
	err = view(g.ctx, g.viewer, func(tx *tree.Tx) (err error) {
		g.sketches = sketchesOf(tx)
		start, err = locate(tx, g.o.Path)
		return err
	})
	if err != nil {
		return err
	}
	g.number, g.learn = g.sketches.begin()

	at := candidate{start.path, start.Ino}
	if start.Kind != node.KindDir {
		b := &batch{files: []candidate{at}, done: make(chan struct{})}
		(&scanner{grep: g}).search(b)
		return g.take(b)
	}
	return g.run(&lister{grep: g, prefix: len(node.JoinPath(at.path, "")), open: []*listing{{dir: at}}})
}
