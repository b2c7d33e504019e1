package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"vfsdb/mount"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// overlayEngine mounts the kernel's overlayfs over a frozen moment.
type overlayEngine struct{}

func (overlayEngine) via() Via { return Overlay }

// An overlaid is a session whose command runs in namespaces of its own. Their first process is ours too, the step inner. It
// mounts the moment through FUSE, with a device that this process serves, and overlayfs above it. Then it starts the command
// and waits for its end. The namespaces end with it, and it ends with this process, so no mount and no process is ever left.
//
// The kernel takes its time to free what it knows of the tree, each name and each page. It does that when the last user is
// gone, and this process has the root open. So that does not delay the result.
type overlaid struct {
	t      *task
	dir    *runDir
	at     *treeDir
	root   string          // its path, which shows the tree to the command
	before *upperInode     // the root of the upper layer, before the command
	prefix string          // of the kernel's attributes
	as     *mount.Owner    // of all files; nil for root
	inner  *inner          // nil before it was started
	tree   *os.File        // the root of the overlay
	served <-chan struct{} // closed when the mount of the moment has ended
	upper  *upper          // once it was read
}

func (overlayEngine) open(ctx context.Context, t *task) (session, error) {
	s := &overlaid{t: t, prefix: rootPrefix}
	if !privileged() {
		s.prefix, s.as = userPrefix, &mount.Owner{Uid: uint32(os.Geteuid()), Gid: uint32(os.Getegid())}
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// privileged reports whether this process has the rights of root, and not only in a namespace of users.
func privileged() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	return os.Geteuid() == 0 && err == nil && slices.Equal(strings.Fields(string(text)), []string{"0", "0", "4294967295"})
}

func (s *overlaid) open(ctx context.Context) (err error) {
	if s.at, err = newTreeDir(s.t.fsys); err != nil {
		return err
	}
	s.root = s.at.path
	if s.dir, err = newOverlayDir(s.prefix); err != nil {
		return err
	}
	if s.inner, err = startInner(s.t, s.input()); err != nil {
		return err
	}

	// The kernel shows the attributes of the upper layer's root as those of the tree's.
	if err := s.likeLower(ctx); err != nil {
		return err
	}
	if s.t.o.Base == "" {
		device, err := s.inner.device()
		if err != nil {
			return err
		}
		if s.served, err = mount.ServeDevice(ctx, s.t.moment, device, s.as); err != nil {
			return err
		}
	}
	if err := s.inner.ready(); err != nil {
		return err
	}
	s.tree, err = s.inner.receive("the root of the tree")
	return err
}

// input is what the inner process is to mount.
func (s *overlaid) input() innerInput {
	return innerInput{Dir: s.dir.path, Tree: s.root, Base: s.t.o.Base, User: s.as != nil, NetworkNone: s.t.o.NetworkNone}
}

// likeLower gives the root of the upper layer the attributes of the lower one's.
func (s *overlaid) likeLower(ctx context.Context) error {
	dir := filepath.Join(s.dir.path, upperName)
	var like upperInode
	if s.t.o.Base != "" {
		var st unix.Stat_t
		if err := unix.Stat(s.t.o.Base, &st); err != nil {
			return &os.PathError{Op: "run over", Path: s.t.o.Base, Err: err}
		}
		like = *newUpperInode(&st)
	} else {
		err := (*tree.Tree)(s.t.moment).View(ctx, func(tx *tree.Tx) error {
			n, err := tx.Node(tx.Root())
			if err == nil {
				like = upperInode{mode: n.Mode, uid: n.Uid, gid: n.Gid, mtime: n.Mtime}
			}
			return err
		})
		if err != nil {
			return err
		}
	}

	if s.as == nil {
		if err := unix.Chown(dir, int(like.uid), int(like.gid)); err != nil {
			return err
		}
	}
	if err := unix.Chmod(dir, like.mode&0o7777); err != nil {
		return err
	}
	times := []unix.Timespec{unix.NsecToTimespec(like.mtime), unix.NsecToTimespec(like.mtime)}
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, dir, times, 0); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return err
	}
	s.before = newUpperInode(&st)
	return nil
}

func (s *overlaid) run(ctx context.Context) (*outcome, error) {
	dir := filepath.Join(s.root, filepath.FromSlash(s.t.o.Dir))
	env, err := s.t.environ(dir)
	if err != nil {
		return nil, err
	}
	writable, err := s.t.writable(s.root)
	if err != nil {
		return nil, err
	}
	out, err := s.t.supervise(ctx, s.inner.cmd, func() error {
		return s.inner.command(innerCommand{Name: s.t.name, Args: s.t.args, Dir: dir, Env: env, Confine: s.t.o.Confine, Writable: writable})
	}, s.inner.await)
	if err == nil {
		out.state, out.code, out.signal = nil, s.inner.code, s.inner.signal
	}
	return out, err
}

// bring puts what the upper layer has into the branch. Contents are stored before the transaction, once.
func (s *overlaid) bring(ctx context.Context, to *vfs.FS, check func(*vfs.Tx) error) (err error) {
	if s.upper == nil {
		if s.upper, err = s.read(ctx); err != nil {
			return err
		}
	}
	switch {
	case s.upper.empty():
		return nil
	case s.t.o.Base != "":
		return s.bringBase(ctx, to, check)
	}
	return to.Update(ctx, func(tx *vfs.Tx) error {
		if err := check(tx); err != nil {
			return err
		}
		return s.upper.put(ctx, (*tree.Tx)(tx))
	})
}

// read reads the upper layer.
func (s *overlaid) read(ctx context.Context) (*upper, error) {
	u, err := readUpper(ctx, (*tree.Tree)(s.t.fsys), filepath.Join(s.dir.path, upperName), s.prefix, s.before)
	if err != nil {
		return nil, fmt.Errorf("read what the command changed: %w", err)
	}
	if s.as != nil {
		u.owner = &owner{s.as.Uid, s.as.Gid}
	}
	return u, nil
}

func (s *overlaid) kept() string {
	dir := s.dir
	s.dir = nil
	return filepath.Join(dir.keep(), upperName)
}

func (s *overlaid) close() (err error) {
	if s.inner != nil {
		s.inner.end()
	}
	if s.tree != nil && !s.inner.ended {
		err = s.tree.Close() // the mount of the moment ends with its last user
		s.tree = nil
	}
	if s.served != nil {
		<-s.served
	}
	if s.upper != nil {
		err = errors.Join(err, s.upper.close())
	}
	s.t.removed = beside(s.free)
	if s.at != nil {
		err = errors.Join(err, s.at.close())
	}
	return err
}

// free lets the kernel free what it knows of the tree, and removes the upper layer.
func (s *overlaid) free() (err error) {
	if s.tree != nil {
		err = s.tree.Close()
	}
	if s.dir != nil {
		err = errors.Join(err, s.dir.remove())
	}
	return err
}
