package git

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// land makes a commit of the stream a commit of the branch.
func (im *importer) land(c *commit) error {
	ctx := im.ctx
	person, when := splitIdent(c.author)
	if im.o.History {
		ctx = vfs.WithCall(ctx, &vfs.Call{Actor: person, Tool: "git import", Ref: c.oid, Began: when})
	}
	_, when = splitIdent(c.committer)

	var w writer
	var name string
	err := im.head.Update(ctx, func(tx *vfs.Tx) error {
		w = writer{tx: (*tree.Tx)(tx), mtime: when.UnixNano(), left: make(map[string]bool), over: make(map[string]bool)}
		w.known = map[string]node.Ino{"": w.tx.Root()}
		for i := range c.changes {
			if err := w.change(&c.changes[i]); err != nil {
				return fmt.Errorf("%q: %w", c.changes[i].path, err)
			}
		}
		if err := w.prune(); err != nil {
			return err
		}
		if !im.o.History {
			return nil
		}
		name = im.snapshotName(&c.header)
		_, err := snapshot.CreateIn(tx, name, c.note())
		return err
	})
	if err == nil {
		im.report.add(&w.done)
		im.report.Commits++
		im.report.Snapshot = name
	}
	return err
}

// A writer makes the changes of one commit, by numbers. As in git, a directory is there because a file is below it, and
// what is in the way of a file or of a directory gives way.
type writer struct {
	tx    *tree.Tx
	mtime int64
	known map[string]node.Ino // directories by path
	left  map[string]bool     // directories that have lost a name
	over  map[string]bool     // directories that have come in the place of a file
	done  Report
}

// change makes one change. A path that has no place in the store is left out.
func (w *writer) change(ch *change) error {
	if ch.op == remove {
		return w.remove(ch.path)
	}
	err := checkPath(ch.path, ch.link)
	if err == nil && ch.from != "" {
		err = checkPath(ch.from, false)
	}
	valid := err == nil
	if valid {
		switch {
		case ch.op != put:
			err = w.move(ch)
		case ch.link:
			err = w.symlink(ch)
		default:
			err = w.file(ch)
		}
	}

	// A tree that git could not have either is no failure of the store.
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ENOENT):
		w.done.refuse(ch.path, err)
		if valid {
			w.left[parent(ch.path)] = true // it may have been made for this
		}
		return nil
	}
	return err
}

// place returns the place of a path, whose directory is made.
func (w *writer) place(path string) (tree.Place, error) {
	dir, err := w.dir(parent(path))
	return at(dir, path), err
}

// at returns the place of the last segment of a path, in a directory.
func at(dir node.Ino, path string) tree.Place {
	return tree.Place{Dir: dir, Base: path[strings.LastIndexByte(path, '/')+1:], Path: path}
}

// parent returns the path of the directory of a path; "" is the root.
func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// dir returns a directory, which is made if it is missing.
func (w *writer) dir(path string) (node.Ino, error) {
	if ino := w.known[path]; ino != 0 {
		return ino, nil
	}
	above, err := w.dir(parent(path))
	if err != nil {
		return 0, err
	}

	p := at(above, path)
	there, err := w.tx.Lookup(p.Dir, p.Base)
	if err == nil && there.Ino != 0 && there.Kind != node.KindDir {
		err = w.tx.Unlink(p)
		there.Ino, w.over[path] = 0, true
	}
	if err == nil && there.Ino == 0 {
		made := w.tx.NewNode(node.ModeDir | 0o755)
		err = w.tx.Create(p, made, chunk.Sum{})
		there.Ino = made.Ino
	}
	if err != nil {
		return 0, err
	}

	w.known[path] = there.Ino
	return there.Ino, nil
}

// find returns the place of a path and what is there; nil if nothing is.
func (w *writer) find(path string) (p tree.Place, n *node.Node, err error) {
	dir := w.known[parent(path)]
	if dir == 0 {
		_, above, err := w.find(parent(path))
		if err != nil || above == nil || !above.IsDir() {
			return p, nil, err
		}
		dir = above.Ino
		w.known[parent(path)] = dir
	}
	p = at(dir, path)
	there, err := w.tx.Lookup(p.Dir, p.Base)
	if err != nil || there.Ino == 0 {
		return p, nil, err
	}
	n, err = w.tx.NodeOf(p.Dir, node.Entry{Name: p.Base, Ino: there.Ino, Kind: there.Kind})
	return p, n, err
}

