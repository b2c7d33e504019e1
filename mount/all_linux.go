package mount

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// The numbers of the directories that no tree has. They are in slot 0.
const (
	topDir      = fuse.FUSE_ROOT_ID
	branchesDir = 2
	momentsDir  = 3
)

// An all answers the kernel's questions about a directory with every branch and every snapshot of a store. An inode of a
// tree is answered for by the frozen of its slot.
type all struct {
	fuse.RawFileSystem

	ctx   context.Context
	fsys  *vfs.FS
	slots slots
	lists [momentsDir + 1]ownList
	made  time.Time
}

// An ownList is the state of one of our own directories. The kernel keeps a listing until the time of the directory changes.
type ownList struct {
	mu      sync.Mutex
	sum     uint64 // of the entries
	changed time.Time
}

var listSeed = maphash.MakeSeed()

func newAll(ctx context.Context, fsys *vfs.FS) *all {
	return &all{RawFileSystem: fuse.NewDefaultRawFileSystem(), ctx: ctx, fsys: fsys, slots: slots{ctx: ctx}, made: time.Now()}
}

func (a *all) String() string { return fsName }

func (a *all) Init(s *fuse.Server) { a.slots.server = s }

// A shownTree is an entry of one of our own directories.
type shownTree struct {
	id   int64 // in the order in which they were made, from one on
	name string
}

// entries lists one of our own directories, in order.
func (a *all) entries(dir uint64) (list []shownTree, err error) {
	switch dir {
	case topDir:
		return []shownTree{{1, "branches"}, {2, "snapshots"}}, nil
	case branchesDir:
		branches, err := a.fsys.Store().Branches(a.ctx)
		for _, b := range branches {
			list = append(list, shownTree{b.ID, b.Name})
		}
		return showable(list), err
	}
	infos, err := snapshot.List(a.ctx, a.fsys)
	for _, s := range infos {
		list = append(list, shownTree{s.ID, s.Name})
	}
	return showable(list), err
}

// showable leaves out names that a directory cannot have.
func showable(list []shownTree) []shownTree {
	list = slices.DeleteFunc(list, func(s shownTree) bool { return s.name == "." || s.name == ".." })
	slices.SortFunc(list, func(a, b shownTree) int { return cmp.Compare(a.id, b.id) })
	return list
}

// Lookup finds a branch or a snapshot by its name, or an entry of a tree.
func (a *all) Lookup(cancel <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	if h.NodeId>>slotShift != 0 {
		s := a.slots.numbered(h.NodeId)
		f := s.tree()
		if f == nil {
			return fuse.Status(syscall.ESTALE)
		}
		code := f.Lookup(cancel, h, name, out)
		if code == fuse.OK && out.NodeId != 0 {
			s.count(1)
		}
		return code
	}

	err := a.find(h.NodeId, name, out)
	switch errno, _ := vfs.Errno(err); {
	case errno == syscall.ENOENT, errno == syscall.ESTALE:
		out.SetEntryTimeout(headValid)
		return fuse.OK
	case err != nil:
		return status(err)
	}
	if h.NodeId != topDir {
		out.SetEntryTimeout(headValid) // it may be removed, or be of another tree
	}
	return fuse.OK
}

func (a *all) find(dir uint64, name string, out *fuse.EntryOut) error {
	switch {
	case dir == topDir && name == "branches":
		return a.enterOwn(branchesDir, out)
	case dir == topDir && name == "snapshots":
		return a.enterOwn(momentsDir, out)
	case dir == branchesDir:
		head, err := (*tree.Tree)(a.fsys).Store().Head(a.ctx, name)
		if err != nil {
			return err
		}
		return a.slots.enter(head, out)
	case dir == momentsDir:
		s, err := snapshot.Open(a.ctx, a.fsys, name)
		if err != nil {
			return err
		}
		return a.slots.enter((*tree.Tree)(s.FS), out)
	}
	return syscall.ENOENT
}

func (a *all) enterOwn(dir uint64, out *fuse.EntryOut) error {
	out.NodeId = dir
	out.SetEntryTimeout(forever)
	out.SetAttrTimeout(headValid)
	return a.ownAttr(dir, &out.Attr)
}

// ownAttr fills in one of our own directories.
func (a *all) ownAttr(dir uint64, out *fuse.Attr) error {
	if dir > momentsDir {
		return syscall.ESTALE
	}
	list, err := a.entries(dir)
	if err != nil {
		return err
	}
	at := a.lists[dir].note(list, a.made)
	out.Ino, out.Mode, out.Nlink, out.Blksize = dir, node.ModeDir|0o755, 2, blockSize
	out.Uid, out.Gid = uint32(os.Geteuid()), uint32(os.Getegid())
	out.SetTimes(&at, &at, &at)
	return nil
}

