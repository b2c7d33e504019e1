package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/profile/helix"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/hooks"
	"vfsdb/agent/tool/kept"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// SubOptions describe the session of a sub-agent. A nil *SubOptions is the zero value: a branch of its own, forked
// from the parent's, that is deleted when the sub-agent is closed.
type SubOptions struct {
	// Config is that of its tools; nil is the parent's. Its policy may be another one, even a wider one. If its
	// Session is empty, it gets the sub-agent's name, or with Inherit the parent's Session.
	Config *tool.Config

	// Inherit shares the parent's branch: no fork, no isolation. The parent closes it. An option about a branch of its
	// own is then EINVAL.
	Inherit bool

	// From is where its branch starts instead of the parent's head, as in SessionOptions.
	From string

	// Persistent keeps its branch when it is closed. A later sub-agent of that name goes on there. One that a tool moved
	// to a fork is resumed from its ref, see OnRef.
	Persistent bool

	// OnRef is called with the ref of a fork that a tool moves it to, as in SessionOptions.
	OnRef func(context.Context, tool.Ref) error

	// Auto and Keep are about automatic snapshots of its branch, as in SessionOptions.
	Auto Auto
	Keep int
}

// Sub begins a session for a sub-agent, on a branch called name. If name is empty, one is made up. Nothing that the
// sub-agent does on a branch of its own changes the parent's branch before [Session.Adopt].
func (s *Session) Sub(ctx context.Context, name string, options *SubOptions) (*Session, error) {
	var o SubOptions
	if options != nil {
		o = *options
	}
	config := s.config
	if o.Config != nil {
		config = *o.Config
	}

	if config.Profile == nil {
		config.Profile = helix.Profile
	}
	if o.Inherit {
		if name != "" || o.From != "" || o.Persistent || o.OnRef != nil || o.Auto != Never || o.Keep != 0 {
			return nil, fmt.Errorf("a sub-agent of %q inherits its branch, so it cannot have one of its own: %w", s.Name(), syscall.EINVAL)
		}
		return s.share(config)
	}

	if name == "" {
		name = s.Name() + "-" + kept.Suffix()
	}
	if o.Config == nil {
		config.Session = ""
	}

	of := SessionOptions{
		Config: config, Auto: o.Auto, Keep: o.Keep, OnRef: o.OnRef, CloseTimeout: s.place.timeout, AllowForeign: s.place.foreign,
	}
	child, err := newSession(s.place.store, name, &of)
	if err != nil {
		return nil, err
	}

	child.brief = !o.Persistent
	child.place.find = func(ctx context.Context, file *vfs.FS) (*vfs.FS, error) { return file.Branch(ctx, name) }
	if err := s.place.store.claimed(name, child.place); err != nil {
		return nil, err
	}

	err = s.on(ctx, func() error { return s.fork(ctx, child, &o) })
	if err != nil {
		s.place.store.free(name)
		return nil, err
	}
	return child, nil
}

// share makes a session on the same place.
func (s *Session) share(config tool.Config) (*Session, error) {
	if config.Session == "" {
		config.Session = s.config.Session
	}
	box, err := tool.NewAt(s.place.at, s.keeper, &config)
	if err != nil {
		return nil, err
	}
	return &Session{place: s.place, config: config, box: box, keeper: s.keeper}, nil
}

// fork makes the branch of a sub-agent, and names the moment that it starts from, for Adopt.
func (s *Session) fork(ctx context.Context, child *Session, o *SubOptions) error {
	tree, release := s.place.at.Hold()
	defer release()
	name := child.Name()
	if !child.brief {
		if _, err := tree.Branch(ctx, name); !tool.Missing(err) {
			child.forked = kept.ForkPrefix + name
			return err
		}
	}

	if o.From != "" {
		base, err := treeOf(ctx, tree, o.From, s.place.foreign)
		if err == nil {
			_, err = snapshot.Branch(ctx, tree, base, name)
		}
		return err
	}

	base, err := snapshot.Create(ctx, tree, kept.ForkPrefix+name, &snapshot.Options{Note: kept.ForkNote + name})
	if err != nil {
		return err
	}
	if _, err := snapshot.Branch(ctx, tree, base, name); err != nil {
		return errors.Join(err, snapshot.Delete(context.WithoutCancel(ctx), tree, base.Info.Name))
	}

	child.forked = base.Info.Name
	s.config.Hear(hooks.Event{Kind: "branch", Name: name})
	return nil
}

// last deletes the branches of a sub-agent that is not persistent: its own, and those that it moved to. It runs when
// no call runs any more.
func (s *Session) last(ctx context.Context, tree *vfs.FS) error {
	if !s.brief {
		return nil
	}
	var err error
	for _, name := range s.place.branches() {
		if gone := snapshot.DeleteBranch(ctx, tree, name); name == s.Name() || !tool.Missing(gone) {
			err = errors.Join(err, gone)
		}
	}
	if s.forked == "" || err != nil {
		return err
	}
	err = snapshot.Delete(ctx, tree, s.forked)
	if tool.Missing(err) {
		return nil
	}
	return err
}

// An OvertakenError is the error of adopting a fork of a branch that has changed since the fork: the adoption would
// lose these changes. It is ESTALE.
type OvertakenError struct {
	Branch, Fork string
	Base         string            // the snapshot that the fork started from
	Changes      []snapshot.Change // of the branch since the fork; none if they cancel out
}

func (e *OvertakenError) Error() string {
	const most = 5
	paths := make([]string, 0, most)
	for _, c := range e.Changes[:min(most, len(e.Changes))] {
		paths = append(paths, policy.Rooted(c.Path))
	}
	text := fmt.Sprintf("'%s' was written to since '%s' was forked from it", e.Branch, e.Fork)
	if more := len(e.Changes) - len(paths); more > 0 {
		paths = append(paths, fmt.Sprintf("%d more", more))
	}
	if len(paths) > 0 {
		text += " (" + strings.Join(paths, ", ") + ")"
	}
	return text + fmt.Sprintf("; nothing was lost: take over by hand what differs between the snapshot '%s' and '%s', or begin another sub-agent on '%s' as it is now",
		e.Base, e.Fork, e.Branch)
}

// Is makes an OvertakenError an ESTALE.
func (e *OvertakenError) Is(target error) bool { return target == syscall.ESTALE }

// Adopt makes the session's branch equal to that of its sub-agent, and returns its ref. If anything was written to
// the session's branch since the fork, that is an [OvertakenError], and nothing changes. The sub-agent can go on and
// be adopted again. The state of the branch before is kept as a snapshot, and Undo takes an adoption back as one
// step.
func (s *Session) Adopt(ctx context.Context, child *Session) (ref tool.Ref, err error) {
	ctx = s.as(ctx, "adopt")
	err = s.on(ctx, func() error {
		return child.on(ctx, func() error {
			if err := s.adopt(ctx, child); err != nil {
				return err
			}
			ref, err = tool.RefOf(ctx, s.tree())
			return err
		})
	})
	return ref, err
}

func (s *Session) adopt(ctx context.Context, child *Session) error {
	if child.forked == "" {
		return fmt.Errorf("%q was not forked from %q: %w", child.Name(), s.Name(), syscall.EINVAL)
	}
	tree, release := s.place.at.Hold()
	defer release()
	base, err := snapshot.Open(ctx, tree, child.forked)
	if err != nil {
		return err
	}

	overtaken := &OvertakenError{Branch: tree.Head(), Fork: child.Name(), Base: child.forked}
	err = s.keeper.Update(ctx, tree, "adopt "+child.Name(), func(tx *vfs.Tx) error {
		changed, err := tx.ChangedSince(base.Info.Moment)
		switch {
		case errors.Is(err, syscall.EINVAL):
			return fmt.Errorf("%q was not forked from %q, where the session stands: %w", child.Name(), tree.Head(), syscall.EINVAL)
		case err != nil:
			return err
		case changed:
			return overtaken
		}
		if _, err := snapshot.RestoreIn(tx, child.tree(), "", "before adopting "+child.Name()); err != nil {
			return err
		}
		// From here on the two are one again: that is what a later adoption starts from.
		if err := snapshot.DeleteIn(tx, base.Info.Name); err != nil {
			return err
		}
		_, err = snapshot.CreateIn(tx, base.Info.Name, base.Info.Note)
		return err
	})
	if err != overtaken {
		if err == nil {
			s.config.Hear(hooks.Event{Kind: "restore", Name: child.Name()})
		}
		return err
	}

	for change, err := range snapshot.Diff(ctx, base, tree) {
		if err != nil {
			return errors.Join(overtaken, err)
		}
		overtaken.Changes = append(overtaken.Changes, change)
	}

	return overtaken
}
