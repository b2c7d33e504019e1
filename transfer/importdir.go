package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"vfsdb/chunk"
	"vfsdb/vfs"
)

// ImportDir puts what is inside the directory src of the host inside the directory to of the store, which is created
// with its parents if need be and gets the attributes of src. Kept are contents with their holes, 12 mode bits, owners,
// modification times from 1678 to 2261, the nearest of which stands for any other, symlinks, hard links, fifos, sockets
// and devices. Extended attributes are left out, and the Report names them. The files of the store itself are left out, should src
// contain them.
//
// All of it becomes visible in one commit, or nothing: a file that cannot be read, or a name that cannot be made, fails
// the import with a [RefusedError]. With Partial it is in the Report instead.
func ImportDir(ctx context.Context, fsys *vfs.FS, src, to string, o *ImportOptions) (*Report, error) {
	report, err := importDir(ctx, fsys, src, to, o)
	if err != nil {
		err = fmt.Errorf("import %s: %w", src, err)
	}
	return report, err
}

func importDir(ctx context.Context, fsys *vfs.FS, src, to string, o *ImportOptions) (*Report, error) {
	top, err := os.Stat(src)
	switch {
	case err != nil:
		return nil, errors.Unwrap(err)
	case !top.IsDir():
		return nil, syscall.ENOTDIR
	}
	im, err := newImporter(ctx, fsys, to, o)
	if err != nil {
		return nil, err
	}
	w := &dirWalker{importer: im, src: src, own: ownFiles(fsys), names: make(map[fileID]*entry)}
	im.reread = func(ctx context.Context, e *entry) error { return w.load(ctx, e, true) }
	defer im.batch.Close()
	return im.finish(ctx, w.attend(ctx, func(ctx context.Context) error { return w.run(ctx, top) }))
}

// ownFiles describes the files that the store itself is in. They are not opened even to be read: to close one of them
// would drop the locks that SQLite has on it.
func ownFiles(fsys *vfs.FS) []fs.FileInfo {
	var own []fs.FileInfo
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if info, err := os.Stat(fsys.DB().Path() + suffix); err == nil {
			own = append(own, info)
		}
	}
	return own
}

func isOwn(own []fs.FileInfo, info fs.FileInfo) bool {
	for _, o := range own {
		if os.SameFile(o, info) {
			return true
		}
	}
	return false
}

// A dirWalker walks a directory of the host, while workers read the files that it finds.
type dirWalker struct {
	*importer
	src   string
	own   []fs.FileInfo
	files chan *entry // to the workers
	names map[fileID]*entry
	first []*entry // of files with several names. They wait for the end of the walk, when all names are known
	links []*entry // the other names

	put  sync.Mutex // guards what follows
	late []*entry   // modified a moment ago
	due  time.Time  // when they may be read
	last bool       // they are being read
}

