package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Close waits for running transactions, then closes every connection. Later calls return nil.
func (db *DB) Close() error {
	db.mu.Lock()
	if db.closed.Swap(true) {
		db.mu.Unlock()
		return nil
	}
	db.mu.Unlock()
	db.users.Wait()

	errs := []error{db.checkpointer.close()}
	for len(db.slots) > 0 {
		c := db.warm.Swap(nil)
		if c == nil {
			c = <-db.readers
		}
		errs = append(errs, c.close())
		<-db.slots
	}

	if db.index != nil {
		errs = append(errs, db.index.Close())
	}
	errs = append(errs, db.part())
	if db.writer != nil {
		errs = append(errs, db.place.closing(db.writer)) // last, so that it folds the log into the file
	}
	db.place.leave()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close %s: %w", db.path, err)
	}
	return nil
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
