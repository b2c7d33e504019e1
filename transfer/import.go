package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"
	"syscall"
	"time"

	"vfsdb/chunk"
	"vfsdb/vfs"
)

// ImportOptions say what goes in, and how. A nil *ImportOptions is the zero value: everything, or nothing at all.
type ImportOptions struct {
	// Exclude are globs, in the dialect of doublestar, matched on the path inside the source; one without a slash on
	// the last segment of it, at any depth. A slash at its end restricts a glob to directories. What is inside an
	// excluded directory is excluded.
	Exclude []string

	// GitIgnore leaves out what the .gitignore files inside the source say, and .git.
	GitIgnore bool

	// Partial makes the names of each batch as soon as it is stored, and lists in the Report what cannot go in, instead
	// of failing.
	Partial bool

	// MaxFileSize refuses larger files. 0 leaves it to the store, but for holes in an archive, a few bytes of which can
	// claim any size: there it is 1 TiB.
	MaxFileSize int64

	// Checksum reads every file of a directory. Without it a file is not read if the store has one in its place with
	// the same size and the same modification time, to the nanosecond.
	Checksum bool

	// Progress is called after each file that was read, or need not be, on the goroutine of the caller.
	Progress func(Progress)
}

// Batches of a partial import.
const (
	partialEntries = 1024
	partialBytes   = 16 << 20
)

// An entry is something that is to get a name in the store. Many are in memory at a time, so it is small.
type entry struct {
	path     string // inside the destination; "" is the destination itself
	mode     fs.FileMode
	uid, gid uint32
	mtime    int64
	rdev     uint64
	target   string        // of a symlink
	data     *chunk.Staged // of a regular file that was read
	kept     *kept         // of one that was not: the store has it
	same     *entry        // of another name of a file: the entry that brings it
	names    []string      // the other names
	placed   string        // where a file got its first name
	gone     bool          // a later entry took its name, or it could not be read
}

// first returns the entry that brings the file of which e is a name.
func (e *entry) first() *entry {
	for e.same != nil {
		e = e.same
	}
	return e
}

func (e *entry) attr() vfs.Attr {
	return vfs.Attr{Mode: e.mode, Uid: e.uid, Gid: e.gid, ModTime: time.Unix(0, e.mtime)}
}

// size is the length of a regular file's content, and 0 of anything else.
func (e *entry) size() int64 {
	switch {
	case e.data != nil:
		return e.data.Size()
	case e.kept != nil:
		return e.kept.size
	}
	return 0
}

// An importer gathers entries and gives them their names.
type importer struct {
	tally
	fsys  *vfs.FS
	to    string
	o     ImportOptions
	globs []glob
	batch *chunk.Batch

	// reread reads a file after all.
	reread func(context.Context, *entry) error

	naming sync.Mutex // held while names are made

	pend    sync.Mutex // guards what follows
	pending []*entry
	bytes   int64    // in pending
	dirs    []*entry // they get their attributes last: to be filled changes a directory's mtime
}

func newImporter(ctx context.Context, fsys *vfs.FS, to string, o *ImportOptions) (*importer, error) {
	im := &importer{fsys: fsys, to: cmp.Or(to, "/")}
	if o != nil {
		im.o = *o
	}
	im.tell = im.o.Progress
	var err error
	if im.globs, err = globs(im.o.Exclude); err != nil {
		return nil, err
	}
	if fsys.Frozen() || fsys.DB().ReadOnly() {
		return nil, syscall.EROFS
	}
	im.batch = fsys.NewBatch(ctx)
	return im, nil
}

// doomed reports whether nothing will come of the import but an error.
func (im *importer) doomed() bool { return !im.o.Partial && im.refusals() > 0 }

// checkSize refuses a file that is too large.
func (im *importer) checkSize(size, limit int64) error {
	if im.o.MaxFileSize > 0 {
		limit = im.o.MaxFileSize
	}
	if size > limit {
		return fmt.Errorf("%d bytes: %w", size, syscall.EFBIG)
	}
	return nil
}

