package vfs

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/hold"
	"vfsdb/journal"
)

// A File is an open file or directory. It is safe for concurrent use.
//
// It is live, as an open file is on POSIX. Files of one open store that have the same inode open see each other's
// writes at once, by whatever names they were opened: they share what is not committed yet. What another store has
// committed, in this process or another, is seen by the next call. Each call is of one moment; two calls may be of two.
// Content that must be whole however long it is read is that of [FS.OpenFrozen], [FS.ReadFile], [FS.View], of a
// snapshot, or of a file of an [IOFS].
//
// What is written is held in memory, at most 8 MiB of it for each inode, and is committed by Sync, by the Close of any
// File that was opened for writing, and by the write that finds no room. One commit takes all that was written to the
// inode so far, by whichever File. One that fails keeps it for the next; only what the last File of an inode cannot
// commit when it is closed is lost, and its Close says so. A write of up to 4 MiB is seen whole or not at all, a longer
// one may be seen in parts.
//
// Verbs that take a path read what is committed, and their preconditions compare that. One that gives a file another
// content commits, in the same step, what was written to it before, so that of two writes the later one wins. So does
// [Tx.Restore].
//
// A file whose last name is removed lives on until it is closed. In a store opened with [Options].ReadOnly, or while
// the disk is full, that is not so: such a store cannot tell a collector what it has open, and what was removed and
// collected meanwhile is ESTALE, or [ErrCorrupt] if it was opened frozen. A branch that is deleted is ESTALE too.
type File struct {
	ctx    context.Context
	fsys   *FS
	name   string
	flag   int
	ino    Ino
	kind   uint8
	frozen bool       // it shows the content of its opening
	shared *openInode // of a regular file that is not frozen

	writing sync.RWMutex // held to write by Close, and else by what may commit; taken before the others

	position sync.Mutex // guards off and after; taken before mu
	off      int64      // of Read, Write and Seek
	after    string     // the last name that ReadDir returned

	mu     sync.Mutex
	closed bool
	info   *Info         // as it was opened
	reader *chunk.Reader // of what was committed at the last read
	era    *era          // in which that was so; nil if that is not known
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
	return fsys.openFile(&File{ctx: ctx, fsys: fsys, name: name, flag: flag, frozen: fsys.Frozen()}, perm)
}

// OpenFrozen opens a file or directory for reading, as Open does, but shows what is committed of the content now,
// whole, however long it is read and whatever happens to the file meanwhile. Stat describes the file as it is now, too.
func (fsys *FS) OpenFrozen(ctx context.Context, name string) (*File, error) {
	return fsys.openFile(&File{ctx: ctx, fsys: fsys, name: name, frozen: true}, 0)
}

func (fsys *FS) openFile(f *File, perm fs.FileMode) (*File, error) {
	if err := f.open(perm); err != nil {
		return nil, pathErr("open", f.name, err)
	}
	return f, nil
}

func (f *File) open(perm fs.FileMode) error {
	if f.flag&^knownFlags != 0 {
		return syscall.EINVAL
	}
	if f.writable() && (f.fsys.Frozen() || f.fsys.store.db.ReadOnly()) {
		return syscall.EROFS
	}
	// The lease comes first, and nothing is published until the file is registered: from then on a collector asks us
	// before it takes what only we still see.
	st := f.fsys.store
	if err := st.lease.Hold(f.ctx); err != nil {
		return err
	}
	st.opening.RLock()
	defer st.opening.RUnlock()
	if err := f.enter(perm); err != nil {
		st.lease.Drop()
		return err
	}
	return nil
}

// enter makes the file if the flags say so, and registers what it needs kept.
func (f *File) enter(perm fs.FileMode) error {
	if f.flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		if err := f.fsys.Update(f.ctx, func(tx *Tx) error { return f.make(tx, perm) }); err != nil {
			return err
		}
	}
	n, err := f.find()
	if err != nil {
		return err
	}
	f.register(n)
	return nil
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
		n := tx.newNode(modeFile | unixPerm(perm))
		sum, err := tx.sumOf(n)
		if err != nil {
			return err
		}
		if err := tx.create(p.entry(), n, sum); err != nil {
			return err
		}
		f.ino = n.ino
		return nil
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
	if err := tx.fold(n); err != nil {
		return err
	}
	return tx.rewrite(p.entry(), journal.OpTruncate, chunk.Content{})
}

