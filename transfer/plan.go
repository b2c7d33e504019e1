package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sync/errgroup"

	"vfsdb/node"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A PlannedChange is a path that an import with DryRun would change. The kinds are those of [snapshot.Diff] without
// renames, and as there the times alone are no change.
type PlannedChange struct {
	Kind snapshot.Kind
	Path string // from the root of the tree
	Dir  bool   // it is the path of a directory afterwards, or if removed, was before
}

// A planner finds what an import would change, in one moment of the store.
type planner struct {
	namer
	im      *importer
	absent  map[string]bool // directories of the source that the store does not have
	barred  map[string]bool // those in whose place it has another file, which stays
	cleared map[string]bool // names of the source whose file of another type Delete removes
	changes []PlannedChange
	doubts  []doubt
}

// A doubt is a file that has the same size in the source and in the store, and maybe another content.
type doubt struct {
	path string // inside the destination
	full string // from the root of the tree
	size int64
	mode bool // permissions, owner or extended attributes differ
}

// plan compares the entries with the store, instead of giving them names.
func (w *dirWalker) plan(ctx context.Context) error {
	slices.SortStableFunc(w.pending, func(a, b *entry) int { return cmp.Compare(a.path, b.path) })
	p := planner{
		namer: namer{to: w.to, refuse: w.refuse}, im: w.importer,
		absent: make(map[string]bool), barred: make(map[string]bool), cleared: make(map[string]bool),
	}
	if err := w.fsys.View(ctx, func(tx *vfs.Tx) error { return p.run(ctx, tx) }); err != nil {
		return err
	}
	if err := w.settleDoubts(ctx, &p); err != nil {
		return err
	}
	if w.doomed() {
		return &RefusedError{w.report.Refused}
	}

	slices.SortStableFunc(p.changes, func(a, b PlannedChange) int { return cmp.Compare(a.Path, b.Path) })
	w.count(p.add)
	w.count(func(r *Report) { r.Plan = p.changes })
	return nil
}

// run plans all but the doubts.
func (p *planner) run(ctx context.Context, tx *vfs.Tx) error {
	if err := p.begin(tx); err != nil {
		return err
	}
	if p.im.o.Delete && !p.absent[""] {
		if err := p.removals(); err != nil {
			return err
		}
	}

	for _, e := range p.im.pending {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := p.entry(e)
		switch {
		case err == nil:
		case refusable(err):
			p.refuse(e.path, err)
		default:
			return fmt.Errorf("%q: %w", e.path, err)
		}
	}
	return nil
}

// begin finds the destination. Directories on the way to it that are missing would be made.
func (p *planner) begin(tx *vfs.Tx) error {
	notDir := &fs.PathError{Op: "mkdir", Path: string(p.to), Err: syscall.ENOTDIR}
	err := p.stand(tx)
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return notDir
	case err != nil:
		return err
	}

	for full := p.top; ; full = parent(full) {
		_, err := p.dir(full, false)
		switch {
		case err == nil:
			return p.checkWay(tx)
		case errors.Is(err, syscall.ENOTDIR):
			return notDir
		case !errors.Is(err, syscall.ENOENT):
			return err
		}
		p.absent[""] = true
		p.changes = append(p.changes, PlannedChange{snapshot.Added, full, true})
	}
}

