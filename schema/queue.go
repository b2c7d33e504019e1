package schema

import (
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
