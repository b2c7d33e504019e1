package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A Piece is a file or a directory of another tree, to be brought back by [RestorePieces].
type Piece struct {
	From Tree
	Path string // in that tree. A symlink at its end is meant itself
	To   string // where it goes: a copy is made there. Empty: where it was
}

// A PiecesResult is what [RestorePieces] has done.
type PiecesResult struct {
	Changes   []Change // of the head, sorted by path
	Times     int      // files of which only the time of the content was another
	Unchanged int      // files that were already as they are to be
	Conflicts []string // paths that were in conflict before, and still are
}

// Bytes returns the size of the contents that came back. None of them was written: they are shared.
func (r *PiecesResult) Bytes() (n int64) {
	for _, c := range r.Changes {
		if c.New != nil && c.New.Mode().IsRegular() && (c.Old == nil || !c.Old.SameContent(c.New)) {
			n += c.New.Size()
		}
	}
	return n
}

// Equal reports whether everything was already as it was to be, so that nothing was changed.
func (r *PiecesResult) Equal() bool { return len(r.Changes) == 0 && r.Times == 0 }

// PieceOptions are the optional parts of [RestorePieces]. A nil *PieceOptions is the zero value.
type PieceOptions struct {
	// DryRun finds out the result, and changes nothing. It waits for other writers, as a restore does.
	DryRun bool
}

// errDry ends the transaction of a dry run.
var errDry = errors.New("dry run")

// RestorePieces brings files and directories of other trees back into the head of fsys, all in one commit, and leaves the rest
// as it is. A file gets its content, mode, owner, times, attributes and type of then; what stands in its place is replaced,
// whatever its type. A directory becomes as it was, with all that is below: what came into it later is removed. Names of
// one file stay names of one file, as far as they are brought back together; a name elsewhere keeps the file that it shows
// now. Missing directories above are made, with the modes that they had. Content is shared, so the cost is that of
// the rows: it does not depend on the sizes of files, nor on how long ago it was.
//
// A file in conflict stays in conflict. Where nothing differs, nothing is committed. It is a call of its own if the context has
// none, so an undo takes it back.
//
// A path that its tree does not have is ENOENT, a file or symlink in the place of a directory above ENOTDIR, the root as target
// EINVAL, a tree of another store EXDEV, a directory that OpenRoot stands on EINVAL, a head of the past EROFS. Then nothing is
// changed.
func RestorePieces(ctx context.Context, fsys *vfs.FS, pieces []Piece, options *PieceOptions) (r *PiecesResult, err error) {
	if journal.CallOf(ctx) == nil {
		ctx = vfs.WithCall(ctx, &vfs.Call{Tool: "restore"})
	}
	dry := options != nil && options.DryRun

	// Writes of open files that wait are no part of the call, so that an undo of it leaves them.
	if !dry {
		err := fsys.Update(vfs.WithCall(ctx, nil), func(tx *vfs.Tx) error { return (*tree.Tx)(tx).TakeWrites() })
		if err != nil {
			return nil, nameErr("restore", fsys.Name(), err)
		}
	}
	err = fsys.Update(ctx, func(tx *vfs.Tx) (err error) {
		if r, err = RestorePiecesIn(tx, pieces); err == nil && dry {
			err = errDry
		}
		return err
	})
	if err != nil && err != errDry {
		return nil, nameErr("restore", fsys.Name(), err)
	}
	return r, nil
}

// RestorePiecesIn is [RestorePieces] as a part of a transaction on the head of a branch. The trees must have been opened before
// the transaction began.
func RestorePiecesIn(tx *vfs.Tx, pieces []Piece) (*PiecesResult, error) {
	return bring((*tree.Tx)(tx), pieces, journal.OpRestore)
}

// CopyIn makes to a copy of a file or a directory of another tree, by the rules of [vfs.Tx.Copy]: a file is replaced, a
// directory is not.
func CopyIn(tx *vfs.Tx, from Tree, name, to string) error {
	return nameErr("copy", named(from, name), copyIn(tx, from, name, to))
}

