package schema

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"zombiezen.com/go/sqlite"
)

var (
	// ErrForeign is returned by Open for a file that is not one of ours.
	ErrForeign = errors.New("not a vfs database")

	// ErrApart is returned by Open for a file and a log that do not belong together: the file is open at another path, or
	// the log beside it belongs to another file.
	ErrApart = errors.New("a database and its log are apart")

	// ErrTooNew is returned by Open for a file that a later version of this package wrote.
	ErrTooNew = errors.New("written by a newer version")
)

// Conflict reports whether err is a statement's failure to keep a UNIQUE or PRIMARY KEY constraint.
func Conflict(err error) bool {
	code := sqlite.ErrCode(err)
	return code == sqlite.ResultConstraintUnique || code == sqlite.ResultConstraintPrimaryKey
}

// mapError gives SQLite's failures the errno that a file system would return. EBUSY stands bare, because retry looks
// for it on every transaction; the others keep their cause.
func mapError(err error) error {
	if err == nil {
		return nil
	}

	var errno error
	switch code := sqlite.ErrCode(err); code.ToPrimary() {
	case sqlite.ResultBusy, sqlite.ResultLocked:
		return syscall.EBUSY
	case sqlite.ResultFull:
		errno = syscall.ENOSPC
	case sqlite.ResultReadOnly:
		errno = syscall.EROFS
	case sqlite.ResultCantOpen, sqlite.ResultPerm, sqlite.ResultAuth:
		errno = syscall.EACCES
	case sqlite.ResultNoMem:
		errno = syscall.ENOMEM
	case sqlite.ResultNotADB:
		return fmt.Errorf("%w: %w", ErrForeign, err)
	case sqlite.ResultCorrupt, sqlite.ResultConstraint:
		// Rows that we write keep all constraints, unless the rows that are there are damaged. The caller recognizes a name
		// that is taken, see Conflict.
		return Corrupt("%w", err)
	case sqlite.ResultIOErr:
		errno = syscall.EIO
	case sqlite.ResultInterrupt:
		errno = context.Canceled
	default:
		return err
	}
	return fmt.Errorf("%w: %w", errno, err)
}

func tooNew(version int64) error {
	return fmt.Errorf("%w: format %d, and this program knows up to %d", ErrTooNew, version, Version)
}
