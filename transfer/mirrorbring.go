package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/transfer/memo"
	"vfsdb/vfs"
)

// BringOptions say how changes are brought back. A nil *BringOptions is the zero value.
type BringOptions struct {
	// Check is called at the beginning of the transaction. Its error ends the Bring, as it is.
	Check func(*vfs.Tx) error
}

// Bring puts the changes of the directory since it was filled into a branch that shows the same tree, in one commit: new
// and changed files, other attributes, and removals. If nothing was changed there is no commit, and Check is not called.
//
// A file that was written in place or replaced keeps its inode, and so does one that was renamed and not changed. Attributes
// that were not changed stay as they are in the tree, also where the host could not show them. No program may change the
// directory meanwhile. Of files whose stat is as it was after the Fill no content is read.
//
// A file that cannot be read fails the Bring with a [RefusedError], and the branch stays as it was.
func (m *Mirror) Bring(ctx context.Context, fsys *vfs.FS, o *BringOptions) (*Report, error) {
	if o == nil {
		o = &BringOptions{}
	}
	report, err := m.bring(ctx, fsys, o)
	if err != nil {
		return nil, fmt.Errorf("bring back mirror %s: %w", m.Dir(), err)
	}
	return report, nil
}

func (m *Mirror) bring(ctx context.Context, fsys *vfs.FS, o *BringOptions) (*Report, error) {
	switch ours, err := m.at.IsOf(ctx, fsys); {
	case err != nil:
		return nil, err
	case !ours:
		return nil, fmt.Errorf("it shows no tree of this store, or a part of one: %w", syscall.EINVAL)
	}
	stamp, noClock := m.at.Clock()
	top, err := m.at.OpenTree(false)
	if err != nil {
		return nil, err
	}
	defer top.Done()
	im, err := newImporter(ctx, fsys, "/", nil)
	if err != nil {
		return nil, err
	}
	defer im.close()

	b := &bringer{
		m: m.at, dirWalker: &dirWalker{importer: im, top: top, last: true, settled: true, exact: true},
		shown: make(map[string]hostdir.State, len(m.at.Known)), byID: m.at.ByID(), groups: make(map[hostdir.ID]*hostFile),
	}
	if err := b.work(ctx, b.find); err != nil {
		return nil, err
	}
	if b.doomed() {
		return nil, &RefusedError{b.report.Refused}
	}
	if b.nothing() {
		return &b.report, nil
	}
	if err := b.batch.Flush(); err != nil {
		return nil, err
	}
	if err := b.dropSame(ctx); err != nil {
		return nil, err
	}
	c := b.changes()
	if !b.nothing() {
		if err := m.commit(ctx, c, o); err != nil {
			return nil, err
		}
	}
	b.count(c.add)

	// The tree has all. A host without room for what is known of it now leaves a mirror that has to be filled first.
	if noClock == nil {
		_ = m.at.Save(ctx, fsys, stamp)
	}
	return &b.report, nil
}

// commit changes the tree. A mirror whose process dies meanwhile shows neither the tree of before nor that of after.
func (m *Mirror) commit(ctx context.Context, c *changes, o *BringOptions) error {
	if err := m.at.Begin(); err != nil {
		return err
	}
	if err := c.b.fsys.Update(ctx, func(tx *vfs.Tx) error { return c.commit(ctx, tx, o.Check) }); err != nil {
		return errors.Join(err, m.at.Undo())
	}
	m.at.Known = c.next
	return nil
}

// Changes are what one Bring does to the tree.
type changes struct {
	namer
	b       *bringer
	files   []*entry // all but directories, sorted by path
	gone    []string // see [memo.Dir.Gone]
	sources map[string]*entry
	next    map[string]*memo.File
}

// changes sorts what was found.
func (b *bringer) changes() *changes {
	c := &changes{
		namer: namer{to: b.to, refuse: b.refuse}, b: b, sources: make(map[string]*entry),
		files: slices.Concat(b.pending, b.links), gone: b.m.Gone(b.shown),
	}
	byPath := func(x, y *entry) int { return cmp.Compare(x.path, y.path) }
	slices.SortFunc(c.files, byPath)
	slices.SortFunc(b.dirs, byPath)

	// A file that has the number of one that is gone may be that file.
	for _, e := range b.pending {
		now := b.shown[e.path]
		from := b.byID[now.ID]
		if from == nil || !from.IsSingle() || b.m.Known[e.path] != nil || len(e.names) > 0 {
			continue
		}
		if _, stays := b.shown[from.Path]; !stays {
			c.sources[from.Path] = e
		}
	}
	return c
}

