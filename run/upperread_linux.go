package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"vfsdb/node"
	"vfsdb/tree"
)

// An upperReader reads the upper layer in a directory of the host, while workers store the contents that it finds.
type upperReader struct {
	*contents
	prefix string // of the kernel's own attributes
	base   bool   // it reads a directory that is no layer: there are no whiteouts, and nothing there is changed
	holds  bool   // the layer holds all attributes of its files, those of the lower layer included
	files  chan upperFile
	names  map[uint64]*upperInode // with several names, by the host's inode
}

// An upperFile is an open regular file whose content is to be stored.
type upperFile struct {
	*os.File
	inode *upperInode
	size  int64
	path  string
}

// readUpper reads the upper layer in dir and stores its contents, out of sight, for a tree. prefix is that of the kernel's
// own attributes. before is how the directory was when the command began.
func readUpper(ctx context.Context, t *tree.Tree, dir, prefix string, before *upperInode) (*upper, error) {
	u, err := readLayer(ctx, t, prefix, func(ctx context.Context, r *upperReader) (*upperInode, error) {
		r.holds = holdsXattrs(dir)
		return r.top(ctx, dir)
	})
	if err != nil {
		return nil, err
	}
	is := u.root
	is.dir.same = is.mode == before.mode && is.uid == before.uid && is.gid == before.gid && is.mtime == before.mtime && is.xattrs == ""
	return u, nil
}

// readLayer runs a function that reads a layer, while workers store the contents that it finds.
func readLayer(ctx context.Context, t *tree.Tree, prefix string, read func(context.Context, *upperReader) (*upperInode, error)) (*upper, error) {
	u := new(upper)
	r := upperReader{contents: newContents(ctx, t), prefix: prefix, files: make(chan upperFile, 16), names: make(map[uint64]*upperInode)}
	g, both := errgroup.WithContext(ctx)
	for range min(4, runtime.GOMAXPROCS(0)) {
		g.Go(func() error { return r.work(both) })
	}
	g.Go(func() (err error) {
		defer close(r.files)
		u.root, err = read(both, &r)
		return err
	})

	err := g.Wait()
	if err == nil {
		err = r.flush()
	}
	u.batch = r.batch
	if err != nil {
		return nil, errors.Join(err, u.close())
	}
	return u, nil
}

// work stores the contents of files, until there are no more.
func (r *upperReader) work(ctx context.Context) error {
	var failed error
	for f := range r.files {
		if failed == nil {
			if failed = r.store(ctx, f); failed != nil {
				failed = fmt.Errorf("%q: %w", f.path, failed)
			}
		}
		_ = f.Close()
	}
	return failed
}

// top reads the directory that is the root of the layer.
func (r *upperReader) top(ctx context.Context, dir string) (*upperInode, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return nil, &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	inode := newUpperInode(&st)
	return inode, r.dir(ctx, os.NewFile(uintptr(fd), dir), inode, ".")
}

func newUpperInode(st *unix.Stat_t) *upperInode {
	return &upperInode{mode: st.Mode, uid: st.Uid, gid: st.Gid, mtime: node.Nanos(timeOf(st.Mtim)), rdev: int64(st.Rdev)}
}

// dir reads a directory, which has a path inside the layer, and closes it.
func (r *upperReader) dir(ctx context.Context, f *os.File, inode *upperInode, path string) error {
	defer f.Close()
	fd := int(f.Fd())
	kernel, own, err := r.attributes(fd)
	if err != nil {
		return fmt.Errorf("attributes of %q: %w", path, err)
	}
	inode.xattrs, inode.dir = own, &upperDir{opaque: kernel["opaque"] == "y" && !r.base}
	inode.exact = r.holds && path != "." // the kernel copies nothing to the top
	if path != "." && !r.base {
		inode.dir.redirect = kernel["redirect"]
	}

	list, err := f.ReadDir(-1)
	if err != nil {
		return fmt.Errorf("list %q: %w", path, err)
	}
	slices.SortFunc(list, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	inode.dir.entries = make([]upperEntry, 0, len(list))
	for _, d := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		below, err := r.entry(ctx, fd, d.Name(), node.JoinPath(path, d.Name()))
		if err != nil {
			return err
		}
		inode.dir.entries = append(inode.dir.entries, upperEntry{d.Name(), below})
	}
	return nil
}

// entry reads what a name in a directory shows: nil for a whiteout.
func (r *upperReader) entry(ctx context.Context, dir int, name, path string) (*upperInode, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, fmt.Errorf("stat %q: %w", path, err)
	}
	if !r.base && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0 {
		return nil, nil
	}
	isDir := st.Mode&unix.S_IFMT == unix.S_IFDIR
	if !isDir && st.Nlink > 1 {
		if known := r.names[st.Ino]; known != nil {
			return known, nil
		}
	}

	inode := newUpperInode(&st)
	if !isDir && st.Nlink > 1 {
		r.names[st.Ino] = inode
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		f, err := r.open(dir, name, unix.O_DIRECTORY, st.Mode)
		if r.base && err == unix.EACCES {
			inode.dir = new(upperDir)
			return inode, nil // the command could not read it either
		}
		if err != nil {
			return nil, fmt.Errorf("open %q: %w", path, err)
		}
		return inode, r.dir(ctx, f, inode, path)
	case unix.S_IFREG:
		return r.regular(ctx, dir, name, path, inode, &st)
	case unix.S_IFLNK:
		target := make([]byte, node.MaxPath+1)
		n, err := unix.Readlinkat(dir, name, target)
		if err != nil {
			return nil, fmt.Errorf("readlink %q: %w", path, err)
		}
		inode.target = string(target[:n])
	}
	return inode, nil
}

// regular gives a regular file to the workers.
func (r *upperReader) regular(ctx context.Context, dir int, name, path string, inode *upperInode, st *unix.Stat_t) (*upperInode, error) {
	f, err := r.open(dir, name, 0, st.Mode)
	if r.base && err == unix.EACCES {
		inode.data = drafted{r.tree.Prepare(nil)}
		return inode, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", path, err)
	}
	kernel, own, err := r.attributes(int(f.Fd()))
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("attributes of %q: %w", path, err)
	}
	if _, whiteout := kernel["whiteout"]; whiteout && st.Size == 0 && !r.base {
		return nil, f.Close()
	}
	inode.xattrs, inode.exact = own, r.holds
	inode.origin = originOf(kernel["origin"])

	select {
	case r.files <- upperFile{f, inode, st.Size, path}:
		return inode, nil
	case <-ctx.Done():
		return nil, cmp.Or(ctx.Err(), f.Close())
	}
}

// open opens a file of the layer to read it. A file that refuses even its owner is opened all the same.
func (r *upperReader) open(dir int, name string, flags int, mode uint32) (*os.File, error) {
	flags |= unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOATIME
	fd, err := unix.Openat(dir, name, flags, 0)
	if err == unix.EPERM { // it is another user's, who alone may leave its atime
		flags &^= unix.O_NOATIME
		fd, err = unix.Openat(dir, name, flags, 0)
	}
	if err == unix.EACCES && !r.base {
		if err := unix.Fchmodat(dir, name, mode&node.PermBits|0o700, 0); err != nil {
			return nil, err
		}
		fd, err = unix.Openat(dir, name, flags, 0)
		if mode&unix.S_IFMT != unix.S_IFDIR {
			err = cmp.Or(err, unix.Fchmodat(dir, name, mode&node.PermBits, 0))
		}
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// errUpper is the error of a layer that no kernel writes.
var errUpper = fmt.Errorf("the upper layer is damaged: %w", syscall.EIO)
