package agent

import (
	"context"
	"fmt"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A forked branch is what a fork made, and where the tools stand after it.
type forked struct {
	made Ref
	left Ref  // the branch that was moved from; the one that is stood on if nothing moved
	went bool // to the new branch
}

// fork makes a branch from a moment, or from the branch as it is now if text is empty, and moves there unless it is to
// stay. Moves and writes follow each other: what a call wrote before the fork is in it.
func (b *Toolbox) fork(ctx context.Context, text, name string, stay bool) (f forked, err error) {
	if b.config.Fixed && !stay {
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
		name = "branch-" + autoName()[len(autoPrefix):]
	}

	b.at.writing.Lock()
	defer b.at.writing.Unlock()
	b.fsys, b.meter = b.at.now()
	if base == nil {
		base = b.fsys
	}
	if f.left, err = RefOf(ctx, b.fsys); err != nil {
		return f, err
	}
	release := func() {}
	if owner := b.at.owner; owner != nil && !stay {
		if err := owner.Claim(name); err != nil {
			return f, err
		}
		release = func() { owner.Release(name) }
	}
	tree, err := snapshot.Branch(ctx, b.fsys, base, name)
	if err != nil {
		release()
		return f, err
	}
	b.at.grant(tree)
	b.config.Hear(HookEvent{Kind: "branch", Name: name})
	f.made = Ref{DB: f.left.DB, Branch: name}
	if stay {
		return f, nil
	}
	if err := b.goTo(ctx, tree, f); err != nil {
		release()
		return f, err
	}
	f.went = true
	return f, nil
}

// goTo moves the tools to a branch that was forked. The host of a session hears of it first; if it cannot note that,
// nothing moves.
func (b *Toolbox) goTo(ctx context.Context, tree *vfs.FS, f forked) error {
	if owner := b.at.owner; owner != nil {
		if err := owner.Follow(ctx, tree, f.made); err != nil {
			return fmt.Errorf("the branch '%s' was forked, but you are still on '%s': %w", f.made.Branch, f.left.Branch, err)
		}
	}
	if b.keeper != nil {
		b.keeper.Begin()
	}
	b.at.Move(tree)
	b.config.Hear(HookEvent{Kind: "move", Name: f.made.Branch})
	return nil
}
