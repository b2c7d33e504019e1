package vfs

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/tree"
)

// A File is an open file or directory. It is safe for concurrent use.
//
// It is live, as on POSIX. Files of one open store that have the same inode open share their uncommitted writes,
// whatever names they were opened by. The next call sees a commit of another store. Each call is one moment; for a
// longer one use [FS.OpenFrozen], [FS.View] or a snapshot.
//
// Writes are held in memory, at most 8 MiB for each inode. Sync commits them, as does the Close of any File opened for
// writing, and a write that finds no room. One commit takes all that any File has written to the inode. If it fails,
// the writes stay for the next one. They are lost only if the last File is closed and cannot commit, and Close returns
// the error. A write of up to 4 MiB is seen whole or not at all.
//
// Verbs and their preconditions take committed content. A verb or a restore that gives a file another content first
// commits, in the same step, the earlier writes of open Files: of two writes the later one wins.
//
// A file whose last name is removed lives on until it is closed, unless the store is read-only or the disk full: such
// a store cannot announce its open files to a collector. A file that was collected is ESTALE, or [ErrCorrupt] if it
// was opened frozen. A File of a deleted branch is ESTALE too.
type File struct {
	handle *tree.Handle
	fsys   *FS
	ctx    context.Context
	name   string // that it was opened by
	base   string // its last segment
	flag   int

	closed atomic.Bool // Close was called

	position sync.Mutex // guards off and after
	off      int64      // of Read, Write and Seek
	after    string     // the last name that ReadDir returned
}

// Open opens a file or directory for reading.
func (fsys *FS) Open(ctx context.Context, name string) (*File, error) {
	return fsys.OpenFile(ctx, name, os.O_RDONLY, 0)
}

