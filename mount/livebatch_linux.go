package mount

import (
	"sync"
	"syscall"
	"time"

	"vfsdb/node"
	"vfsdb/tree"
)

// A batch gathers changes in a transaction that is open for a while. All of them are visible to the kernel at once, and to
// everybody else when it is committed. It holds the lock of writers meanwhile, so it is short.
type batch struct {
	live   *live
	gather time.Duration
	room   room

	turn sync.Mutex // held by one change at a time, and by a commit; taken before mu

	mu    sync.Mutex // held while tx is used
	tx    *tree.Tx   // nil if no transaction is open
	paths tree.PathFinder
	names []node.Name // whose entries it has changed

	// With turn: of the open transaction.
	finish chan error // takes nil to commit, or the reason to roll back
	done   chan error
	timer  *time.Timer
	failed error      // of a commit that lost changes, which no Fsync has reported yet
	gained int        // changes of it that were reported as made
	first  int64      // number of its first event
	made   []node.Ino // by it

	retries, over bool // with turn: it will be tried again, or never
}

func (b *batch) init(l *live, options *LiveOptions) {
	b.live, b.gather = l, defaultGather
	b.room.file = l.tree.DB().Path()
	if options != nil && options.Gather != 0 {
		b.gather = options.Gather
	}
}

// look runs fn on the open transaction. It reports false if there is none.
func (b *batch) look(fn func(*tree.Tx) error) (done bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tx == nil {
		return false, nil
	}
	return true, fn(b.tx)
}

// atOnce reports whether each change is a commit of its own.
func (b *batch) atOnce() bool { return b.gather < 0 || b.room.tight() }

// do runs a change. If it fails, nothing of it is left; if a part of it was done by then, the whole batch is undone.
func (b *batch) do(fn func(*tree.Tx) error) error {
	b.turn.Lock()
	defer b.turn.Unlock()
	return b.run(fn, b.atOnce())
}

// doNow is do, and commits. It is for changes of content, which is read as it is committed.
func (b *batch) doNow(fn func(*tree.Tx) error) error {
	b.turn.Lock()
	defer b.turn.Unlock()
	return b.run(fn, true)
}

func (b *batch) run(fn func(*tree.Tx) error, now bool) error {
	if err := b.begin(); err != nil {
		return err
	}

	b.mu.Lock()
	spoilt, err := b.tx.Verb(func() error { return fn(b.tx) })
	b.mu.Unlock()
	switch {
	case spoilt:
		_ = b.close(err)
	case err == nil && now:
		err = b.commit()
	case err == nil:
		b.gained++
	case b.gather < 0:
		_ = b.commit() // no time ends the transaction, which others wait for
	}
	return err
}

// begin opens the transaction, unless it is open. It waits for other writers.
func (b *batch) begin() error {
	if b.tx != nil {
		return nil
	}
	began, finish, done := make(chan *tree.Tx, 1), make(chan error, 1), make(chan error, 1)
	go func() {
		done <- b.live.tree.Stage(b.live.ctx, func(tx *tree.Tx) error {
			began <- tx
			return <-finish
		})
	}()

	select {
	case err := <-done:
		return err
	case tx := <-began:
		first, err := tx.DB().PeekID("change")
		if err != nil {
			finish <- err
			return <-done
		}
		b.finish, b.done, b.first = finish, done, first
		b.mu.Lock()
		b.tx, b.paths, b.names = tx, tx.PathFinder(), b.names[:0]
		b.made = b.made[:0]
		b.mu.Unlock()
	}
	b.arm()
	return nil
}

// arm has a commit come, at the latest when the time is over.
func (b *batch) arm() {
	if b.gather > 0 {
		b.timer = time.AfterFunc(b.gather, func() {
			b.turn.Lock()
			defer b.turn.Unlock()
			_ = b.commit()
		})
	}
}

// wrote notes that so many bytes were written to a file, and has a commit come.
func (b *batch) wrote(ino node.Ino, bytes int) error {
	first, much, full := b.live.inodes.written(ino, bytes)
	switch {
	case full || b.atOnce():
		return b.flush()
	case much:
		go func() { _ = b.flush() }()
	case first:
		time.AfterFunc(b.gather, func() { _ = b.flush() })
	}
	return nil
}

// flush commits all that is gathered, and what was written to files.
func (b *batch) flush() error {
	b.turn.Lock()
	defer b.turn.Unlock()
	return b.commit()
}

// sync is flush, and makes all durable. It reports what an earlier commit could not do.
func (b *batch) sync() error {
	b.turn.Lock()
	err := b.commit()
	if err == nil {
		err = b.failed
	}
	b.failed = nil
	b.turn.Unlock()
	if err != nil {
		return err
	}
	return b.live.tree.DB().Sync(b.live.ctx)
}

// commit is flush for a caller that has the turn.
func (b *batch) commit() error {
	dirty := b.live.inodes.takeDirty()
	if b.tx == nil && len(dirty) == 0 {
		return nil
	}
	if err := b.begin(); err != nil {
		b.live.inodes.putDirty(dirty)
		b.retry()
		return err
	}

	b.mu.Lock()
	var err error
	for _, ino := range dirty {
		if _, err = b.tx.Verb(func() error { return b.live.fold(b.tx, ino) }); err != nil {
			break
		}
	}
	b.mu.Unlock()
	if err = b.close(err); err != nil {
		b.live.inodes.putDirty(dirty)
		b.retry()
	}
	return err
}

// close ends the transaction: it is committed if err is nil. Otherwise, or if the commit fails, all earlier replies about it
// are wrong, and the kernel's caches of them are invalidated.
func (b *batch) close(err error) error {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	b.mu.Lock()
	end, peekErr := b.tx.DB().PeekID("change")
	if err == nil {
		err = peekErr
	}
	names := b.names
	own := b.live.feed.own(b.first, end)
	b.finish <- err
	err = <-b.done
	b.tx = nil
	b.mu.Unlock()

	gained := b.gained
	b.gained = 0
	if err != nil {
		if gained > 0 {
			b.failed = err
		}
		b.live.feed.disown(own)
		b.live.inodes.lose(b.made)
		b.live.inodes.closeForgotten()
		b.names = nil
		go b.live.dropAll(names)
		return err
	}
	b.live.inodes.forgetLate()
	b.live.inodes.closeForgotten()
	return nil
}

// place returns an entry of a directory, to be changed.
func (b *batch) place(dir node.Ino, base string) (tree.Place, error) {
	b.names = append(b.names, node.Name{Dir: dir, Base: base})
	if err := b.live.alive(dir); err != nil {
		return tree.Place{}, err
	}
	p, err := b.placeOf(dir, base)
	if err == nil && p.Path == "" {
		err = syscall.ENOENT // the directory is no part of the tree any more
	}
	return p, err
}

func (b *batch) placeOf(dir node.Ino, base string) (tree.Place, error) {
	path, err := b.paths.Path(dir)
	if err != nil || path == "" {
		return tree.Place{Dir: dir, Base: base}, err
	}
	return tree.Place{Dir: dir, Base: base, Path: node.JoinPath(path, base)}, nil
}

// moved forgets the paths of directories, since one has got another.
func (b *batch) moved() { b.paths = b.tx.PathFinder() }