func (w *dirWalker) run(ctx context.Context, top fs.FileInfo) error {
	there, err := w.knows(ctx)
	if err != nil {
		return err
	}
	err = w.work(ctx, func(ctx context.Context) error { return w.dir(ctx, "", top, nil, there) })
	if err == nil && len(w.first) > 0 {
		err = w.work(ctx, w.linked)
	}
	if err == nil && len(w.late) > 0 && !w.doomed() {
		if err = w.settle(ctx); err == nil {
			w.last = true
			err = w.work(ctx, func(ctx context.Context) error { return w.send(ctx, w.late...) })
		}
	}
	if err != nil {
		return err
	}
	for _, e := range w.links {
		if err := w.add(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// work runs find, which sends files, and workers that read them.
func (w *dirWalker) work(ctx context.Context, find func(context.Context) error) error {
	w.files = make(chan *entry, 64)
	g, both := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(w.files)
		return find(both)
	})
	for range min(4, runtime.GOMAXPROCS(0)) {
		g.Go(func() error {
			for e := range w.files {
				if err := w.file(both, e); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// send gives files to the workers.
func (w *dirWalker) send(ctx context.Context, files ...*entry) error {
	for _, e := range files {
		select {
		case w.files <- e:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// linked takes the files that have several names. Those need not be read that the store has under the same ones.
func (w *dirWalker) linked(ctx context.Context) error {
	for _, e := range w.first {
		if e.kept != nil {
			whole := false
			err := w.fsys.View(ctx, func(tx *vfs.Tx) (err error) {
				whole, err = w.whole(tx, e)
				return err
			})
			if err != nil {
				return err
			}
			if whole {
				if err := w.keep(ctx, e); err != nil {
					return err
				}
				continue
			}
			e.kept = nil
		}
		if err := w.send(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// host is where a path inside the source is on the host.
func (w *dirWalker) host(name string) string {
	if name == "" {
		return w.src
	}
	return w.src + string(filepath.Separator) + filepath.FromSlash(name)
}

// dir walks one directory. rules are those of the .gitignore files above; there says that the store has the directory.
func (w *dirWalker) dir(ctx context.Context, name string, info fs.FileInfo, rules *ignores, there bool) error {
	if err := w.add(ctx, newEntry(name, info)); err != nil {
		return err
	}
	w.without(xattrsOf(w.host(name)))
	list, err := os.ReadDir(w.host(name))
	if err != nil {
		w.refuse(name, err)
	}
	if w.o.GitIgnore {
		if rules, err = w.rules(name, list, rules); err != nil {
			w.refuse(join(name, ".gitignore"), err)
		}
	}
	var known map[string]*vfs.Info
	if there {
		if known, err = w.known(ctx, name, list); err != nil {
			return err
		}
	}
	for _, d := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		inside := join(name, d.Name())
		if w.o.GitIgnore && (d.Name() == ".git" || rules.match(inside, d.IsDir())) || excluded(w.globs, inside, d.IsDir()) {
			continue
		}
		info, err := d.Info()
		if err != nil {
			w.refuse(inside, err)
			continue
		}
		if info.IsDir() {
			below := known[d.Name()]
			err = w.dir(ctx, inside, info, rules, below != nil && below.IsDir())
		} else {
			err = w.found(ctx, inside, info, known[d.Name()])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rules adds the .gitignore file of a directory to those above.
func (w *dirWalker) rules(name string, list []fs.DirEntry, above *ignores) (*ignores, error) {
	for _, d := range list {
		if d.Name() != ".gitignore" || !d.Type().IsRegular() {
			continue
		}
		f, err := openHost(w.host(join(name, d.Name())))
		if err != nil {
			return above, err
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
		return above.below(name, string(text)), err
	}
	return above, nil
}

// found takes anything but a directory. there is what the store has in its place, or nil.
func (w *dirWalker) found(ctx context.Context, name string, info fs.FileInfo, there *vfs.Info) (err error) {
	if isOwn(w.own, info) {
		return nil
	}
	w.without(xattrsOf(w.host(name)))
	e := newEntry(name, info)
	id, linked := identity(info)
	if linked {
		if first := w.names[id]; first != nil {
			e.same = first
			first.names = append(first.names, name)
			w.links = append(w.links, e)
			return nil
		}
		w.names[id] = e
	}
	switch info.Mode().Type() {
	case 0:
		e.kept = w.unread(e, info, there)
		switch {
		case linked:
			w.first = append(w.first, e)
			return nil
		case e.kept != nil && there.Nlink() == 1:
			return w.keep(ctx, e)
		}
		e.kept = nil
		return w.send(ctx, e)
	case fs.ModeSymlink:
		e.target, err = os.Readlink(w.host(name))
	case fs.ModeNamedPipe, fs.ModeSocket, fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
	default:
		err = errUnknownType
	}
	if err != nil {
		e.gone = true
		w.refuse(name, err)
		return nil
	}
	return w.add(ctx, e)
}

var errUnknownType = fmt.Errorf("a file of unknown type: %w", syscall.EINVAL)

func newEntry(name string, info fs.FileInfo) *entry {
	e := &entry{path: name}
	e.describe(info)
	return e
}

// describe gives an entry the attributes of a file.
func (e *entry) describe(info fs.FileInfo) {
	e.mode = info.Mode()
	e.mtime, _ = nanos(info.ModTime())
	e.uid, e.gid, e.rdev = ownerOf(info)
}

// file takes a regular file.
func (w *dirWalker) file(ctx context.Context, e *entry) error {
	if err := w.load(ctx, e, w.last); err != nil || e.data == nil {
		return err
	}
	w.tally.file(e.path, e.data.Size())
	return w.add(ctx, e)
}

// load reads a regular file. One that was modified a moment ago is put off until the last ones are read.
func (w *dirWalker) load(ctx context.Context, e *entry, last bool) error {
	f, err := openHost(w.host(e.path))
	if err != nil {
		w.drop(e, err)
		return nil
	}
	defer f.Close()
	now := time.Now()
	info, err := f.Stat()
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = errUnknownType
	case err == nil:
		err = w.checkSize(info.Size(), chunk.MaxSize)
	}
	if err != nil {
		w.drop(e, err)
		return nil
	}
	if w.doomed() {
		return nil // but go on to see what else cannot be read
	}
	e.describe(info)
	if young(info.ModTime(), now) {
		if !last {
			w.later(e, info.ModTime())
			return nil
		}
		e.mtime--
	}
	source := newSource(f)
	if e.data, err = w.batch.Add(ctx, source); err != nil && (source.err == nil || ctx.Err() != nil) {
		return err
	}
	if err != nil {
		w.drop(e, err)
	}
	return nil
}

// drop refuses a file that cannot be read.
func (w *dirWalker) drop(e *entry, err error) {
	e.gone = true
	w.refuse(e.path, err)
}

// A source is a reader that remembers whether it was the one that failed.
type source struct {
	r   io.Reader
	err error
}

func newSource(f *os.File) *source { return &source{r: holesOf(f)} }

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// SkipZeros makes a source a [chunk.Skipper].
func (s *source) SkipZeros() (n int64, err error) {
	if r, ok := s.r.(chunk.Skipper); ok {
		n, err = r.SkipZeros()
		s.err = err
	}
	return n, err
}

// join is path.Join for paths that are clean.
func join(dir, base string) string {
	if dir == "" {
		return base
	}
	return dir + "/" + base
}
