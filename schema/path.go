package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"vfsdb/schema/hostfile"
)

// SQLite's names for the files beside a database.
const (
	logSuffix     = "-wal"
	indexSuffix   = "-shm" // of the log
	journalSuffix = "-journal"
)

// realPath makes a path absolute and resolves its symlinks, as far as it exists.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	dir, base := filepath.Split(path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(real, base), nil
	}
	return path, nil
}

// bare takes the wrapping that names a path off an error of the os package.
func bare(err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		return pe.Err
	}
	return err
}

// besideable fails if something is at the path of a log or an index that cannot be one, such as a symlink.
func besideable(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil: // ENAMETOOLONG, for one
		return bare(err)
	case info.IsDir():
		return syscall.EISDIR
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%w: it is a symlink", syscall.ELOOP)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: it is no regular file", syscall.EINVAL)
	}
	return nil
}

// openable looks at the path and beside it before SQLite does, whose error for most faults is EACCES.
func openable(path string, options Options) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return bare(err)
		}
	}

	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return bare(err)
	case err == nil && info.IsDir():
		return syscall.EISDIR
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%w: it is no regular file", syscall.EINVAL)
	case (err != nil || info.Size() == 0) && (options.MustExist || options.ReadOnly):
		return syscall.ENOENT
	}

	if len(path+journalSuffix) > hostfile.MaxPath {
		return fmt.Errorf("%w: SQLite takes paths of at most %d bytes", syscall.ENAMETOOLONG, hostfile.MaxPath-len(journalSuffix))
	}
	for _, suffix := range []string{logSuffix, indexSuffix, journalSuffix} {
		if err := besideable(path + suffix); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path)+suffix, err)
		}
	}
	return nil
}
