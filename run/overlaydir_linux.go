package run

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"vfsdb/chunk"
	"vfsdb/vfs"
)

// The names in the directory of a run by overlay, which has its upper layer.
const (
	upperName = "upper"
	workName  = "work"
	lowerName = "lower" // where the lower layer is mounted
)

// newOverlayDir makes a directory for an upper layer, in the first place where the kernel can have one, whose attributes have
// a prefix.
func newOverlayDir(prefix string) (*runDir, error) {
	var why []string
	for _, in := range places() {
		d, err := newRunDir(in, overlayPrefix)
		if err == nil {
			if err = fillOverlayDir(d.path, prefix); err == nil {
				return d, nil
			}
			err = errors.Join(err, d.remove())
		}
		why = append(why, fmt.Sprintf("%s: %v", in, cause(err)))
	}
	return nil, &UnableError{
		Engine: Overlay, Why: "no directory can hold an upper layer (" + strings.Join(why, "; ") + ")",
		Remedy: "set TMPDIR to a directory of ext4, xfs, btrfs or tmpfs",
	}
}

// fillOverlayDir makes the directories in it.
func fillOverlayDir(dir, prefix string) error {
	for _, name := range []string{upperName, workName, lowerName} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}

	var st unix.Statfs_t
	switch err := unix.Statfs(dir, &st); {
	case err != nil:
		return err
	case st.Type == unix.OVERLAYFS_SUPER_MAGIC:
		return errors.New("an overlay cannot stand on an overlay")
	}
	work := filepath.Join(dir, workName)
	if err := unix.Setxattr(work, prefix+"test", []byte("y"), 0); err != nil {
		return fmt.Errorf("its attributes %s*: %w", prefix, err)
	}
	return unix.Removexattr(work, prefix+"test")
}

// treesName is the directory of a place with those in which commands find their trees.
const treesName = "trees"

// A treeDir is the directory in which the command finds the tree. It is the same for all runs of a branch, so caches that
// compilers keep by path stay valid. Nothing is ever in it: each run mounts there in a namespace of its own. A run that lives
// has a shared lock on it, and the last one removes it.
type treeDir struct {
	path string
	lock *os.File
}

// newTreeDir makes the directory, or shares it.
func newTreeDir(fsys *vfs.FS) (*treeDir, error) {
	store, err := filepath.EvalSymlinks(fsys.Store().Path())
	if err != nil {
		return nil, err
	}
	sum := chunk.SumOf([]byte(store + "\x00" + fsys.Head()))
	var all []error
	for _, in := range places() {
		d, err := newTreeDirIn(in, hex.EncodeToString(sum[:8]))
		if err == nil {
			return d, nil
		}
		all = append(all, err)
	}
	return nil, errors.Join(all...)
}

func newTreeDirIn(in, base string) (*treeDir, error) {
	if err := os.MkdirAll(in, 0o700); err != nil {
		return nil, err
	}
	if err := trusted(in); err != nil {
		return nil, err
	}
	for {
		d := &treeDir{path: filepath.Join(in, treesName, base)}
		if err := os.MkdirAll(d.path, 0o700); err != nil {
			return nil, err
		}
		err := d.open(unix.LOCK_SH)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return d, err
		}
	}
}

// open opens the directory, and locks it. One that is removed meanwhile is ENOENT.
func (d *treeDir) open(how int) (err error) {
	if d.lock, err = os.OpenFile(d.path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0); err != nil {
		return err
	}
	if err = flock(d.lock, how); err == nil {
		var locked, now fs.FileInfo
		if locked, err = d.lock.Stat(); err == nil {
			now, err = os.Lstat(d.path)
		}
		if err == nil && !os.SameFile(locked, now) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}

// close removes the directory if no other run has it.
func (d *treeDir) close() error {
	if flock(d.lock, unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = os.Remove(d.path) // a run inside of the run has it mounted
	}
	return d.lock.Close()
}

// collectTreeDirs removes the directories of a place that dead runs had.
func collectTreeDirs(in string) {
	list, _ := os.ReadDir(filepath.Join(in, treesName))
	for _, e := range list {
		d := &treeDir{path: filepath.Join(in, treesName, e.Name())}
		if d.open(unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = d.close()
		}
	}
}
