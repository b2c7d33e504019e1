package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"syscall"

	"zombiezen.com/go/sqlite"

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
	err := c.setUp(db.options, roleWriter)
	if db.options.ReadOnly && sqlite.ErrCode(err) == sqlite.ResultReadOnlyRollback {
		if err = rollBack(db.path); err == nil {
			err = c.setUp(db.options, roleWriter)
		}
	}
	if err != nil {
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

// rollBack undoes what a process left half-done when it was killed before the file had a log: while it made the file, or
// while it opened one without a log, as a backup and the files of old formats are. SQLite leaves the old pages in a
// rollback journal, which a connection that only reads cannot apply.
func rollBack(path string) error {
	c, err := connect(path, Options{})
	if err != nil {
		return err
	}
	_, err = c.pragmaInt("schema_version") // the first read of a connection that may write rolls back
	return errors.Join(err, c.close())
}

// openStill opens a file read-only that open could not open, because nothing can be written beside it.
func openStill(ctx context.Context, path string, options Options, why error) (*DB, error) {
	file, err := realPath(path)
	if err != nil {
		return nil, why
	}

	errno := hostfile.Writable(filepath.Dir(file))
	switch {
	case !errors.Is(errno, syscall.EACCES) && !errors.Is(errno, syscall.EROFS):
		return nil, why
	case !options.ReadOnly:
		return nil, fmt.Errorf("its directory cannot be written, so it can only be opened to read: %w", errno)
	}
	was, err := stillOf(file)
	if err != nil {
		return nil, fmt.Errorf("%w, and has to be read with it, but its directory cannot be written; copy both: %w", err, errno)
	}

	options.immutable = true
	db, err := open(ctx, path, options)
	if err != nil {
		return nil, err
	}
	db.still = was
	if err := db.checkStill(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
