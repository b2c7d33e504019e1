package agent

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"

	"vfsdb/agent/tool/hooks"
	"vfsdb/agent/tool/kept"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// An Auto is the rule by which a session takes snapshots by itself, for [Session.Undo].
type Auto string

// A snapshot is taken before a call that may change something: each one, or the first of a turn. It is part of the
// call's own commit, so it costs no commit of its own. It is taken only if something has
// changed since the last one.
const (
	Never    Auto = ""
	EachCall Auto = "call"
	EachTurn Auto = "turn"
)

// DefaultKeep is how many automatic snapshots a session keeps.
const DefaultKeep = 50

// A keeper takes the automatic snapshots of a session. A nil one takes none.
type keeper struct {
	mode Auto
	keep int // the newest; -1 is all
	hear func(hooks.Event)

	turn, done atomic.Int64 // the turn that runs, and the last one with a snapshot
}

func newKeeper(mode Auto, keep int, hear func(hooks.Event)) (*keeper, error) {
	switch {
	case mode == Never:
		return nil, nil
	case mode != EachCall && mode != EachTurn:
		return nil, fmt.Errorf("automatic snapshots %q: there are %q and %q: %w", mode, EachCall, EachTurn, syscall.EINVAL)
	case keep < -1:
		return nil, fmt.Errorf("keep %d automatic snapshots: %w", keep, syscall.EINVAL)
	case keep == 0:
		keep = DefaultKeep
	}
	k := &keeper{mode: mode, keep: keep, hear: hear}
	k.turn.Store(1)
	return k, nil
}

// Begin lets the next change take a snapshot, also in a turn that has one: the branch is another one.
func (k *keeper) Begin() {
	if k != nil {
		k.done.Store(0)
	}
}

// automatic lists the automatic snapshots of a branch, oldest first.
func automatic(tx *vfs.Tx, branch int64) (list []snapshot.Info, err error) {
	all, err := snapshot.ListIn(tx, branch)
	for _, s := range all {
		if kept.IsAutomatic(s) {
			list = append(list, s)
		}
	}
	return list, err
}

// Update runs a transaction that may change something, with a snapshot at its beginning if one is due.
func (k *keeper) Update(ctx context.Context, fsys *vfs.FS, what string, fn func(*vfs.Tx) error) error {
	if k == nil {
		return fsys.Update(ctx, fn)
	}
	turn := k.turn.Load()
	if k.mode == EachTurn && k.done.Load() == turn {
		return fsys.Update(ctx, fn)
	}

	var taken string
	err := fsys.Update(ctx, func(tx *vfs.Tx) (err error) {
		if taken, err = k.take(tx, fsys.Moment().Branch, what); err != nil {
			return err
		}
		return fn(tx)
	})
	if err != nil {
		return err
	}

	k.done.Store(turn)
	if taken != "" {
		k.hear(hooks.Event{Kind: "snapshot", Name: taken})
	}
	return nil
}

// take makes an automatic snapshot and returns its name. If nothing has changed since the last one,
// it makes none and returns "".
func (k *keeper) take(tx *vfs.Tx, branch int64, what string) (string, error) {
	list, err := automatic(tx, branch)
	if err != nil {
		return "", err
	}
	if n := len(list); n > 0 {
		if changed, err := tx.ChangedSince(list[n-1].Moment); err != nil || !changed {
			return "", err
		}
	}
	taken, err := snapshot.CreateIn(tx, kept.AutoName(), kept.AutoNote+what)
	if err != nil {
		return "", err
	}
	return taken.Name, k.prune(tx, append(list, taken))
}

// prune forgets the oldest automatic snapshots of a list.
func (k *keeper) prune(tx *vfs.Tx, list []snapshot.Info) error {
	if k.keep < 0 {
		return nil
	}
	for len(list) > k.keep {
		if err := snapshot.DeleteIn(tx, list[0].Name); err != nil {
			return err
		}
		list = list[1:]
	}
	return nil
}

// A retreat is the plan of an undo: the snapshot that it goes back to, and the newest automatic one when that was
// decided.
type retreat struct {
	to      snapshot.Info
	last    snapshot.Info
	changed bool // the branch has changed since last
}

// back finds the step that takes n calls or turns back.
func (k *keeper) back(tx *vfs.Tx, branch int64, n int) (retreat, error) {
	list, err := automatic(tx, branch)
	if err != nil || len(list) == 0 {
		return retreat{}, errors.Join(err, tooFar(n, 0))
	}
	s := retreat{last: list[len(list)-1]}
	if s.changed, err = tx.ChangedSince(s.last.Moment); err != nil {
		return retreat{}, err
	}
	steps := len(list)
	if !s.changed {
		steps-- // the last one is where we are
	}
	if n > steps {
		return retreat{}, tooFar(n, steps)
	}
	s.to = list[steps-n]
	return s, nil
}

func tooFar(n, steps int) error {
	return fmt.Errorf("undo %d: there are snapshots of the last %d: %w", n, steps, syscall.ENOENT)
}

// undo brings the branch back by n steps. An automatic snapshot keeps the state before, so an undo is a step too.
func (k *keeper) undo(ctx context.Context, fsys *vfs.FS, n int) error {
	branch := fsys.Moment().Branch
	for {
		var plan retreat
		err := fsys.View(ctx, func(tx *vfs.Tx) (err error) {
			plan, err = k.back(tx, branch, n)
			return err
		})
		if err != nil {
			return err
		}

		then, err := snapshot.At(ctx, fsys, plan.to)
		if errors.Is(err, syscall.ESTALE) {
			continue // it was pruned meanwhile
		}
		if err != nil {
			return err
		}

		overtaken := false
		err = fsys.Update(ctx, func(tx *vfs.Tx) error {
			now, err := k.back(tx, branch, n)
			if overtaken = err == nil && now != plan; err != nil || overtaken {
				return err
			}
			if !plan.changed { // the new one is of the same moment
				if err := snapshot.DeleteIn(tx, plan.last.Name); err != nil {
					return err
				}
			}
			if _, err := snapshot.RestoreIn(tx, then, kept.AutoName(), fmt.Sprintf("%sundo of %d", kept.AutoNote, n)); err != nil {
				return err
			}
			list, err := automatic(tx, branch)
			if err != nil {
				return err
			}
			return k.prune(tx, list)
		})
		if err != nil || !overtaken {
			return err
		}
	}
}
