package schema

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"vfsdb/schema/engine"
	"vfsdb/schema/hostfile"
	"vfsdb/schema/page"
)

// Alone fails with EBUSY if another process has the file open, or another DB of this process. A host that does not show the
// locks of other processes shows only those of this one.
func (db *DB) Alone() error {
	places.Lock()
	users := db.place.users
	places.Unlock()
	if users > 1 {
		return fmt.Errorf("%w: this process has it open a second time", syscall.EBUSY)
	}
	if db.writer == nil {
		return syscall.EROFS
	}
	if fd, ok := engine.Descriptor(db.writer.sq); ok {
		if pid, held := hostfile.Holder(fd); held {
			return fmt.Errorf("%w: process %d has it open", syscall.EBUSY, pid)
		}
	}
	return nil
}

// Scrub overwrites with zeros all bytes of the file that hold nothing: free pages, and what deleted rows have left in pages
// that are in use. It reads every page, in one transaction, so other writers wait. Later transactions leave such bytes again.
// The old ones are still in the log, and beneath it in the file, until [DB.EmptyLog].
func (db *DB) Scrub(ctx context.Context) (report page.Report, err error) {
	err = db.Update(ctx, func(tx *Tx) error {
		total, _, err := tx.Pages()
		if err != nil {
			return err
		}
		var roots []int64
		rows := tx.Query(`SELECT rootpage FROM sqlite_schema WHERE rootpage > 0`)
		for rows.Next() {
			roots = append(roots, rows.Int(0))
		}
		if err := rows.Err(); err != nil {
			return err
		}

		report, err = page.Clear(pagesOf{tx}, total, PageSize, roots)
		if damage := (*page.DamageError)(nil); errors.As(err, &damage) {
			return Corrupt("%w", damage)
		}
		return err
	})
	return report, err
}

// pagesOf are the pages of the file as a transaction sees them.
type pagesOf struct{ tx *Tx }

func (f pagesOf) Read(number int64, p []byte) error {
	if err := f.tx.ctx.Err(); err != nil {
		return err
	}
	rows := f.tx.Query(`SELECT data FROM sqlite_dbpage WHERE pgno = ?`, number)
	defer rows.Close()
	if !rows.Next() || rows.Read(0, p) != len(p) {
		if err := rows.Close(); err != nil {
			return err
		}
		return &page.DamageError{Page: number, Why: "is missing"}
	}
	return rows.Close()
}

func (f pagesOf) Write(number int64, p []byte) error {
	_, err := f.tx.Exec(`UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?`, p, number)
	return err
}

// EmptyLog folds all of the log into the file, and cuts it off. It waits for readers a second; then it is EBUSY.
func (db *DB) EmptyLog(ctx context.Context) error {
	if db.options.ReadOnly {
		return syscall.EROFS
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.users.Done()
	select {
	case db.writing <- struct{}{}:
	case <-ctx.Done():
		return waited(ctx)
	}
	defer func() { <-db.writing }()

	if !db.emptyLog(claimPatience) {
		return fmt.Errorf("%w: a reader keeps the write-ahead log", syscall.EBUSY)
	}
	db.logLength.Store(0)
	return nil
}
