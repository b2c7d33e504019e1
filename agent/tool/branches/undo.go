package branches

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/hooks"
	"vfsdb/snapshot"
	"vfsdb/undo"
	"vfsdb/vfs"
)

// An Undone is what an undo or a redo did, or would do.
type Undone struct {
	Call      vfs.CallRecord // that was taken back: a redo takes back an undo
	By        int64          // the call that took it back; 0 after a dry run
	Changes   []snapshot.Change
	Conflicts []Conflict // the first MaxConflicts that it makes
	Omitted   int        // further ones
}

// Undo takes back a call on the branch where the tools stand, and leaves what came later: the call with a number, or the last
// one of the session and the actor of the tools, if the number is 0. A dry run changes nothing. The policy has to allow all
// that it changes. It refuses what [undo.Undo] does.
func Undo(ctx context.Context, h *tool.History, call int64, dry bool) (*Undone, error) {
	return takeBack(ctx, h, "undo", call, dry, func(tx *vfs.Tx) (*undo.Result, error) {
		return undo.UndoIn(tx, &undo.Options{Call: call, Own: call == 0, DryRun: dry})
	})
}

// Redo takes back an undo, as [Undo] takes back a call.
func Redo(ctx context.Context, h *tool.History, call int64, dry bool) (*Undone, error) {
	return takeBack(ctx, h, "redo", call, dry, func(tx *vfs.Tx) (*undo.Result, error) {
		return undo.RedoIn(tx, &undo.RedoOptions{Call: call, Own: call == 0, DryRun: dry})
	})
}

func takeBack(ctx context.Context, h *tool.History, what string, call int64, dry bool, run func(*vfs.Tx) (*undo.Result, error)) (*Undone, error) {
	perms := []policy.Permission{policy.List}
	if !dry {
		perms = []policy.Permission{policy.Snapshot, policy.Write, policy.Delete}
	}
	if err := h.Approve(ctx, perms...); err != nil {
		return nil, err
	}
	if !dry {
		if err := undo.Settle(ctx, h.FS()); err != nil {
			return nil, err
		}
	}

	u := &Undone{}
	err := h.Update(ctx, what, func(tx *vfs.Tx) error {
		r, err := run(tx)
		switch {
		case call > 0 && errors.Is(err, syscall.EINVAL): // the reason may name a branch that is not granted
			return tool.Refuse(syscall.EINVAL, "call %d did nothing on this branch that %s takes back", call, what)
		case err != nil:
			return err
		}
		if err := mayMerge(h, r.Changes, r.Conflicts); err != nil {
			return err
		}

		u.Call, u.By, u.Changes = r.Calls[0], r.By, r.Changes
		if u.Conflicts, u.Omitted, err = describe(tx, h, r.Conflicts); err != nil {
			return err
		}
		if dry {
			return errDry
		}
		return nil
	})
	var gone *undo.CollectedError
	switch {
	case errors.As(err, &gone):
		return nil, errors.Join(hideNear(ctx, h, gone), err)
	case err != nil && err != errDry:
		return nil, err
	case err == nil:
		h.Hear(hooks.Event{Kind: what, Name: u.Call.Tool})
	}
	slices.SortStableFunc(u.Changes, func(a, b snapshot.Change) int { return strings.Compare(a.Path, b.Path) })
	return u, blame(ctx, h, h.FS(), nil, u.Conflicts)
}

// hideNear takes those snapshots out of an error that tools may not look at.
func hideNear(ctx context.Context, h *tool.History, gone *undo.CollectedError) error {
	seen, err := h.Snapshots(ctx)
	gone.Near = slices.DeleteFunc(gone.Near, func(name string) bool {
		return !slices.ContainsFunc(seen, func(s snapshot.Info) bool { return s.Name == name })
	})
	return err
}
