package undo

import (
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
	return int(b.Epoch - a.Epoch)
}

// whole refuses a moment of which a collection has taken rows.
func (s *selector) whole(at history.Moment, call int64, before bool) error {
	whole, err := history.Whole(s.tx.DB(), at)
	if err != nil || whole {
		return err
	}
	side := "after"
	if before {
		side = "before"
	}
	what := fmt.Sprintf("the state %s call %d", side, call)
	record, there, err := journal.ReadCall(s.tx.DB(), call)
	if err != nil {
		return err
	}
	if there {
		what += " of " + record.At.Local().Format(time.DateTime)
	}
	near, err := history.Nearest(s.tx.DB(), at)
	if err != nil {
		return err
	}
	switch len(near) {
	case 0:
		return refuse(s.what, syscall.ESTALE, "a collection has taken %s, and no snapshot is near it", what)
	case 1:
		return refuse(s.what, syscall.ESTALE, "a collection has taken %s; the nearest snapshot is %s", what, near[0])
	}
	return refuse(s.what, syscall.ESTALE, "a collection has taken %s; the nearest snapshots are %s", what, strings.Join(near, " and "))
}
