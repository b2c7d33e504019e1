package schema

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Backup writes a consistent, compact copy of the file to dest while others read and write. dest must not exist
// (EEXIST); it appears whole or not at all.
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
	if _, err := os.Lstat(dest); err == nil {
		return syscall.EEXIST
	}
	part := dest + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
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
	if err == nil {
		err = syncFile(part)
	}
	if err == nil {
		err = os.Link(part, dest) // unlike a rename, never over a file that came meanwhile
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = os.Rename(part, dest) // a file system without hard links
		}
	}
	_ = os.Remove(part)
	if ctx.Err() != nil && err != nil {
		return ctx.Err()
	}
	return err
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

// Integrity asks SQLite whether the file is well formed and returns its complaints, at most limit of them.
func (tx *Tx) Integrity(limit int) ([]string, error) {
	var faults []string
	rows := tx.Query(fmt.Sprintf(`PRAGMA quick_check(%d)`, limit))
	for rows.Next() {
		if s := rows.Text(0); s != "ok" {
			faults = append(faults, s)
		}
	}
	return faults, rows.Err()
}

// Vacuum gives up to pages free pages back to the host's file system and returns how many are still free.
func (tx *Tx) Vacuum(pages int) (free int64, err error) {
	if _, err := tx.Exec(fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, pages)); err != nil {
		return 0, err
	}
	free, _, err = tx.Int(`PRAGMA freelist_count`)
	return free, err
}

// Pages returns how many pages the file has, and how many of them are free.
func (tx *Tx) Pages() (total, free int64, err error) {
	if total, _, err = tx.Int(`PRAGMA page_count`); err != nil {
		return 0, 0, err
	}
	free, _, err = tx.Int(`PRAGMA freelist_count`)
	return total, free, err
}

// Checkpoint moves what it can from the WAL into the file, without waiting for readers, and returns how many pages
// of the WAL are left to move.
func (db *DB) Checkpoint(ctx context.Context) (left int64, err error) {
	if db.options.ReadOnly {
		return 0, nil
	}
	if err := db.enter(); err != nil {
		return 0, err
	}
	defer db.users.Done()
	select {
	case db.writing <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-db.writing }()
	err = mapError(sqlitex.ExecuteTransient(db.writer.sq, "PRAGMA wal_checkpoint(PASSIVE)", &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error {
			left = max(0, s.ColumnInt64(1)-s.ColumnInt64(2))
			return nil
		},
	}))
	return left, err
}

// logLimit is how long the WAL may get, in bytes, before a writer waits for readers so that it can be begun anew.
// SQLite folds it into the file by itself every 16 MiB, but begins it anew only at a moment when nobody reads.
const logLimit = 64 << 20

// boundLog begins a WAL that has become too long anew, after a commit. It waits for readers only shortly: one that
// never ends must not stop all writers.
func (db *DB) boundLog() {
	info, err := os.Stat(db.path + "-wal")
	if err != nil || info.Size() <= db.logLimit {
		return
	}
	db.emptyLog()
}

// emptyLog folds the WAL into the file and empties it. It waits for readers only shortly, and reports whether it could.
func (db *DB) emptyLog() bool {
	for range 50 {
		busy := true
		err := sqlitex.ExecuteTransient(db.writer.sq, "PRAGMA wal_checkpoint(TRUNCATE)", &sqlitex.ExecOptions{
			ResultFunc: func(s *sqlite.Stmt) error {
				busy = s.ColumnInt64(0) != 0
				return nil
			},
		})
		if !busy || err != nil && mapError(err) != syscall.EBUSY {
			return !busy
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// ID returns the random name that the file got when it was created.
func (tx *Tx) ID() (string, error) {
	rows := tx.Query(`SELECT value FROM meta WHERE key = 'id'`)
	defer rows.Close()
	if !rows.Next() {
		return "", errors.Join(rows.Err(), ErrForeign)
	}
	return rows.Text(0), nil
}
