package transfer

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/transfer/gitignore"
	"vfsdb/transfer/tarred"
	"vfsdb/vfs"
)

// An archiveReader returns the entries of an archive one by one, as a [tar.Reader] does. Read reads the content of the
// entry that Next returned last. An entry with an error is refused, and others follow.
type archiveReader interface {
	Next() (*tar.Header, error)
	io.Reader
}

func importArchive(ctx context.Context, fsys *vfs.FS, from archiveReader, to string, o *ImportOptions) (*Report, error) {
	if o != nil && (o.Delete || o.DryRun) {
		return nil, fmt.Errorf("the options Delete and DryRun are for directories of the host: %w", syscall.EINVAL)
	}
	im, err := newImporter(ctx, fsys, to, o)
	if err != nil {
		return nil, err
	}
	defer im.close()

	t := &unarchiver{importer: im, from: from, seen: make(map[string]*entry)}
	err = t.run(ctx)
	if im.o.GitIgnore {
		t.ignore()
	}
	return im.finish(ctx, err, im.commitLast)
}

// An unarchiver makes entries from an archive.
type unarchiver struct {
	*importer
	from archiveReader
	seen map[string]*entry // the entries of the archive by path, and the directories that it implies
	held []*entry          // with GitIgnore: rules come in any order, so names wait for the end
	text map[string]string // of .gitignore files, by directory
}

// maxSparse is the largest file with holes that an archive may have, unless the options set another limit.
const maxSparse = 1 << 40

// impliedDir stands for a directory that the archive has entries in, and has not named yet.
var impliedDir = &entry{attr: attr{mode: fs.ModeDir}}

// errSkipped means that the content of an entry is not needed.
var errSkipped = errors.New("skipped")

func (t *unarchiver) run(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := t.from.Next()
		switch {
		case err == io.EOF:
			return nil
		case err == tar.ErrInsecurePath:
			err = nil // refused below, by our own rules
		case h == nil:
			return err
		}
		if err := t.entry(ctx, h, err); err != nil {
			return err
		}
	}
}

// entry takes one entry, or refuses it because of bad. An error ends the import; a refusal does not.
func (t *unarchiver) entry(ctx context.Context, h *tar.Header, bad error) error {
	e, err := t.parse(h, bad)
	if err != nil {
		t.refuse(h.Name, err)
		return nil
	}
	if e == nil {
		return nil
	}

	if e.mode.IsRegular() && e.same == nil {
		err := t.content(ctx, e, h)
		if err == errSkipped {
			return nil
		}
		if err != nil {
			return err
		}
	}

	if again := t.place(e); again {
		return nil
	}
	if t.o.GitIgnore {
		t.held = append(t.held, e)
		return nil
	}
	return t.add(ctx, e)
}

