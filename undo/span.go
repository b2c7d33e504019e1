package undo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"vfsdb/history"
	"vfsdb/journal"
	"vfsdb/merge"
)

// spans returns what the steps of some calls span, the latest first. Steps that follow each other make one span. All the
// moments must be whole.
func (s *selector) spans(calls []int64) (list []merge.Span, err error) {
	var steps []journal.Step
	for _, call := range calls {
		of, err := journal.StepsOf(s.tx.DB(), call)
		if err != nil {
			return nil, err
		}
		steps = append(steps, of...)
	}
	steps = slices.DeleteFunc(steps, func(step journal.Step) bool { return !s.within(step) })
	slices.SortFunc(steps, s.later)

	for _, step := range steps {
		before := history.Moment{Branch: step.Branch, Epoch: step.Epoch - 1}
		after := history.Moment{Branch: step.Branch, Epoch: step.Epoch}
		if n := len(list); n > 0 && list[n-1].Before == after {
			list[n-1].Before = before
			continue
		}
		list = append(list, merge.Span{Before: before, After: after, Call: step.Call})
	}
	for _, span := range list {
		for _, at := range []history.Moment{span.After, span.Before} {
			if err := s.whole(at, span.Call, at == span.Before); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// later orders steps, the latest first: those of the branch itself come after those of the branches that it comes from.
func (s *selector) later(a, b journal.Step) int {
	x, _, _ := s.capOf(a.Branch)
	y, _, _ := s.capOf(b.Branch)
	if x != y {
		return x - y
	}
	return cmp.Compare(b.Epoch, a.Epoch)
}

// whole refuses a moment of which a collection has taken rows.
func (s *selector) whole(at history.Moment, call int64, before bool) error {
	whole, err := history.Whole(s.tx.DB(), at)
	if err != nil || whole {
		return err
	}

	record, _, err := journal.ReadCall(s.tx.DB(), call)
	if err != nil {
		return err
	}
	near, err := history.Nearest(s.tx.DB(), at)
	if err != nil {
		return err
	}
	return &CollectedError{Op: s.what, Call: call, At: record.At, Before: before, Near: near}
}

// A CollectedError means that a call cannot be taken back, because a collection has taken a state that this needs. It is
// ESTALE.
type CollectedError struct {
	Op     string    // undo or redo
	Call   int64     // the call, or the last one of several that follow each other
	At     time.Time // when it began; zero if the log does not have it
	Before bool      // whether the state before the call is the one that is missing, not the one after it
	Near   []string  // the nearest snapshots of the branch, as far as there are any: an earlier one, and a later one
}

func (e *CollectedError) Error() string {
	state := fmt.Sprintf("the state after call %d", e.Call)
	if e.Before {
		state = fmt.Sprintf("the state before call %d", e.Call)
	}
	if !e.At.IsZero() {
		state += " of " + e.At.Local().Format(time.DateTime)
	}

	near := "no snapshot is near it"
	switch len(e.Near) {
	case 0:
	case 1:
		near = "the nearest snapshot is " + e.Near[0]
	default:
		near = "the nearest snapshots are " + strings.Join(e.Near, " and ")
	}
	return fmt.Sprintf("%s: a collection has taken %s, and %s: %v", e.Op, state, near, syscall.ESTALE)
}

// Unwrap returns ESTALE.
func (e *CollectedError) Unwrap() error { return syscall.ESTALE }
