package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"vfsdb/schema/hostfile"
)

// A sidecar is a file that SQLite has open beside the database: the log, or the index of the log.
type sidecar struct {
	path string
	file hostfile.ID
}

// besides are the log and its index, as they stand beside the file while it is open.
func besides(path string) []sidecar {
	var found []sidecar
	for _, suffix := range []string{logSuffix, indexSuffix} {
		if file, _, err := hostfile.Identify(path + suffix); err == nil {
			found = append(found, sidecar{path + suffix, file})
		}
	}
	return found
}

// InPlace returns ESTALE if the path no longer leads to the file that was opened, or to its log: one of them was moved
// away, removed, or replaced. From then on no Update is committed, since the next process to open the path would not find
// it. Earlier commits are in the file that was opened, wherever that is, once this DB is closed. Reads of it go on, except
// that a new connection is ESTALE.
//
// Each commit calls InPlace just before it begins; a file that is moved while a commit is being written takes the commit
// along. A file that is written over in place, as by cp, stays the same file, and is not noticed.
func (db *DB) InPlace() error {
	if !leads(db.path, db.place.file) {
		return moved(db.path)
	}
	for _, s := range db.beside {
		if !leads(s.path, s.file) {
			return moved(s.path)
		}
	}
	return nil
}

// allLead reports whether all paths still lead to their files.
func allLead(beside []sidecar) bool {
	for _, s := range beside {
		if !leads(s.path, s.file) {
			return false
		}
	}
	return true
}

// leads reports whether a path leads to a file.
func leads(path string, file hostfile.ID) bool {
	found, _, err := hostfile.Identify(path)
	return err == nil && found == file
}

func moved(path string) error {
	return fmt.Errorf("%s was moved, removed or replaced while it was open: %w", path, syscall.ESTALE)
}

// part is the end of a file that is not in place any more: it folds the log into the file and removes it from the path.
// SQLite would leave the log there, and play it back into the next file at the path.
func (db *DB) part() error {
	if db.writer == nil || db.InPlace() == nil {
		return nil
	}
	if !db.emptyLog(readerPatience) {
		return fmt.Errorf("%s was moved, and its log is in use, so it stays behind: %w", db.path, syscall.EBUSY)
	}
	for _, s := range db.beside {
		if !leads(s.path, s.file) {
			continue // it was moved along, or belongs to another file
		}
		if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
