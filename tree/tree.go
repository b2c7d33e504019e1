package tree

import (
	"context"
	"syscall"

	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree/level"
)

// A Tree is one tree of a store: the head of a branch, which can be written, or a past moment, which refuses writes with
// EROFS. It is safe for concurrent use, by any number of goroutines and processes.
type Tree struct {
	store   *Store
	at      history.Moment
	branch  string          // the branch's name when the tree was made; "" for a past moment
	levels  []history.Level // the lineage that reads go through, nearest first; constant
	filters []*level.Filter // of the levels
	settled bool            // the lineage is committed
	root    node.Ino
	name    string
	owner   bool // made by Open: Close closes the store
	held    bool // the store pins the moment
	loose   bool // nothing has to keep the moment: it can be read as long as it is whole
}

// Own gives the tree the name of the store, and makes it the one whose end is the end of the store.
func (t *Tree) Own(name string) { t.name, t.owner = name, true }

// Close closes the store if the tree owns it.
func (t *Tree) Close() error {
	if !t.owner {
		return nil
	}
	return t.store.Close()
}

// Name returns the path that Open was given, or for another tree its branch or directory.
func (t *Tree) Name() string { return t.name }

// Head returns the name of the branch that the tree writes to, as it was when the tree was made; "" if it stands on a past
// moment.
func (t *Tree) Head() string { return t.branch }

// Moment returns where in history the tree stands.
func (t *Tree) Moment() history.Moment { return t.at }

// DB returns the file under the tree, for rooms that keep rows of their own in it.
func (t *Tree) DB() *schema.DB { return t.store.db }

// Frozen reports whether the tree stands on a past moment and so refuses writes with EROFS.
func (t *Tree) Frozen() bool { return t.at.Epoch != schema.Head }

// Whole reports whether the tree is a whole branch, or a moment of one, and not a directory of it as Sub makes.
func (t *Tree) Whole() bool { return t.root == schema.RootIno }

// Sub returns the tree below a directory. The number is looked up by nobody again.
func (t *Tree) Sub(root node.Ino, name string) *Tree {
	sub := *t
	sub.root, sub.name, sub.owner = root, name, false
	return &sub
}

// View runs fn on one moment of the tree: what others commit meanwhile is not seen. fn must not keep tx, nor run for
// long, because the file cannot reuse its log meanwhile.
func (t *Tree) View(ctx context.Context, fn func(*Tx) error) error {
	return t.store.db.View(ctx, func(db *schema.Tx) error {
		tx, err := t.Begin(db)
		if err != nil {
			return err
		}
		return fn(tx)
	})
}

// Update runs fn and commits all that it did, or nothing if it returns an error. When Update has returned nil the
// commit is durable. One Update runs at a time: others wait, so fn should not wait for anything itself. Inside fn
// use tx, never the tree: a verb of the tree would wait for the Update that it is called from.
func (t *Tree) Update(ctx context.Context, fn func(*Tx) error) error {
	return t.commit(ctx, t.store.db.Update, fn)
}

// Stage is an Update that becomes durable with the next Update that is, or with Sync. See [schema.DB.Stage].
func (t *Tree) Stage(ctx context.Context, fn func(*Tx) error) error {
	return t.commit(ctx, t.store.db.Stage, fn)
}

func (t *Tree) commit(ctx context.Context, update func(context.Context, func(*schema.Tx) error) error, fn func(*Tx) error) error {
	if t.Frozen() {
		return syscall.EROFS
	}
	var made folds
	defer made.end()
	return update(ctx, func(db *schema.Tx) error { return t.run(db, &made, fn) })
}

// run is fn on a transaction of the file, up to what is to be committed.
func (t *Tree) run(db *schema.Tx, made *folds, fn func(*Tx) error) error {
	tx, err := t.Begin(db)
	if err != nil {
		return err
	}
	tx.folds = made
	if err := fn(tx); err != nil {
		return err
	}
	return tx.end()
}

// Join is an Update of one short verb, which writes about the given number of bytes. Verbs that wait for the lock at the
// same time share a commit, and an inode that several of them change, such as a directory's, is written once.
func (t *Tree) Join(ctx context.Context, bytes int, fn func(*Tx) error) error {
	if t.Frozen() {
		return syscall.EROFS
	}
	var made folds
	defer made.end()
	return t.store.db.Join(ctx, bytes, func(db *schema.Tx) error {
		return t.run(db, &made, fn)
	})
}

// Look runs fn on the caches of this moment. If they do not suffice, it runs fn again, in a transaction that reads.
func (t *Tree) Look(ctx context.Context, fn func(*Tx) error) error {
	tx, err := t.Cached(ctx)
	if tx == nil {
		return t.View(ctx, fn)
	}
	if err == nil {
		err = fn(tx)
	}
	if tx.Missed() {
		return t.View(ctx, fn)
	}
	return err
}

// Cached returns a transaction that answers from the caches of this moment alone. If it needs a row that is not cached, it
// has missed, and its results are void. It is nil if nothing is cached, or ctx has ended.
func (t *Tree) Cached(ctx context.Context) (*Tx, error) {
	g := t.store.memory.Current()
	if g == nil || ctx.Err() != nil {
		return nil, nil
	}
	tx := &Tx{db: schema.Blind(ctx), tree: t, mem: t.store.memory.Cached(g, t.at)}
	return tx, tx.checkBranch()
}

// Store returns the store that the tree is of.
func (t *Tree) Store() *Store { return t.store }

// Root returns the directory that the tree stands on.
func (t *Tree) Root() node.Ino { return t.root }

// PublishPins publishes for collectors which inodes and contents the open files of this store need. That happens once a
// second anyway; a collector in the same process need not wait for it.
func (t *Tree) PublishPins(ctx context.Context) error {
	return t.store.lease.Answer(ctx)
}
