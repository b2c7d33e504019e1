package merge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/snapshot"
	"vfsdb/textdiff"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A Conflict is what merges could not decide about a file.
type Conflict struct {
	Path  string
	Parts []string // of "name", "content", "attributes" and "xattrs": what conflicts

	// The states of the file on each side; nil where the side did not have it. If there were several merges, these are
	// the last ones. The state of ours is that of the file itself, unless ours did not have it.
	Base, Ours, Theirs     *vfs.Info
	BaseLabel, TheirsLabel string

	ino   node.Ino
	terms node.Conflict
}

var parts = []struct {
	bit  node.Registers
	name string
}{{node.Place, "name"}, {node.Bytes, "content"}, {node.Attrs, "attributes"}, {node.Xattred, "xattrs"}}

// Conflicts lists the conflicts of a tree, by path. It costs as much as there are.
func Conflicts(ctx context.Context, fsys *vfs.FS) (list []Conflict, err error) {
	err = fsys.View(ctx, func(tx *vfs.Tx) (err error) {
		list, err = conflictsIn((*tree.Tx)(tx))
		return err
	})
	if err != nil {
		return nil, pathErr("conflicts", fsys.Name(), err)
	}
	return list, nil
}

// because gives an errno its reason.
func because(errno syscall.Errno, reason string) error { return fmt.Errorf("%w: %s", errno, reason) }

