package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"vfsdb/journal"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A Standing compares a branch with its base.
type Standing struct {
	vfs.Branch
	Changed time.Time // when it last changed; zero if the log does not go back that far

	// Ahead counts the paths that the branch has changed since the fork, and Behind those that its base has. Both are
	// -1 for a branch without a base.
	Ahead, Behind int
}

// Standings describes the branches of the store, oldest first. It costs as much as was changed since the forks, and one
// pass over the log. A branch that is dropped meanwhile is left out.
func Standings(ctx context.Context, fsys *vfs.FS) ([]Standing, error) {
	branches, err := fsys.Store().Branches(ctx)
	if err != nil {
		return nil, err
	}
	var changed map[int64]time.Time
	err = (*tree.Tree)(fsys).View(ctx, func(tx *tree.Tx) (err error) {
		changed, err = journal.LastChanges(tx.DB())
		return err
	})
	if err != nil {
		return nil, err
	}

	list := make([]Standing, 0, len(branches))
	for _, b := range branches {
		s := Standing{Branch: b, Changed: changed[b.ID], Ahead: -1, Behind: -1}
		if b.Base != "" {
			err := s.count(ctx, fsys)
			if gone(err) {
				// The base is gone, or the branch itself.
				s.Base, s.Fork, s.Ahead, s.Behind = "", vfs.Moment{}, -1, -1
				_, err = fsys.Branch(ctx, s.Name)
			}
			if gone(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// gone reports whether an error means that a branch or a moment no longer exists.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE) }

// count compares the branch and its base with the moment of the fork.
func (s *Standing) count(ctx context.Context, fsys *vfs.FS) error {
	fork, err := fsys.At(ctx, s.Fork)
	if err != nil {
		return err
	}

	if s.Ahead, err = changesSince(ctx, fork, s.Name); err != nil {
		return err
	}
	s.Behind, err = changesSince(ctx, fork, s.Base)
	return err
}

// changesSince counts the paths in which the head of a branch differs from a moment.
func changesSince(ctx context.Context, at *vfs.FS, branch string) (n int, err error) {
	head, err := at.Branch(ctx, branch)
	if err != nil {
		return 0, err
	}
	for _, err := range Diff(ctx, at, head) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}
