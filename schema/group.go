package schema

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// The bounds of a group. The time bounds one whose bytes are not known beforehand: once it is over, the next operation
// waits for the next group.
const (
	groupOps   = 256
	groupBytes = 4 << 20
	groupTime  = 50 * time.Millisecond
)

// Join is an Update that may share its transaction, and so its fsync, with others that wait at the same time. The caller
// that gets the write lock, the leader, runs its own fn, then in their order those of the waiting callers, and commits them
// together: up to 256 of them, 4 MiB of announced bytes, or 50 ms. It does not wait for more to come. An fn that fails fails
// alone and leaves nothing: no row, no number that it took, no note ([Tx.SetLocal]), no function before or after the
// commit. When Join has returned nil the commit is durable; a commit that fails is the same error for all in it.
//
// fn must be short and must not wait for anything. It may run on another goroutine, which a panic of it does not harm:
// Join panics instead. It may run more than once, if another one has failed; only the last run counts. A ctx that ends
// before fn has begun takes it out of the queue.
func (db *DB) Join(ctx context.Context, bytes int, fn func(*Tx) error) error {
	if db.ReadOnly() {
		return cmp.Or(ctx.Err(), error(syscall.EROFS))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.users.Done()

	o := &op{ctx: ctx, bytes: bytes, fn: fn}
	select {
	case db.writing <- struct{}{}:
		return db.lead(o)
	default:
	}

	// Another one has the lock. It may run o, or leave it, and then o leads the next group.
	o.done = make(chan struct{})
	db.queue.add(o)
	gaveUp := false
	select {
	case db.writing <- struct{}{}:
		if db.queue.remove(o) {
			return db.lead(o)
		}
		<-db.writing // another leader has run it meanwhile
	case <-o.done:
	case <-ctx.Done():
		gaveUp = true
	case <-patience(ctx):
		gaveUp = true
	}

	if gaveUp && db.queue.remove(o) {
		return waited(ctx)
	}
	<-o.done
	return o.result()
}

// A group is the operations that share a transaction, on the goroutine of the leader.
//
// Most operations succeed, and most of those that fail do so before they change anything. So they run one after the other
// as if they were one. When an operation has changed something and fails, the transaction is undone and all run again
// carefully: each within a savepoint, so that it can be undone alone. That is slower, since SQLite copies each page that is
// written in a savepoint.
type group struct {
	db      *DB
	leader  *op
	todo    []*op // to run before those in the queue
	now     *op   // that is running
	ran     []*op // in this transaction; the first has succeeded
	careful bool  // each has a savepoint
	again   bool  // those in todo lost their transaction: no other one comes in, which might end it once more
	tx      *Tx   // with the effects of those that succeeded
}

// lead runs own and those in the queue, and gives the write lock back.
func (db *DB) lead(own *op) error {
	defer func() { <-db.writing }()
	g := &group{db: db, leader: own, todo: []*op{own}}
	ended := false // still false after a panic, and after runtime.Goexit
	defer func() {
		if !ended {
			g.abandon()
		}
	}()

	db.boundLog()
	err := g.run(own.ctx)
	for len(g.todo) > 0 {
		// Operations that have begun do not end with the leader's context.
		err = g.run(context.WithoutCancel(own.ctx))
	}
	ended = true

	if err == nil {
		if db.options.Relaxed {
			db.unsynced.Store(true)
		}
		db.foldLog()
	}
	return own.result()
}

// run is one transaction of todo and of operations in the queue. If it has to be undone because one fails, the others are
// in todo again.
func (g *group) run(ctx context.Context) error {
	c := g.db.writer
	if err := c.begin(ctx, true); err != nil {
		g.settle(g.todo, err)
		g.todo = nil
		return err
	}

	g.tx = &Tx{ctx: ctx, conn: c, write: true}
	began, bytes := time.Now(), 0
	for g.next(began, bytes) {
		o := g.now
		bytes += o.bytes
		how := g.do(o)

		switch {
		case how == lost:
			g.undo()
			g.again = true
			o.settle(o.err)
			return o.err
		case o.panic != nil:
			o.settle(o.err) // it does not run again with the others
		default:
			g.ran = append(g.ran, o)
		}

		if how == mixed {
			g.undo()
			g.careful = true
			return nil
		}
	}

	g.db.crowded = len(g.ran) > 1
	if len(g.ran) == 0 {
		c.rollback()
		return nil
	}

	err := g.tx.finish()
	switch {
	case err == nil:
		err = c.commit(g.tx)
	case len(g.ran) > 1 && !g.careful:
		g.undo()
		g.careful = true
		return nil
	default:
		c.rollback()
	}

	for _, o := range g.ran {
		o.settle(cmp.Or(err, o.err))
	}
	g.ran = nil
	return err
}

// undo rolls the transaction back. The operations that ran in it are in todo again.
func (g *group) undo() {
	g.db.writer.rollback()
	g.todo, g.ran = append(g.ran, g.todo...), nil
}

// next sets now to the next operation. It reports false once the group is to be committed.
func (g *group) next(began time.Time, bytes int) bool {
	for {
		g.now = nil
		switch {
		case len(g.todo) > 0:
			g.now, g.todo = g.todo[0], g.todo[1:]
		case !g.again && len(g.ran) < groupOps && time.Since(began) < groupTime:
			g.now = g.db.queue.next(groupBytes - bytes)
			if g.now == nil && g.db.crowded {
				// The callers that the last commit has released are on their way back.
				runtime.Gosched()
				g.now = g.db.queue.next(groupBytes - bytes)
			}
		}
		if g.now == nil || g.now == g.leader || g.now.ctx.Err() == nil {
			return g.now != nil
		}
		g.now.settle(waited(g.now.ctx))
	}
}

// A left is the state in which an operation leaves its transaction.
type left int

const (
	whole left = iota // with all its changes, or if it failed, with none
	mixed             // with a part of its changes, though it failed
	lost              // useless: it failed as the first in it, or SQLite has ended it
)

// do runs one operation and sets its outcome.
func (g *group) do(o *op) left {
	c := g.db.writer
	shared := len(g.ran) > 0
	saved := shared && g.careful

	o.err = nil
	if saved {
		if o.err = c.control("SAVEPOINT op"); o.err != nil {
			return lost
		}
	}

	// Without a savepoint an operation that fails has changed no effects, or all is undone.
	tx := &Tx{ctx: o.ctx, conn: c, write: true, effects: g.tx.effects}
	if saved {
		tx.effects = g.tx.effects.clone()
	}

	o.err = g.call(o, tx)
	switch {
	case o.err != nil:
	case g.db.ReadOnly():
		o.err = syscall.EROFS
	case c.sq.AutocommitEnabled():
		o.err = errRolledBack
	case saved:
		if o.err = c.control("RELEASE op"); o.err != nil {
			return lost
		}
	}

	switch {
	case o.err == nil:
		g.tx.effects = tx.effects
		return whole
	case !shared || c.sq.AutocommitEnabled():
		return lost
	case saved:
		c.forget()
		if c.control("ROLLBACK TO op") != nil || c.control("RELEASE op") != nil {
			return lost
		}
		return whole
	case tx.changed || o.panic != nil:
		return mixed
	}
	return whole
}

// call runs the function of an operation. It recovers a panic, except that of the leader's own.
func (g *group) call(o *op, tx *Tx) (err error) {
	defer func() {
		tx.conn = nil
		if o == g.leader {
			return
		}
		if v := recover(); v != nil {
			o.panic = &opPanic{v, debug.Stack()}
			err = o.panic
		}
	}()
	err = cmp.Or(o.fn(tx), tx.spoilt)
	if err == nil && g.careful {
		err = tx.finish()
	}
	return err
}

// abandon ends the transaction after a panic, or runtime.Goexit. The other operations in it are undone, and fail.
func (g *group) abandon() {
	g.db.writer.rollback()
	g.settle(g.ran, errAbandoned)
	g.settle(g.todo, errAbandoned)
	if g.now != nil && g.now != g.leader {
		g.now.settle(errAbandoned)
	}
}

func (g *group) settle(ops []*op, err error) {
	for _, o := range ops {
		o.settle(err)
	}
}

var errAbandoned = fmt.Errorf("the transaction was given up for the panic of another in it: %w", syscall.EIO)
