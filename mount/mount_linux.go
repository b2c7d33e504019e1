package mount

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"vfsdb/mount/mountinfo"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A Mount is a tree that is shown as a directory of the host. It is safe for concurrent use.
type Mount struct {
	dir  string          // as the caller named it, for errors
	on   mountinfo.Mount // as the host lists it
	done chan struct{}

	ended error // why changes of a live mount were lost at its end; valid once it is done
}

// Frozen shows a tree as it is now in a directory of the host, until Unmount, or until the directory is unmounted by the
// means of the host. ctx bounds the mounting only. The store must stay open until Done.
//
// A directory that is missing is ENOENT, and one that has the store's own file in it EINVAL: the mount would hide the file
// from its store. A host that has no FUSE, or does not let this process mount, is [ErrNotAllowed].
func Frozen(ctx context.Context, fsys *vfs.FS, dir string) (*Mount, error) {
	m, err := mountFrozen(ctx, fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("mount %s: %w", dir, err)
	}
	return m, nil
}

func mountFrozen(ctx context.Context, fsys *vfs.FS, dir string) (*Mount, error) {
	if err := vacant(fsys, dir); err != nil {
		return nil, err
	}
	if err := allowed(); err != nil {
		return nil, err
	}
	held, release, err := (*tree.Tree)(fsys).Hold(ctx)
	if err != nil {
		return nil, err
	}

	shown := newFrozen(context.WithoutCancel(ctx), held)
	return serve(shown, dir, mountOptions(), func() error {
		shown.pushes.stop()
		release()
		return nil
	})
}

// All shows every branch and every snapshot of a store in a directory of the host, as branches/NAME and snapshots/NAME,
// read-only. A branch follows what is written, by any process: a change is seen within half a second, mostly at once.
// Branches and snapshots that are made or removed appear and go as quickly. A snapshot is as it is in Frozen, and is held
// while a program uses it. A tree whose name is . or .. is not shown. Otherwise All is as Frozen.
//
// Numbers of inodes are unique within the mount, and not those of the trees.
func All(ctx context.Context, fsys *vfs.FS, dir string) (*Mount, error) {
	m, err := mountAll(ctx, fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("mount %s: %w", dir, err)
	}
	return m, nil
}

func mountAll(ctx context.Context, fsys *vfs.FS, dir string) (*Mount, error) {
	if err := vacant(fsys, dir); err != nil {
		return nil, err
	}
	if err := allowed(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	shown := newAll(ctx, fsys)
	return serve(shown, dir, mountOptions(), func() error {
		cancel()
		shown.slots.stop()
		return nil
	})
}

// serve mounts a file system on a directory, and serves it until the mount ends. Then it calls end; it does that on an error
// too.
func serve(shown fuse.RawFileSystem, dir string, options *fuse.MountOptions, end func() error) (*Mount, error) {
	server, err := newServer(shown, dir, options)
	if err != nil {
		_ = end()
		return nil, err
	}

	m := &Mount{dir: dir, done: make(chan struct{})}
	go func() {
		server.Serve()
		if err := end(); err != nil {
			m.ended = fmt.Errorf("mount %s: changes are lost: %w", dir, err)
		}
		close(m.done)
	}()

	if m.on, err = mountinfo.NewestOn(dir); err == nil {
		err = awaitMount(server)
	}
	if err != nil {
		_ = unmount(dir, unix.MNT_DETACH)
		return nil, err
	}
	return m, nil
}

// newServer mounts a file system. No program that this process starts inherits the device: it would keep the mount alive after
// this process has ended, and wait forever for answers to its own requests.
func newServer(shown fuse.RawFileSystem, dir string, o *fuse.MountOptions) (*fuse.Server, error) {
	if !o.DirectMountStrict {
		return fuse.NewServer(shown, dir, o)
	}

	// The library opens the device so that it is inherited, which no other goroutine must use before that is changed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	server, err := fuse.NewServer(shown, dir, o)
	if err != nil {
		return nil, err
	}
	if err := eachDevice(unix.CloseOnExec); err != nil {
		return nil, errors.Join(err, unmount(dir, unix.MNT_DETACH))
	}
	return server, nil
}

// awaitMount waits until a mount can be used by this process too: for that the library opens a file in it. A process that is
// killed while it waits for its own answer would stay forever, because the thread that waits has the device open. So this thread
// gives up the device first. It is never the first one of the process, whose open files /proc/self shows.
func awaitMount(server *fuse.Server) error {
	ready := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			ready <- awaitMount(server) // on another thread: this one waits
			return
		}
		err := unix.Unshare(unix.CLONE_FILES)
		if err == nil {
			err = eachDevice(func(fd int) { _ = unix.Close(fd) })
		}
		if err == nil {
			err = server.WaitMount()
		}
		ready <- err
	}()
	return <-ready
}

// eachDevice calls fn with each device of FUSE that this thread has open.
func eachDevice(fn func(fd int)) error {
	const open = "/proc/thread-self/fd"
	list, err := os.ReadDir(open)
	if err != nil {
		return err
	}
	for _, e := range list {
		fd, err := strconv.Atoi(e.Name())
		if target, _ := os.Readlink(filepath.Join(open, e.Name())); err == nil && target == "/dev/fuse" {
			fn(fd)
		}
	}
	return nil
}

