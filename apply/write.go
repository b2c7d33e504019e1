package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"vfsdb/internal/sparse"
	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/vfs"
)

var (
	// errChanged means that a file of the directory is not the one that was looked at.
	errChanged = fmt.Errorf("it has changed meanwhile: %w", syscall.ESTALE)

	errNoDir = fmt.Errorf("its directory could not be made: %w", syscall.ENOENT)
)

// A writer changes the directory.
type writer struct {
	*applier
	at hostdir.Reopener
}

// owns reports whether files can get any owner.
func owns() bool { return os.Geteuid() == 0 }

// write does all steps.
func (a *applier) write(ctx context.Context) error {
	w := writer{a, hostdir.Reopener{Top: a.top}}
	defer w.at.Close()
	for _, s := range a.steps() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if a.leaves(s) {
			continue
		}

		err := w.step(ctx, s)
		switch {
		case err == nil:
			a.done(s)
		case errors.Is(err, syscall.ENOTEMPTY) && s.act == removes:
			// The directory has other files.
		default:
			if err := a.cannot(s, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaves reports whether an old name stays since a new one of its file could not be made.
func (a *applier) leaves(s step) bool {
	if s.act != removes && s.act != clears || !a.kept[s.ino] {
		return false
	}
	a.conflict(s.path, "its new name could not be made")
	return true
}

// cannot lists a step that could not be done, unless the error is about more than its place.
func (a *applier) cannot(s step, err error) error {
	errno, known := vfs.Errno(err)
	switch {
	case errors.Is(err, errChanged):
		a.conflict(s.path, "it has changed meanwhile")
	case !known || errors.Is(err, vfs.ErrCorrupt):
		return fmt.Errorf("%q: %w", s.path, err)
	default:
		switch errno {
		case syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, syscall.EDQUOT:
			return fmt.Errorf("%q: %w", s.path, err)
		}
		a.result.Refused = append(a.result.Refused, Conflict{s.path, hostdir.Reason(err)})
	}
	if s.want != nil {
		a.kept[s.want.Ino] = true
	}
	a.failed[s.path] = a.failed[s.path] || s.act == makesDir
	return nil
}

func (w *writer) step(ctx context.Context, s step) error {
	if s.path == "." {
		return w.finish(w.top, ".", s.place)
	}
	in, err := w.at.Dir(hostPath(dirOf(s.path)))
	switch {
	case w.failed[dirOf(s.path)]:
		return errNoDir
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return errChanged
	case err != nil:
		return err
	}

	base := path.Base(s.path)
	switch s.act {
	case clears, removes:
		if err := s.check(in, base); err != nil {
			return err
		}
		return in.Root.Remove(base)
	case makesDir:
		return w.mkdir(in, base, s)
	case sets:
		if err := s.check(in, base); err != nil {
			return err
		}
		return w.finish(in, base, s.place)
	case finishes:
		return w.finish(in, base, s.place)
	case links:
		return w.replace(in, base, s, func(temp string) error {
			return w.top.Root.Link(s.from.path, node.JoinPath(dirOf(s.path), temp))
		})
	}
	return w.replace(in, base, s, func(temp string) error { return w.make(ctx, in, temp, s.place) })
}

// check refuses a file that is not the one that was looked at. Of a directory only the type counts.
func (s step) check(in *hostdir.Dir, base string) error {
	info, err := in.Root.Lstat(base)
	missing := errors.Is(err, fs.ErrNotExist)
	gone := s.host == nil || s.act != clears && s.act != removes && s.host.IsDir() != s.want.IsDir()
	switch {
	case err != nil && !missing:
		return err
	case gone != missing:
		return errChanged
	case gone, s.host.IsDir() && info.IsDir():
		return nil
	}

	// What is done to one name of a file shows in the others.
	now, was := hostdir.StateOf(info), s.state
	if was.Nlink > 1 || s.want != nil && s.want.Nlink > 1 {
		now.Nlink, now.Ctime = was.Nlink, was.Ctime
	}
	if now != was {
		return errChanged
	}
	return nil
}

// mkdir makes a directory, with its permissions as far as it can be filled with them.
func (w *writer) mkdir(in *hostdir.Dir, base string, s step) error {
	perm := node.FileMode(s.want.Mode).Perm() | 0o700
	if err := in.Root.Mkdir(base, perm); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return errChanged
		}
		return err
	}
	return in.Root.Chmod(base, perm)
}

// finish gives a file or directory that stays its attributes.
func (w *writer) finish(in *hostdir.Dir, base string, p *place) error {
	if !p.want.IsDir() {
		err := w.attributes(in, base, nil, p)
		if err == nil {
			err = in.Root.Chmod(base, node.FileMode(p.want.Mode))
		}
		if err != nil {
			return err
		}
		return in.SetTime(base, time.Unix(0, p.mtime()))
	}

	below, err := openDir(in, base)
	if err != nil {
		return err
	}
	defer below.Done()
	if err := w.attributes(below, ".", below.Self, p); err != nil {
		return err
	}
	return below.SetTime(".", time.Unix(0, p.mtime()))
}

// openDir opens a directory in another one, or that one itself.
func openDir(in *hostdir.Dir, base string) (*hostdir.Dir, error) {
	if base == "." {
		return in.Use(), nil
	}
	below, _, err := in.Sub(base)
	return below, err
}

// replace makes a file under another name, and gives it its own if nobody has changed what is there.
func (w *writer) replace(in *hostdir.Dir, base string, s step, create func(temp string) error) error {
	w.temps++
	temp := fmt.Sprintf("%s%d-%d", tempPrefix, os.Getpid(), w.temps)
	err := create(temp)
	if err == nil {
		beforeRename(s.path)
		err = s.check(in, base)
	}
	if err == nil {
		err = in.Root.Rename(temp, base)
	}
	if err != nil {
		_ = in.Root.Remove(temp)
	}
	return err
}

// beforeRename is called when a file was written and does not have its name yet. Tests replace it.
var beforeRename = func(path string) {}

// make makes anything but a directory, with all its attributes.
func (w *writer) make(ctx context.Context, in *hostdir.Dir, temp string, p *place) error {
	var f *os.File
	var err error
	switch kind := p.want.Kind(); kind {
	case node.KindFile:
		if f, err = in.Root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return err
		}
		defer f.Close()
		err = w.fill(ctx, f, p)
	case node.KindLink:
		err = in.Root.Symlink(p.want.Target, temp)
	default:
		err = in.Mknod(temp, node.KindMode(kind), p.want.Mode&node.PermBits, uint64(p.want.Rdev))
	}

	if err == nil {
		err = w.attributes(in, temp, f, p)
	}
	if f != nil {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		return err
	}
	return in.SetTime(temp, time.Unix(0, p.want.Mtime))
}

