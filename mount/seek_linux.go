package mount

import (
	"sort"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"vfsdb/chunk"
	"vfsdb/tree"
)

// Lseek finds the next data, or the next hole: a run of zeros that is not stored.
func (f *frozen) Lseek(_ <-chan struct{}, in *fuse.LseekIn, out *fuse.LseekOut) fuse.Status {
	r := f.readers.take(f.ino(in.NodeId))
	defer f.readers.give(r)

	size, list, err := r.data(f)
	if err != nil {
		return status(err)
	}
	to, err := seek(size, list, int64(in.Offset), int(in.Whence))
	if err != nil {
		return status(err)
	}
	out.Offset = uint64(to)
	return fuse.OK
}

// seek is lseek(2) with SEEK_DATA or SEEK_HOLE. The end of a file is a hole.
func seek(size int64, data []chunk.Extent, off int64, whence int) (int64, error) {
	if off < 0 || off >= size {
		return 0, syscall.ENXIO
	}
	i := sort.Search(len(data), func(i int) bool { return data[i].Off+data[i].Len > off })
	switch {
	case whence == unix.SEEK_DATA && i == len(data):
		return 0, syscall.ENXIO
	case whence == unix.SEEK_DATA:
		return max(off, data[i].Off), nil
	case whence != unix.SEEK_HOLE:
		return 0, syscall.EINVAL
	case i < len(data) && data[i].Off <= off:
		return min(data[i].Off+data[i].Len, size), nil
	}
	return off, nil
}

// maxExtents bounds the extents that a reader keeps. Those of a file that has more are read for each seek.
const maxExtents = 1 << 16

// data returns the length of the file, and the ranges of it that are stored.
func (r *reader) data(f *frozen) (size int64, list []chunk.Extent, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known && !f.head {
		return r.content.Content().Size, r.extents, nil
	}
	err = f.tree.View(f.ctx, func(tx *tree.Tx) (err error) {
		if err := r.open(tx, f.head); err != nil {
			return err
		}
		size = r.content.Content().Size
		list, err = chunk.Extents(tx.DB(), r.content.Content())
		return err
	})
	if err == nil && len(list) <= maxExtents {
		r.extents, r.known = list, true
	}
	return size, list, err
}
