package schema

import (
	"cmp"
	"context"
	"syscall"
)

// Update runs fn in a transaction that writes, and commits it if fn returns nil; when Update has returned nil, the
// commit is durable. A file that was moved away or replaced is ESTALE, see [DB.InPlace]. fn must not keep tx, nor call
// Update of the same DB.
//
// Update waits for other writers until ctx ends, but at most [MaxWait] if ctx has no deadline. Then it fails with EBUSY,
// and with the error of ctx if that has ended: errors.Is holds for both.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	if db.ReadOnly() {
		return cmp.Or(ctx.Err(), error(syscall.EROFS))
	}
	return db.keep(ctx, db.options.Relaxed, db.unlessSealed(fn))
}

// Stage is an Update that becomes durable with the next Update that is. It is for rows that mean nothing before that, or
// that may as well be deleted later, and for callers that write many: it waits while the log is long and is being folded
// into the file, so that other writers need not.
func (db *DB) Stage(ctx context.Context, fn func(*Tx) error) error {
	if db.ReadOnly() {
		return cmp.Or(ctx.Err(), error(syscall.EROFS))
	}
	if err := db.pace(ctx); err != nil {
		return err
	}
	return db.keep(ctx, true, db.unlessSealed(fn))
}

// unlessSealed is fn, refused at its end if SetReadOnly came meanwhile.
func (db *DB) unlessSealed(fn func(*Tx) error) func(*Tx) error {
	return func(tx *Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		if db.ReadOnly() {
			return syscall.EROFS
		}
		return nil
	}
}

// Keep is an Update that SetReadOnly does not refuse, and that is as durable as a Stage. It is for the rows that announce the
// open files of this process to others. They must not go stale while the process only reads, and need not outlive it. Keep
// also writes to a file that was moved.
func (db *DB) Keep(ctx context.Context, fn func(*Tx) error) error {
	return db.keep(ctx, true, func(tx *Tx) error {
		tx.anywhere = true
		return fn(tx)
	})
}

// keep is one transaction. If it is lazy, its commit is not synced.
func (db *DB) keep(ctx context.Context, lazy bool, fn func(*Tx) error) error {
	return db.write(ctx, func() bool { return db.options.Relaxed || lazy && db.writer.mended }, fn)
}

// write is one transaction. lazy is asked once it is its turn.
func (db *DB) write(ctx context.Context, lazy func() bool, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if db.options.ReadOnly {
		return syscall.EROFS
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.users.Done()

	// patience starts a timer, so a token that is free is taken without it.
	select {
	case db.writing <- struct{}{}:
	default:
		select {
		case db.writing <- struct{}{}:
		case <-ctx.Done():
			return waited(ctx)
		case <-patience(ctx):
			return waited(ctx)
		}
	}
	defer func() {
		db.writer.lazy = db.options.Relaxed
		<-db.writing
	}()

	db.writer.lazy = lazy()
	db.boundLog()
	if err := db.writer.run(ctx, true, fn); err != nil {
		return err
	}
	if db.writer.lazy {
		db.unsynced.Store(true)
	}
	db.foldLog()
	return nil
}
