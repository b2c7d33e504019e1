package vfs

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"vfsdb/chunk"
)

// A File is an open file or directory. It is safe for concurrent use.
//
// Opened read-only, it shows the content as it was when it was opened, whole, whatever happens to the name meanwhile
// (C04). Opened for writing, it reads what is committed now, with its own writes laid over. Those are held in memory,
// at most 8 MiB of them, and are committed by Sync, by Close, and when there are too many; only the bytes that were
// written replace others, so two Files may write to different parts of one file. A file whose last name is removed
// lives on until it is closed. In a store opened with [Options].ReadOnly, or while the disk is full, that is not so:
// such a store cannot tell a collector what it has open, and what was removed and collected meanwhile reads as
// [ErrCorrupt].
type File struct {
	ctx  context.Context
	fsys *FS
	name string
	flag int
	ino  Ino
	kind uint8

	mu     sync.Mutex
	closed bool
	info   *Info         // as it was opened
	reader *chunk.Reader // of that content
	off    int64         // of Read, Write and Seek
	after  string        // the last name that ReadDir returned
	wrote  overlay       // not yet committed
}

// Open opens a file or directory for reading.
func (fsys *FS) Open(ctx context.Context, name string) (*File, error) {
	return fsys.OpenFile(ctx, name, os.O_RDONLY, 0)
}

