package tool

import (
	"context"
	"fmt"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool/hooks"
	"vfsdb/agent/tool/kept"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A Fork is the result of a fork.
type Fork struct {
	Made  Ref  // the new branch
	Left  Ref  // the branch that the tools stood on before, without a name if that was a moment of the past
	Moved bool // the tools stand on the new branch now
}

// Fork makes a branch from a moment, or from the branch as it is now if text is empty, and moves there unless it is
// to stay. It waits for calls that write, so the fork has all that they wrote.
func (h *History) Fork(ctx context.Context, text, name string, stay bool) (f Fork, err error) {
	if h.box.config.Fixed && !stay {
		return f, h.box.errFixed()
	}
	var base snapshot.Tree
	if text != "" {
		if base, _, err = h.Moment(ctx, text); err != nil {
			return f, err
		}
	}
	if err := h.Approve(ctx, policy.Snapshot); err != nil {
		return f, err
	}
	if name == "" {
		name = "branch-" + kept.Suffix()
	}

	h.box.at.writing.Lock()
	defer h.box.at.writing.Unlock()
	h.box.fsys, h.box.meter = h.box.at.now()
	if base == nil {
		base = h.box.fsys
	}
	if f.Left, err = RefOf(ctx, h.box.fsys); err != nil {
		return f, err
	}
	release := func() {}
	if owner := h.box.at.owner; owner != nil && !stay {
		if err := owner.Claim(name); err != nil {
			return f, err
		}
		release = func() { owner.Release(name) }
	}
	tree, err := snapshot.Branch(ctx, h.box.fsys, base, name)
	if err != nil {
		release()
		return f, err
	}
	h.box.at.grant(tree)
	h.box.config.Hear(hooks.Event{Kind: "branch", Name: name})
	f.Made = Ref{DB: f.Left.DB, Branch: name}
	if stay {
		return f, nil
	}
	if err := h.goTo(ctx, tree, f); err != nil {
		release()
		return f, err
	}
	f.Moved = true
	return f, nil
}

// goTo moves the tools to a branch that was forked. The host of a session is called first; if it fails, nothing
// moves.
func (h *History) goTo(ctx context.Context, tree *vfs.FS, f Fork) error {
	if owner := h.box.at.owner; owner != nil {
		if err := owner.Follow(ctx, tree, f.Made); err != nil {
			return fmt.Errorf("the branch '%s' was forked, but you are still on '%s': %w", f.Made.Branch, f.Left.Branch, err)
		}
	}
	if h.box.keeper != nil {
		h.box.keeper.Begin()
	}
	h.box.at.Move(tree)
	h.box.config.Hear(hooks.Event{Kind: "move", Name: f.Made.Branch})
	return nil
}
