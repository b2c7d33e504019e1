package run

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"vfsdb/chunk"
	"vfsdb/vfs"
)

// An overlayDir is the directory of the host in which a run has its upper layer. While the run lives it has a lock, which
// the kernel gives up when the process dies; the next run removes what is not locked.
type overlayDir struct {
	path string
	lock *os.File
}

// The names inside.
const (
	upperName = "upper"
	workName  = "work"
	lowerName = "lower" // where the lower layer is mounted
	lockName  = "lock"
)

// The names of these directories begin with one of these. What is kept is removed by nobody.
const (
	livePrefix = "overlay-"
	keptPrefix = "kept-"
)

// places returns the directories that may hold upper layers, the best first: on a disk rather than in memory.
func places() []string {
	var list []string
	if cache, err := os.UserCacheDir(); err == nil {
		list = append(list, filepath.Join(cache, "vfsdb", "run"))
	}
	own := fmt.Sprintf("vfsdb-run-%d", os.Getuid())
	return append(list, filepath.Join(os.TempDir(), own), filepath.Join("/var/tmp", own), filepath.Join("/dev/shm", own))
}

// newOverlayDir makes a directory for an upper layer, in the first place where the kernel can have one, whose attributes have
// a prefix. Before that it removes what dead runs have left there.
func newOverlayDir(prefix string) (*overlayDir, error) {
	var why []string
	for _, in := range places() {
		d, err := newOverlayDirIn(in, prefix)
		if err == nil {
			return d, nil
		}
		why = append(why, fmt.Sprintf("%s: %v", in, cause(err)))
	}
	return nil, &UnableError{
		Engine: Overlay, Why: "no directory can hold an upper layer (" + strings.Join(why, "; ") + ")",
		Remedy: "set TMPDIR to a directory of ext4, xfs, btrfs or tmpfs",
	}
}

func newOverlayDirIn(in, prefix string) (*overlayDir, error) {
	if err := os.MkdirAll(in, 0o700); err != nil {
		return nil, err
	}
	if err := trusted(in); err != nil {
		return nil, err
	}
	gate, err := os.OpenFile(filepath.Join(in, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer gate.Close()
	if err := collectOverlayDirs(in, int(gate.Fd())); err != nil {
		return nil, err
	}

	path, err := os.MkdirTemp(in, livePrefix)
	if err != nil {
		return nil, err
	}
	d := &overlayDir{path: path}
	if err := d.fill(prefix); err != nil {
		return nil, errors.Join(err, d.remove())
	}
	return d, nil
}

// rename changes how the name of the directory begins.
func (d *overlayDir) rename(prefix string) error {
	in, base := filepath.Split(d.path)
	_, base, _ = strings.Cut(base, "-")
	to := filepath.Join(in, prefix+base)
	if err := os.Rename(d.path, to); err != nil {
		return err
	}
	d.path = to
	return nil
}

// trusted refuses a directory that another user can change.
func trusted(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 {
		return syscall.EPERM
	}
	return nil
}

// fill locks the directory, and makes what is to be in it.
func (d *overlayDir) fill(prefix string) (err error) {
	if d.lock, err = os.OpenFile(filepath.Join(d.path, lockName), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return err
	}
	if err := unix.Flock(int(d.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	for _, name := range []string{upperName, workName, lowerName} {
		if err := os.Mkdir(filepath.Join(d.path, name), 0o700); err != nil {
			return err
		}
	}

	var st unix.Statfs_t
	switch err := unix.Statfs(d.path, &st); {
	case err != nil:
		return err
	case st.Type == unix.OVERLAYFS_SUPER_MAGIC:
		return errors.New("an overlay cannot stand on an overlay")
	}
	work := filepath.Join(d.path, workName)
	if err := unix.Setxattr(work, prefix+"test", []byte("y"), 0); err != nil {
		return fmt.Errorf("its attributes %s*: %w", prefix, err)
	}
	return unix.Removexattr(work, prefix+"test")
}

// keep stops the removal of the directory, and returns its path. One that cannot get another name stays locked until this
// process ends.
func (d *overlayDir) keep() string {
	if d.rename(keptPrefix) == nil {
		_ = d.lock.Close()
	}
	return d.path
}

// remove removes the directory, and ends the lock.
func (d *overlayDir) remove() error {
	err := removeLocked(d.path)
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}

// collectOverlayDirs removes the directories of dead runs, and returns with a shared lock on the gate: a run has it as long as
// its directory is not locked. So under an exclusive lock on the gate, a directory without a lock is a dead run's. One that
// cannot be removed waits for the next run.
func collectOverlayDirs(in string, gate int) error {
	if unix.Flock(gate, unix.LOCK_EX|unix.LOCK_NB) == nil {
		list, _ := os.ReadDir(in)
		for _, e := range list {
			if strings.HasPrefix(e.Name(), livePrefix) {
				collectOverlayDir(filepath.Join(in, e.Name()))
			}
		}
	}
	return unix.Flock(gate, unix.LOCK_SH)
}

// collectOverlayDir removes a directory unless a run has locked it.
func collectOverlayDir(path string) {
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer lock.Close()
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = removeLocked(path)
	}
}

// removeLocked removes a directory, and the lock last: what is left when the process dies belongs to a dead run.
func removeLocked(path string) error {
	for _, name := range []string{upperName, workName, lowerName} {
		if err := removeAll(filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return removeAll(path)
}

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

// treeDir returns the directory in which the command finds the tree. It is the same for all runs of a branch, so caches that
// compilers keep by path stay valid. Nothing is ever in it: each run mounts there in a namespace of its own.
func treeDir(fsys *vfs.FS) (string, error) {
	store, err := filepath.EvalSymlinks(fsys.Store().Path())
	if err != nil {
		return "", err
	}
	sum := chunk.SumOf([]byte(store + "\x00" + fsys.Head()))
	var last error = fs.ErrNotExist
	for _, in := range places() {
		dir := filepath.Join(in, "trees", hex.EncodeToString(sum[:8]))
		if last = os.MkdirAll(dir, 0o700); last == nil {
			return dir, nil
		}
	}
	return "", last
}
