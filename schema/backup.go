package schema

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"zombiezen.com/go/sqlite/sqlitex"
)

// Backup writes a consistent, compact copy of the file to dest while others read and write. dest must not exist
// (EEXIST), nor a log beside it; it appears whole or not at all, and only its owner may read it.
func (db *DB) Backup(ctx context.Context, dest string) error {
	if err := db.backup(ctx, dest); err != nil {
		return &fs.PathError{Op: "backup", Path: dest, Err: bare(err)}
	}
	return nil
}

func (db *DB) backup(ctx context.Context, dest string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.users.Done()

	// dest must be free, and so must the names of its log and index.
	if _, err := os.Lstat(dest); err == nil {
		return syscall.EEXIST
	}
	if _, err := os.Stat(filepath.Dir(dest)); err != nil {
		return err
	}
	if err := Vacant(dest); err != nil {
		return err
	}

	part, err := newPart(dest)
	if err != nil {
		return err
	}
	defer os.Remove(part)
	c, err := db.dial(roleKeeper)
	if err != nil {
		return err
	}
	defer c.close()

	c.sq.SetInterrupt(ctx.Done())
	err = retry(ctx, func() error {
		return mapError(sqlitex.ExecuteTransient(c.sq, "VACUUM INTO ?", &sqlitex.ExecOptions{Args: []any{part}}))
	})
	c.sq.SetInterrupt(nil)

	// The copy is durable before it gets its name.
	if err == nil {
		err = syncFile(part)
	}
	if err == nil {
		err = os.Link(part, dest) // unlike a rename, never over a file that came meanwhile
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = os.Rename(part, dest) // a file system without hard links
		}
	}
	if ctx.Err() != nil && err != nil {
		return ctx.Err()
	}
	return err
}

// newPart makes an empty file beside dest for SQLite to write to; a file that SQLite made itself could be read by everybody.
// Each backup has its own.
func newPart(dest string) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(dest), filepath.Base(dest)+".*.part")
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
