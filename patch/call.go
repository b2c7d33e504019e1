package patch

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"syscall"

	"vfsdb/history"
	"vfsdb/journal"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Call yields what a call changed, as [Files] does. Where others changed the branch in the course of the call, it yields the
// files of each stretch between, the earliest first; and so for each branch that it changed. A call that changed no tree yields
// nothing.
//
// A call that is not in the log is ENOENT, and one whose states a collection has taken ESTALE.
func Call(ctx context.Context, fsys *vfs.FS, id int64, options *Options) iter.Seq2[File, error] {
	var o Options
	if options != nil {
		o = *options
	}

	return func(yield func(File, error) bool) {
		end(yield, "show", func() error {
			return (*tree.Tree)(fsys).View(ctx, func(tx *tree.Tx) error {
				list, err := stretches(tx, id)
				if err != nil {
					return err
				}
				for _, s := range list {
					if err := s.draw(tx, &o, yield); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// A stretch is the moments before and after some steps of a call that follow each other.
type stretch struct{ before, after history.Moment }

// stretches returns those of a call, all of whose moments are whole.
func stretches(tx *tree.Tx, id int64) (list []stretch, err error) {
	steps, err := journal.StepsOf(tx.DB(), id)
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		return nil, recorded(tx, id)
	}

	slices.SortFunc(steps, func(a, b journal.Step) int {
		return cmp.Or(cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.Epoch, b.Epoch))
	})
	for _, step := range steps {
		before, after := history.Moment{Branch: step.Branch, Epoch: step.Epoch - 1}, history.Moment{Branch: step.Branch, Epoch: step.Epoch}
		if n := len(list); n > 0 && list[n-1].after == before {
			list[n-1].after = after
			continue
		}
		list = append(list, stretch{before, after})
	}
	for _, s := range list {
		for _, at := range []history.Moment{s.before, s.after} {
			whole, err := history.Whole(tx.DB(), at)
			if err == nil && !whole {
				err = fmt.Errorf("show call %d: a collection has taken the states before and after it: %w", id, syscall.ESTALE)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// recorded refuses a call that is not in the log.
func recorded(tx *tree.Tx, id int64) error {
	_, there, err := journal.ReadCall(tx.DB(), id)
	if err != nil || there {
		return err
	}
	oldest, newest, err := journal.CallSpan(tx.DB())
	if err != nil {
		return err
	}
	if newest < oldest {
		return fmt.Errorf("show call %d: the log has no call: %w", id, syscall.ENOENT)
	}
	return fmt.Errorf("show call %d: the log has the calls %d to %d: %w", id, oldest, newest, syscall.ENOENT)
}

// draw yields the files that differ between the ends of a stretch.
func (s stretch) draw(tx *tree.Tx, o *Options, yield func(File, error) bool) error {
	var ends [2]*tree.Tx
	for i, at := range []history.Moment{s.before, s.after} {
		past, err := tx.Past(at)
		if err != nil {
			return err
		}
		if ends[i], err = tx.On(past); err != nil {
			return err
		}
	}
	return draw(ends[0], ends[1], o, yield)
}
