package schema

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// A queue holds the operations that no leader has begun, in the order in which they came.
type queue struct {
	mu  sync.Mutex
	ops []*op
}

func (q *queue) add(o *op) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ops = append(q.ops, o)
}

// remove takes o out. It reports false if a leader has taken it.
func (q *queue) remove(o *op) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.ops {
		if q.ops[i] == o {
			q.ops = slices.Delete(q.ops, i, i+1)
			return true
		}
	}
	return false
}

// next takes the first one out; nil if there is none, or it writes more than room.
func (q *queue) next(room int) *op {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.ops) == 0 || q.ops[0].bytes > room {
		return nil
	}
	o := q.ops[0]
	q.ops = slices.Delete(q.ops, 0, 1)
	return o
}

// An op is one call of Join.
type op struct {
	ctx   context.Context
	bytes int
	fn    func(*Tx) error

	done  chan struct{} // closed once the outcome stands; nil if nobody but the leader waits for it
	err   error
	panic *opPanic
}

// settle sets the outcome, and wakes the caller of Join.
func (o *op) settle(err error) {
	o.err = err
	if o.done != nil {
		close(o.done)
	}
}

func (o *op) result() error {
	if o.panic != nil {
		panic(o.panic)
	}
	return o.err
}

// An opPanic is a panic of an operation, which goes on in the goroutine that called Join.
type opPanic struct {
	value any
	stack []byte // of the goroutine that ran it
}

func (p *opPanic) Error() string {
	return fmt.Sprintf("%v\n\nin a transaction shared with others:\n%s", p.value, p.stack)
}

func (p *opPanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}
