package transfer

import (
	"errors"
	"io/fs"
	"syscall"

	"vfsdb/vfs"
)

// A namer gives entries their names in one transaction.
type namer struct {
	tx     *vfs.Tx
	to     destination
	refuse func(name string, err error)
	known  map[string]bool // directories that exist, and are no symlinks
	done   Report
}

// add adds the entries that this transaction has named to a Report.
func (n *namer) add(r *Report) {
	r.Files += n.done.Files
	r.Dirs += n.done.Dirs
	r.Links += n.done.Links
	r.Bytes += n.done.Bytes
	r.Unread += n.done.Unread
}

// name gives an entry its name. An error that concerns this entry alone is a refusal.
func (n *namer) name(e *entry) error {
	if e.gone {
		return nil
	}
	err := n.place(e)
	if err == nil || !refusable(err) {
		return err
	}
	e.gone = true
	n.refuse(e.path, err)
	return nil
}

// place makes a directory, the first name of a file, or a further name of one.
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

	first, full := e.first(), n.to.path(e.path)
	switch {
	case first.gone && first.data == nil && first.twin == nil && first.mode.IsRegular():
		return errFirstName
	case first.placed != "":
		if err := n.link(n.to.path(first.placed), full); err != nil {
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

// create makes anything but a directory, and counts it.
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
		if e.twin != nil {
			n.done.Unread++
		}
	}
	return err
}

// dir makes sure that a directory exists, and that the way to it leads through no symlink.
func (n *namer) dir(name string) error {
	if name == "" || n.known[name] {
		return nil
	}
	if err := n.dir(parent(name)); err != nil {
		return err
	}
	info, err := n.tx.Lstat(n.to.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = n.tx.Mkdir(n.to.path(name), 0o755)
	case err == nil && !info.IsDir():
		err = errNotDir
	}
	n.known[name] = err == nil
	return err
}

// regular gives a regular file its content and attributes. If the store has the file under the same names and with the
// same content, only attributes are set, so that its links stay together.
func (n *namer) regular(e *entry, full string) error {
	if e.twin == nil {
		same, err := n.sameLinks(e, full)
		if err != nil {
			return err
		}
		if !same {
			return n.tx.Put(full, e.data, e.attr())
		}
	} else if e.twin.sameAttr {
		return nil
	}
	return n.tx.SetAttr(full, e.attr())
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

// node makes a fifo, socket or device.
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

// clear removes the file that is in the place of a symlink, a node or a link. One that is the same already stays, and
// done is true.
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

// finish sets the attributes of directories.
func (n *namer) finish(dirs []*entry) error {
	for _, e := range dirs {
		if e.gone {
			continue
		}
		if err := n.tx.SetAttr(n.to.path(e.path), e.attr()); err != nil && !refusable(err) {
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

// sameLinks reports whether the store has a file with several names under the same names and with the same content.
func (n *namer) sameLinks(e *entry, full string) (bool, error) {
	if len(e.names) == 0 {
		return false, nil
	}
	if whole, err := e.whole(n.tx, n.to); !whole || err != nil {
		return false, err
	}
	sum, err := n.tx.Sum(full)
	return err == nil && sum == e.data.Sum(), err
}