func copyIn(tx *vfs.Tx, from Tree, name, to string) error {
	src, err := (*tree.Tx)(tx).On((*tree.Tree)(from.Tree()))
	if err != nil {
		return err
	}
	info, err := (*vfs.Tx)(src).Lstat(name)
	if err != nil {
		return bare(err)
	}
	at, err := tx.Resolve(to, false)
	if err != nil {
		return err
	}
	if _, err := tx.Lstat("/" + path.Dir(at)); err != nil { // bring would make it
		return bare(err)
	}
	there, err := tx.Lstat(to)
	switch {
	case errors.Is(err, syscall.ENOENT):
	case err != nil:
		return err
	case there.IsDir() && !info.IsDir():
		return syscall.EISDIR
	case info.IsDir() && !there.IsDir():
		return syscall.ENOTDIR
	case info.IsDir():
		return syscall.EEXIST
	}
	_, err = bring((*tree.Tx)(tx), []Piece{{from, name, to}}, journal.OpCopy)
	return err
}

// named names a path of a tree in an error.
func named(t Tree, name string) string { return Label(t) + ":" + name }

// bare takes the operation and the path off an error, which is named anew.
func bare(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// bring brings pieces into the head, and records what that changes by events of an op.
func bring(tx *tree.Tx, pieces []Piece, op journal.Op) (*PiecesResult, error) {
	if !tx.Tree().Whole() {
		return nil, syscall.EINVAL
	}
	if err := tx.Writable(); err != nil {
		return nil, err
	}
	// Writes of open files that are not committed yet are replaced too.
	if err := tx.TakeWrites(); err != nil {
		return nil, err
	}

	r := &PiecesResult{}
	var before *tree.Tree    // the state before, once something changes
	var deltas []*tree.Delta // since then
	for len(pieces) > 0 {
		b, err := newBringer(tx, pieces[0].From)
		if err != nil {
			return nil, nameErr("restore", named(pieces[0].From, pieces[0].Path), err)
		}
		n := 0
		for n < len(pieces) && sameTree(pieces[n].From, pieces[0].From) {
			fits, err := b.take(pieces[n])
			if err != nil {
				return nil, err
			}
			if !fits {
				break
			}
			n++
		}
		pieces = pieces[n:]

		delta, err := b.plan()
		if err != nil {
			return nil, err
		}
		r.Unchanged += b.equal
		r.Conflicts = append(r.Conflicts, b.conflicts...)
		if delta == nil {
			continue
		}
		if before == nil {
			at, err := tx.EndStep()
			if err != nil {
				return nil, err
			}
			if before, err = tx.Past(at); err != nil {
				return nil, err
			}
		}
		if err := Become(tx, delta, op); err != nil {
			return nil, err
		}
		deltas = append(deltas, delta)
	}
	if before == nil {
		return r, nil
	}
	return r, r.compare(before, tx, deltas)
}

// sameTree reports whether two trees are the same moment of one store.
func sameTree(a, b Tree) bool {
	x, y := (*tree.Tree)(a.Tree()), (*tree.Tree)(b.Tree())
	return x.DB() == y.DB() && x.Moment() == y.Moment() && x.Root() == y.Root()
}

// compare finds out what has changed since the state before, by some deltas.
func (r *PiecesResult) compare(before *tree.Tree, tx *tree.Tx, deltas []*tree.Delta) error {
	was, err := tx.On(before)
	if err != nil {
		return err
	}
	delta := deltas[0]
	if len(deltas) > 1 { // a later one may have changed the same again
		if delta, err = tree.Compare(was, tx); err != nil {
			return err
		}
	}
	if r.Changes, err = changesOf(was, tx, delta); err != nil {
		return err
	}
	for _, c := range delta.Inodes {
		if c.Old != nil && c.New != nil && c.New.Nlink() > 0 && !c.New.IsDir() && KindOf(c.Old, c.New) == "" && !c.Old.ModTime().Equal(c.New.ModTime()) {
			r.Times++
		}
	}
	slices.Sort(r.Conflicts)
	r.Conflicts = slices.Compact(r.Conflicts)
	return nil
}

// A goal is what a name is to show: an inode of the other tree.
type goal struct {
	name node.Name
	path string // of the name
	then *node.Node
	copy int // 0: it comes back to where it was; else the number of the copy that it is a part of
}

// take adds a piece. It does not fit if its place is within that of another one, or the other way round, nor if another one may
// change where the path of its place leads.
func (b *bringer) take(p Piece) (fits bool, err error) {
	beside := p.To[:strings.LastIndexByte(p.To, '/')+1]
	if p.To != "" && len(b.tops) > 0 && beside != b.beside {
		return false, nil
	}
	refuse := func(name string, err error) (bool, error) { return false, nameErr("restore", name, bare(err)) }
	source := named(p.From, p.Path)
	from, err := (*vfs.Tx)(b.src).Resolve(p.Path, false)
	if err != nil {
		return refuse(source, err)
	}
	info, err := (*vfs.Tx)(b.src).Lstat(p.Path)
	if err != nil {
		return refuse(source, err)
	}
	to, place := from, cmp.Or(p.To, source)
	if p.To != "" {
		if to, err = (*vfs.Tx)(b.tx).Resolve(p.To, false); err != nil {
			return refuse(place, err)
		}
	}
	if to == "." {
		return refuse(place, syscall.EINVAL)
	}
	for _, top := range b.tops {
		if node.Within(top, to) || node.Within(to, top) {
			return false, nil
		}
	}

	dir, err := b.parent(path.Dir(to), p.To == "")
	if err != nil {
		return refuse(place, err)
	}
	name := node.Name{Dir: dir, Base: path.Base(to)}
	b.tops = append(b.tops, to)
	g := goal{name: name, path: to, then: node.NodeOf(info)}
	if p.To != "" {
		g.copy = b.copyOf(from)
	}
	b.beside = beside
	b.goals = append(b.goals, g)
	return true, nil
}

// copyOf returns the number of the copy that a path of the other tree is a part of. What is copied twice is in two.
func (b *bringer) copyOf(from string) int {
	for _, other := range b.copied {
		if node.Within(other, from) || node.Within(from, other) {
			b.copies, b.copied = b.copies+1, nil
			break
		}
	}
	b.copied = append(b.copied, from)
	return b.copies
}

// parent returns the directory at a path of the head. Missing ones are planned: as they were then, or as Mkdir makes them.
func (b *bringer) parent(dir string, then bool) (node.Ino, error) {
	at := node.Ino(schema.RootIno)
	if dir == "." {
		return at, nil
	}
	walked := ""
	for _, base := range strings.Split(dir, "/") {
		walked = path.Join(walked, base)
		name := node.Name{Dir: at, Base: base}
		if ino, planned := b.out[name]; planned {
			at = ino
			continue
		}
		d, err := b.tx.Lookup(at, base)
		switch {
		case err != nil:
			return 0, err
		case d.Ino != 0 && d.Kind != node.KindDir:
			return 0, fmt.Errorf("%s is in the way: %w", walked, syscall.ENOTDIR)
		case d.Ino != 0:
			at = d.Ino
			continue
		}

		made := &node.Node{Mode: uint32(node.KindDir)<<12 | 0o755}
		if then {
			info, err := (*vfs.Tx)(b.src).Lstat(walked)
			if err != nil {
				return 0, err
			}
			made = node.NodeOf(info).Copy()
		}
		made.Mtime = b.tx.Now()
		if at, err = b.add(made); err != nil {
			return 0, err
		}
		b.out[name] = at
	}
	return at, nil
}
