package agent

import (
	"context"
	"fmt"
	"io/fs"
	"syscall"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// What follows is for whoever runs the agent, not for the agent: no policy is asked.

// Snapshot names this moment of the session's branch and returns its ref. An empty name makes one up.
func (s *Session) Snapshot(ctx context.Context, name, note string) (ref Ref, err error) {
	ctx = s.as(ctx, "snapshot")
	err = s.on(ctx, func(b *Toolbox) (err error) {
		ref, _, err = b.snap(ctx, name, note)
		return err
	})
	return ref, err
}

// Restore makes the branch what another tree is, told by a ref or the name of a snapshot or branch. It returns the ref
// of the branch, and that of a snapshot of what it was.
func (s *Session) Restore(ctx context.Context, text string) (now, undo Ref, err error) {
	ctx = s.as(ctx, "restore")
	err = s.on(ctx, func(b *Toolbox) error {
		tree, err := treeOf(ctx, b.fsys, text, s.place.foreign)
		if err != nil {
			return err
		}
		defer b.hold()()
		if now, err = RefOf(ctx, b.fsys); err != nil {
			return err
		}
		undo = now
		undo.Snapshot, err = b.rewound(ctx, b.fsys, tree, "restore")
		return err
	})
	return now, undo, err
}

// Branch forks a branch from the session's, as that is now, and returns its ref. The session stays on its own.
func (s *Session) Branch(ctx context.Context, name string) (ref Ref, err error) {
	ctx = s.as(ctx, "branch")
	err = s.on(ctx, func(b *Toolbox) error {
		defer b.hold()()
		if ref, err = RefOf(ctx, b.fsys); err != nil {
			return err
		}
		forked, err := snapshot.Branch(ctx, b.fsys, b.fsys, name)
		if err != nil {
			return err
		}
		b.config.hear(HookEvent{Kind: "branch", Name: forked.Head()})
		ref.Branch = forked.Head()
		return nil
	})
	return ref, err
}

// Undo takes the last n steps back and returns the ref of the branch: calls that changed something, or turns, as
// [SessionOptions].Auto has it. What others wrote to the branch since goes with them. An undo is a step too, so that
// Undo(ctx, 1) takes it back. It stays on the branch: what was done before a fork that the session moved to is not undone
// from there. More steps than there are snapshots of is ENOENT; a session without automatic ones has
// none: EINVAL.
func (s *Session) Undo(ctx context.Context, n int) (ref Ref, err error) {
	k := s.offer.keeper
	if k == nil || n < 1 {
		return Ref{}, fmt.Errorf("undo %d of session %q, whose automatic snapshots are %q: %w", n, s.Name(), s.auto(), syscall.EINVAL)
	}
	ctx = s.as(ctx, "undo")
	err = s.on(ctx, func(b *Toolbox) error {
		defer b.hold()()
		if ref, err = RefOf(ctx, b.fsys); err != nil {
			return err
		}
		if err := k.undo(ctx, b.fsys, n); err != nil {
			return err
		}
		k.turn.Add(1) // the next change is of a new step
		b.config.hear(HookEvent{Kind: "restore", Name: fmt.Sprintf("undo of %d", n)})
		return nil
	})
	return ref, err
}

// as attributes what is done under ctx to the session, as a call of its host's.
func (s *Session) as(ctx context.Context, what string) context.Context {
	c := &s.offer.config
	return vfs.WithCall(ctx, &vfs.Call{Actor: c.Actor, Session: c.Session, Tool: what})
}

func (s *Session) auto() Auto {
	if s.offer.keeper == nil {
		return Never
	}
	return s.offer.keeper.mode
}

// rewound makes a branch what a tree is, as a step that Undo takes back, and returns the snapshot of what it was.
func (b *Toolbox) rewound(ctx context.Context, fsys *vfs.FS, to snapshot.Tree, what string) (string, error) {
	var was snapshot.Info
	err := b.keeper.update(ctx, fsys, what, func(tx *vfs.Tx) (err error) {
		was, err = snapshot.RestoreIn(tx, to, "", "before "+what)
		return err
	})
	if err == nil {
		b.config.hear(HookEvent{Kind: "restore", Name: was.Name})
	}
	return was.Name, err
}

func (b *Toolbox) rewind(ctx context.Context, fsys *vfs.FS, to snapshot.Tree, what string) error {
	_, err := b.rewound(ctx, fsys, to, what)
	return err
}

// errClosed is a use of a session after its end.
func errClosed(name string) error { return fmt.Errorf("session %q: %w", name, fs.ErrClosed) }
