package mount

import (
	"context"
	"math"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// forever is the time for which the kernel may keep an answer about a tree that never changes.
const forever = time.Duration(math.MaxInt64)

// A frozen answers the kernel's questions about one past moment of a tree. It holds nothing for an inode that the kernel
// knows, so there is nothing to forget; and files need not be opened, because their content cannot change.
//
// One of several trees of a mount has a slot, and may be the head of a branch: what the kernel keeps of that is valid for
// headValid, and a content is looked up for each read.
type frozen struct {
	fuse.RawFileSystem // refuses all else with ENOSYS

	ctx     context.Context
	tree    *tree.Tree
	owner   *Owner // of all files, as it seems; nil if each has its own
	user    *Owner // see mountingUser
	slot    uint64 // among the trees of a mount; 0 of the only one
	head    bool
	readers readers
	cursors cursors

	server *fuse.Server // set by Init
	ahead  ahead
	pushes pushes
	plain  plain
}

func newFrozen(ctx context.Context, held *tree.Tree) *frozen {
	return &frozen{RawFileSystem: fuse.NewDefaultRawFileSystem(), ctx: ctx, tree: held, user: mountingUser()}
}

func (f *frozen) String() string { return "vfsdb" }

// ino returns the inode of a number of the kernel's, which calls the root of a mount 1.
func (f *frozen) ino(id uint64) node.Ino {
	if id == fuse.FUSE_ROOT_ID {
		return f.tree.Root()
	}
	return node.Ino(id & (1<<slotShift - 1))
}

// number returns the number of an inode for the kernel, and for stat.
func (f *frozen) number(ino node.Ino) uint64 { return f.slot<<slotShift | uint64(ino) }

// slotShift is where the slot begins in a number. Inodes are counted from one on in all of a store, and are below it.
const slotShift = 48

// valid is how long the kernel may keep an answer.
func (f *frozen) valid() time.Duration {
	if f.head {
		return headValid
	}
	return forever
}

// headValid bounds how long the kernel shows what a branch was before a change.
const headValid = 500 * time.Millisecond

// status returns the kernel's word for an error.
func status(err error) fuse.Status {
	if err == nil {
		return fuse.OK
	}
	if errno, ok := vfs.Errno(err); ok {
		return fuse.Status(errno)
	}
	return fuse.EIO
}

// node returns an inode that the kernel knows.
func (f *frozen) node(id uint64) (n *node.Node, err error) {
	err = f.tree.Look(f.ctx, func(tx *tree.Tx) (err error) {
		n, err = tx.Node(f.ino(id))
		if err == nil && n == nil {
			err = syscall.ESTALE
		}
		return err
	})
	return n, err
}

// Lookup finds an entry of a directory. The kernel keeps that there is none, too.
func (f *frozen) Lookup(_ <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	if len(name) > node.MaxName {
		return fuse.Status(syscall.ENAMETOOLONG)
	}
	var n *node.Node
	err := f.tree.Look(f.ctx, func(tx *tree.Tx) error {
		dir := f.ino(h.NodeId)
		d, err := tx.Lookup(dir, name)
		if err != nil || d.Ino == 0 {
			n = nil
			return err
		}
		n, err = tx.NodeOf(dir, node.Entry{Name: name, Ino: d.Ino, Kind: d.Kind})
		return err
	})

	switch {
	case err != nil:
		return status(err)
	case n == nil:
		out.SetEntryTimeout(f.valid())
		return fuse.OK
	}
	f.fillEntry(out, n)
	f.nowKnown(f.ino(h.NodeId), n)
	return fuse.OK
}

func (f *frozen) fillEntry(out *fuse.EntryOut, n *node.Node) {
	out.NodeId = f.number(n.Ino)
	out.SetEntryTimeout(f.valid())
	out.SetAttrTimeout(f.valid())
	f.fillAttr(&out.Attr, n)
}

func (f *frozen) fillAttr(out *fuse.Attr, n *node.Node) {
	fillAttr(out, n)
	out.Ino = f.number(n.Ino)
	f.user.show(out)
	if f.owner != nil {
		out.Uid, out.Gid = f.owner.Uid, f.owner.Gid
	}
}

// blockSize is that of stat's st_blksize. st_blocks counts 512 bytes, as everywhere.
const blockSize = 4096

func fillAttr(out *fuse.Attr, n *node.Node) {
	size := n.Content.Size
	if n.Kind() == node.KindLink {
		size = int64(len(n.Target))
	}
	mtime, ctime := time.Unix(0, n.Mtime), time.Unix(0, n.Ctime)
	out.Ino, out.Size, out.Blocks, out.Blksize = uint64(n.Ino), uint64(size), uint64((size+511)/512), blockSize
	out.Mode, out.Nlink, out.Rdev = n.Mode, uint32(n.Nlink), uint32(n.Rdev)
	out.Uid, out.Gid = n.Uid, n.Gid
	out.SetTimes(&mtime, &mtime, &ctime)
}

func (f *frozen) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	n, err := f.node(in.NodeId)
	if err != nil {
		return status(err)
	}
	out.SetTimeout(f.valid())
	f.fillAttr(&out.Attr, n)
	return fuse.OK
}

func (f *frozen) Readlink(_ <-chan struct{}, h *fuse.InHeader) ([]byte, fuse.Status) {
	n, err := f.node(h.NodeId)
	switch {
	case err != nil:
		return nil, status(err)
	case n.Kind() != node.KindLink:
		return nil, fuse.EINVAL
	}
	return []byte(n.Target), fuse.OK
}

// Read reads a file by its number.
func (f *frozen) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	if in.Offset == 0 {
		f.readAhead(f.ino(in.NodeId))
	}
	r := f.readers.take(f.ino(in.NodeId))
	defer f.readers.give(r)

	n, err := r.readAt(f, buf, int64(in.Offset))
	if err != nil {
		return nil, status(err)
	}
	return fuse.ReadResultData(buf[:n]), fuse.OK
}

// StatFs counts the pages of the file.
func (f *frozen) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	return statFs(f.ctx, f.tree, out)
}

func statFs(ctx context.Context, of *tree.Tree, out *fuse.StatfsOut) fuse.Status {
	var total, free int64
	err := of.DB().View(ctx, func(tx *schema.Tx) (err error) {
		total, free, err = tx.Pages()
		return err
	})
	if err != nil {
		return status(err)
	}
	const blocks = schema.PageSize / blockSize
	out.Bsize, out.Frsize, out.NameLen = blockSize, blockSize, node.MaxName
	out.Blocks, out.Bfree = uint64(total)*blocks, uint64(free)*blocks
	return fuse.OK
}

// Open and OpenDir are not needed. After the first refusal the kernel opens files by itself, and keeps their contents and
// the listings of directories.
func (f *frozen) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (f *frozen) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	return fuse.ENOSYS
}

// Flush has nothing to do at a close, and after the first refusal the kernel does not ask.
func (f *frozen) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }
