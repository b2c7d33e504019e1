package schema

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// run is one transaction: begin, fn, and commit or roll back.
func (c *conn) run(ctx context.Context, write bool, fn func(*Tx) error) (err error) {
	if err := c.begin(ctx, write); err != nil {
		return err
	}
	tx := &Tx{ctx: ctx, conn: c, write: write}
	ended := false // still false after a panic, and after runtime.Goexit, as of t.FailNow
	defer func() {
		tx.conn = nil
		if !ended {
			c.rollback()
		}
	}()

	if err = cmp.Or(fn(tx), tx.spoilt); err == nil {
		err = tx.finish()
	}
	ended = true

	if !write {
		// Nothing was written: a commit and a rollback are the same.
		if endErr := c.control("COMMIT"); err == nil {
			err = endErr
		}
		return err
	}
	if err != nil {
		c.rollback()
		return err
	}
	return c.commit(tx)
}

// begin begins a transaction, once it is the turn of one that writes, and SQLite's lock is free.
func (c *conn) begin(ctx context.Context, write bool) (err error) {
	if !write {
		if err := retry(ctx, func() error { return c.startMarked("BEGIN") }); err != nil {
			return err
		}
		if err := c.showOlder(); err != nil {
			c.rollback()
			return err
		}
		return nil
	}
	asked := time.Now()
	defer func() { c.counts.waited(asked, err) }()
	if c.turns.Take(ctx) != nil {
		return waited(ctx)
	}
	if err = retry(ctx, func() error { return c.start("BEGIN IMMEDIATE") }); err != nil {
		c.turns.Pass()
		return err
	}

	// Nobody else can commit now, so the present mark is that of the moment that the transaction sees.
	c.started, c.startedMarked = mark(c.index)
	c.written = 0
	return nil
}

// startMarked is start, between two looks at the mark. If they are equal, nobody has committed since the first one, and the
// moment that the transaction sees was fixed after it.
func (c *conn) startMarked(text string) error {
	before, ok := mark(c.index)
	if err := c.start(text); err != nil {
		return err
	}
	c.mark, c.marked = mark(c.index)
	c.marked = c.marked && ok && c.mark == before
	return nil
}

// commit makes a transaction durable and calls its AfterCommit functions, or rolls it back.
func (c *conn) commit(tx *Tx) error {
	err := tx.writeIDs()
	if err == nil && c.inPlace != nil && !tx.anywhere {
		err = c.inPlace()
	}
	if err != nil {
		c.rollback()
		c.ids = nil
		return err
	}

	if err := c.control("COMMIT"); err != nil {
		c.rollback()
		c.ids = nil
		return fmt.Errorf("commit: %w", err)
	}

	c.turns.Pass()
	c.counts.ended(true)
	tx.keepIDs()
	if c.committed != nil {
		c.committed(tx)
	}
	for _, fn := range tx.after {
		fn()
	}
	return nil
}

// finish calls the functions of BeforeCommit.
func (tx *Tx) finish() error {
	for _, fn := range tx.before {
		if err := fn(tx); err != nil {
			return err
		}
	}
	tx.before = nil
	return tx.spoilt
}