// Create creates or empties a file (0o666), open for reading and writing.
func (fsys *FS) Create(ctx context.Context, name string) (*File, error) {
	return fsys.OpenFile(ctx, name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

const knownFlags = os.O_RDONLY | os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREATE | os.O_EXCL | os.O_TRUNC | os.O_SYNC

// OpenFile opens a file with the flags of [os.OpenFile]; O_SYNC commits each write. The values and the end of ctx go
// with every later call of the File.
func (fsys *FS) OpenFile(ctx context.Context, name string, flag int, perm fs.FileMode) (*File, error) {
	if flag&^knownFlags != 0 {
		return nil, pathErr("open", name, syscall.EINVAL)
	}
	f := &File{fsys: fsys, ctx: ctx, name: name, flag: flag}
	return f.open(tree.HandleMode{Write: f.writable(), Sync: flag&os.O_SYNC != 0}, perm)
}

// OpenFrozen opens a file or directory for reading. The File shows the content that is committed now, whatever happens to
// the file later.
func (fsys *FS) OpenFrozen(ctx context.Context, name string) (*File, error) {
	f := &File{fsys: fsys, ctx: ctx, name: name}
	return f.open(tree.HandleMode{Frozen: true}, 0)
}

// open makes the file if the flags say so, and opens it.
func (f *File) open(mode tree.HandleMode, perm fs.FileMode) (*File, error) {
	var made place // or emptied
	var prepare func() error
	if f.flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		prepare = func() error {
			return f.fsys.Update(f.ctx, func(tx *Tx) (err error) {
				made, err = f.make(tx, perm)
				return err
			})
		}
	}

	handle, err := f.fsys.tree().Open(f.ctx, mode, prepare, func(below *tree.Tx) (name node.Name, n *node.Node, err error) {
		tx, at := (*Tx)(below), made
		if at.ino == 0 {
			at, n, err = tx.find(f.name, true)
		} else if n, err = tx.tree().Node(at.ino); err == nil && n == nil {
			err = syscall.ESTALE
		}
		f.base = place{ino: at.ino}.name(tx, f.name)
		return node.Name{Dir: at.dir, Base: at.base}, n, err
	})
	if err != nil {
		return nil, pathErr("open", f.name, err)
	}
	f.handle = handle
	return f, nil
}

func (f *File) writable() bool { return f.flag&(os.O_WRONLY|os.O_RDWR) != 0 }
func (f *File) readable() bool { return f.flag&os.O_WRONLY == 0 }

// make creates or empties the file, as the flags say, and returns where it is.
func (f *File) make(tx *Tx, perm fs.FileMode) (place, error) {
	exclusive := f.flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL
	p, err := tx.walk(f.name, !exclusive)
	if err != nil {
		return p, err
	}
	switch {
	case p.ino == 0 && f.flag&os.O_CREATE == 0:
		return p, syscall.ENOENT
	case p.ino == 0:
		p.ino, err = tx.createEmpty(p, perm)
		return p, err
	case exclusive:
		return p, syscall.EEXIST
	case p.kind == node.KindDir:
		return p, syscall.EISDIR
	}
	if f.flag&os.O_TRUNC == 0 || p.kind != node.KindFile {
		return p, nil
	}

	n, err := tx.tree().Node(p.ino)
	if err != nil || n == nil {
		return p, err
	}
	if err := tx.tree().Fold(n); err != nil {
		return p, err
	}
	return p, tx.tree().Rewrite(p.entry(), OpTruncate, chunk.Content{})
}

// createEmpty makes an empty file.
func (tx *Tx) createEmpty(p place, perm fs.FileMode) (Ino, error) {
	n := tx.tree().NewNode(node.ModeFile | node.UnixPerm(perm))
	sum, err := tx.tree().SumOf(n)
	if err != nil {
		return 0, err
	}
	err = tx.tree().Create(p.entry(), n, sum)
	return n.Ino, err
}

// Name returns the name that the file was opened by.
func (f *File) Name() string { return f.name }

// Stat describes the file, uncommitted writes included; a frozen one as it was opened.
func (f *File) Stat() (fs.FileInfo, error) {
	n, err := f.handle.Node()
	if err != nil {
		return nil, f.err("stat", err)
	}
	return node.NewInfo(f.base, &n), nil
}

// Sum returns the sum of the committed content, see [Tx.Sum].
func (f *File) Sum() (Sum, error) {
	sum, err := f.handle.Sum()
	return sum, f.err("sum", err)
}

// An Extent is a stored range of a file: Len bytes from the offset Off.
type Extent = chunk.Extent

// Extents returns the stored ranges of a frozen file in order. The rest is zeros that take no space. A live file is
// EBADF: its ranges may change at once.
func (f *File) Extents() ([]Extent, error) {
	list, err := f.handle.Extents()
	return list, f.err("extents", err)
}

// err names the call and the file of an error, once.
func (f *File) err(op string, err error) error { return pathErr(op, f.name, err) }

// check refuses a call on a closed file with [fs.ErrClosed], and one that the file was not opened for with EBADF.
func (f *File) check(op string, allowed bool) error {
	err := f.handle.Check()
	if err == nil && !allowed {
		err = syscall.EBADF
	}
	return f.err(op, err)
}

// Seek sets where the next Read or Write begins. A directory can only rewind.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	f.position.Lock()
	defer f.position.Unlock()
	if err := f.check("seek", true); err != nil {
		return 0, err
	}

	base := int64(0)
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		base = f.off
	case io.SeekEnd:
		n, err := f.handle.Node()
		if err != nil {
			return 0, f.err("seek", err)
		}
		base = n.Content.Size
	default:
		return 0, f.err("seek", syscall.EINVAL)
	}
	if base+offset < 0 || f.handle.IsDir() && base+offset != 0 {
		return 0, f.err("seek", syscall.EINVAL)
	}
	f.off, f.after = base+offset, ""
	return f.off, nil
}

// Close ends the File. If it was opened for writing, or is the last of its inode, it first commits. A second Close is
// [fs.ErrClosed].
func (f *File) Close() error {
	op := "write" // the commit is what can fail, also because the store is closed
	if f.closed.Swap(true) {
		op = "close"
	}
	return f.err(op, f.handle.Close())
}
