package git

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"unicode"

	"vfsdb/chunk"
	"vfsdb/internal/gitname"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// ExportOptions select what an export writes. A nil *ExportOptions is the zero value.
type ExportOptions struct {
	// Since leaves out the commits up to this snapshot, which has to be one of the past of each Ref. The first commit then
	// has the changes since. It follows Onto, or else the commit that an import has made the snapshot from, or else what the
	// repository has under the name of the Ref.
	Since *snapshot.Snapshot

	// Onto is the commit of the repository that the first commit follows: an id, or what else git fast-import takes.
	Onto string

	// Automatic makes commits also of the snapshots that a restore, a merge, an apply or a session has made by itself.
	Automatic bool

	// Progress is called after each file that was written, on the goroutine of the caller.
	Progress func(commits, bytes int64)
}

// A Ref is a tree that goes out, under the name that git gives it: "refs/heads/main".
type Ref struct {
	Name string
	Tree snapshot.Tree
}

// Export writes the past of trees and the trees themselves as a stream for git fast-import. A moment that several trees
// have in their past is one commit. The head of a branch goes out as it is when its turn comes; later writes do not
// show. Only the end of a whole stream says that it is one: git fast-import takes nothing from another.
func Export(ctx context.Context, w io.Writer, refs []Ref, o *ExportOptions) (*Report, error) {
	x := &exporter{ctx: ctx, w: bufio.NewWriterSize(w, 256<<10), marks: make(map[vfs.Moment]int64)}
	if o != nil {
		x.o = *o
	}
	if strings.ContainsFunc(x.o.Onto, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) || strings.HasPrefix(x.o.Onto, ":") {
		return nil, fmt.Errorf("git export onto %q: it can be no commit of git: %w", x.o.Onto, syscall.EINVAL)
	}
	for _, r := range refs {
		if err := CheckRef(r.Name); err != nil {
			return nil, fmt.Errorf("git export: %w", err)
		}
	}

	x.print("feature done\n")
	for _, r := range refs {
		if err := x.ref(r); err != nil {
			return nil, fmt.Errorf("git export of %s: %w", r.Tree.Tree().Name(), err)
		}
	}
	x.print("done\n")
	if err := x.w.Flush(); err != nil {
		return nil, fmt.Errorf("git export: %w", err)
	}
	return &x.report, nil
}

// An exporter is one export.
type exporter struct {
	ctx    context.Context
	w      *bufio.Writer
	o      ExportOptions
	report Report
	marks  map[vfs.Moment]int64 // of the moments that went out
	last   int64                // mark
}

// print writes a part of the stream. The Flush at the end returns the error, and so does the next file.
func (x *exporter) print(format string, args ...any) { fmt.Fprintf(x.w, format, args...) }

// hold returns a tree as it is now, which nothing collects until it is released.
func hold(ctx context.Context, fsys *vfs.FS) (*vfs.FS, func(), error) {
	held, release, err := (*tree.Tree)(fsys).Hold(ctx)
	if errors.Is(err, syscall.EROFS) {
		err = fmt.Errorf("the head of a branch in a store that is opened read-only: export a snapshot: %w", err)
	}
	return (*vfs.FS)(held), release, err
}

// ref writes the commits of one ref.
func (x *exporter) ref(r Ref) error {
	tip, release, err := hold(x.ctx, r.Tree.Tree())
	if err != nil {
		return err
	}
	defer release()
	points, err := x.past(tip, r)
	if err != nil {
		return err
	}

	// The first commit follows what the options say.
	from, base := x.o.Onto, (*vfs.FS)(nil)
	if x.o.Since != nil {
		base = x.o.Since.FS
		h, _ := headerOf(x.o.Since.Info.Note)
		from = cmp.Or(from, h.oid, r.Name+"^0")
	}
	written := int64(0)
	for _, p := range points {
		if mark := x.marks[p.at]; mark != 0 {
			from, base, written = fmt.Sprintf(":%d", mark), p.fsys, 0
			continue
		}
		mark, err := x.point(r.Name, p, from, base)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if mark == 0 { // a head without changes
			continue
		}
		from, base, written = fmt.Sprintf(":%d", mark), p.fsys, mark
	}

	// A ref that has no commit of its own shows one of another ref.
	if written == 0 && strings.HasPrefix(from, ":") {
		x.print("reset %s\nfrom %s\n\n", r.Name, from)
	}
	return x.ctx.Err()
}

