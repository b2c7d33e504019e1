package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"vfsdb/schema/hostfile"
)

// Open opens the file at path, or creates it, for its owner alone to read. It fails with ENOENT where MustExist or
// ReadOnly finds no file, with [ErrForeign] if the file is not one of ours, and with [ErrTooNew] if a later version of
// this package wrote it.
//
// A file has one log, which SQLite finds by the path of the file. So a file that has several names (hard links) is
// EMLINK, unless it is opened ReadOnly; one that is open at another path is EBUSY, and so is one whose log belongs to a
// file that was here before and is still open. Open creates no file beside a log that is there already: EEXIST.
//
// Even to read, SQLite writes beside the file. Where the directory cannot be written, as on a read-only mount, a file can
// be opened ReadOnly if no log is beside it; should somebody write to it from elsewhere, every View is ESTALE from then on.
// With a log it is EACCES or EROFS.
func Open(ctx context.Context, path string, options Options) (*DB, error) {
	db, err := open(ctx, path, options)
	if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EROFS) {
		db, err = openStill(ctx, path, options, err)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return db, nil
}

func open(ctx context.Context, path string, options Options) (*DB, error) {
	if path == "" {
		return nil, syscall.EINVAL
	}
	path, err := realPath(path)
	if err != nil {
		return nil, bare(err)
	}
	if err := openable(path, options); err != nil {
		return nil, err
	}
	if options.MaxReaders < 0 {
		return nil, fmt.Errorf("%w: at most %d readers", syscall.EINVAL, options.MaxReaders)
	}

	most := cmp.Or(options.MaxReaders, DefaultMaxReaders)
	db := &DB{
		path:    path,
		options: options,

		logLimit: logLimit,

		writing: make(chan struct{}, 1),
		readers: make(chan *conn, max(2, runtime.GOMAXPROCS(0))-1),
		slots:   make(chan struct{}, most),
	}
	db.checkpointer.db = db

	c, err := db.claim(ctx)
	if err != nil {
		return nil, err
	}
	if err := db.begin(ctx, c); err != nil {
		_ = db.place.closing(c)
		db.abandon()
		return nil, err
	}
	return db, nil
}

// begin reads the file for the first time, and makes it a store if it is new.
func (db *DB) begin(ctx context.Context, c *conn) error {
	if err := c.setUp(db.options, roleWriter); err != nil {
		return err
	}
	if err := prepareFile(ctx, c, db.options); err != nil {
		return err
	}

	// From here on the file and its log must stay where they are.
	db.beside = db.place.keepBeside()
	if err := db.InPlace(); err != nil {
		return err
	}
	db.old = c.old
	if !db.options.immutable {
		db.openIndex()
	}
	c.index = db.index

	if db.options.ReadOnly {
		db.slots <- struct{}{}
		db.readers <- c
		return nil
	}
	c.inPlace = db.InPlace
	c.counts = &db.counts
	c.turns = hostfile.OpenTurns(db.path + logSuffix)
	db.writer = c
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