// commit changes the tree.
func (c *changes) commit(ctx context.Context, tx *vfs.Tx, check func(*vfs.Tx) error) error {
	if check != nil {
		if err := check(tx); err != nil {
			return err
		}
	}
	if err := c.stand(tx); err != nil {
		return err
	}

	// Names that are gone make room; but those that were renamed are kept until there are directories for them.
	if err := c.remove(ctx, false); err != nil {
		return err
	}
	for _, e := range c.b.dirs {
		if err := c.directory(e); err != nil {
			return err
		}
	}
	if err := c.rename(); err != nil {
		return err
	}
	if err := c.remove(ctx, true); err != nil {
		return err
	}

	for _, e := range c.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.name(e); err != nil {
			return err
		}
	}
	if err := c.finish(c.touched()); err != nil {
		return err
	}
	if c.b.doomed() {
		return &RefusedError{c.b.report.Refused}
	}
	return c.remember()
}

// remove removes what is gone: first files, without those that were renamed; then directories with all below them.
func (c *changes) remove(ctx context.Context, dirs bool) error {
	above := "" // the last directory that is gone
	for _, name := range c.gone {
		if err := ctx.Err(); err != nil {
			return err
		}
		if above != "" && strings.HasPrefix(name, above+"/") {
			continue
		}
		dir := c.b.m.Known[name].Host.Mode.IsDir()
		if dir {
			above = name
		}
		if dir != dirs || c.sources[name] != nil {
			continue
		}

		p, err := c.at(c.full(name), false)
		switch {
		case err != nil:
		case dir:
			err = c.tx.RemoveTree(p)
		default:
			err = c.tx.Unlink(p)
		}
		if err != nil {
			return fmt.Errorf("delete %q: %w", name, err)
		}
		c.done.Deleted++
	}
	return nil
}

// directory makes a directory that is new.
func (c *changes) directory(e *entry) error {
	if known := c.b.m.Known[e.path]; known != nil && known.Host.Mode.IsDir() {
		return nil
	}
	return c.name(e)
}

// rename renames the files that were renamed and not changed. Another file of that number is a new one: the number was used
// again.
func (c *changes) rename() error {
	for from, e := range c.sources {
		source, err := c.at(c.full(from), false)
		if err != nil {
			return fmt.Errorf("rename %q: %w", from, err)
		}
		n, err := c.nodeAt(source)
		if err != nil {
			return fmt.Errorf("rename %q: %w", from, err)
		}
		sum, err := c.tx.SumOf(n)
		if err != nil {
			return fmt.Errorf("rename %q: %w", from, err)
		}

		if n.Kind() != node.KindFile || n.Nlink > 1 || sum != e.data.Sum() {
			if err := c.tx.Unlink(source); err != nil {
				return fmt.Errorf("delete %q: %w", from, err)
			}
			c.done.Deleted++
			continue
		}
		target, err := c.at(c.full(e.path), true)
		if err == nil {
			err = c.tx.Rename(source, target)
		}
		if err != nil {
			return fmt.Errorf("rename %q to %q: %w", from, e.path, err)
		}
	}
	return nil
}

// touched returns the directories that get attributes: those that have others, and those whose names were changed, since that
// changed their times.
func (c *changes) touched() []*entry {
	list, has := slices.Clone(c.b.dirs), make(map[string]bool)
	for _, e := range list {
		has[e.path] = true
	}
	touch := func(name string) {
		dir := parent(name)
		known := c.b.m.Known[dir]
		if name == "" || has[dir] || known == nil {
			return
		}
		has[dir] = true
		if known.Host.Mode.IsDir() && c.b.shown[dir].Mode.IsDir() {
			e := &entry{path: dir}
			e.mode, e.uid, e.gid, e.mtime = node.FileMode(known.Node.Mode), known.Node.Uid, known.Node.Gid, known.Node.Mtime
			list = append(list, e)
		}
	}

	for _, name := range c.gone {
		touch(name)
	}
	for _, e := range c.files {
		touch(e.path)
	}
	return list
}

// remember notes what the tree and the host have now.
func (c *changes) remember() error {
	c.next = make(map[string]*memo.File, len(c.b.shown))
	for name := range c.b.shown {
		if known := c.b.m.Known[name]; known != nil {
			c.next[name] = known
		}
	}

	for _, list := range [][]*entry{c.files, c.b.dirs} {
		for _, e := range list {
			p, err := c.at(c.full(e.path), false)
			if err != nil {
				return err
			}
			n, err := c.nodeAt(p)
			if err != nil {
				return fmt.Errorf("%q: %w", e.path, err)
			}
			c.next[e.path] = memo.After(e.path, c.b.shown[e.path], n, c.b.was(e.path))
		}
	}
	return nil
}
