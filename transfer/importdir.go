package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"vfsdb/transfer/gitignore"
	"vfsdb/transfer/hostdir"
	"vfsdb/vfs"
)

// ImportDir copies the contents of the directory src of the host into the directory to of the store, which is created
// with its parents if need be and gets the attributes of src. It keeps contents with their holes, 12 mode bits, owners,
// modification times from 1678 to 2261 (others become the nearest of those), symlinks, hard links, fifos, sockets and
// devices. It leaves out extended attributes, and names them in the Report. If src contains the files of the store
// itself, it leaves them out too.
//
// Names that src does not have stay in the destination, unless Delete is set. Delete decides in the commit, so it also
// removes what others have added to the destination since the import began.
//
// All of it becomes visible in one commit, or nothing does: a file that cannot be read, or a name that cannot be made,
// fails the import with a [RefusedError]. With Partial such files are listed in the Report instead.
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
	defer im.close()
	im.rules, im.ours = make(map[string]*gitignore.Rules), make(map[string]bool)

	w := &dirWalker{importer: im, src: src, own: ownFiles(fsys), names: make(map[hostdir.ID]*entry)}
	im.reread = func(ctx context.Context, e *entry) error { return w.load(ctx, e, true) }
	last := im.commitLast
	if im.o.DryRun {
		last = w.plan
	}
	return im.finish(ctx, w.attend(ctx, func(ctx context.Context) error { return w.run(ctx, top) }), last)
}

// A dirWalker walks a directory of the host, while workers read the files that it finds.
type dirWalker struct {
	*importer
	src   string
	own   []fs.FileInfo
	files chan *entry // to the workers
	names map[hostdir.ID]*entry
	first []*entry // of files with several names. They wait for the end of the walk, when all names are known
	links []*entry // the further names

	put  sync.Mutex // guards the fields below
	late []*entry   // modified a moment ago
	due  time.Time  // when they may be read
	last bool       // they are being read
}

// run walks the directory in up to three rounds: first most files, then those with several names, at last those that
// were modified a moment ago.
func (w *dirWalker) run(ctx context.Context, top fs.FileInfo) error {
	there, err := w.hasDestination(ctx)
	if err != nil {
		return err
	}
	err = w.work(ctx, func(ctx context.Context) error { return w.dir(ctx, "", top, nil, there) })
	if err == nil && len(w.first) > 0 {
		err = w.work(ctx, w.linkedFiles)
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

// work runs find, which sends files, and the workers that read them.
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

// host returns the path on the host of a path inside the source.
func (w *dirWalker) host(name string) string {
	if name == "" {
		return w.src
	}
	return w.src + string(filepath.Separator) + filepath.FromSlash(name)
}

// dir walks one directory. rules are those of the directories above; there is whether the store has the directory.
func (w *dirWalker) dir(ctx context.Context, name string, info fs.FileInfo, rules *gitignore.Rules, there bool) error {
	if err := w.add(ctx, w.entry(name, info)); err != nil {
		return err
	}
	list, err := os.ReadDir(w.host(name))
	if err != nil {
		w.refuse(name, err)
	}

	// The directory adds its own rules, and the store may have files in the same places.
	if w.o.GitIgnore {
		above := rules
		if rules, err = w.readRules(name, list, above); err != nil {
			w.refuse(join(name, ".gitignore"), err)
		}
		if rules != above {
			w.rules[name] = rules
		}
	}
	var known map[string]*vfs.Info
	if there {
		if known, err = w.lookUp(ctx, name, list); err != nil {
			return err
		}
	}

	for _, d := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		inside := join(name, d.Name())
		if w.leavesOut(inside, d.IsDir(), rules) {
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
			err = w.other(ctx, inside, info, known[d.Name()])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entry makes an entry of a file of the host. The store has no place for its extended attributes.
func (w *dirWalker) entry(name string, info fs.FileInfo) *entry {
	w.skipXattrs(xattrsOf(w.host(name)))
	return &entry{path: name, attr: hostAttr(info)}
}

// readRules adds the .gitignore file of a directory to the rules above.
func (w *dirWalker) readRules(name string, list []fs.DirEntry, above *gitignore.Rules) (*gitignore.Rules, error) {
	for _, d := range list {
		if d.Name() != ".gitignore" || !d.Type().IsRegular() {
			continue
		}
		f, err := hostdir.OpenFile(w.host(join(name, d.Name())))
		if err != nil {
			return above, err
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, gitignore.MaxFile))
		return above.Below(name, string(text)), err
	}
	return above, nil
}

// other takes anything but a directory. there is the file that the store has in its place, or nil.
func (w *dirWalker) other(ctx context.Context, name string, info fs.FileInfo, there *vfs.Info) (err error) {
	if isOwn(w.own, info) {
		w.ours[name] = true
		return nil
	}

	// A further name of a file waits until the file has its first.
	e := w.entry(name, info)
	id, linked := hostdir.Identity(info)
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
		e.twin = w.twinOf(e, info, there)
		switch {
		case linked:
			w.first = append(w.first, e)
			return nil
		case e.twin != nil && there.Nlink() == 1:
			return w.keep(ctx, e)
		}
		e.twin = nil
		return w.send(ctx, e)
	case fs.ModeSymlink:
		e.target, err = os.Readlink(w.host(name))
	case fs.ModeNamedPipe, fs.ModeSocket, fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
	default:
		err = errUnknownType
	}
	if err != nil {
		w.drop(e, err)
		return nil
	}
	return w.add(ctx, e)
}

// linkedFiles takes the files with several names. One that the store has under the same names need not be read.
func (w *dirWalker) linkedFiles(ctx context.Context) error {
	for _, e := range w.first {
		kept, err := w.keepLinked(ctx, e)
		if err != nil {
			return err
		}
		if kept {
			continue
		}
		e.twin = nil
		if err := w.send(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// keepLinked adds a file with several names without reading it, if the store has it under the same names.
func (w *dirWalker) keepLinked(ctx context.Context, e *entry) (kept bool, err error) {
	if e.twin == nil {
		return false, nil
	}
	err = w.fsys.View(ctx, func(tx *vfs.Tx) (err error) {
		kept, err = e.whole(tx, w.to)
		return err
	})
	if err != nil || !kept {
		return false, err
	}
	return true, w.keep(ctx, e)
}

// leavesOut reports whether Exclude or GitIgnore leaves out a path inside the source. rules are those of its directory.
func (im *importer) leavesOut(name string, dir bool, rules *gitignore.Rules) bool {
	if im.o.GitIgnore && (path.Base(name) == ".git" || rules.Match(name, dir)) {
		return true
	}
	return im.globs.Match(name, dir)
}

// drop refuses an entry that cannot be read.
func (w *dirWalker) drop(e *entry, err error) {
	e.gone = true
	w.refuse(e.path, err)
}