// fill writes the content of a regular file.
func (w *writer) fill(ctx context.Context, f *os.File, p *place) error {
	if p.held != nil {
		data, err := io.ReadAll(p.held)
		if err != nil {
			return err
		}
		return sparse.Write(f, data)
	}

	if p.want.Content.Size <= loadBytes {
		data, err := w.theirs.ReadFile(ctx, p.path)
		if err != nil {
			return err
		}
		return sparse.Write(f, data)
	}

	content, err := w.theirs.OpenFrozen(ctx, p.path)
	if err != nil {
		return err
	}
	defer content.Close()
	return sparse.Copy(ctx, f, content, p.want.Content.Size)
}

// loadBytes is the size up to which a content is read at once.
const loadBytes = 512 << 10

// attributes gives a new file, or a directory, its owner, its extended attributes and its mode. f is nil if it is not open.
func (w *writer) attributes(in *hostdir.Dir, base string, f *os.File, p *place) error {
	n := p.want
	if owns() {
		if err := in.Root.Lchown(base, int(n.Uid), int(n.Gid)); err != nil {
			return err
		}
	}
	if f == nil {
		return nil
	}

	// A directory that stays may have more attributes than it is to have.
	if n.IsDir() {
		err := in.LoseXattrs(func(name string) bool {
			_, has := n.Xattrs.Get(name)
			return !has && node.CheckXattr(name) == nil
		})
		if err != nil {
			return err
		}
	}

	for name, value := range n.Xattrs.All() {
		if err := hostdir.SetXattr(f, name, value); err != nil {
			w.result.Refused = append(w.result.Refused, Conflict{p.path, "extended attribute " + name + ": " + hostdir.Reason(err)})
		}
	}
	return f.Chmod(node.FileMode(n.Mode))
}