// find finds the file, and refuses what cannot be opened.
func (f *File) find() (n inode, err error) {
	err = f.fsys.look(f.ctx, func(tx *Tx) error {
		found, err := f.node(tx)
		if err != nil {
			return err
		}
		switch {
		case f.writable() && found.isDir():
			return syscall.EISDIR
		case found.kind() != kindFile && found.kind() != kindDir:
			return syscall.ENXIO // a fifo, socket or device has no other end here
		}
		n = *found
		f.info = newInfo(place{ino: n.ino}.name(tx, f.name), found)
		f.show(tx.era, n.content)
		return nil
	})
	f.ino, f.kind = n.ino, n.kind()
	return n, err
}

// register notes what the file needs kept: the inode, or where the file is frozen its content.
func (f *File) register(n inode) {
	st := f.fsys.store
	pin := hold.Pin{}
	switch {
	case !f.frozen:
		pin = hold.Pin{Kind: hold.Inode, Branch: f.fsys.at.Branch, ID: int64(n.ino)}
	case n.content.Manifest != 0:
		pin = hold.Pin{Kind: hold.Manifest, ID: n.content.Manifest}
	case n.content.Blob != 0:
		pin = hold.Pin{Kind: hold.Blob, ID: n.content.Blob}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.files[f] = pin
	if !f.frozen && f.kind == kindFile {
		f.shared = st.share(branchIno{f.fsys.at.Branch, n.ino})
	}
}

func (f *File) unregister() {
	st := f.fsys.store
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.files, f)
	if f.shared != nil {
		st.unshare(f.shared)
	}
}

// show makes c what is read. It is what was committed in the era e.
func (f *File) show(e *era, c chunk.Content) {
	f.era = e
	if f.reader == nil || f.reader.Content() != c {
		if f.reader != nil {
			f.reader.Release()
		}
		f.reader = f.fsys.store.cache.NewReader(c)
	}
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

// Stat describes the file as it is now, with the size that uncommitted writes give it; a frozen one as it was opened.
func (f *File) Stat() (fs.FileInfo, error) {
	n, err := f.latest("stat")
	if err != nil {
		return nil, err
	}
	return newInfo(f.info.name, &n), nil
}

// latest returns the file's inode as it is now, uncommitted writes included.
func (f *File) latest(op string) (n inode, err error) {
	switch err := f.check(op, true); {
	case err != nil:
		return n, err
	case f.frozen:
		return f.info.n, nil
	}
	for current := false; !current && err == nil; {
		turn := f.shared.now()
		err = f.fsys.look(f.ctx, func(tx *Tx) error {
			node, err := f.node(tx)
			if err != nil {
				return err
			}
			n = *node
			var c cover
			c, current = f.shared.over(n.content, turn, 0, 0)
			n.content.Size = c.size
			return nil
		})
	}
	return n, pathErr(op, f.name, err)
}

// check refuses a call on a closed file with [fs.ErrClosed], and one that the file was not opened for with EBADF.
func (f *File) check(op string, allowed bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.checkLocked(op, allowed)
}

func (f *File) checkLocked(op string, allowed bool) error {
	switch {
	case f.closed || f.fsys.store.closed.Load():
		return pathErr(op, f.name, fs.ErrClosed)
	case !allowed:
		return pathErr(op, f.name, syscall.EBADF)
	}
	return nil
}

// Seek sets where the next Read or Write begins. A directory can only be rewound.
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
		n, err := f.latest("seek")
		if err != nil {
			return 0, err
		}
		base = n.content.Size
	default:
		return 0, pathErr("seek", f.name, syscall.EINVAL)
	}
	if base+offset < 0 || f.kind == kindDir && base+offset != 0 {
		return 0, pathErr("seek", f.name, syscall.EINVAL)
	}
	f.off, f.after = base+offset, ""
	return f.off, nil
}

// Close ends the File. If it was opened for writing, or is the last of its inode, what was written to that is committed
// first. A second Close is [fs.ErrClosed].
func (f *File) Close() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.end(); err != nil {
		return err
	}
	st := f.fsys.store
	var err error
	if s := f.shared; s != nil && s.dirty.Load() && (f.writable() || st.isLast(s)) {
		err = f.commit()
	}
	f.unregister()
	st.lease.Drop()
	return err
}

// end refuses later calls.
func (f *File) end() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return pathErr("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	f.reader.Release()
	return nil
}
