package mount

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// LiveOptions are the ways to mount a live tree.
type LiveOptions struct {
	// Gather is for how long changes are gathered before they are committed together. 0 means 20 ms; with a negative one
	// each change is a commit of its own.
	Gather time.Duration
}

// defaultGather is the Gather of LiveOptions that have none.
const defaultGather = 20 * time.Millisecond

// Live shows the head of a branch in a directory of the host, for reading and writing, until Unmount, or until the directory
// is unmounted by the means of the host. ctx bounds the mounting only. The store must stay open until Done, which comes
// after all changes have been committed. A nil *LiveOptions is the zero one.
//
// A tree of the past, and a store that is open read-only, is EROFS. All else that is refused is as for [Frozen].
func Live(ctx context.Context, fsys *vfs.FS, dir string, options *LiveOptions) (*Mount, error) {
	m, err := mountLive(ctx, fsys, dir, options)
	if err != nil {
		return nil, fmt.Errorf("mount %s: %w", dir, err)
	}
	return m, nil
}

func mountLive(ctx context.Context, fsys *vfs.FS, dir string, options *LiveOptions) (*Mount, error) {
	head := (*tree.Tree)(fsys)
	if head.Frozen() || head.DB().ReadOnly() {
		return nil, syscall.EROFS
	}
	if err := vacant(fsys, dir); err != nil {
		return nil, err
	}
	if err := allowed(); err != nil {
		return nil, err
	}
	l, err := newLive(context.WithoutCancel(ctx), fsys, options)
	if err != nil {
		return nil, err
	}

	return serve(l, dir, liveOptions(), l.end)
}

// liveOptions are those of a live mount. Whose it is, and what it refuses, is as for mountOptions.
func liveOptions() *fuse.MountOptions {
	o := mountOptions()
	o.Options = slices.DeleteFunc(o.Options, func(s string) bool { return s == "ro" })
	o.DirectMountFlags &^= syscall.MS_RDONLY
	o.DisableXAttrs = false
	o.ExplicitDataCacheControl = true // the kernel would drop what it has written itself, since that changes the time
	o.ExtraCapabilities = fuse.CAP_HANDLE_KILLPRIV_V2 | fuse.CAP_READDIRPLUS_AUTO
	return o
}

// A live answers the kernel's requests on the head of a branch.
//
// The kernel caches names, attributes and contents without a time limit. It knows its own changes, and the feed invalidates
// what others change. It opens files by itself, so a request names an inode only.
type live struct {
	fuse.RawFileSystem // refuses all else with ENOSYS

	ctx   context.Context
	fsys  *vfs.FS
	tree  *tree.Tree
	root  *tree.Handle // keeps the lease of the handles in inodes
	user  *Owner       // see mountingUser
	batch batch
	lists lists

	inodes inodes
	feed   feed
}

func newLive(ctx context.Context, fsys *vfs.FS, options *LiveOptions) (*live, error) {
	l := &live{RawFileSystem: fuse.NewDefaultRawFileSystem(), ctx: ctx, fsys: fsys, tree: (*tree.Tree)(fsys), user: mountingUser()}
	root, err := l.tree.OpenInode(ctx, l.tree.Root(), tree.HandleMode{})
	if err != nil {
		return nil, err
	}
	l.root = root
	if l.feed.since, err = fsys.Seq(ctx); err != nil {
		_ = root.Close()
		return nil, err
	}

	l.inodes.open = func(ino node.Ino, kind uint8, name node.Name) *tree.Handle {
		return l.tree.Attach(ctx, ino, kind, name)
	}
	l.batch.init(l, options)
	return l, nil
}

// end commits what is left, and closes all.
func (l *live) end() error {
	l.feed.end()
	err := l.batch.end()
	l.inodes.closeAll()
	return errors.Join(err, l.root.Close())
}

func (l *live) String() string { return fsName }

// ino returns the inode of a number of the kernel's, which calls the root of a mount 1.
func (l *live) ino(id uint64) node.Ino {
	if id == fuse.FUSE_ROOT_ID {
		return l.tree.Root()
	}
	return node.Ino(id)
}

// id is the inverse of ino.
func (l *live) id(ino node.Ino) uint64 {
	if ino == l.tree.Root() {
		return fuse.FUSE_ROOT_ID
	}
	return uint64(ino)
}

// look runs fn on the tree as the kernel is to see it: with the changes that are gathered, and not committed. fn may run
// twice.
func (l *live) look(fn func(*tree.Tx) error) error {
	if done, err := l.batch.look(fn); done {
		return err
	}
	return l.tree.Look(l.ctx, fn)
}

// StatFs counts the pages of the file, and the room of the disk.
func (l *live) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	if code := statFs(l.ctx, l.tree, out); !code.Ok() {
		return code
	}
	fillRoom(out, l.tree.DB().Path())
	return fuse.OK
}

// fillRoom adds the room of the disk that the database is on: a tree can grow into that.
func fillRoom(out *fuse.StatfsOut, file string) {
	var host syscall.Statfs_t
	if syscall.Statfs(file, &host) != nil || host.Bsize <= 0 {
		return
	}
	pages := host.Bavail * uint64(host.Bsize) / blockSize
	out.Blocks += pages
	out.Bfree += pages
	out.Bavail = out.Bfree
	out.Files, out.Ffree = 1<<40, 1<<40
}

// Open and OpenDir are not needed: after the first refusal the kernel opens files by itself, and keeps their contents and
// the listings of directories. Flush is not needed since no write waits in the kernel.
func (l *live) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (l *live) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (l *live) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

func (l *live) Release(<-chan struct{}, *fuse.ReleaseIn) {}
