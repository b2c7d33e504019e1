package mount

import (
	"os"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
)

// An Owner is a user and a group of the host.
type Owner struct{ Uid, Gid uint32 }

// mountingUser returns the user who mounts; nil for root. A mount by a user is for this user alone. Whatever the API has made
// belongs to 0, as does the root of a store, and programs such as git refuse to work in a directory of another user. So what
// belongs to 0 is shown as the user's. A change of an owner to the user, or to 0, is stored as it is.
func mountingUser() *Owner {
	if os.Geteuid() == 0 {
		return nil
	}
	return &Owner{uint32(os.Geteuid()), uint32(os.Getegid())}
}

// show replaces the user 0 and the group 0 in attributes by those of the user who mounts. A nil Owner does nothing.
func (o *Owner) show(out *fuse.Attr) {
	if o == nil {
		return
	}
	if out.Uid == 0 {
		out.Uid = o.Uid
	}
	if out.Gid == 0 {
		out.Gid = o.Gid
	}
}

// access answers access(2) in a mount by a user; in one by root the kernel compares modes and owners itself. All is allowed
// but the execution of a file that nobody may execute, which the kernel refuses too.
func access(n *node.Node, mask uint32) fuse.Status {
	if mask&fuse.X_OK != 0 && n.Kind() == node.KindFile && n.Mode&0o111 == 0 {
		return fuse.EACCES
	}
	return fuse.OK
}

func (l *live) Access(_ <-chan struct{}, in *fuse.AccessIn) fuse.Status {
	n, err := l.node(l.ino(in.NodeId))
	if err != nil {
		return status(err)
	}
	return access(&n, in.Mask)
}

func (f *frozen) Access(_ <-chan struct{}, in *fuse.AccessIn) fuse.Status {
	n, err := f.node(in.NodeId)
	if err != nil {
		return status(err)
	}
	return access(n, in.Mask)
}

func (a *all) Access(cancel <-chan struct{}, in *fuse.AccessIn) fuse.Status {
	if f := a.slots.numbered(in.NodeId).tree(); f != nil {
		return f.Access(cancel, in)
	}
	return fuse.OK // one of our own directories
}
