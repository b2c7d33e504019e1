package memo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/vfs"
)

// The names in the directory of a Mirror.
const (
	treeName  = "tree"
	memoName  = "memo"
	lockName  = "lock"
	clockName = "clock"
)

// A Dir is the directory of a mirror: the tree that it shows, and beside it what is known of that.
type Dir struct {
	Known map[string]*File // by path

	path string
	lock *os.File
	memo *Memo
}

// Open opens the directory of a mirror, which is made if it is missing. If another one has it open, that is EBUSY.
func Open(dir string) (*Dir, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := hostdir.Lock(lock); err != nil {
		lock.Close()
		return nil, err
	}

	d := &Dir{path: dir, lock: lock}
	known, err := Load(filepath.Join(dir, memoName))
	if err != nil {
		lock.Close()
		return nil, err
	}
	d.remember(known)
	return d, nil
}

// Tree returns the directory that shows the tree.
func (d *Dir) Tree() string { return filepath.Join(d.path, treeName) }

// Close gives the directory to others. Its directory stays.
func (d *Dir) Close() error { return d.lock.Close() }

// remember makes a memo the present one.
func (d *Dir) remember(known *Memo) {
	d.memo, d.Known = known, make(map[string]*File, len(known.Files))
	for i := range known.Files {
		d.Known[known.Files[i].Path] = &known.Files[i]
	}
}

// Save writes what is known now. stamp is a time of the host before the first look that is part of it.
func (d *Dir) Save(ctx context.Context, fsys *vfs.FS, stamp int64) error {
	seq, err := fsys.Seq(ctx)
	if err != nil {
		return err
	}
	next := &Memo{Store: d.memo.Store, Seq: seq, Stamp: stamp, Files: make([]File, 0, len(d.Known))}
	for _, k := range d.Known {
		next.Files = append(next.Files, *k)
	}
	d.remember(next)
	return next.Save(filepath.Join(d.path, memoName))
}

// ForgetOthers drops what is known if it is of another store, or of a store that was set back since.
func (d *Dir) ForgetOthers(ctx context.Context, fsys *vfs.FS) error {
	id, err := storeID(ctx, fsys)
	if err != nil {
		return err
	}
	seq, err := fsys.Seq(ctx)
	if err != nil {
		return err
	}
	if d.memo.Store != id || d.memo.Seq > seq {
		d.remember(&Memo{Store: id})
	}
	return nil
}

// storeID identifies the store of a tree. A copy of a store has the same ID inside, but is another file.
func storeID(ctx context.Context, fsys *vfs.FS) (string, error) {
	id, err := fsys.Store().ID(ctx)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(fsys.Store().Path())
	if err != nil {
		return "", err
	}
	host := hostdir.StateOf(info).ID
	return fmt.Sprintf("%s %d %d", id, host.Dev, host.Ino), nil
}

// Clock returns the present time as the host's file system has it.
func (d *Dir) Clock() (int64, error) {
	name := filepath.Join(d.path, clockName)
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		return 0, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	return hostdir.StateOf(info).LastChange(), nil
}

// OpenTree opens the directory that shows the tree. Without it, create makes an empty one.
func (d *Dir) OpenTree(create bool) (*hostdir.Dir, error) {
	above, err := hostdir.Top(d.path)
	if err != nil {
		return nil, err
	}
	defer above.Done()
	if create {
		if err := above.Root.Mkdir(treeName, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
	top, _, err := above.Sub(treeName)
	if errors.Is(err, syscall.ENOTDIR) && create {
		if err = above.Root.Remove(treeName); err == nil {
			return d.OpenTree(true)
		}
	}
	return top, err
}

// Same reports whether a file still is as it was known, and a change that was too quick for the clock cannot hide.
func (d *Dir) Same(known *File, now hostdir.State) bool {
	switch {
	case known == nil:
		return false
	case now.Mode.IsDir():
		return known.Host.SameDir(now)
	}
	return known.Host == now && now.SettledBefore(d.memo.Stamp)
}

// IsOf reports whether the directory shows a tree of the store of fsys.
func (d *Dir) IsOf(ctx context.Context, fsys *vfs.FS) (bool, error) {
	id, err := storeID(ctx, fsys)
	return err == nil && d.memo.Store == id, err
}

// Was returns what is known of the file that has a path now, which may have had another one, or nil.
func (d *Dir) Was(name string, now hostdir.State, byID map[hostdir.ID]string) *File {
	if known := d.Known[name]; known != nil {
		return known
	}
	from, ok := byID[now.ID]
	if !ok || d.Known[from].Host.Mtime != now.Mtime {
		return nil // a number may be used again
	}
	return d.Known[from]
}

// After returns what is known of a path after its changes were brought back, which was known as was, or not if that is nil.
func After(name string, host hostdir.State, n *node.Node, was *File) *File {
	f := &File{Path: name, Host: host, Node: Identity(n)}
	if was != nil {
		f.Left = was.Left
	}
	return f
}

// ByID lists the known files that a rename can be recognized by: regular ones with one name.
func (d *Dir) ByID() map[hostdir.ID]string {
	byID := make(map[hostdir.ID]string)
	for name, k := range d.Known {
		if k.Host.Mode.IsRegular() && k.Host.Nlink == 1 && k.Host.ID != (hostdir.ID{}) {
			byID[k.Host.ID] = name
		}
	}
	return byID
}
