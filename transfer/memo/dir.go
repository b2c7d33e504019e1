package memo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/vfs"
)

// The names in the directory of a Mirror.
const (
	treeName  = "tree"
	memoName  = "memo"
	partName  = "memo.part" // the memo while the tree is being changed
	lockName  = "lock"
	clockName = "clock"
)

// A Dir is the directory of a mirror: the tree that it shows, and a memo beside it with the known state of each file.
type Dir struct {
	Known map[string]*File // by path

	path   string
	lock   *os.File
	memo   *Memo
	filled bool // the directory shows what the memo says, but for what programs have changed
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
	if err := d.load(); err != nil {
		lock.Close()
		return nil, err
	}
	return d, nil
}

// load reads what is known. A memo of before a change that did not end still knows the files that it did not come to.
func (d *Dir) load() error {
	name := memoName
	_, err := os.Lstat(d.in(memoName))
	if d.filled = err == nil; !d.filled {
		name = partName
	}
	known, err := Load(d.in(name))
	if err == nil {
		d.remember(known)
	}
	return err
}

func (d *Dir) in(name string) string { return filepath.Join(d.path, name) }

// Tree returns the directory that shows the tree.
func (d *Dir) Tree() string { return d.in(treeName) }

// Lock returns the open file that has the lock.
func (d *Dir) Lock() *os.File { return d.lock }

// Begin notes that the tree of the store or of the host is about to change, so that a process that dies meanwhile leaves a
// directory that is known to show neither. It needs no room on the disk. Save or Undo ends it.
func (d *Dir) Begin() error {
	if err := os.Rename(d.in(memoName), d.in(partName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	d.filled = false
	return nil
}

// Undo takes Begin back: nothing has changed.
func (d *Dir) Undo() error {
	err := os.Rename(d.in(partName), d.in(memoName))
	d.filled = err == nil
	return err
}

// Clear removes the tree from the host, and forgets it.
func (d *Dir) Clear() error {
	if err := d.Begin(); err != nil {
		return err
	}
	d.remember(&Memo{})
	above, err := hostdir.Top(d.path)
	if err != nil {
		return err
	}
	defer above.Done()
	return errors.Join(above.RemoveAll(treeName), above.RemoveAll(partName))
}

// Close gives the directory to others. Its directory stays.
func (d *Dir) Close() error { return d.lock.Close() }

// remember makes a memo the present one.
func (d *Dir) remember(known *Memo) {
	d.memo, d.Known = known, make(map[string]*File, len(known.Files))
	for i := range known.Files {
		d.Known[known.Files[i].Path] = &known.Files[i]
	}
}

// Save writes the memo: the directory shows that tree. stamp is a time of the host before the first look at a file that the
// memo has.
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
	if err := next.Save(d.in(memoName)); err != nil {
		return err
	}
	d.filled = true
	if err := os.Remove(d.in(partName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// ForgetOthers drops the memo if it is of another store, or of a store that was replaced by an older copy since.
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
	name := d.in(clockName)
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
	return known.Host == now && d.Settled(now)
}

// NodeOf returns the node that all of some names of a file are known to stand for, or nil if one of them does not look as it is
// known to.
func (d *Dir) NodeOf(shown map[string]hostdir.State, names []string) *node.Node {
	for _, name := range names {
		known, now := d.Known[name], shown[name]
		if known == nil || known.Node != d.Known[names[0]].Node || known.Host != now && !(now.Mode.IsDir() && known.Host.SameDir(now)) {
			return nil
		}
	}
	return &d.Known[names[0]].Node
}

// Settled reports whether a file was last changed before the directory was known to show the tree, by the clock. Then a later
// change has a later time.
func (d *Dir) Settled(now hostdir.State) bool { return now.SettledBefore(d.memo.Stamp) }

// Unsettle makes all that is known as young as what was changed in the last tick of the clock: for tests.
func (d *Dir) Unsettle() { d.memo.Stamp = math.MinInt64 }

// Filled reports whether the directory shows the tree that is known, whole.
func (d *Dir) Filled() bool { return d.filled }

// IsOf reports whether the directory shows a tree of the store of fsys, whole.
func (d *Dir) IsOf(ctx context.Context, fsys *vfs.FS) (bool, error) {
	id, err := storeID(ctx, fsys)
	return err == nil && d.filled && d.memo.Store == id, err
}

// Was returns the known state of the file that is at a path now and may have had another path; nil if it is unknown. shown has
// the present state of the files of the host, and byID is as [Dir.ByID] returns it. A number may be used again: a file that is
// at its known path no more is recognized by its time too.
func (d *Dir) Was(name string, shown map[string]hostdir.State, byID map[hostdir.ID]*File) *File {
	if known := d.Known[name]; known != nil {
		return known
	}
	now := shown[name]
	known := byID[now.ID]
	if known == nil || known.Host.Mtime != now.Mtime && shown[known.Path].ID != now.ID {
		return nil
	}
	return known
}

// Gone returns the known paths that the host does not have, or has as a directory and not, or not and as one. What is below a
// directory comes right behind it.
func (d *Dir) Gone(shown map[string]hostdir.State) (gone []string) {
	for name, k := range d.Known {
		now, there := shown[name]
		if !there || now.Mode.IsDir() != k.Host.Mode.IsDir() {
			gone = append(gone, name)
		}
	}
	slices.SortFunc(gone, func(x, y string) int {
		return cmp.Compare(strings.ReplaceAll(x, "/", "\x00"), strings.ReplaceAll(y, "/", "\x00"))
	})
	return gone
}

// After returns the state of a path whose changes were brought back. was is the earlier state; nil if there was none.
func After(name string, host hostdir.State, n *node.Node, was *File) *File {
	f := &File{Path: name, Host: host, Node: Identity(n)}
	if was != nil {
		f.Left = was.Left
	}
	return f
}

// ByID lists the known files by their numbers. One of several names may stand for all.
func (d *Dir) ByID() map[hostdir.ID]*File {
	byID := make(map[hostdir.ID]*File, len(d.Known))
	for _, k := range d.Known {
		if there := byID[k.Host.ID]; k.Host.ID != (hostdir.ID{}) && (there == nil || k.Path < there.Path) {
			byID[k.Host.ID] = k
		}
	}
	return byID
}

// IsSingle reports whether a file is a regular one with one name: one that a rename can be recognized by.
func (f *File) IsSingle() bool { return f.Host.Mode.IsRegular() && f.Host.Nlink == 1 }