// add takes an entry whose content is in the batch. A partial import names what there is when it has become much.
func (im *importer) add(ctx context.Context, e *entry) error {
	im.pend.Lock()
	im.pending = append(im.pending, e)
	if e.mode.IsDir() {
		im.dirs = append(im.dirs, e)
	}
	if e.data != nil {
		im.bytes += e.data.Size()
	}
	due := im.o.Partial && (len(im.pending) >= partialEntries || im.bytes >= partialBytes)
	im.pend.Unlock()
	if !due {
		return nil
	}
	return im.commit(ctx, false)
}

// finish names what is left, unless the import is doomed, and returns what came of it all.
func (im *importer) finish(ctx context.Context, err error) (*Report, error) {
	switch {
	case err == nil && im.doomed():
		err = &RefusedError{im.report.Refused}
	case err == nil || im.o.Partial && ctx.Err() == nil:
		err = errors.Join(err, im.commit(ctx, true))
	}
	if err != nil && !im.o.Partial {
		return nil, err
	}
	return &im.report, err
}

// commit gives all pending entries their names, in one transaction. The last one finishes the directories.
func (im *importer) commit(ctx context.Context, last bool) error {
	im.naming.Lock()
	defer im.naming.Unlock()
	im.pend.Lock()
	entries := im.pending
	im.pending, im.bytes = nil, 0
	im.pend.Unlock()

	slices.SortStableFunc(entries, func(a, b *entry) int { return cmp.Compare(a.path, b.path) })
	for {
		moved, err := im.tryCommit(ctx, entries, last)
		if !errors.Is(err, errMoved) {
			return err
		}
		for _, e := range moved {
			e.kept = nil
			if err := im.reread(ctx, e); err != nil {
				return err
			}
		}
		if im.doomed() {
			return &RefusedError{im.report.Refused}
		}
	}
}

// tryCommit is commit, unless some entries have to be read first: then it is errMoved, and nothing was done.
func (im *importer) tryCommit(ctx context.Context, entries []*entry, last bool) (moved []*entry, err error) {
	if err := im.batch.Flush(); err != nil {
		return nil, err
	}
	n := namer{im: im, known: make(map[string]bool)}
	err = im.fsys.Update(ctx, func(tx *vfs.Tx) (err error) {
		n.tx = tx
		if moved, err = n.moved(entries); err != nil {
			return err
		}
		if len(moved) > 0 {
			return errMoved
		}
		if err := tx.MkdirAll(im.to, 0o755); err != nil {
			return err
		}
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := n.name(e); err != nil {
				return err
			}
		}
		if im.doomed() {
			return &RefusedError{im.report.Refused}
		}
		if last {
			return n.finish(im.dirs)
		}
		return nil
	})
	if err == nil {
		im.count(n.add)
	}
	return moved, err
}

// A namer gives entries their names in one transaction.
type namer struct {
	im    *importer
	tx    *vfs.Tx
	known map[string]bool // directories that are there, and are no symlinks
	done  Report
}

func (n *namer) add(r *Report) {
	r.Files += n.done.Files
	r.Dirs += n.done.Dirs
	r.Links += n.done.Links
	r.Bytes += n.done.Bytes
	r.Unread += n.done.Unread
}

// full is the path in the store of a path inside the destination.
func (im *importer) full(name string) string {
	switch {
	case name == "":
		return im.to
	case im.to == "/": // a path may be as long as the store takes
		return name
	}
	return im.to + "/" + name
}

func (n *namer) full(name string) string { return n.im.full(name) }

// name gives an entry its name. What speaks against this entry alone is a refusal.
func (n *namer) name(e *entry) error {
	if e.gone {
		return nil
	}
	err := n.place(e)
	if err == nil || !refusable(err) {
		return err
	}
	e.gone = true
	n.im.refuse(e.path, err)
	return nil
}

func (n *namer) place(e *entry) error {
	if e.mode.IsDir() {
		err := n.dir(e.path)
		if err == nil && e.path != "" {
			n.done.Dirs++
		}
		return err
	}
	if err := n.dir(parent(e.path)); err != nil {
		return err
	}
	first, full := e.first(), n.full(e.path)
	switch {
	case first.gone && first.data == nil && first.kept == nil && first.mode.IsRegular():
		return errFirstName
	case first.placed != "":
		if err := n.link(n.full(first.placed), full); err != nil {
			return err
		}
		n.done.Links++
		return nil
	}
	if err := n.create(first, full); err != nil {
		return err
	}
	first.placed = e.path
	return nil
}

