package run

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"vfsdb/node"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// baseSuffix makes of a branch's name that of the snapshot of its base.
const baseSuffix = "-base"

// bringBase puts the result of a run over a directory of the host into a branch, which is empty. First come those files of the
// directory that the command changed, moved or removed, as they are there, and a snapshot of them; then what the command made
// of them. All is one commit. So the difference from the snapshot is what the command did.
func (s *overlaid) bringBase(ctx context.Context, to *vfs.FS, check func(*vfs.Tx) error) error {
	base, err := readBase(ctx, (*tree.Tree)(s.t.fsys), s.t.o.Base, s.prefix, s.upper.root)
	if err != nil {
		return fmt.Errorf("read the files of %s that changed: %w", s.t.o.Base, err)
	}
	defer base.close()

	var named snapshot.Info
	err = to.Update(ctx, func(tx *vfs.Tx) (err error) {
		if err := check(tx); err != nil {
			return err
		}
		if err := base.put(ctx, (*tree.Tx)(tx)); err != nil {
			return err
		}
		if named, err = snapshot.CreateIn(tx, to.Head()+baseSuffix, "before a run over "+s.t.o.Base); err != nil {
			return err
		}
		return s.upper.put(ctx, (*tree.Tx)(tx))
	})
	if err != nil {
		return err
	}
	before, err := snapshot.Open(ctx, to, named.Name)
	if err == nil {
		s.t.moment = before.FS // what changed is counted from here
	}
	return err
}

// readBase reads those files of a directory of the host that an upper layer over it hides. The directory stays as it is.
func readBase(ctx context.Context, t *tree.Tree, dir, prefix string, over *upperInode) (*upper, error) {
	return readLayer(ctx, t, prefix, func(ctx context.Context, r *upperReader) (*upperInode, error) {
		r.base = true
		return r.hidden(ctx, unix.AT_FDCWD, dir, ".", over)
	})
}

// hidden reads a directory, as far as the upper layer hides what is in it.
func (r *upperReader) hidden(ctx context.Context, in int, name, path string, over *upperInode) (*upperInode, error) {
	fd, err := unix.Openat(in, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &os.PathError{Op: "stat", Path: name, Err: err}
	}
	inode := newUpperInode(&st)
	inode.dir = new(upperDir)
	if _, inode.xattrs, err = r.attributes(fd); err != nil {
		return nil, err
	}

	for _, e := range over.dir.entries {
		below, err := r.hiddenEntry(ctx, fd, e, node.JoinPath(path, e.name))
		if errors.Is(err, unix.ENOENT) {
			continue // the command has made it
		}
		if err != nil {
			return nil, err
		}
		inode.dir.entries = append(inode.dir.entries, upperEntry{e.name, below})
	}
	return inode, nil
}

// hiddenEntry reads what an entry of the upper layer hides: only a part of a directory that it adds to, else all.
func (r *upperReader) hiddenEntry(ctx context.Context, in int, e upperEntry, path string) (*upperInode, error) {
	adds := e.inode != nil && e.inode.dir != nil && !e.inode.dir.opaque && e.inode.dir.redirect == ""
	if adds {
		var st unix.Stat_t
		if err := unix.Fstatat(in, e.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return nil, err
		}
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			return r.hidden(ctx, in, e.name, path, e.inode)
		}
	}
	return r.entry(ctx, in, e.name, path)
}