// file gives a path a regular file. One that is there keeps its identity.
func (w *writer) file(ch *change) error {
	p, err := w.place(ch.path)
	if err != nil {
		return err
	}
	content, err := ch.blob.item.Commit(w.tx.DB())
	if err != nil {
		return err
	}
	mode := uint32(node.ModeFile | 0o644)
	if ch.exec {
		mode |= 0o111
	}
	attr := func(n *node.Node) { n.Mode, n.Mtime = mode, w.mtime }
	w.done.Files++

	_, there, err := w.find(ch.path)
	switch {
	case err != nil:
		return err
	case there != nil && there.IsDir():
		err = w.drop(p, ch.path)
	case there != nil && there.Kind() == node.KindFile && there.Nlink == 1:
		if there.Content != content {
			return w.tx.SetContent(p, vfs.OpWrite, content, ch.blob.item.Sum(), attr)
		}
		return w.tx.SetAttr(p, vfs.OpSetattr, attr)
	}
	if err != nil {
		return err
	}
	made := w.tx.NewNode(mode)
	made.Content, made.Mtime = content, w.mtime
	return w.tx.Replace(p, made, ch.blob.item.Sum())
}

// symlink gives a path a symlink. Its target is a content of the stream.
func (w *writer) symlink(ch *change) error {
	size := ch.blob.item.Size()
	if size > node.MaxPath {
		return fmt.Errorf("a symlink with a target of %d bytes: %w", size, syscall.ENAMETOOLONG)
	}
	content, err := ch.blob.item.Commit(w.tx.DB())
	if err != nil {
		return err
	}
	target, err := w.tx.ReadContent(content, 0, size)
	if err != nil {
		return err
	}
	if len(target) == 0 || slices.Contains(target, 0) {
		return fmt.Errorf("a symlink with the target %q: %w", target, syscall.EINVAL)
	}

	p, err := w.place(ch.path)
	if err != nil {
		return err
	}
	w.done.Files++
	if err := w.clear(p, ch.path); err != nil {
		return err
	}
	made := w.tx.NewNode(node.ModeLink | 0o777)
	made.Target, made.Mtime = string(target), w.mtime
	return w.tx.Create(p, made, chunk.Sum{})
}

// move copies or renames what is at a path.
func (w *writer) move(ch *change) error {
	if node.Within(ch.path, ch.from) || node.Within(ch.from, ch.path) {
		return fmt.Errorf("%q cannot take this place: %w", ch.from, syscall.EINVAL)
	}

	from, n, err := w.find(ch.from)
	if err == nil && n == nil {
		err = fmt.Errorf("%q is not there: %w", ch.from, syscall.ENOENT)
	}
	if err != nil {
		return err
	}

	to, err := w.place(ch.path)
	if err != nil {
		return err
	}
	if err := w.clear(to, ch.path); err != nil {
		return err
	}

	if ch.op == copied {
		return w.tx.CopyTree(from, to)
	}
	w.left[parent(ch.from)] = true
	w.forget(ch.from)
	return w.tx.Rename(from, to)
}

// clear removes what is at a place.
func (w *writer) clear(p tree.Place, path string) error {
	there, err := w.tx.Lookup(p.Dir, p.Base)
	if err != nil || there.Ino == 0 {
		return err
	}
	return w.drop(p, path)
}

// drop removes what is at a place, with all below it.
func (w *writer) drop(p tree.Place, path string) error {
	w.forget(path)
	return w.tx.RemoveTree(p)
}

// forget drops what is known of the directories at a path and below it.
func (w *writer) forget(path string) {
	for dir := range w.known {
		if dir != "" && node.Within(dir, path) {
			delete(w.known, dir)
		}
	}
}

// remove removes what is at a path; with the path "" everything.
func (w *writer) remove(path string) error {
	if path == "" {
		for e, err := range w.tx.Entries(w.tx.Root(), "") {
			if err == nil {
				err = w.drop(at(w.tx.Root(), e.Name), e.Name)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if checkPath(path, false) != nil {
		return nil // it is in no tree
	}

	// Of a file that becomes a directory, git fast-export first writes what is in the directory, and then that the file goes.
	if w.over[path] {
		return nil
	}
	p, n, err := w.find(path)
	if err != nil || n == nil {
		return err
	}
	w.left[parent(path)] = true
	if n.IsDir() {
		return w.drop(p, path)
	}
	return w.tx.Unlink(p)
}

// prune removes the directories that have lost their last name, and those above them that have no other.
func (w *writer) prune() error {
	for len(w.left) > 0 {
		dirs := make([]string, 0, len(w.left))
		for dir := range w.left {
			dirs = append(dirs, dir)
		}
		slices.SortFunc(dirs, func(a, b string) int { return strings.Compare(b, a) }) // what is below comes first
		clear(w.left)

		for _, dir := range dirs {
			if dir == "" {
				continue
			}
			p, n, err := w.find(dir)
			if err != nil {
				return err
			}
			if n == nil || !n.IsDir() {
				continue
			}
			switch err := w.tx.Unlink(p); {
			case errors.Is(err, syscall.ENOTEMPTY):
			case err != nil:
				return err
			default:
				delete(w.known, dir)
				w.left[parent(dir)] = true
			}
		}
	}
	return nil
}
