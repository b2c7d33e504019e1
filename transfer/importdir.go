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
	"syscall"

	"golang.org/x/sync/errgroup"

	"vfsdb/chunk"
	"vfsdb/vfs"
)

// ImportDir puts what is inside the directory src of the host inside the directory to of the store, which is created with
// its parents if need be and gets the attributes of src. Kept are contents, 12 mode bits, owners, modification times,
// symlinks, hard links, fifos, sockets and devices. The files of the store itself are left out, should src contain them.
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
	return im.finish(ctx, w.run(ctx, top))
}

// ownFiles describes the files that the store itself is in. They are not opened even to be read: to close one of them would
// drop the locks that SQLite has on it.
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
	links []*entry // further names of files; their first ones are with the workers
}

func (w *dirWalker) run(ctx context.Context, top fs.FileInfo) error {
	w.files = make(chan *entry, 64)
	g, both := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(w.files)
		return w.dir(both, "", top, nil)
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
	if err := g.Wait(); err != nil {
		return err
	}
	for _, e := range w.links {
		if err := w.add(ctx, e); err != nil {
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

// dir walks one directory. rules are those of the .gitignore files above.
func (w *dirWalker) dir(ctx context.Context, name string, info fs.FileInfo, rules *ignores) error {
	if err := w.add(ctx, newEntry(name, info)); err != nil {
		return err
	}
	list, err := os.ReadDir(w.host(name))
	if err != nil {
		w.refuse(name, err)
	}
	if w.o.GitIgnore {
		if rules, err = w.rules(name, list, rules); err != nil {
			w.refuse(join(name, ".gitignore"), err)
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
			err = w.dir(ctx, inside, info, rules)
		} else {
			err = w.found(ctx, inside, info)
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

// found takes anything but a directory.
func (w *dirWalker) found(ctx context.Context, name string, info fs.FileInfo) (err error) {
	if isOwn(w.own, info) {
		return nil
	}
	e := newEntry(name, info)
	if id, linked := identity(info); linked {
		if first := w.names[id]; first != nil {
			e.same = first
			w.links = append(w.links, e)
			return nil
		}
		w.names[id] = e
	}
	switch info.Mode().Type() {
	case 0:
		select {
		case w.files <- e:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
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
	e := &entry{path: name, mode: info.Mode(), mtime: info.ModTime().UnixNano()}
	e.uid, e.gid, e.rdev = ownerOf(info)
	return e
}

// file reads a regular file.
func (w *dirWalker) file(ctx context.Context, e *entry) error {
	f, err := openHost(w.host(e.path))
	if err != nil {
		w.drop(e, err)
		return nil
	}
	defer f.Close()
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
	source := &source{r: f}
	if e.data, err = w.batch.Add(ctx, source); err != nil {
		if source.err == nil || ctx.Err() != nil {
			return err
		}
		w.drop(e, err)
		return nil
	}
	w.tally.file(e.path, e.data.Size())
	return w.add(ctx, e)
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

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
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