func pathErr(op, path string, err error) error {
	if _, ok := err.(*fs.PathError); ok || err == nil {
		return err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// conflictsIn lists the conflicts in a transaction.
func conflictsIn(tx *tree.Tx) ([]Conflict, error) {
	inos, err := tx.Conflicted()
	if err != nil {
		return nil, err
	}
	return conflictsAmong(tx, inos)
}

// conflictsAmong returns those of some inodes that are in conflict, by path.
func conflictsAmong(tx *tree.Tx, inos []node.Ino) (list []Conflict, err error) {
	slices.Sort(inos)
	for _, ino := range slices.Compact(inos) {
		n, err := tx.Node(ino)
		if err != nil {
			return nil, err
		}
		if n == nil || n.Conflict == "" {
			continue
		}
		paths, err := tx.Paths(ino)
		if err != nil {
			return nil, err
		}
		if len(paths) > 0 {
			list = append(list, describe(paths[0], n))
		}
	}
	slices.SortFunc(list, func(a, b Conflict) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// describe turns the terms of an inode into a Conflict.
func describe(path string, n *node.Node) Conflict {
	c := Conflict{Path: path, ino: n.Ino, terms: n.Conflict}
	all := n.Conflict.Registers()
	for _, p := range parts {
		if all&p.bit != 0 {
			c.Parts = append(c.Parts, p.name)
		}
	}

	own := node.NewInfo("", n)
	c.Ours, c.Theirs = own, own
	from := "" // of the file itself, where ours had removed it
	for _, t := range ownTerms(n.Conflict.Terms()) {
		switch t.Side {
		case Base:
			c.Base, c.BaseLabel = infoOfTerm(n.Ino, t), t.Label
		case Ours:
			c.Ours, from = infoOfTerm(n.Ino, t), t.Label
		case Theirs:
			c.Theirs, c.TheirsLabel = infoOfTerm(n.Ino, t), t.Label
		}
	}
	c.TheirsLabel = cmp.Or(c.TheirsLabel, from)
	return c
}

// nodeOfTerm returns the state of a term as a node; nil if that side did not have the file.
func nodeOfTerm(ino node.Ino, t node.Term) *node.Node {
	if t.Mode == 0 {
		return nil
	}
	return &node.Node{
		Ino: ino, Mode: t.Mode, Uid: t.Uid, Gid: t.Gid, Rdev: t.Rdev, Nlink: 1, Mtime: t.Mtime,
		Content: t.Content, Target: t.Target, Xattrs: t.Xattrs,
	}
}

func infoOfTerm(ino node.Ino, t node.Term) *node.Info {
	n := nodeOfTerm(ino, t)
	if n == nil {
		return nil
	}
	return node.NewInfo(t.Name.Base, n)
}

// Content returns the content that a file in conflict has on one side. A side that does not have the file is ENOENT, a file
// without a conflict EINVAL.
func Content(ctx context.Context, fsys *vfs.FS, path string, side Side) (data []byte, err error) {
	err = fsys.View(ctx, func(tx *vfs.Tx) error {
		n, err := conflicted(tx, path)
		if err != nil {
			return err
		}
		data, err = sideOf((*tree.Tx)(tx), describe(path, n), side)
		return err
	})
	return data, pathErr("merge", path, err)
}

// Markers returns the text of a file in conflict, in which the lines that conflict stand between marks, with those of the
// base. The marks are stored nowhere. A side without the file is empty there. A file that is not merged by line, such as one
// with binary contents or a directory, is EINVAL.
func Markers(ctx context.Context, fsys *vfs.FS, path string) ([]byte, error) {
	var text bytes.Buffer
	err := fsys.View(ctx, func(tx *vfs.Tx) error {
		n, err := conflicted(tx, path)
		if err != nil {
			return err
		}

		c := describe(path, n)
		var texts [3][]byte
		for side := range texts {
			texts[side], err = sideOf((*tree.Tx)(tx), c, Side(side))
			switch {
			case errors.Is(err, syscall.EISDIR), err == nil && !mergeable(texts[side]):
				return because(syscall.EINVAL, "its "+[...]string{"base", "ours", "theirs"}[side]+" is no text that is merged by line")
			case err != nil && !errors.Is(err, syscall.ENOENT):
				return err
			}
		}

		labels := textdiff.Labels{Ours: nameOf((*tree.Tree)(fsys)), Base: c.BaseLabel, Theirs: c.TheirsLabel}
		return textdiff.Markers(&text, textdiff.Merge(texts[Base], texts[Ours], texts[Theirs]), labels, textdiff.ZDiff3)
	})
	if err != nil {
		return nil, pathErr("merge", path, err)
	}
	return text.Bytes(), nil
}

// sideOf reads the content of one side of a conflict.
func sideOf(tx *tree.Tx, c Conflict, side Side) ([]byte, error) {
	if side > Theirs {
		return nil, syscall.EINVAL
	}
	info := [...]*vfs.Info{c.Base, c.Ours, c.Theirs}[side]
	if info == nil {
		return nil, because(syscall.ENOENT, "that side has no such file")
	}
	n := node.NodeOf(info)
	switch {
	case n.IsDir():
		return nil, syscall.EISDIR
	case n.Target != "":
		return []byte(n.Target), nil
	}
	if n.Content.Size > vfs.MaxReadSize {
		return nil, syscall.EFBIG
	}
	m := merger{out: newView(tx)}
	return m.read(n.Content)
}

// conflicted returns the node of a file in conflict.
func conflicted(tx *vfs.Tx, path string) (*node.Node, error) {
	info, err := tx.Lstat(path)
	if err != nil {
		return nil, err
	}
	n := node.NodeOf(info)
	if n.Conflict == "" {
		return nil, because(syscall.EINVAL, "it is not in conflict")
	}
	return n, nil
}

// A Take says how a conflict is resolved.
type Take struct {
	Side Side   // whose state the file gets, in what conflicts
	Data []byte // if not nil: the content of the file, and Side is not asked
}

// Resolve resolves the conflict of a file, in one commit. A side that did not have the file removes it. A file that the
// merge put beside it, since both sides had made one of that name, goes with the resolution unless it was changed since; a
// directory stays. Where it is of another type than the file, and theirs is taken, it comes to stand in the file's place as
// it is by then; ENOENT, if it has gone from the place beside. A file without a conflict is EINVAL.
func Resolve(ctx context.Context, fsys *vfs.FS, path string, take Take) error {
	return pathErr("resolve", path, fsys.Update(ctx, func(tx *vfs.Tx) error { return ResolveIn(tx, path, take) }))
}

func resolve(tx *tree.Tx, vtx *vfs.Tx, path string, n *node.Node, take Take) error {
	if take.Side > Theirs {
		return syscall.EINVAL
	}
	if err := tx.TakeWrites(); err != nil {
		return err
	}
	was, err := tx.Node(n.Ino)
	if err != nil || was == nil {
		return err
	}
	is := *was
	is.Conflict, is.Ctime = "", time.Now().UnixNano()

	terms := was.Conflict.Terms()
	gone := false
	if take.Data != nil {
		if err := was.CheckRegular(); err != nil {
			return err
		}
		if is.Content, err = chunk.Put(tx.DB(), take.Data); err != nil {
			return err
		}
		is.Mtime = is.Ctime
	} else {
		gone = takeSide(&is, ownTerms(terms), take.Side)
	}
	other := is.Kind() != was.Kind()
	if other { // another inode has the type
		is = *was
		is.Conflict = ""
	}

	delta := &tree.Delta{Inodes: []tree.InodeChange{{Ino: n.Ino, Old: node.NewInfo("", was), New: node.NewInfo("", &is)}}}
	if err := snapshot.Become(tx, delta, journal.OpMerge); err != nil {
		return err
	}
	if other {
		return takeBeside(tx, vtx, path, ownTerms(terms))
	}
	if err := removeBeside(tx, terms); err != nil {
		return err
	}
	if gone {
		return vtx.RemoveAll(path)
	}
	return nil
}

// takeSide gives a node the state of a side in what conflicts. It reports whether that side did not have the file.
func takeSide(n *node.Node, terms []node.Term, side Side) (gone bool) {
	for _, t := range terms {
		if t.Side != side {
			continue
		}
		if t.Mode == 0 {
			gone = true
			continue
		}
		for _, r := range registers {
			if t.Registers&r.bit != 0 {
				r.set(n, t)
			}
		}
		if t.Registers&node.Bytes != 0 {
			n.Mtime = t.Mtime
		}
		gone = false
	}
	return gone
}

// ownTerms returns the terms that are of the file itself, if there are any of theirs: not those of a file beside it, which
// only has its name.
func ownTerms(terms []node.Term) []node.Term {
	if !slices.ContainsFunc(terms, func(t node.Term) bool { return t.Side == Theirs && !beside(t) }) {
		return terms
	}
	return slices.DeleteFunc(slices.Clone(terms), beside)
}

// beside reports whether a term is of a file that a merge put beside another one: only such a term has a name that is not
// in conflict itself.
func beside(t node.Term) bool { return t.Registers&node.Place == 0 && t.Name.Dir != 0 }

// takeBeside puts what is beside a file, and of another type, in its place.
func takeBeside(tx *tree.Tx, vtx *vfs.Tx, path string, terms []node.Term) error {
	i := slices.IndexFunc(terms, func(t node.Term) bool { return t.Side == Theirs && beside(t) })
	if i < 0 {
		return syscall.EINVAL // one inode never changes its type
	}

	t := terms[i]
	d, err := tx.Lookup(t.Name.Dir, t.Name.Base)
	if err != nil {
		return err
	}
	dir, err := tx.PathFrom(tx.Root(), t.Name.Dir)
	if err == nil && uint32(d.Kind) != t.Mode>>12 {
		err = syscall.ENOENT
	}
	if err != nil {
		return err
	}

	if err := vtx.RemoveAll(path); err != nil {
		return err
	}
	return vtx.Rename(node.JoinPath(dir, t.Name.Base), path)
}

// removeBeside removes files that a merge has put beside others, unless they were changed since.
func removeBeside(tx *tree.Tx, terms []node.Term) error {
	for _, t := range terms {
		if t.Side != Theirs || !beside(t) {
			continue
		}
		d, err := tx.Lookup(t.Name.Dir, t.Name.Base)
		if err != nil {
			return err
		}
		n, err := tx.Node(d.Ino)
		if err != nil {
			return err
		}
		if n != nil && !n.IsDir() && n.Mode == t.Mode && n.Content == t.Content && n.Target == t.Target {
			if err := tx.Unlink(tree.Place{Dir: t.Name.Dir, Base: t.Name.Base}); err != nil {
				return err
			}
		}
	}
	return nil
}