// note returns when the entries of a directory changed last, as far as was seen.
func (l *ownList) note(list []shownTree, made time.Time) time.Time {
	var h maphash.Hash
	h.SetSeed(listSeed)
	for _, e := range list {
		fmt.Fprintf(&h, "%d %s\n", e.id, e.name)
	}
	sum := h.Sum64()

	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.changed.IsZero():
		l.sum, l.changed = sum, made
	case l.sum != sum:
		l.sum, l.changed = sum, time.Now()
	}
	return l.changed
}

// ReadDir lists a directory. In one of our own the number of a place is that of the entry before it.
func (a *all) ReadDir(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	if in.NodeId>>slotShift != 0 {
		if f := a.slots.numbered(in.NodeId).tree(); f != nil {
			return f.ReadDir(cancel, in, out)
		}
		return fuse.Status(syscall.ESTALE)
	}
	return a.listOwn(in, out.AddDirEntry)
}

// ReadDirPlus is ReadDir with what Lookup returns for entries of trees. A tree that is listed by its name only is not entered.
func (a *all) ReadDirPlus(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	if in.NodeId>>slotShift == 0 {
		return a.listOwn(in, func(e fuse.DirEntry) bool { return out.AddDirLookupEntry(e) != nil })
	}
	s := a.slots.numbered(in.NodeId)
	f := s.tree()
	if f == nil {
		return fuse.Status(syscall.ESTALE)
	}
	looked, code := f.listPlus(in, out)
	if code == fuse.OK {
		s.count(looked)
	}
	return code
}

func (a *all) listOwn(in *fuse.ReadIn, add func(fuse.DirEntry) bool) fuse.Status {
	list, err := a.entries(in.NodeId)
	if err != nil {
		return status(err)
	}
	for off, name := range []string{".", ".."} {
		if in.Offset <= uint64(off) && !add(fuse.DirEntry{Name: name, Ino: in.NodeId, Mode: node.ModeDir, Off: uint64(off) + 1}) {
			return fuse.OK
		}
	}
	for _, e := range list {
		off := uint64(e.id) + 2
		if off > in.Offset && !add(fuse.DirEntry{Name: e.name, Mode: node.ModeDir, Off: off}) {
			break
		}
	}
	return fuse.OK
}

// Forget ends the hold of a tree of which the kernel knows nothing any more.
func (a *all) Forget(id, n uint64) {
	if id>>slotShift != 0 {
		a.slots.numbered(id).count(-int64(n))
	}
}

func (a *all) GetAttr(cancel <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	if in.NodeId>>slotShift != 0 {
		if f := a.slots.numbered(in.NodeId).tree(); f != nil {
			return f.GetAttr(cancel, in, out)
		}
		return fuse.Status(syscall.ESTALE)
	}
	out.SetTimeout(headValid)
	return status(a.ownAttr(in.NodeId, &out.Attr))
}

func (a *all) Readlink(cancel <-chan struct{}, h *fuse.InHeader) ([]byte, fuse.Status) {
	if f := a.slots.numbered(h.NodeId).tree(); f != nil {
		return f.Readlink(cancel, h)
	}
	return nil, fuse.Status(syscall.ESTALE)
}

func (a *all) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	if f := a.slots.numbered(in.NodeId).tree(); f != nil {
		return f.Read(cancel, in, buf)
	}
	return nil, fuse.Status(syscall.ESTALE)
}

func (a *all) Lseek(cancel <-chan struct{}, in *fuse.LseekIn, out *fuse.LseekOut) fuse.Status {
	if f := a.slots.numbered(in.NodeId).tree(); f != nil {
		return f.Lseek(cancel, in, out)
	}
	return fuse.Status(syscall.ESTALE)
}

func (a *all) GetXAttr(cancel <-chan struct{}, h *fuse.InHeader, name string, dest []byte) (uint32, fuse.Status) {
	if f := a.slots.numbered(h.NodeId).tree(); f != nil {
		return f.GetXAttr(cancel, h, name, dest)
	}
	return 0, fuse.ENODATA
}

func (a *all) ListXAttr(cancel <-chan struct{}, h *fuse.InHeader, dest []byte) (uint32, fuse.Status) {
	if f := a.slots.numbered(h.NodeId).tree(); f != nil {
		return f.ListXAttr(cancel, h, dest)
	}
	return 0, fuse.OK
}

func (a *all) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	return statFs(a.ctx, (*tree.Tree)(a.fsys), out)
}

// Open, OpenDir and Flush are not needed, as in a frozen tree.
func (a *all) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (a *all) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (a *all) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }
