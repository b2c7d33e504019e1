package agent

import (
	"context"
	"fmt"
	"io/fs"
	"syscall"

	"vfsdb/agent/tool"
	"vfsdb/agent/tool/hooks"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// These methods are for the host that runs the agent, not for the agent: no policy is asked.

// Snapshot names this moment of the session's branch and returns its ref. If name is empty, one is made up.
func (s *Session) Snapshot(ctx context.Context, name, note string) (ref tool.Ref, err error) {
	ctx = s.as(ctx, "snapshot")
	err = s.on(ctx, func() (err error) {
		ref, _, err = s.box.History().Snapshot(ctx, name, note)
		return err
	})
	return ref, err
}

// Restore makes the branch equal to another tree, which a ref or the name of a snapshot or branch names. It returns
// the ref of the branch, and the ref of a snapshot of its state before.
func (s *Session) Restore(ctx context.Context, text string) (now, undo tool.Ref, err error) {
	ctx = s.as(ctx, "restore")
	err = s.on(ctx, func() error {
		to, err := treeOf(ctx, s.tree(), text, s.place.foreign)
		if err != nil {
			return err
		}
		tree, release := s.place.at.Hold()
		defer release()
		if now, err = tool.RefOf(ctx, tree); err != nil {
			return err
		}
		undo = now
		undo.Snapshot, err = s.rewind(ctx, tree, to, "restore")
		return err
	})
	return now, undo, err
}

// Branch forks a branch from the session's, as that is now, and returns its ref. The session stays on its own.
func (s *Session) Branch(ctx context.Context, name string) (ref tool.Ref, err error) {
	ctx = s.as(ctx, "branch")
	err = s.on(ctx, func() error {
		tree, release := s.place.at.Hold()
		defer release()
		if ref, err = tool.RefOf(ctx, tree); err != nil {
			return err
		}
		forked, err := snapshot.Branch(ctx, tree, tree, name)
		if err != nil {
			return err
		}
		s.config.Hear(hooks.Event{Kind: "branch", Name: forked.Head()})
		ref.Branch = forked.Head()
		return nil
	})
	return ref, err
}

// Undo takes the last n steps back and returns the ref of the branch. A step is a call that changed something, or a
// turn, as [SessionOptions].Auto has it. Later writes of others to the branch are lost with them. An undo is a step
// too: Undo(ctx, 1) takes it back. Undo stays on the branch: after a move to a fork, it does not reach what was done
// before. More steps than there are snapshots is ENOENT. A session without automatic snapshots has no steps: EINVAL.
//
// Package undo takes single calls back, and keeps what others wrote and what came later.
func (s *Session) Undo(ctx context.Context, n int) (ref tool.Ref, err error) {
	k := s.keeper
	if k == nil || n < 1 {
		return tool.Ref{}, fmt.Errorf("undo %d of session %q, whose automatic snapshots are %q: %w", n, s.Name(), s.auto(), syscall.EINVAL)
	}
	ctx = s.as(ctx, "undo")
	err = s.on(ctx, func() error {
		tree, release := s.place.at.Hold()
		defer release()
		if ref, err = tool.RefOf(ctx, tree); err != nil {
			return err
		}
		if err := k.undo(ctx, tree, n); err != nil {
			return err
		}
		k.turn.Add(1) // the next change is of a new step
		s.config.Hear(hooks.Event{Kind: "restore", Name: fmt.Sprintf("undo of %d", n)})
		return nil
	})
	return ref, err
}

// as returns a context whose changes the log attributes to the session, as a call by its host.
func (s *Session) as(ctx context.Context, what string) context.Context {
	c := &s.config
	return vfs.WithCall(ctx, &vfs.Call{Actor: c.Actor, Session: c.Session, Tool: what})
}

func (s *Session) auto() Auto {
	if s.keeper == nil {
		return Never
	}
	return s.keeper.mode
}

// rewind makes a branch equal to a tree, as a step that Undo takes back. It returns the name of a snapshot of the
// state before.
func (s *Session) rewind(ctx context.Context, fsys *vfs.FS, to snapshot.Tree, what string) (string, error) {
	var was snapshot.Info
	err := s.keeper.Update(ctx, fsys, what, func(tx *vfs.Tx) (err error) {
		was, err = snapshot.RestoreIn(tx, to, "", "before "+what)
		return err
	})
	if err == nil {
		s.config.Hear(hooks.Event{Kind: "restore", Name: was.Name})
	}
	return was.Name, err
}

// errClosed returns the error of a session that is used after its end.
func errClosed(name string) error { return fmt.Errorf("session %q: %w", name, fs.ErrClosed) }
