package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// InPlace returns ESTALE if the path no longer leads to the file that was opened: it was moved away, or replaced. What
// this DB writes from then on is in the file that was moved.
func (db *DB) InPlace() error {
	info, err := os.Stat(db.path)
	if err != nil || !os.SameFile(info, db.file) {
		return fmt.Errorf("%s was moved or replaced: %w", db.path, syscall.ESTALE)
	}
	return nil
}

// part ends with a file that was moved away: its log is folded into it, and taken away from the path. SQLite leaves the
// log where it is then, and would play it back into whatever is put at the path instead.
func (db *DB) part() error {
	if db.writer == nil || db.InPlace() == nil {
		return nil
	}
	if !db.emptyLog(readerPatience) {
		return fmt.Errorf("%s was moved, and its log is in use, so it stays behind: %w", db.path, syscall.EBUSY)
	}
	for name, was := range db.beside {
		if info, err := os.Stat(name); err != nil || !os.SameFile(info, was) {
			continue // it was moved along, or is another's
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// besides are the log and its index, as they stand beside the file while it is open.
func besides(path string) map[string]os.FileInfo {
	found := make(map[string]os.FileInfo)
	for _, name := range []string{path + "-wal", path + "-shm"} {
		if info, err := os.Stat(name); err == nil {
			found[name] = info
		}
	}
	return found
}