// mountOptions are those of a mount that this process makes itself.
//
// A mount by root is for all users, and the host compares modes and owners with theirs. A mount by a user is for this user
// alone, who can read all of the store, so modes and owners are shown and refuse nothing.
func mountOptions() *fuse.MountOptions {
	o := frozenOptions()
	o.FsName, o.Name = fsName, fsName
	o.Options = []string{"ro"}
	o.DirectMount = true
	o.DirectMountFlags = syscall.MS_RDONLY | syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOATIME
	if os.Geteuid() == 0 {
		o.Options = append(o.Options, "default_permissions")
		o.DirectMountStrict, o.AllowOther = true, true
	}
	return o
}

// maxRequest is the most bytes that the kernel asks for at a time.
const maxRequest = 1 << 20

// frozenOptions are what the process and the kernel agree on about a frozen tree.
func frozenOptions() *fuse.MountOptions {
	return &fuse.MountOptions{
		MaxWrite:             maxRequest,
		MaxReadAhead:         maxRequest,
		MaxBackground:        32,
		EnableSymlinkCaching: true,
	}
}

// Unmount ends the mount, wherever the directory is now: one above it may have been renamed. While a program uses it, or
// another mount lies over it, that is EBUSY, and the mount stays. Unmount waits until the mount is Done. It only waits where
// the host has ended the mount already, or Detach. Its error is then that of the changes of a live mount that could not be
// committed at the end, and are lost.
//
// A copy of the mount in another mount namespace, such as that of a container, keeps it alive after it is gone here. Unmount
// waits for the end of that use too.
func (m *Mount) Unmount() error { return m.unmount(0) }

// Detach takes the mount away from the directory. Programs that use it go on until they close their files, and then the
// mount is Done.
func (m *Mount) Detach() error { return m.unmount(unix.MNT_DETACH) }

func (m *Mount) unmount(flags int) error {
	if err := m.takeAway(flags); err != nil {
		return fmt.Errorf("unmount %s: %w", m.dir, err)
	}
	if flags == 0 {
		<-m.done
		return m.ended
	}
	return nil
}

// takeAway unmounts the directory that the mount is on now, if it is still on one.
func (m *Mount) takeAway(flags int) error {
	select {
	case <-m.done:
		return nil
	default:
	}
	on, ok, err := m.on.Now()
	if err != nil || !ok {
		return err
	}
	if top, known, err := mountinfo.Of(on.Dir); err == nil && known && top != on.ID {
		return syscall.EBUSY
	}
	return unmount(on.Dir, flags)
}

// Done returns a channel that is closed when the mount has ended.
func (m *Mount) Done() <-chan struct{} { return m.done }

// unmount unmounts a directory. The mount of a user was made by the helper, and only that may end it.
func unmount(dir string, flags int) error {
	err := unix.Unmount(dir, flags|unix.UMOUNT_NOFOLLOW)
	if err != unix.EPERM {
		return err
	}

	name, args := helper(), []string{"-u", "-q"}
	if flags&unix.MNT_DETACH != 0 {
		args = append(args, "-z")
	}
	switch {
	case name == "":
		return err
	case exec.Command(name, append(args, dir)...).Run() != nil:
		return syscall.EBUSY // the helper has no other reason where the mount is ours
	}
	return nil
}

// helper returns the program of the host that mounts for users; "" if there is none.
func helper() string {
	for _, name := range []string{"fusermount3", "fusermount"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// allowed refuses what the host does not allow: everybody needs the device, and all but root the helper.
func allowed() error {
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotAllowed, err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	if os.Geteuid() != 0 && helper() == "" {
		return fmt.Errorf("%w: %w", ErrNotAllowed, syscall.EPERM)
	}
	return nil
}

// fsName is the name of our mounts in the host's list.
const fsName = "vfsdb"

// Sweep unmounts from a directory what killed processes have mounted there. The caller must know that those are gone: a mount
// that is served still ends too.
func Sweep(dir string) error {
	above, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		return fmt.Errorf("unmount %s: %w", dir, bare(err))
	}
	list, err := mountinfo.List()
	for _, m := range list {
		if err == nil && m.Source == fsName && m.Dir == filepath.Join(above, filepath.Base(dir)) {
			err = unmount(m.Dir, unix.MNT_DETACH)
		}
	}
	if err != nil {
		return fmt.Errorf("unmount %s: %w", dir, err)
	}
	return nil
}

// vacant checks that a directory can be mounted on. It takes away what a killed mount has left there.
func vacant(fsys *vfs.FS, dir string) error {
	for {
		on, stale := staleOn(dir)
		if !stale {
			break
		}
		if err := unmount(on.Dir, unix.MNT_DETACH); err != nil {
			return err
		}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return bare(err)
	}
	if !info.IsDir() {
		return syscall.ENOTDIR
	}

	// The file of the store must stay where it is.
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return bare(err)
	}
	file, err := filepath.EvalSymlinks(fsys.Store().Path())
	if err != nil {
		return bare(err)
	}
	if strings.HasPrefix(file, strings.TrimSuffix(at, "/")+"/") {
		return fmt.Errorf("%w: the database is in this directory", syscall.EINVAL)
	}
	return nil
}

// staleOn returns the mount of ours on a directory whose process is gone. To ask for the room that is left is what the
// kernel always passes on; it may know all else, and answer for a process that is gone.
func staleOn(dir string) (on mountinfo.Mount, stale bool) {
	if err := unix.Statfs(dir, new(unix.Statfs_t)); err != unix.ENOTCONN {
		return on, false
	}
	on, err := mountinfo.NewestOn(dir)
	return on, err == nil && on.Source == fsName
}

// bare returns the errno of an error of package os, which names the path again.
func bare(err error) error {
	if errno, ok := vfs.Errno(err); ok {
		return errno
	}
	return err
}
