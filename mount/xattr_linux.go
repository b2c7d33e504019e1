package mount

import (
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
)

// The kernel does not keep attributes, nor that there is none: it asks each time. Some programs ask for each file that they
// see, and an overlayfs above the mount for each name. So when nobody in the store has any, the answer is ENOSYS, after
// which the kernel asks no more. That is found out beside the first request.

// plain is whether a store has no extended attributes at all.
type plain struct {
	once  sync.Once
	known atomic.Bool // it has none
}

// hasNone reports whether the store is known to have no extended attributes. The first call begins to look.
func (f *frozen) hasNone() bool {
	if f.head || f.slot != 0 {
		return false // a branch may get some, and the kernel has one answer for all trees of a mount
	}
	f.plain.once.Do(func() {
		if !f.pushes.begin() {
			return
		}
		go func() {
			defer f.pushes.end()
			has, err := f.tree.HasXattrs(f.ctx)
			f.plain.known.Store(err == nil && !has)
		}()
	})
	return f.plain.known.Load()
}

// GetXAttr returns an extended attribute of the namespace user. There are no others.
func (f *frozen) GetXAttr(_ <-chan struct{}, h *fuse.InHeader, name string, dest []byte) (uint32, fuse.Status) {
	if f.hasNone() {
		return 0, fuse.ENOSYS
	}
	if !strings.HasPrefix(name, node.XattrSpace) {
		return 0, fuse.ENODATA
	}
	n, err := f.node(h.NodeId)
	if err != nil {
		return 0, status(err)
	}
	value, ok := n.Xattrs.Get(name)
	if !ok {
		return 0, fuse.ENODATA
	}
	return fillXattr(dest, value)
}

// ListXAttr returns the names of the extended attributes, each with a zero byte behind it.
func (f *frozen) ListXAttr(_ <-chan struct{}, h *fuse.InHeader, dest []byte) (uint32, fuse.Status) {
	if f.hasNone() {
		return 0, fuse.ENOSYS
	}
	n, err := f.node(h.NodeId)
	if err != nil {
		return 0, status(err)
	}
	var list strings.Builder
	for _, name := range n.Xattrs.Names() {
		list.WriteString(name)
		list.WriteByte(0)
	}
	return fillXattr(dest, list.String())
}

// fillXattr returns the length of a result, and ERANGE if there is no room for it.
func fillXattr(dest []byte, result string) (uint32, fuse.Status) {
	if len(result) > len(dest) {
		return uint32(len(result)), fuse.Status(syscall.ERANGE)
	}
	return uint32(copy(dest, result)), fuse.OK
}
