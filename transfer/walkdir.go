package transfer

import (
	"context"
	"io"
	"io/fs"
	"path"

	"vfsdb/transfer/gitignore"
	"vfsdb/transfer/hostdir"
	"vfsdb/vfs"
)

// dir walks one directory, which is open. rules are those of the directories above; there is whether the store has the
// directory.
func (w *dirWalker) dir(ctx context.Context, in *hostdir.Dir, name string, info fs.FileInfo, rules *gitignore.Rules, there bool) error {
	if err := w.add(ctx, w.entry(in, ".", name, info)); err != nil {
		return err
	}
	list, err := in.List()
	if err != nil {
		w.refuse(name, err)
	}

	// The directory adds its own rules, and the store may have files in the same places.
	if w.o.GitIgnore {
		above := rules
		if rules, err = w.readRules(in, name, list, above); err != nil {
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

	for _, info := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		inside, below := join(name, info.Name()), known[info.Name()]
		if w.leavesOut(inside, info.IsDir(), rules) {
			continue
		}
		if info.IsDir() {
			err = w.sub(ctx, in, inside, info.Name(), rules, below != nil && below.IsDir())
		} else {
			err = w.other(ctx, in, inside, info, below)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sub walks the directory base, whose path inside the source is name.
func (w *dirWalker) sub(ctx context.Context, above *hostdir.Dir, name, base string, rules *gitignore.Rules, there bool) error {
	in, info, err := above.Sub(base)
	if err != nil {
		w.refuse(name, err)
		return nil
	}
	defer in.Done()
	return w.dir(ctx, in, name, info, rules, there)
}

// entry makes an entry of a file of the host.
func (w *dirWalker) entry(in *hostdir.Dir, base, name string, info fs.FileInfo) *entry {
	a := hostAttr(info)
	a.xattrs = w.hostXattrs(in, base, name, a)
	return &entry{path: name, attr: a}
}

// readRules adds the .gitignore file of a directory to the rules above.
func (w *dirWalker) readRules(in *hostdir.Dir, name string, list []fs.FileInfo, above *gitignore.Rules) (*gitignore.Rules, error) {
	for _, info := range list {
		if info.Name() != ".gitignore" || !info.Mode().IsRegular() {
			continue
		}
		f, err := in.OpenFile(info.Name())
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
func (w *dirWalker) other(ctx context.Context, in *hostdir.Dir, name string, info fs.FileInfo, there *vfs.Info) (err error) {
	if hostdir.IsOwn(w.own, info) {
		w.ours[name] = true
		return nil
	}

	// A further name of a file waits until the file has its first.
	e := w.entry(in, info.Name(), name, info)
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
		return w.send(ctx, in, e)
	case fs.ModeSymlink:
		e.target, err = in.Root.Readlink(info.Name())
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
	var again []*entry
	for _, e := range w.first {
		kept, err := w.keepLinked(ctx, e)
		if err != nil {
			return err
		}
		if !kept {
			e.twin = nil
			again = append(again, e)
		}
	}
	return w.sendAgain(ctx, again)
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
