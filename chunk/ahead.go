package chunk

import (
	"context"
	"sync/atomic"

	"vfsdb/schema"
)

// An ahead is a chunk that is loaded, on a goroutine of its own, while the one before it is verified and used. It is not
// verified itself before somebody asks for it. What goes wrong with it does not matter: then it is loaded once more.
type ahead struct {
	i    int64
	held *held
	ok   bool          // it was loaded
	done chan struct{} // closed when that is known

	begun atomic.Bool // the goroutine has a transaction, or who wanted the chunk has one and no time to wait for that
	ended atomic.Bool // one of two that are needed to give the buffer back: the goroutine, and who gave up
}

// Ahead has the chunks of content that is read in order loaded before they are asked for, in transactions of db, as long as
// ctx lasts. It is for content that stays while the Reader is used; Release ends it.
func (r *Reader) Ahead(ctx context.Context, db *schema.DB) { r.ctx, r.db = ctx, db }

// begin has chunk i loaded, if there is one and it is not at hand.
func (r *Reader) begin(i int64) {
	length := lengthOf(r.content.Size, i)
	if r.db == nil || r.content.Manifest == 0 || !r.loaded || length == 0 {
		return
	}
	from, ok := r.address(i, length)
	if !ok {
		return
	}
	if h := r.cache.take(from); h != nil {
		h.release()
		return
	}
	a := &ahead{i: i, held: newHeld(from), done: make(chan struct{})}
	r.next = a
	go a.load(r.ctx, r.db)
}

func (a *ahead) load(ctx context.Context, db *schema.DB) {
	sum := a.held.address.sum
	err := db.View(ctx, func(tx *schema.Tx) error {
		if a.begun.Swap(true) {
			return errNotKept
		}
		return loadBlobBy(tx, sum, a.held.bytes, func([]byte) Sum { return sum }) // it is looked at in arrive
	})
	a.ok = err == nil
	close(a.done)
	a.end()
}

// end is called by the goroutine when it is done, and by whoever does not want its chunk.
func (a *ahead) end() {
	if a.ended.Swap(true) {
		a.held.release()
	}
}

// giveUp forgets what was loaded ahead.
func (r *Reader) giveUp() {
	if r.next != nil {
		r.next.end()
		r.next = nil
	}
}

// comes reports whether chunk i is the one that is loaded ahead.
func (r *Reader) comes(i int64) bool { return r.next != nil && r.next.i == i }

// arrive makes chunk i the one that is kept if it was loaded ahead and is what it should be. The one behind it is begun before
// that is looked at. Who has a transaction does not wait for another to begin: there are only so many, and all may be held by
// those who wait so.
func (r *Reader) arrive(tx *schema.Tx, i int64) bool {
	a := r.next
	if a == nil {
		return false
	}
	if a.i != i {
		if i != r.at { // a leap
			r.giveUp()
		}
		return false
	}
	if tx != nil && !a.begun.Swap(true) {
		r.giveUp()
		return false
	}
	<-a.done
	r.next = nil
	if !a.ok {
		a.end()
		return false
	}
	r.begin(i + 1)
	if SumOf(a.held.bytes) != a.held.address.sum {
		a.end()
		return false
	}
	r.drop()
	r.kept, r.at = a.held, i
	return true
}