// checkWay refuses a destination that leads through a symlink to nowhere, as MkdirAll does.
func (p *planner) checkWay(tx *vfs.Tx) error {
	if !p.absent[""] {
		return nil
	}
	for way := string(p.to); way != ""; way = parent(way) {
		info, err := tx.Lstat(way)
		switch {
		case err == nil && info.Mode().Type() == fs.ModeSymlink:
			if _, err := tx.Stat(way); errors.Is(err, fs.ErrNotExist) {
				return &fs.PathError{Op: "mkdir", Path: string(p.to), Err: syscall.EEXIST}
			}
			return nil
		case err == nil || !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

// removals plans what Delete removes.
func (p *planner) removals() error {
	list, err := p.im.removals(&p.namer, p.im.pending)
	if err != nil {
		return err
	}
	p.done.Deleted = int64(len(list))

	d := deleter{entries: p.im.pending}
	for _, r := range list {
		if d.source(r.name) != nil {
			p.cleared[r.name] = true
		} else {
			p.changes = append(p.changes, PlannedChange{snapshot.Removed, r.Path, r.dir})
		}
		if r.dir {
			if err := p.removedBelow(r.Path, r.ino, new(node.InoSet)); err != nil {
				return err
			}
		}
	}
	return nil
}

// removedBelow plans the removal of all that is below a directory.
func (p *planner) removedBelow(full string, ino vfs.Ino, seen *node.InoSet) error {
	if !seen.Add(ino) {
		return node.ErrBelowItself(ino)
	}
	for e, err := range p.tx.Entries(ino, "") {
		if err != nil {
			return fmt.Errorf("delete below %q: %w", full, err)
		}
		below, dir := join(full, e.Name), e.Kind == node.KindDir
		p.changes = append(p.changes, PlannedChange{snapshot.Removed, below, dir})
		if dir {
			if err := p.removedBelow(below, e.Ino, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry plans an entry, and counts it. An error may be a refusal of this entry alone.
func (p *planner) entry(e *entry) error {
	first, dir := e.first(), e.mode.IsDir()
	switch {
	case e.gone:
		return nil
	case len(p.to.path(e.path)) > maxPath:
		return syscall.ENAMETOOLONG
	case e.path != "" && p.barred[parent(e.path)]:
		p.barred[e.path] = dir
		return errNotDir
	case first.gone:
		return errFirstName
	}

	kind, err := p.kind(e)
	if err != nil {
		p.barred[e.path] = dir
		return err
	}
	if kind != "" {
		p.changes = append(p.changes, PlannedChange{kind, cmp.Or(p.full(e.path), "."), dir})
	}
	if dir && (kind == snapshot.Added || kind == snapshot.Type) {
		p.absent[e.path] = true
	}
	p.count(e, first)
	return nil
}

// count counts an entry as the namer does.
func (p *planner) count(e, first *entry) {
	switch {
	case e.path == "":
	case e.mode.IsDir():
		p.done.Dirs++
	case first.placed != "" || e.mode.Type() == fs.ModeSymlink:
		p.done.Links++
	default:
		p.done.Files++
		p.done.Bytes += first.size()
		if first.twin != nil {
			p.done.Unread++
		}
	}
	first.placed = e.path
}

// kind returns how an entry differs from the store; "" if it does not, or if that is in doubt.
func (p *planner) kind(e *entry) (snapshot.Kind, error) {
	switch {
	case e.path == "" && p.absent[""]:
		return "", nil // begin has planned the destination
	case e.path != "" && p.absent[parent(e.path)]:
		return snapshot.Added, nil
	case p.cleared[e.path]:
		return snapshot.Type, nil
	}

	place, err := p.at(p.full(e.path), false)
	if err != nil {
		return "", err
	}
	there, err := p.nodeAt(place)
	switch {
	case err == syscall.ENOENT:
		return snapshot.Added, nil
	case err != nil:
		return "", err
	case there.IsDir() && !e.mode.IsDir():
		return "", errIsDir
	case !there.IsDir() && e.mode.IsDir():
		return "", errNotDir
	}
	return p.compare(e, there), nil
}

// compare returns how an entry differs from a node that is a directory just if the entry is one.
func (p *planner) compare(e *entry, there *node.Node) snapshot.Kind {
	first, after := e.first(), *there
	first.putNode(&after)
	mode := after.Mode != there.Mode || after.Uid != there.Uid || after.Gid != there.Gid || after.Xattrs != there.Xattrs

	switch kind := there.Kind(); {
	case kind != node.ModeKind(e.mode):
		return snapshot.Type
	case kind == node.KindLink && there.Target != first.target:
		return snapshot.Modified
	case (kind == node.KindChar || kind == node.KindBlock) && there.Rdev != int64(first.rdev):
		return snapshot.Modified
	case kind == node.KindFile && first.twin == nil && there.Content.Size != first.size():
		return snapshot.Modified
	case kind == node.KindFile && first.twin == nil:
		p.doubts = append(p.doubts, doubt{first.path, p.full(e.path), first.size(), mode})
		return ""
	case mode:
		return snapshot.Mode
	}
	return ""
}

// probe looks at a regular file that an import would read.
func (w *dirWalker) probe(ctx context.Context, e found) error {
	f, err := e.in.OpenFile(path.Base(e.path))
	if err != nil {
		w.drop(e.entry, err)
		return nil
	}
	defer f.Close()

	info, err := w.stat(f)
	if err != nil {
		w.drop(e.entry, err)
		return nil
	}
	e.attr, e.length = e.again(info), info.Size()
	w.tally.file(e.path, e.length)
	return w.add(ctx, e.entry)
}

// settleDoubts compares the contents of the files that are in doubt.
func (w *dirWalker) settleDoubts(ctx context.Context, p *planner) error {
	kinds := make([]snapshot.Kind, len(p.doubts))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(min(4, runtime.GOMAXPROCS(0)))
	for i, d := range p.doubts {
		g.Go(func() error {
			same, err := w.sameContent(ctx, d)
			switch {
			case !same:
				kinds[i] = snapshot.Modified
			case d.mode:
				kinds[i] = snapshot.Mode
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}

	for i, d := range p.doubts {
		if kinds[i] != "" {
			p.changes = append(p.changes, PlannedChange{kinds[i], d.full, false})
		}
	}
	return nil
}

// comparedBytes is how much of a file is compared at a time.
const comparedBytes = 1 << 20

// sameContent reports whether a file of the host has the content of one of the store. It is refused if the host's cannot
// be read.
func (w *dirWalker) sameContent(ctx context.Context, d doubt) (same bool, err error) {
	f, err := w.open(d.path)
	if err != nil {
		w.refuse(d.path, err)
		return true, nil
	}
	defer f.Close()

	p := make([]byte, min(d.size, comparedBytes))
	for off := int64(0); off < d.size; off += int64(len(p)) {
		p = p[:min(d.size-off, comparedBytes)]
		switch _, err := io.ReadFull(f, p); {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return false, nil // it has become shorter
		case err != nil:
			w.refuse(d.path, err)
			return true, nil
		}

		stored, err := w.fsys.ReadRange(ctx, d.full, off, int64(len(p)))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(p, stored) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// open opens a file by its path inside the source.
func (w *dirWalker) open(name string) (*os.File, error) {
	in, err := w.top.Below(parent(name))
	if err != nil {
		return nil, err
	}
	defer in.Done()
	return in.OpenFile(path.Base(name))
}
