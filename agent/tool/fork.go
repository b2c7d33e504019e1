package tool

import (
	"context"
	"fmt"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A Fork branch is what a fork made, and where the tools stand after it.
type Fork struct {
	Made  Ref
	Left  Ref  // the branch that was moved from; the one that is stood on if nothing moved
	Moved bool // to the new branch
}

// Fork makes a branch from a moment, or from the branch as it is now if text is empty, and moves there unless it is to
// stay. Moves and writes follow each other: what a call wrote before the fork is in it.
func (b *Toolbox) Fork(ctx context.Context, text, name string, stay bool) (f Fork, err error) {
	if b.Config.Fixed && !stay {
		return f, b.errFixed()
	}
	var base snapshot.Tree
	if text != "" {
		if base, _, err = b.moment(ctx, text); err != nil {
			return f, err
		}
	}
	if err := b.approveWhole(ctx, PermSnapshot); err != nil {
		return f, err
	}
	if name == "" {
		name = "branch-" + AutoName()[len(AutoPrefix):]
	}

	b.at.writing.Lock()
	defer b.at.writing.Unlock()
	b.Fsys, b.meter = b.at.now()
	if base == nil {
		base = b.Fsys
	}
	if f.Left, err = RefOf(ctx, b.Fsys); err != nil {
		return f, err
	}
	release := func() {}
	if owner := b.at.owner; owner != nil && !stay {
		if err := owner.Claim(name); err != nil {
			return f, err
		}
		release = func() { owner.Release(name) }
	}
	tree, err := snapshot.Branch(ctx, b.Fsys, base, name)
	if err != nil {
		release()
		return f, err
	}
	b.at.grant(tree)
	b.Config.Hear(HookEvent{Kind: "branch", Name: name})
	f.Made = Ref{DB: f.Left.DB, Branch: name}
	if stay {
		return f, nil
	}
	if err := b.goTo(ctx, tree, f); err != nil {
		release()
		return f, err
	}
	f.Moved = true
	return f, nil
}

// goTo moves the tools to a branch that was forked. The host of a session hears of it first; if it cannot note that,
// nothing moves.
func (b *Toolbox) goTo(ctx context.Context, tree *vfs.FS, f Fork) error {
	if owner := b.at.owner; owner != nil {
		if err := owner.Follow(ctx, tree, f.Made); err != nil {
			return fmt.Errorf("the branch '%s' was forked, but you are still on '%s': %w", f.Made.Branch, f.Left.Branch, err)
		}
	}
	if b.keeper != nil {
		b.keeper.Begin()
	}
	b.at.Move(tree)
	b.Config.Hear(HookEvent{Kind: "move", Name: f.Made.Branch})
	return nil
}
