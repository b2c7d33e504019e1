package hostdir

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// errReplaced means that a directory was replaced again and again while it was opened.
var errReplaced = fmt.Errorf("it is being replaced: %w", syscall.ESTALE)

// tries is how often a directory that was replaced meanwhile is opened again.
const tries = 10

// Top opens a directory by its path, for one user. A symlink is followed.
func Top(name string) (*Dir, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return open(root)
}

// Sub opens a directory in this one, for one user, and describes it. A symlink is ENOTDIR. A directory that is replaced all
// the time is ESTALE.
func (d *Dir) Sub(base string) (*Dir, fs.FileInfo, error) {
	for range tries {
		seen, err := d.Root.Lstat(base)
		switch {
		case err != nil:
			return nil, nil, err
		case !seen.IsDir():
			return nil, nil, syscall.ENOTDIR
		}
		beforeOpen()

		// An os.Root follows a symlink that leads to something below it, so compare what was opened with what was seen.
		below, err := Open(d.Root, base)
		if err != nil {
			return nil, nil, err
		}
		info, err := below.Self.Stat()
		if err == nil && os.SameFile(seen, info) {
			return below, info, nil
		}
		below.Done()
		if err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, errReplaced
}

// beforeOpen is called when a directory was looked at and is not open yet. Tests replace it.
var beforeOpen = func() {}

// Below opens a directory at any depth below this one, for one user. None of the names may be a symlink. "" is the
// directory itself.
func (d *Dir) Below(name string) (*Dir, error) {
	at := d.Use()
	if name == "" {
		return at, nil
	}
	for base := range strings.SplitSeq(name, "/") {
		next, _, err := at.Sub(base)
		at.Done()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// List describes all files in the directory, sorted by name, without following symlinks. It reads the directory once, and
// leaves out what was removed meanwhile. After an error the list is not whole.
func (d *Dir) List() ([]fs.FileInfo, error) {
	list, err := d.Self.Readdir(-1)
	slices.SortFunc(list, func(a, b fs.FileInfo) int { return cmp.Compare(a.Name(), b.Name()) })
	return list, err
}
