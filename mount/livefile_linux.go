package mount

import (
	"errors"
	"io"
	"io/fs"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// withHandle runs fn with the handle of a file. Another request may have closed a handle that seemed idle: then fn runs again
// with another one.
func (l *live) withHandle(ino node.Ino, fn func(*tree.Handle) error) error {
	for {
		h := l.inodes.handle(ino)
		if h == nil {
			return syscall.ESTALE
		}
		err := fn(h)
		if !errors.Is(err, fs.ErrClosed) || l.inodes.handle(ino) == h {
			return err
		}
	}
}

// Read reads a file by its number.
func (l *live) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	n := 0
	err := l.withHandle(l.ino(in.NodeId), func(h *tree.Handle) (err error) {
		n, err = h.ReadAt(buf, int64(in.Offset))
		return unlessEOF(err)
	})
	if err != nil {
		return nil, status(err)
	}
	return fuse.ReadResultData(buf[:n]), fuse.OK
}

// Write writes to a file by its number. It is in memory then, and commits within the time of the batch. A commit that fails
// meanwhile is an error, although what it could not commit is tried again.
func (l *live) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	ino := l.ino(in.NodeId)
	if in.WriteFlags&fuse.WRITE_KILL_SUIDGID != 0 {
		if err := l.killSuid(ino); err != nil {
			return 0, status(err)
		}
	}
	if in.Flags&syscall.O_APPEND != 0 && in.WriteFlags&fuse.WRITE_CACHE == 0 { // the pages of a mapping have their place
		done, end, err := l.append(ino, data)
		if end != int64(in.Offset)+int64(done) {
			go l.drop(ino) // the kernel has the data in another place
		}
		if err != nil {
			return 0, status(err)
		}
		return uint32(done), fuse.OK
	}

	done, err := l.write(ino, data, int64(in.Offset))
	if err != nil {
		return 0, status(err)
	}
	return uint32(done), fuse.OK
}

