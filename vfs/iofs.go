package vfs

import (
	"context"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/node"
)

// An ioFS is a tree as an [fs.FS].
type ioFS struct {
	ctx  context.Context
	fsys *FS
	tx   *Tx // nil: each call is a moment of its own
}

var (
	_ fs.ReadDirFS  = (*ioFS)(nil)
	_ fs.ReadFileFS = (*ioFS)(nil)
	_ fs.StatFS     = (*ioFS)(nil)
	_ fs.GlobFS     = (*ioFS)(nil)
	_ fs.SubFS      = (*ioFS)(nil)
	_ fs.ReadLinkFS = (*ioFS)(nil)
)

// IOFS returns the tree as an [fs.FS], for [http.FileServerFS], [os.CopyFS], [fs.WalkDir] and their kin. It implements
// [fs.ReadDirFS], [fs.ReadFileFS], [fs.StatFS], [fs.GlobFS], [fs.SubFS] and [fs.ReadLinkFS]. Each call is a moment of its
// own, under ctx, and so is each file that it opens, see [FS.OpenFrozen]. Names must be valid in the sense of
// [fs.ValidPath]. It is safe for concurrent use.
func (fsys *FS) IOFS(ctx context.Context) fs.FS { return &ioFS{ctx: ctx, fsys: fsys} }

// IOFS returns this one moment as an [fs.FS]. Only the goroutine of the transaction may use it and its files, and only
// until that ends.
func (tx *Tx) IOFS() fs.FS {
	return &ioFS{ctx: tx.tree().DB().Context(), fsys: (*FS)(tx.tree().Tree()), tx: tx}
}

// do runs one call: in its transaction, or in one of its own.
func (f *ioFS) do(op, name string, fn func(*Tx) error) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if f.tx != nil {
		return pathErr(op, name, fn(f.tx))
	}
	return f.fsys.view(f.ctx, op, name, fn)
}

// Open opens a file or directory for reading.
func (f *ioFS) Open(name string) (fs.File, error) {
	if f.tx == nil {
		if !fs.ValidPath(name) {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
		}
		file, err := f.fsys.OpenFrozen(f.ctx, name)
		if err != nil {
			return nil, err
		}
		file.base = path.Base(name)
		return file, nil
	}

	var file *txFile
	err := f.do("open", name, func(tx *Tx) error {
		_, n, err := tx.find(name, true)
		if err == nil {
			file = &txFile{tx: tx, node: n, info: node.NewInfo(path.Base(name), n)}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// ReadDir implements [fs.ReadDirFS].
func (f *ioFS) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = f.do("readdir", name, func(tx *Tx) (err error) {
		entries, err = tx.ReadDir(name)
		return err
	})
	if f.tx == nil {
		f.fsys.detach(f.ctx, entries)
	}
	return entries, err
}

// ReadFile implements [fs.ReadFileFS].
func (f *ioFS) ReadFile(name string) (data []byte, err error) {
	err = f.do("open", name, func(tx *Tx) (err error) {
		data, err = tx.ReadFile(name)
		return err
	})
	return data, err
}

// Stat implements [fs.StatFS].
func (f *ioFS) Stat(name string) (fs.FileInfo, error) { return f.stat("stat", name, true) }

// Lstat implements [fs.ReadLinkFS].
func (f *ioFS) Lstat(name string) (fs.FileInfo, error) { return f.stat("lstat", name, false) }

func (f *ioFS) stat(op, name string, follow bool) (fs.FileInfo, error) {
	var info *Info
	err := f.do(op, name, func(tx *Tx) error {
		_, n, err := tx.find(name, follow)
		if err == nil {
			info = node.NewInfo(path.Base(name), n)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return info, nil
}

// ReadLink implements [fs.ReadLinkFS].
func (f *ioFS) ReadLink(name string) (target string, err error) {
	err = f.do("readlink", name, func(tx *Tx) (err error) {
		target, err = tx.Readlink(name)
		return err
	})
	return target, err
}

// Glob implements [fs.GlobFS] with the patterns of [path.Match].
func (f *ioFS) Glob(pattern string) ([]string, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, err
	}
	names, err := fs.Glob(globless{f}, pattern)
	slices.Sort(names)
	return names, err
}

// globless hides the Glob method, so that [fs.Glob] does the work.
type globless struct{ *ioFS }

// Glob is not to be found here.
func (globless) Glob() {}

// Sub implements [fs.SubFS]: the tree below dir, which symlinks cannot leave.
func (f *ioFS) Sub(dir string) (fs.FS, error) {
	sub := &ioFS{ctx: f.ctx}
	err := f.do("sub", dir, func(tx *Tx) (err error) {
		if sub.fsys, err = tx.openRoot(dir); err != nil || f.tx == nil {
			return err
		}
		sub.tx = (*Tx)(tx.tree().Sub(sub.fsys.tree()))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return sub, nil
}

// A txFile is a file opened inside a transaction.
type txFile struct {
	tx     *Tx
	node   *node.Node
	info   *Info
	reader *chunk.Reader
	off    int64
	after  string
	shut   bool
}

func (f *txFile) check(op string) error {
	if f.shut {
		return &fs.PathError{Op: op, Path: f.info.Name(), Err: fs.ErrClosed}
	}
	return nil
}

func (f *txFile) Stat() (fs.FileInfo, error) { return f.info, f.check("stat") }

func (f *txFile) Close() error {
	err := f.check("close")
	if f.shut = true; f.reader != nil {
		f.reader.Release()
	}
	return err
}

func (f *txFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.off)
	f.off += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *txFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.check("read"); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.info.Name(), Err: syscall.EINVAL}
	}
	if err := f.node.CheckRegular(); err != nil {
		return 0, &fs.PathError{Op: "read", Path: f.info.Name(), Err: err}
	}
	if f.reader == nil {
		f.reader = f.tx.tree().NewReader(f.node.Content)
	}
	return f.reader.ReadAt(f.tx.tree().DB(), p, off)
}

func (f *txFile) Seek(offset int64, whence int) (int64, error) {
	if err := f.check("seek"); err != nil {
		return 0, err
	}
	switch whence {
	case io.SeekCurrent:
		offset += f.off
	case io.SeekEnd:
		offset += f.info.Size()
	}
	if offset < 0 || whence < io.SeekStart || whence > io.SeekEnd {
		return 0, &fs.PathError{Op: "seek", Path: f.info.Name(), Err: syscall.EINVAL}
	}
	f.off = offset
	return offset, nil
}

func (f *txFile) ReadDir(n int) ([]fs.DirEntry, error) {
	if err := f.check("readdir"); err != nil {
		return nil, err
	}
	if !f.node.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: f.info.Name(), Err: syscall.ENOTDIR}
	}

	limit := n
	if n <= 0 {
		limit = math.MaxInt
	}
	page, err := f.tx.tree().Page(f.node.Ino, f.after, limit)
	if err != nil {
		return nil, err
	}

	entries := make([]fs.DirEntry, len(page))
	for i, l := range page {
		entries[i] = f.tx.entry(l)
		f.after = l.Name
	}
	if n > 0 && len(entries) == 0 {
		return nil, io.EOF
	}
	return entries, nil
}
