package transfer

import (
	"archive/tar"
	"fmt"
	"io/fs"
	"math"
	"os"
	"syscall"

	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/transfer/tarred"
	"vfsdb/vfs"
)

// An attr is what a file has beside its name and its content. This file alone knows what belongs to it, and how a host, a
// tar and the store have it.
type attr struct {
	mode     fs.FileMode // the type, and the 12 permission bits
	uid, gid uint32
	mtime    int64  // in nanoseconds since 1970
	rdev     uint64 // of a device
	xattrs   *xattrs
}

// hostAttr returns the attributes of a file of the host.
func hostAttr(info fs.FileInfo) attr {
	a := attr{mode: info.Mode()}
	a.mtime, _ = hostdir.Nanos(info.ModTime())
	a.uid, a.gid = hostdir.Owner(info)
	a.rdev = hostdir.MakeDev(hostdir.Device(info))
	return a
}

// again returns the attributes of a file of the host that was described before, as they are when it is read. The extended
// ones stay.
func (a attr) again(info fs.FileInfo) attr {
	now := hostAttr(info)
	now.xattrs = a.xattrs
	return now
}

// tarAttr returns the attributes in the header of a tar.
func tarAttr(h *tar.Header) (a attr, err error) {
	if a.mode, err = tarred.Mode(h); err != nil {
		return a, err
	}
	if h.Uid < 0 || h.Gid < 0 || int64(h.Uid) > math.MaxUint32 || int64(h.Gid) > math.MaxUint32 {
		return a, fmt.Errorf("owner %d:%d: %w", h.Uid, h.Gid, syscall.EINVAL)
	}
	a.uid, a.gid = uint32(h.Uid), uint32(h.Gid)
	if a.mtime, err = hostdir.ExactNanos(h.ModTime); err != nil {
		return a, err
	}
	if a.mode&fs.ModeDevice != 0 {
		if h.Devmajor < 0 || h.Devminor < 0 || h.Devmajor > math.MaxUint32 || h.Devminor > math.MaxUint32 {
			return a, fmt.Errorf("device %d:%d: %w", h.Devmajor, h.Devminor, syscall.EINVAL)
		}
		a.rdev = hostdir.MakeDev(h.Devmajor, h.Devminor)
	}
	return a, nil
}

// putTar puts the attributes of a file of the store into the header of a tar.
func putTar(h *tar.Header, info *vfs.Info) {
	h.Mode, h.ModTime = int64(node.UnixPerm(info.Mode())), info.ModTime()
	h.Uid, h.Gid = info.Owner()
	if info.Mode()&fs.ModeDevice != 0 {
		h.Devmajor, h.Devminor = hostdir.DevMajor(info.Rdev()), hostdir.DevMinor(info.Rdev())
	}
}

// putNode puts the attributes onto a node of the store, which has the type and the device number already. A symlink keeps
// its mode, and has no extended attributes.
func (a attr) putNode(n *node.Node) {
	if n.Kind() != node.KindLink {
		n.Mode = n.Mode&^node.PermBits | node.UnixPerm(a.mode)
	}
	n.Uid, n.Gid, n.Mtime = a.uid, a.gid, a.mtime
	if n.CheckXattrs() == nil {
		n.Xattrs = a.xattrs.put(n.Xattrs)
	}
}

// differs reports whether putNode would change a node.
func (a attr) differs(n *node.Node) bool {
	after := *n
	a.putNode(&after)
	return after != *n
}

// putHost puts the attributes of a file of the store onto the file base of a directory of the host, which is open as f. A
// symlink, fifo or device is not open, and has its mode already. The time is set by itself, when nothing else is changed
// any more.
func (w *dirWriter) putHost(in *hostdir.Dir, base string, f *os.File, info *vfs.Info) error {
	if uid, gid := info.Owner(); w.o.Owner && os.Geteuid() == 0 {
		if err := in.Root.Lchown(base, uid, gid); err != nil {
			return err
		}
	}
	if f == nil {
		return nil
	}
	w.putHostXattrs(f, info) // before a mode that forbids it
	return f.Chmod(info.Mode())
}
