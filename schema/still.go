package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"vfsdb/schema/hostfile"
)

// A still identifies a state of a file that nobody writes to. A file in a directory that cannot be written is read without
// a log and without locks, which is right only as long as nobody else writes: the directory may be mounted elsewhere too,
// and written there. A writer makes a log first. So each View checks, before and after, that there is no log and that the
// file has not changed.
type still struct {
	size  int64
	mtime time.Time
}

// stillOf returns the state of a file that has no log beside it, nor a rollback journal.
func stillOf(path string) (s still, err error) {
	for _, suffix := range []string{logSuffix, indexSuffix, journalSuffix} {
		info, err := os.Stat(path + suffix)
		switch {
		case err == nil && (suffix == indexSuffix || info.Size() > 0):
			return still{}, fmt.Errorf("%s is beside it", filepath.Base(path)+suffix)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return still{}, bare(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return still{}, bare(err)
	}
	return still{info.Size(), info.ModTime()}, nil
}

// stillRun is conn.run for a transaction that reads, and ESTALE if somebody writes to a file that was taken to be still.
func (db *DB) stillRun(ctx context.Context, c *conn, fn func(*Tx) error) error {
	if !db.options.immutable {
		return c.run(ctx, false, fn)
	}
	if err := db.checkStill(); err != nil {
		return err
	}
	err := c.run(ctx, false, fn)
	return cmp.Or(db.checkStill(), err)
}

func (db *DB) checkStill() error {
	if now, err := stillOf(db.path); err != nil || now != db.still {
		return fmt.Errorf("%s is written to from elsewhere; open it again: %w", db.path, syscall.ESTALE)
	}
	return nil
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