// Create creates a file with permissions 0o666, or empties one that exists, and opens it for reading and writing.
func (fsys *FS) Create(ctx context.Context, name string) (*File, error) {
	return fsys.OpenFile(ctx, name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

const knownFlags = os.O_RDONLY | os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREATE | os.O_EXCL | os.O_TRUNC | os.O_SYNC

// OpenFile opens a file with the flags of [os.OpenFile]. O_SYNC commits each write. ctx bounds the opening, and its
// values and end go with every later call of the File.
func (fsys *FS) OpenFile(ctx context.Context, name string, flag int, perm fs.FileMode) (*File, error) {
	f, err := fsys.openFile(ctx, name, flag, perm)
	if err != nil {
		return nil, pathErr("open", name, err)
	}
	return f, nil
}

func (fsys *FS) openFile(ctx context.Context, name string, flag int, perm fs.FileMode) (*File, error) {
	if flag&^knownFlags != 0 {
		return nil, syscall.EINVAL
	}
	f := &File{ctx: ctx, fsys: fsys, name: name, flag: flag}
	if f.writable() && (fsys.Frozen() || fsys.store.db.ReadOnly()) {
		return nil, syscall.EROFS
	}
	// The lease comes first, and nothing is published until the file is registered: from then on a collector asks us
	// before it takes what only we still see.
	st := fsys.store
	if err := st.lease.Hold(ctx); err != nil {
		return nil, err
	}
	st.opening.RLock()
	defer st.opening.RUnlock()
	if err := f.enter(perm); err != nil {
		st.lease.Drop()
		return nil, err
	}
	return f, nil
}

// enter makes the file if the flags say so, and registers what it needs kept.
func (f *File) enter(perm fs.FileMode) error {
	if f.flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		if err := f.fsys.Update(f.ctx, func(tx *Tx) error { return f.make(tx, perm) }); err != nil {
			return err
		}
	}
	return f.capture()
}

func (f *File) writable() bool { return f.flag&(os.O_WRONLY|os.O_RDWR) != 0 }
func (f *File) readable() bool { return f.flag&os.O_WRONLY == 0 }

// make creates or empties the file, as the flags say.
func (f *File) make(tx *Tx, perm fs.FileMode) error {
	exclusive := f.flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL
	p, err := tx.walk(f.name, !exclusive)
	if err != nil {
		return err
	}
	switch {
	case p.ino == 0 && f.flag&os.O_CREATE == 0:
		return syscall.ENOENT
	case p.ino == 0:
		n := &inode{mode: modeFile | unixPerm(perm), mtime: tx.now}
		if err := tx.create(p, n); err != nil {
			return err
		}
		f.ino = n.ino
		after, err := tx.sumOf(n)
		if err != nil {
			return err
		}
		c := change{op: "create"}
		c.is(n, after)
		return tx.recordAt(p, c)
	case exclusive:
		return syscall.EEXIST
	case p.kind == kindDir:
		return syscall.EISDIR
	}
	f.ino = p.ino
	if f.flag&os.O_TRUNC == 0 || p.kind != kindFile {
		return nil
	}
	n, err := tx.inode(p.ino)
	if err != nil || n == nil {
		return err
	}
	return tx.rewrite("truncate", p, n, chunk.Content{})
}

// capture finds the file and registers what it needs kept.
func (f *File) capture() error {
	st := f.fsys.store
	return f.fsys.look(f.ctx, func(tx *Tx) error {
		n, err := f.node(tx)
		if err != nil {
			return err
		}
		switch {
		case f.writable() && n.isDir():
			return syscall.EISDIR
		case n.kind() != kindFile && n.kind() != kindDir:
			return syscall.ENXIO // a fifo, socket or device has no other end here
		}
		f.ino, f.kind = n.ino, n.kind()
		f.info = newInfo(f.name, n)
		f.info.name = place{ino: n.ino}.name(tx, f.name)
		f.reader = st.cache.NewReader(n.content)
		pin := chunk.Pin{}
		switch {
		case f.writable():
			pin = chunk.Pin{Kind: chunk.PinInode, Branch: f.fsys.at.Branch, ID: int64(n.ino)}
		case n.content.Manifest != 0:
			pin = chunk.Pin{Kind: chunk.PinManifest, ID: n.content.Manifest}
		case n.content.Blob != 0:
			pin = chunk.Pin{Kind: chunk.PinBlob, ID: n.content.Blob}
		}
		st.mu.Lock()
		defer st.mu.Unlock()
		st.files[f] = pin
		return nil
	})
}

// node returns the file's inode as it is now.
func (f *File) node(tx *Tx) (*inode, error) {
	if f.ino == 0 {
		_, n, err := tx.find(f.name, true)
		return n, err
	}
	n, err := tx.inode(f.ino)
	if err == nil && n == nil {
		err = syscall.ESTALE
	}
	return n, err
}

// Name returns the name that the file was opened by.
func (f *File) Name() string { return f.name }

// Stat describes the file: one opened read-only as it was then, else as it is now with what was written.
func (f *File) Stat() (fs.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check("stat", true); err != nil {
		return nil, err
	}
	if !f.writable() {
		return f.info, nil
	}
	var info *Info
	err := f.fsys.look(f.ctx, func(tx *Tx) error {
		n, err := f.node(tx)
		if err != nil {
			return err
		}
		info = newInfo(f.info.name, n)
		info.n.content.Size = max(info.n.content.Size, f.wrote.end)
		return nil
	})
	if err != nil {
		return nil, pathErr("stat", f.name, err)
	}
	return info, nil
}

// check refuses a call on a closed file with [fs.ErrClosed], and one that the file was not opened for with EBADF.
func (f *File) check(op string, allowed bool) error {
	switch {
	case f.closed:
		return pathErr(op, f.name, fs.ErrClosed)
	case !allowed:
		return pathErr(op, f.name, syscall.EBADF)
	}
	return nil
}

// Seek sets where the next Read or Write begins. A directory can only be rewound.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check("seek", true); err != nil {
		return 0, err
	}
	base := int64(0)
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		base = f.off
	case io.SeekEnd:
		size, err := f.size()
		if err != nil {
			return 0, pathErr("seek", f.name, err)
		}
		base = size
	default:
		return 0, pathErr("seek", f.name, syscall.EINVAL)
	}
	if base+offset < 0 || f.kind == kindDir && base+offset != 0 {
		return 0, pathErr("seek", f.name, syscall.EINVAL)
	}
	f.off, f.after = base+offset, ""
	return f.off, nil
}

func (f *File) size() (size int64, err error) {
	if !f.writable() {
		return f.info.Size(), nil
	}
	err = f.fsys.View(f.ctx, func(tx *Tx) error {
		n, err := f.node(tx)
		if err == nil {
			size = max(n.content.Size, f.wrote.end)
		}
		return err
	})
	return size, err
}

// Close commits what was written and ends the File. A second Close is [fs.ErrClosed].
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check("close", true); err != nil {
		return err
	}
	err := f.commit()
	f.closed = true
	f.reader.Release()
	f.wrote = overlay{}
	st := f.fsys.store
	st.mu.Lock()
	delete(st.files, f)
	st.mu.Unlock()
	st.lease.Drop()
	return err
}
