package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"vfsdb/history"
	"vfsdb/journal"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A Standing compares a branch with main.
type Standing struct {
	vfs.Branch
	Changed time.Time // when it last changed; zero if the log does not go back that far

	// Ahead counts the paths in which the branch differs from the last moment that it and main have in common, by a fork or a
	// merge, and Behind those in which main does. Both are -1 for main itself, and for a branch that has nothing in common
	// with it.
	Ahead, Behind int
}

// Standings describes the branches of the store, oldest first. It costs as much as was changed since those moments, and one
// pass over the log. A branch that is dropped meanwhile is left out.
func Standings(ctx context.Context, fsys *vfs.FS) (list []Standing, err error) {
	common := make(map[int64]vfs.Moment) // with main, by branch
	err = (*tree.Tree)(fsys).View(ctx, func(tx *tree.Tx) error {
		branches, err := history.Branches(tx.DB())
		if err != nil {
			return err
		}
		changed, err := journal.LastChanges(tx.DB())
		if err != nil {
			return err
		}

		main, err := history.FindBranch(tx.DB(), vfs.MainBranch)
		if err != nil {
			return err
		}

		for _, b := range branches {
			list = append(list, Standing{Branch: b, Changed: changed[b.ID], Ahead: -1, Behind: -1})
			if b.ID == main {
				continue
			}
			bases, err := history.Bases(tx.DB(), headOf(b.ID), headOf(main))
			if err != nil {
				return err
			}
			if len(bases) > 0 {
				common[b.ID] = bases[0]
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	c := counter{ctx: ctx, fsys: fsys, behind: make(map[vfs.Moment]int)}
	there := list[:0]
	for _, s := range list {
		at, ok := common[s.ID]
		if ok {
			err = c.count(&s, at)
		}
		if gone(err) { // the moment, or the branch itself
			s.Ahead, s.Behind = -1, -1
			_, err = fsys.Branch(ctx, s.Name)
		}
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		there = append(there, s)
	}
	return there, nil
}

func headOf(branch int64) vfs.Moment { return vfs.Moment{Branch: branch, Epoch: schema.Head} }

// gone reports whether an error means that a branch or a moment no longer exists.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE) }

// A counter counts the paths in which branches differ from moments.
type counter struct {
	ctx    context.Context
	fsys   *vfs.FS
	behind map[vfs.Moment]int // of main: many branches may have been forked at one moment
}

// count compares a branch and main with a moment.
func (c *counter) count(s *Standing, at vfs.Moment) error {
	base, err := c.fsys.At(c.ctx, at)
	if err != nil {
		return err
	}
	if s.Ahead, err = changesSince(c.ctx, base, s.Name); err != nil {
		return err
	}

	n, known := c.behind[at]
	if !known {
		if n, err = changesSince(c.ctx, base, vfs.MainBranch); err != nil {
			return err
		}
		c.behind[at] = n
	}
	s.Behind = n
	return nil
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
