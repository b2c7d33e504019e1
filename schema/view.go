package schema

import (
	"cmp"
	"context"
	"fmt"
	"syscall"
)

// View runs fn in a transaction that sees one moment of the file. fn must not keep tx, nor call View of the same DB: that
// may wait for a connection, and end with EBUSY. The log cannot restart while fn runs, so fn should return soon.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.users.Done()
	c, err := db.reader(ctx)
	if err != nil {
		return err
	}
	defer db.release(c)
	return db.stillRun(ctx, c, fn)
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
