package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"vfsdb/mount"
)

// A runDir is a directory of the host that belongs to one run. While the run lives it has a lock, which the kernel gives up
// when the process dies. Each run begins with the removal of the directories that have none. So a run that is killed, at any
// moment, leaves nothing for longer than until the next one.
type runDir struct {
	path string
	lock *os.File
}

// The names of these directories begin with the use that they have. No run removes a directory that is kept.
const (
	overlayPrefix = "overlay-"
	livePrefix    = "live-"
	tempPrefix    = "tmp-"
	probePrefix   = "probe-"
	keptPrefix    = "kept-"
)

// lockName is the file with the lock, in the directory of a run and in the place that such directories are in.
const lockName = "lock"

// insideName is the part of the directory that a run uses, if it needs only one.
const insideName = "in"

// places returns the directories that may hold those of runs: those on a disk come before one in memory.
func places() []string {
	var list []string
	if cache, err := os.UserCacheDir(); err == nil {
		list = append(list, filepath.Join(cache, "vfsdb", "run"))
	}
	return append(list, tempPlace(os.TempDir()), tempPlace("/var/tmp"), tempPlace("/dev/shm"))
}

// tempPlace is the place below a directory that all users share.
func tempPlace(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Join(dir, fmt.Sprintf("vfsdb-run-%d", os.Getuid()))
}

// newRunDir makes a directory in a place, and locks it.
func newRunDir(in, prefix string) (*runDir, error) {
	if err := os.MkdirAll(in, 0o700); err != nil {
		return nil, err
	}
	if err := trusted(in); err != nil {
		return nil, err
	}

	// No directory without a lock is taken for a dead one's while this process has the gate.
	gate, err := openGate(in, unix.LOCK_SH)
	if err != nil {
		return nil, err
	}
	defer gate.Close()
	path, err := os.MkdirTemp(in, prefix)
	if err != nil {
		return nil, err
	}
	d := &runDir{path: path}
	if d.lock, err = openLock(filepath.Join(path, lockName), os.O_CREATE, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, d.remove())
	}
	return d, nil
}

// scratch makes a directory for one use, in the directory for temporary files if that can be, and returns the function that
// removes it.
func scratch(prefix string) (dir string, remove func() error, err error) {
	var all []error
	for _, in := range append([]string{tempPlace(os.TempDir())}, places()...) {
		d, err := newRunDir(in, prefix)
		if err == nil {
			dir := filepath.Join(d.path, insideName)
			if err = os.Mkdir(dir, 0o700); err == nil {
				return dir, d.remove, nil
			}
			err = errors.Join(err, d.remove())
		}
		all = append(all, err)
	}
	return "", nil, errors.Join(all...)
}

// trusted refuses a directory that another user can change.
func trusted(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return &fs.PathError{Op: "stat", Path: dir, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 {
		return &fs.PathError{Op: "use", Path: dir, Err: syscall.EPERM}
	}
	return nil
}

// openGate locks a place: shared, while a directory in it is made that has no lock yet, or exclusively, while dead ones are
// removed.
func openGate(in string, how int) (*os.File, error) {
	return openLock(filepath.Join(in, lockName), os.O_CREATE, how)
}

// openLock opens a file, and locks it.
func openLock(name string, flags, how int) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f, how); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

// rename changes how the name of the directory begins.
func (d *runDir) rename(prefix string) error {
	in, base := filepath.Split(d.path)
	_, base, _ = strings.Cut(base, "-")
	to := filepath.Join(in, prefix+base)
	if err := os.Rename(d.path, to); err != nil {
		return err
	}
	d.path = to
	return nil
}

// keep stops the removal of the directory, and returns its path. One that cannot get another name stays locked until this
// process ends.
func (d *runDir) keep() string {
	if d.rename(keptPrefix) == nil {
		_ = d.lock.Close()
	}
	return d.path
}

// remove removes the directory, and ends the lock.
func (d *runDir) remove() error {
	err := removeRunDir(d.path)
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}

// beside has a goroutine free what a run used, and returns a function that waits for it. The branch has the result, so nobody
// waits for the host's file system.
func beside(free func() error) (wait func() error) {
	done := make(chan error, 1)
	go func() { done <- free() }()
	return sync.OnceValue(func() error { return <-done })
}

// removeRunDir removes a directory, and the lock last: if the process dies meanwhile, the rest is that of a dead run. The directory of
// a live mount is empty once that has ended; no file of a mount is ever removed.
func removeRunDir(path string) error {
	if isLive(path) {
		if err := os.Remove(filepath.Join(path, insideName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	list, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.Name() == lockName {
			continue
		}
		if err := removeAll(filepath.Join(path, e.Name())); err != nil {
			return err
		}
	}
	return removeAll(path)
}

func isLive(path string) bool { return strings.HasPrefix(filepath.Base(path), livePrefix) }

// removeAll removes a directory with all that is in it, also below directories that refuse their owner.
func removeAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && err == nil {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

// collectRunDirs removes the directories of dead runs in all places. One that cannot be removed waits for the next run.
func collectRunDirs() {
	for _, in := range places() {
		if trusted(in) != nil {
			continue
		}
		gate, err := openGate(in, unix.LOCK_EX|unix.LOCK_NB)
		if err != nil {
			continue // a run begins there, and has done this
		}
		list, _ := os.ReadDir(in)
		for _, e := range list {
			if hasUse(e.Name()) {
				collectRunDir(filepath.Join(in, e.Name()))
			}
		}
		collectTreeDirs(in)
		_ = gate.Close()
	}
}

// hasUse reports whether a name is that of a directory that goes with its run.
func hasUse(name string) bool {
	return slices.ContainsFunc([]string{overlayPrefix, livePrefix, tempPrefix, probePrefix}, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

// collectRunDir removes a directory unless a run has locked it. The caller has the gate, so one whose lock is not even there is a
// dead run's.
func collectRunDir(path string) {
	lock, err := openLock(filepath.Join(path, lockName), 0, unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case err == nil:
		defer lock.Close()
	case !errors.Is(err, fs.ErrNotExist):
		return
	}
	if isLive(path) && mount.Sweep(filepath.Join(path, insideName)) != nil {
		return
	}
	_ = removeRunDir(path)
}