func (n *namer) create(e *entry, full string) (err error) {
	switch e.mode.Type() {
	case 0:
		err = n.regular(e, full)
	case fs.ModeSymlink:
		err = n.symlink(e, full)
	default:
		err = n.node(e, full)
	}
	switch {
	case err != nil:
	case e.mode.Type() == fs.ModeSymlink:
		n.done.Links++
	default:
		n.done.Files++
		n.done.Bytes += e.size()
		if e.kept != nil {
			n.done.Unread++
		}
	}
	return err
}

// regular makes a regular file what it shall be. A file with several names is not taken apart to be put together again.
func (n *namer) regular(e *entry, full string) error {
	if e.kept == nil {
		same, err := n.sameLinks(e, full)
		if err != nil {
			return err
		}
		if !same {
			return n.tx.Put(full, e.data, e.attr())
		}
	} else if e.kept.as {
		return nil
	}
	return n.tx.SetAttr(full, e.attr())
}

var (
	errFirstName = errors.New("the first name of this file was refused")
	errNotDir    = fmt.Errorf("something else is where it needs a directory: %w", syscall.ENOTDIR)
	errIsDir     = fmt.Errorf("a directory has its name: %w", syscall.EISDIR)
)

// parent is path.Dir for paths inside the destination.
func parent(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}

// dir makes sure that there is a directory, and on the way to it no symlink.
func (n *namer) dir(name string) error {
	if name == "" || n.known[name] {
		return nil
	}
	if err := n.dir(parent(name)); err != nil {
		return err
	}
	info, err := n.tx.Lstat(n.full(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = n.tx.Mkdir(n.full(name), 0o755)
	case err == nil && !info.IsDir():
		err = errNotDir
	}
	n.known[name] = err == nil
	return err
}

// clear looks at what is where a symlink, a node or a link goes, and removes it unless it is as it should be already.
func (n *namer) clear(full string, same func(*vfs.Info) bool) (done bool, err error) {
	info, err := n.tx.Lstat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.IsDir():
		return false, errIsDir
	case same(info):
		return true, nil
	}
	return false, n.tx.Remove(full)
}

func (n *namer) link(from, to string) error {
	first, err := n.tx.Lstat(from)
	if err != nil {
		return err
	}
	done, err := n.clear(to, func(i *vfs.Info) bool { return i.Ino() == first.Ino() })
	if done || err != nil {
		return err
	}
	return n.tx.Link(from, to)
}

func (n *namer) symlink(e *entry, full string) error {
	done, err := n.clear(full, func(i *vfs.Info) bool { return i.Mode().Type() == fs.ModeSymlink && i.Target() == e.target })
	if err == nil && !done {
		err = n.tx.Symlink(e.target, full)
	}
	if err != nil {
		return err
	}
	return n.tx.SetAttr(full, e.attr())
}

func (n *namer) node(e *entry, full string) error {
	done, err := n.clear(full, func(i *vfs.Info) bool { return i.Mode().Type() == e.mode.Type() && i.Rdev() == e.rdev })
	if err == nil && !done {
		err = n.tx.Mknod(full, e.mode, e.rdev)
	}
	if err != nil {
		return err
	}
	return n.tx.SetAttr(full, e.attr())
}

// finish sets the attributes of directories.
func (n *namer) finish(dirs []*entry) error {
	for _, e := range dirs {
		if e.gone {
			continue
		}
		if err := n.tx.SetAttr(n.full(e.path), e.attr()); err != nil && !refusable(err) {
			return err
		}
	}
	return nil
}

// refusable reports whether an error is about one name, so that others may still go in.
func refusable(err error) bool {
	if errors.Is(err, errFirstName) {
		return true
	}
	errno, ok := vfs.Errno(err)
	if !ok {
		return false
	}
	switch errno {
	case syscall.ENOENT, syscall.EEXIST, syscall.EISDIR, syscall.ENOTDIR, syscall.ENOTEMPTY, syscall.EINVAL, syscall.ENAMETOOLONG,
		syscall.ELOOP, syscall.EPERM, syscall.EFBIG:
		return true
	}
	return false
}