func (l *live) write(ino node.Ino, p []byte, off int64) (done int, err error) {
	for done < len(p) {
		n := 0
		err := l.withHandle(ino, func(h *tree.Handle) (err error) {
			n, err = h.Write(p[done:], off+int64(done))
			return err
		})
		if err != nil {
			return done, err
		}

		done += n
		if n > 0 {
			err = l.batch.wrote(ino, n)
		}
		if err == nil && done < len(p) { // it needs room
			err = l.batch.flush()
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// append writes to the end of a file, wherever the kernel takes that to be: another process may have made the file longer.
// The transaction is open from before the end is found until the write is committed, so nobody else can write there. It
// returns how much was written, and where that ends.
func (l *live) append(ino node.Ino, p []byte) (done int, end int64, err error) {
	b := &l.batch
	b.turn.Lock()
	defer b.turn.Unlock()
	for done < len(p) && err == nil {
		n := 0
		if err = b.begin(); err == nil {
			l.inodes.written(ino, 0) // the handle stays open for as long as there is something to commit
			n, end, err = l.appendSome(ino, p[done:])
		}

		done += n
		_, much, full := l.inodes.written(ino, n)
		switch {
		case err != nil:
		case done < len(p) || full || b.atOnce():
			err = b.commit()
		case much:
			go func() { _ = b.flush() }()
		}
	}
	return done, end, err
}

// appendSome appends as much as there is room for in memory.
func (l *live) appendSome(ino node.Ino, p []byte) (n int, end int64, err error) {
	h := l.inodes.handle(ino)
	if h == nil {
		return 0, 0, syscall.ESTALE
	}
	_, err = l.batch.look(func(tx *tree.Tx) error {
		for known := false; !known; {
			turn := h.Turn()
			node, err := tx.Node(ino)
			if err != nil || node == nil {
				return errOr(err, syscall.ESTALE)
			}
			end, known = h.Over(node, turn)
		}
		n, err = h.Write(p, end)
		end += int64(n)
		return err
	})
	return n, end, err
}

// killSuid takes the setuid and setgid bits away from a file that somebody without the right to keep them writes to.
func (l *live) killSuid(ino node.Ino) error {
	n, err := l.node(ino)
	if err != nil || killMode(n.Mode) == n.Mode {
		return err
	}
	err = l.batch.do(func(tx *tree.Tx) error {
		p, err := l.placeOfInode(tx, ino)
		if err != nil {
			return err
		}
		return tx.SetAttr(p, vfs.OpChmod, func(n *node.Node) { n.Mode = killMode(n.Mode) })
	})
	if err == nil {
		l.feed.attributes(ino) // the kernel does not expect it
	}
	return err
}

// Fsync makes all durable that was changed so far. So does FsyncDir.
func (l *live) Fsync(<-chan struct{}, *fuse.FsyncIn) fuse.Status { return status(l.batch.sync()) }

func (l *live) FsyncDir(<-chan struct{}, *fuse.FsyncIn) fuse.Status { return status(l.batch.sync()) }

// Fallocate makes a file longer, or zeros a part of it. No room is reserved, since content takes what it takes.
func (l *live) Fallocate(cancel <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	const known = unix.FALLOC_FL_KEEP_SIZE | unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_ZERO_RANGE
	if in.Mode&^known != 0 {
		return fuse.Status(syscall.EOPNOTSUPP)
	}
	ino, off, end := l.ino(in.NodeId), int64(in.Offset), int64(in.Offset+in.Length)
	n, err := l.node(ino)
	switch {
	case err != nil:
		return status(err)
	case n.Kind() != node.KindFile:
		return fuse.Status(syscall.ENODEV)
	case off < 0 || end < off || end > node.MaxSize:
		return fuse.Status(syscall.EFBIG)
	}

	size := n.Content.Size
	if in.Mode&(unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) != 0 {
		if code := l.zero(cancel, ino, off, min(end, size)); !code.Ok() {
			return code
		}
	}
	if in.Mode&unix.FALLOC_FL_KEEP_SIZE == 0 && end > size {
		return l.truncate(ino, uint64(end))
	}
	return fuse.OK
}

var zeros [chunk.Size]byte

// zero writes zeros over a range. Where they fill a chunk, nothing is stored; a hole is left as it is.
func (l *live) zero(cancel <-chan struct{}, ino node.Ino, off, end int64) fuse.Status {
	_, data, err := l.extents(ino)
	for _, e := range data {
		for at, to := max(off, e.Off), min(end, e.Off+e.Len); at < to && err == nil; {
			select {
			case <-cancel:
				return fuse.EINTR
			default:
			}
			n := min(to-at, chunk.Size-at%chunk.Size)
			_, err = l.write(ino, zeros[:n], at)
			at += n
		}
	}
	return status(err)
}

// Lseek finds data or a hole.
func (l *live) Lseek(_ <-chan struct{}, in *fuse.LseekIn, out *fuse.LseekOut) fuse.Status {
	size, data, err := l.extents(l.ino(in.NodeId))
	if err != nil {
		return status(err)
	}
	to, err := seek(size, data, int64(in.Offset), int(in.Whence))
	if err != nil {
		return status(err)
	}
	out.Offset = uint64(to)
	return fuse.OK
}

// extents returns the length of a file and the ranges of it that are stored. It commits what was written to the file before.
func (l *live) extents(ino node.Ino) (size int64, data []chunk.Extent, err error) {
	if h, _ := l.inodes.mark(ino); h != nil && h.Dirty() {
		if err := l.batch.flush(); err != nil {
			return 0, nil, err
		}
	}
	err = l.look(func(tx *tree.Tx) error {
		n, err := tx.Node(ino)
		if err != nil || n == nil {
			return errOr(err, syscall.ESTALE)
		}
		size = n.Content.Size
		data, err = chunk.Extents(tx.DB(), n.Content)
		return err
	})
	return size, data, err
}

// CopyFileRange copies a part of a file to another place. A whole file, copied to one that is empty, has the same content
// then; of others the chunks that are equal are stored once anyway.
func (l *live) CopyFileRange(cancel <-chan struct{}, in *fuse.CopyFileRangeIn) (uint32, fuse.Status) {
	from, to := l.ino(in.NodeId), l.ino(in.NodeIdOut)
	source, err := l.node(from)
	if err != nil {
		return 0, status(err)
	}
	target, err := l.node(to)
	if err != nil {
		return 0, status(err)
	}

	size := source.Content.Size
	whole := in.OffIn == 0 && in.OffOut == 0 && size <= int64(in.Len) && size <= 1<<31 && target.Content.Size == 0 && from != to
	if whole {
		if err := l.batch.doNow(func(tx *tree.Tx) error { return l.share(tx, from, to) }); err != nil {
			return 0, status(err)
		}
		return uint32(size), fuse.OK
	}
	return l.copyBytes(cancel, in, size)
}

// share gives a file the content of another.
func (l *live) share(tx *tree.Tx, from, to node.Ino) error {
	if err := l.fold(tx, from); err != nil {
		return err
	}
	if err := l.fold(tx, to); err != nil {
		return err
	}
	n, err := tx.Node(from)
	if err != nil || n == nil {
		return errOr(err, syscall.ESTALE)
	}
	p, err := l.placeOfInode(tx, to)
	if err != nil {
		return err
	}
	return tx.Rewrite(p, vfs.OpCopy, n.Content)
}

// maxCopy bounds how much one request copies. The program goes on with another one.
const maxCopy = 8 << 20

func (l *live) copyBytes(cancel <-chan struct{}, in *fuse.CopyFileRangeIn, size int64) (uint32, fuse.Status) {
	buf := make([]byte, chunk.Size)
	end := min(size, int64(in.OffIn)+int64(min(in.Len, maxCopy)))
	done := int64(0)
	for off := int64(in.OffIn); off < end; off = int64(in.OffIn) + done {
		select {
		case <-cancel:
			return uint32(done), fuse.OK
		default:
		}

		n := 0
		err := l.withHandle(l.ino(in.NodeId), func(h *tree.Handle) (err error) {
			n, err = h.ReadAt(buf[:min(end-off, int64(len(buf)))], off)
			return err
		})
		if n > 0 && (err == nil || err == io.EOF) {
			n, err = l.write(l.ino(in.NodeIdOut), buf[:n], int64(in.OffOut)+done)
			done += int64(n)
		}
		switch {
		case err == io.EOF || n == 0 && err == nil:
			return uint32(done), fuse.OK
		case err != nil && done == 0:
			return 0, status(err)
		case err != nil:
			return uint32(done), fuse.OK
		}
	}
	return uint32(done), fuse.OK
}
