package branches

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"vfsdb/agent/tool"
	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// By is who made a state of a file.
type By struct {
	Seq   int64 // of the event
	Call  int64 // in whose course it happened; 0 if that is not known
	At    time.Time
	Actor string
	Tool  string
}

// maxLooked bounds the events that are looked at to find out who made a side.
const maxLooked = 10_000

// blame finds out who made the sides of conflicts, from the logs of their branches. The log of theirs is that of the source,
// or if it is nil, that of the branch or the snapshot with the label. If tools cannot look at that, it is that of the target.
func blame(ctx context.Context, h *tool.History, target *vfs.FS, source snapshot.Tree, list []Conflict) error {
	if err := blameSide(ctx, h, target, merge.Ours, changed, list); err != nil {
		return err
	}

	byLabel := make(map[string][]int)
	for i, c := range list {
		label := c.Sides[merge.Theirs].Label
		byLabel[label] = append(byLabel[label], i)
	}
	for label, of := range byLabel {
		from, made := source, changed
		if from == nil {
			var err error
			from, _, err = h.Moment(ctx, label)
			switch {
			case noMoment(err):
				from, made = target, merged
			case err != nil:
				return err
			}
		}
		part := make([]Conflict, len(of))
		for i, at := range of {
			part[i] = list[at]
		}
		if err := blameSide(ctx, h, from.Tree(), merge.Theirs, made, part); err != nil {
			return err
		}
		for i, at := range of {
			list[at].Sides = part[i].Sides
		}
	}
	return nil
}

// noMoment reports whether an error of [tool.History.Moment] says that the label of a side names no tree that tools may look at: it is
// gone, as the result of a program is, or not granted, or is no ref of this database.
func noMoment(err error) bool {
	for _, is := range []error{fs.ErrNotExist, syscall.ESTALE, fs.ErrPermission, syscall.EINVAL, syscall.EXDEV} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// changed and merged select the events that may have made a state. Where only the log of the target is known, that of theirs was
// made by a merge, or is one that the file had there before, as after an undo.
func changed(_ *Conflict, e *vfs.Event) bool { return e.Op != vfs.OpMerge && e.Op != vfs.OpRestore }

func merged(c *Conflict, e *vfs.Event) bool {
	sum := c.sums[merge.Theirs]
	return e.Op == vfs.OpMerge || sum != nil && e.After != nil && *e.After == *sum
}

// blameSide finds the event of each conflict that made the state of one side: the newest with the content of that side, else
// the newest that changed the inode.
func blameSide(ctx context.Context, h *tool.History, fsys *vfs.FS, side merge.Side, of func(*Conflict, *vfs.Event) bool, list []Conflict) error {
	var (
		o    = vfs.LogOptions{Newest: true, Max: logPage}
		made = make([]*vfs.Event, len(list))
		sure = make([]bool, len(list))
	)
	for looked := 0; looked < maxLooked && slices.Contains(sure, false); looked += logPage {
		page, err := fsys.Log(ctx, &o)
		if err != nil {
			return err
		}
		for i := range page {
			e := &page[i]
			for k := range list {
				if sure[k] || !of(&list[k], e) || !h.Policy().Visible(e.Path) || !list[k].touched(e) {
					continue
				}
				if made[k] == nil {
					made[k] = e
				}
				sum := list[k].sums[side]
				if sum == nil || e.After != nil && *e.After == *sum {
					made[k], sure[k] = e, true
				}
			}
		}
		if len(page) < logPage {
			break
		}
		o.Until = page[len(page)-1].Seq
	}

	for k, e := range made {
		if e != nil {
			list[k].Sides[side].By = &By{Seq: e.Seq, Call: e.Call, At: e.At.UTC(), Actor: e.Actor, Tool: e.Tool}
		}
	}
	return nil
}

// touched reports whether an event changed the file of a conflict, which keeps its inode through renames and forks.
func (c *Conflict) touched(e *vfs.Event) bool {
	for _, s := range c.Sides {
		if s.Info != nil && (e.Ino == s.Info.Ino() || e.Displaced == s.Info.Ino()) {
			return true
		}
	}
	return e.Path == c.raw.Path
}
