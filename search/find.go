package search

import (
	"context"
	"fmt"
	"syscall"

	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// FindOptions are options of [Find]. A nil *FindOptions is the zero value: everything is found.
type FindOptions struct {
	// Pattern is matched on the path relative to the directory, in the dialect of [Glob]; "" is everything.
	Pattern string

	// MatchBase lets a pattern without a slash match the last segment of a path, at any depth.
	MatchBase bool

	// Kind is "file", "directory" or "symlink"; "" is any type of file. Anything else is EINVAL.
	Kind string

	// Max is how many results are enough; 0 is no limit.
	Max int
}

// A Hit is one result of [Find].
type Hit struct {
	Path string    // from the root of the tree, in the form of io/fs
	Info *vfs.Info // of the entry itself, if it is a symlink
}

// Find returns the entries below a directory that match, in the order of a walk: by name, each directory before its
// entries. It does not follow symlinks below dir. It stops at the first result beyond Max, and then reports that the result
// is truncated. Errors: ENOENT (no such directory), ENOTDIR (it is a file), EINVAL (a bad pattern or Kind).
//
// On a [vfs.FS], each page of a directory is a moment of its own: an entry that is moved or removed meanwhile may be
// missing, or be shown as it was.
func Find(ctx context.Context, v Viewer, dir string, o *FindOptions) (hits []Hit, truncated bool, err error) {
	if o == nil {
		o = &FindOptions{}
	}
	f := findRun{o: *o}
	if err := f.search(ctx, v, dir); err != nil {
		return nil, false, pathErr("find", dir, err)
	}
	return f.hits, f.truncated, nil
}

// A findRun is one Find that runs.
type findRun struct {
	o         FindOptions
	kind      uint8 // 0: any
	pattern   *Pattern
	hits      []Hit
	truncated bool
}

func (f *findRun) search(ctx context.Context, v Viewer, dir string) (err error) {
	if f.kind, err = kindNamed(f.o.Kind); err != nil {
		return err
	}
	switch {
	case f.o.Pattern == "":
		f.pattern, err = compile("**")
	case f.o.MatchBase:
		f.pattern, err = compileBase(f.o.Pattern)
	default:
		f.pattern, err = compile(f.o.Pattern)
	}
	if err != nil {
		return err
	}

	start, err := startDir(ctx, v, dir)
	if err != nil {
		return err
	}
	return f.pattern.below(ctx, v, start, f.look, f.visit)
}

// look reads the Info of an entry that matches.
func (f *findRun) look(tx *tree.Tx, e *entry) error {
	if f.kind != 0 && f.kind != e.Kind || !f.pattern.match(e.up.at, e.Name, e.Kind == node.KindDir) {
		return nil
	}
	n, err := tx.NodeOf(e.dir, e.Entry)
	if err == nil {
		e.info = node.NewInfo(e.Name, n)
	}
	return err
}

// visit adds an entry that look found to match.
func (f *findRun) visit(e *entry) error {
	if e.info == nil {
		return nil
	}
	if f.o.Max > 0 && len(f.hits) == f.o.Max {
		f.truncated = true
		return errStop
	}
	f.hits = append(f.hits, Hit{e.path, e.info})
	return nil
}

// kindNamed returns the file type that a word means; 0 for the empty word.
func kindNamed(word string) (uint8, error) {
	switch word {
	case "":
		return 0, nil
	case "file":
		return node.KindFile, nil
	case "directory":
		return node.KindDir, nil
	case "symlink":
		return node.KindLink, nil
	}
	return 0, fmt.Errorf("%w: kind %q is not file, directory or symlink", syscall.EINVAL, word)
}