// point writes a commit, with what differs from base. It returns its mark, or 0 for a head that does not differ.
func (x *exporter) point(ref string, p *point, from string, base *vfs.FS) (mark int64, err error) {
	held, release, err := hold(x.ctx, p.fsys)
	if err != nil {
		return 0, err
	}
	defer release()
	c := commitWriter{exporter: x, fsys: held}
	if base != nil {
		if err := c.compare(base); err != nil {
			return 0, err
		}
		if p.head && len(c.gone) == 0 && len(c.puts) == 0 {
			return 0, nil
		}
	}

	x.last++
	h := p.header()
	x.print("commit %s\nmark :%d\nauthor %s\ncommitter %s\ndata %d\n%s\n", ref, x.last, h.author, h.committer, len(h.message), h.message)
	if from != "" {
		x.print("from %s\n", from)
	}
	if base == nil {
		if from != "" {
			x.print("deleteall\n")
		}
		err = c.whole()
	} else {
		err = c.changes()
	}
	if err != nil {
		return 0, err
	}
	x.print("\n")
	x.marks[p.at] = x.last
	x.report.Commits++
	return x.last, nil
}

// A commitWriter writes what one commit changes.
type commitWriter struct {
	*exporter
	fsys *vfs.FS // the moment of the commit

	gone []string // paths that nothing has any more
	puts []item

	queue []item // files whose contents are to be read together
	bytes int64  // in the queue
}

// An item is a path of the tree and what is there.
type item struct {
	path string
	info *vfs.Info
}

// Files are read up to this many bytes, and this many at a time.
const (
	queueBytes = 2 * chunk.Size
	queueFiles = 1024
)

// compare finds what differs from another moment, as git sees it.
func (c *commitWriter) compare(base *vfs.FS) error {
	for ch, err := range snapshot.Diff(c.ctx, base, c.fsys) {
		if err != nil {
			return err
		}

		// What has left a path goes first: something else may have come there.
		if ch.Old != nil && (ch.Kind == snapshot.Removed || ch.Kind == snapshot.Renamed || ch.Kind == snapshot.Type) {
			was := ch.Path
			if ch.Kind == snapshot.Renamed {
				was = ch.From
			}
			if (!ch.Old.IsDir() || ch.Kind != snapshot.Removed) && checkPath(was, false) == nil {
				c.gone = append(c.gone, was)
			}
		}
		if ch.New == nil || ch.Kind == snapshot.Mode && (ch.New.IsDir() || gitname.Mode(ch.Old.Mode()) == gitname.Mode(ch.New.Mode())) {
			continue
		}
		if ch.New.IsDir() && ch.Kind != snapshot.Renamed {
			if err := c.empty(ch.New); err != nil {
				return err
			}
			continue // what is below it came too
		}
		c.puts = append(c.puts, item{ch.Path, ch.New})
	}
	return nil
}

// empty counts a directory that came without a file.
func (c *commitWriter) empty(dir *vfs.Info) error {
	return (*tree.Tree)(c.fsys).View(c.ctx, func(tx *tree.Tx) error {
		page, err := tx.Page(dir.Ino(), "", 1)
		if err == nil && len(page) == 0 {
			c.report.lose(LostEmptyDirs)
		}
		return err
	})
}

// changes writes what compare has found.
func (c *commitWriter) changes() error {
	for _, path := range c.gone {
		c.print("D %s\n", gitname.Quote(path))
	}
	for _, it := range c.puts {
		var err error
		if it.info.IsDir() {
			_, err = c.walk(it.info.Ino(), it.path)
		} else {
			_, err = c.add(it)
		}
		if err != nil {
			return err
		}
	}
	return c.flush()
}