// parse makes an entry of a header. It returns nil for one that is excluded, or that is there already.
func (t *unarchiver) parse(h *tar.Header, bad error) (*entry, error) {
	name, err := cleanName(h.Name)
	if err != nil {
		return nil, err
	}
	if t.leftOut(name, h.Typeflag == tar.TypeDir) {
		return nil, nil
	}
	if bad != nil {
		return nil, bad
	}

	e := &entry{path: name}
	if e.attr, err = tarAttr(h); err != nil {
		return nil, err
	}
	if h.Typeflag != tar.TypeLink {
		e.xattrs = t.tarXattrs(h, e.attr)
	}
	if err := t.checkPlace(e); err != nil {
		return nil, err
	}

	switch h.Typeflag {
	case tar.TypeLink:
		return t.link(e, h)
	case tar.TypeSymlink:
		e.target = h.Linkname
		if e.target == "" || len(e.target) > maxPath || strings.ContainsRune(e.target, 0) {
			return nil, fmt.Errorf("target of %d bytes: %w", len(e.target), syscall.EINVAL)
		}
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		limit := int64(chunk.MaxSize)
		if tarred.Sparse(h) {
			limit = maxSparse
		}
		if err := t.checkSize(h.Size, limit); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// leftOut reports whether Exclude matches a path, or a directory above it.
func (t *unarchiver) leftOut(name string, dir bool) bool {
	if name == "" || len(t.globs) == 0 {
		return false
	}
	return t.globs.Match(name, dir) || t.leftOut(parent(name), true)
}

// checkPlace refuses an entry that earlier entries of the archive do not let in: its own place may be taken by another
// type, or a file may be in its way. The store is checked when names are made.
func (t *unarchiver) checkPlace(e *entry) error {
	if e.path == "" {
		if !e.mode.IsDir() {
			return errIsDir
		}
		return nil
	}
	for dir := parent(e.path); dir != ""; dir = parent(dir) {
		if above := t.seen[dir]; above != nil && !above.mode.IsDir() {
			return errNotDir
		}
	}
	switch before := t.seen[e.path]; {
	case before == nil || before.mode.IsDir() == e.mode.IsDir():
		return nil
	case e.mode.IsDir():
		return errNotDir
	}
	return errIsDir
}

// link makes an entry a further name of an earlier one. It returns nil if the two are the same.
func (t *unarchiver) link(e *entry, h *tar.Header) (*entry, error) {
	target, err := cleanName(h.Linkname)
	if err != nil {
		return nil, fmt.Errorf("a hard link: %w", err)
	}
	first := t.seen[target]
	switch {
	case first == nil:
		return nil, errNoTarget
	case first.mode.IsDir():
		return nil, fmt.Errorf("a hard link to a directory: %w", syscall.EPERM)
	case target == e.path:
		return nil, nil
	}
	e.same = first.first()
	return e, nil
}

// content stores the content of a regular file.
func (t *unarchiver) content(ctx context.Context, e *entry, h *tar.Header) (err error) {
	if t.doomed() {
		t.place(e)
		return errSkipped // the import goes on only to find other refusals
	}

	// The text of a .gitignore file is needed as well.
	var r io.Reader = t.from
	var text strings.Builder
	rules := t.o.GitIgnore && (e.path == ".gitignore" || strings.HasSuffix(e.path, "/.gitignore"))
	if rules {
		r = io.TeeReader(r, &limitWriter{&text, gitignore.MaxFile})
	}

	if e.data, err = t.batch.Add(ctx, r); err != nil {
		return fmt.Errorf("%q: %w", h.Name, err)
	}
	if rules {
		if t.text == nil {
			t.text = make(map[string]string)
		}
		t.text[parent(e.path)] = text.String()
	}
	t.file(e.path, e.data.Size())
	return nil
}

// A limitWriter writes no more than left bytes, and drops the rest.
type limitWriter struct {
	w    io.Writer
	left int
}

func (l *limitWriter) Write(p []byte) (int, error) {
	n := min(l.left, len(p))
	l.left -= n
	if _, err := l.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// place notes where an entry goes. A directory that was there before only gets new attributes: again is true.
func (t *unarchiver) place(e *entry) (again bool) {
	before := t.seen[e.path]
	switch {
	case before == nil || before == impliedDir:
	case before.mode.IsDir():
		before.attr = e.attr
		return true
	default:
		before.gone, before.placed = true, ""
	}
	t.seen[e.path] = e
	for dir := parent(e.path); dir != "" && t.seen[dir] == nil; dir = parent(dir) {
		t.seen[dir] = impliedDir
	}
	return false
}

// ignore applies the rules of the archive's .gitignore files, and adds the entries that they leave.
func (t *unarchiver) ignore() {
	rules := map[string]*gitignore.Rules{"": (*gitignore.Rules)(nil).Below("", t.text[""])}
	out := map[string]bool{"": false}

	// A path is ignored if a directory above it is, or if the rules of that directory match it.
	var ignored func(name string, dir bool) bool
	ignored = func(name string, dir bool) bool {
		if was, ok := out[name]; ok {
			return was
		}
		above := parent(name)
		is := ignored(above, true)
		if !is {
			is = name[strings.LastIndexByte(name, '/')+1:] == ".git" || rules[above].Match(name, dir)
		}
		if dir {
			out[name] = is
			rules[name] = rules[above].Below(name, t.text[name])
		}
		return is
	}

	for _, e := range t.held {
		if !ignored(e.path, e.mode.IsDir()) {
			t.pending = append(t.pending, e)
			if e.mode.IsDir() {
				t.dirs = append(t.dirs, e)
			}
		}
	}
}
