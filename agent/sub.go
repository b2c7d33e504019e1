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
	"vfsdb/merge"
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

// fork makes the branch of a sub-agent.
func (s *Session) fork(ctx context.Context, child *Session, o *SubOptions) error {
	tree, release := s.place.at.Hold()
	defer release()
	name := child.Name()
	if !child.brief {
		if _, err := tree.Branch(ctx, name); !tool.Missing(err) {
			return err
		}
	}

	base := snapshot.Tree(tree)
	if o.From != "" {
		var err error
		if base, err = treeOf(ctx, tree, o.From, s.place.foreign); err != nil {
			return err
		}
	}
	if _, err := snapshot.Branch(ctx, tree, base, name); err != nil {
		return err
	}
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
	return err
}

// AdoptOptions are the optional parts of an adoption. A nil *AdoptOptions is the zero value: files that the two branches
// have changed in different ways stay as the session has them, as conflicts of its branch.
type AdoptOptions struct {
	// Prefer decides about such files instead: [merge.Ours] for what the session has, [merge.Theirs] for what the sub-agent
	// has. Conflicts of names are kept all the same, and so are earlier ones.
	Prefer merge.Side

	// Refuse makes an adoption that would add to the conflicts an [OvertakenError], and nothing changes.
	Refuse bool
}

// An Adoption is the result of [Session.Adopt].
type Adoption struct {
	Ref tool.Ref // of the session

	// Result is that of the merge. Added are the conflicts that came with it, and Conflicts all that the branch has:
	// [merge.Resolve] decides about one.
	*merge.Result
}

// An OvertakenError is the error of an adoption that was not to make conflicts, and would. It is ESTALE.
type OvertakenError struct {
	Branch, Fork string
	Conflicts    []merge.Conflict // those that the adoption would add
}

func (e *OvertakenError) Error() string {
	const most = 5
	paths := make([]string, 0, most)
	for _, c := range e.Conflicts[:min(most, len(e.Conflicts))] {
		paths = append(paths, policy.Rooted(c.Path))
	}
	if more := len(e.Conflicts) - len(paths); more > 0 {
		paths = append(paths, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("'%s' and '%s' have changed the same files in different ways (%s): nothing was adopted", e.Branch, e.Fork, strings.Join(paths, ", "))
}

// Is makes an OvertakenError an ESTALE.
func (e *OvertakenError) Is(target error) bool { return target == syscall.ESTALE }

// Adopt merges what the sub-agent has changed into the session's branch, in one commit. If that has not changed since the
// fork, or since the last adoption, it becomes what the sub-agent's is. So several sub-agents of one session are adopted
// one after the other. An adoption does not fail for conflicts, unless the options say so: the result has them, and they
// stay in the branch until they are resolved. The sub-agent can go on and be adopted again. The state of the branch
// before is kept as a snapshot, and Undo takes an adoption back as one step. A sub-agent that shares the session's branch
// is EINVAL.
func (s *Session) Adopt(ctx context.Context, child *Session, options *AdoptOptions) (adopted *Adoption, err error) {
	var o AdoptOptions
	if options != nil {
		o = *options
	}
	if child.place == s.place {
		return nil, fmt.Errorf("%q has no branch of its own that %q could adopt: %w", child.Name(), s.Name(), syscall.EINVAL)
	}

	ctx = s.as(ctx, "adopt")
	err = s.on(ctx, func() error {
		return child.on(ctx, func() (err error) {
			adopted, err = s.adopt(ctx, child, o)
			return err
		})
	})
	return adopted, err
}

func (s *Session) adopt(ctx context.Context, child *Session, o AdoptOptions) (*Adoption, error) {
	tree, release := s.place.at.Hold()
	defer release()
	ref, err := tool.RefOf(ctx, tree) // before: once the merge is made nothing may fail any more
	if err != nil {
		return nil, err
	}

	a := &Adoption{Ref: ref}
	from := child.tree()
	err = s.keeper.Update(ctx, tree, "adopt "+child.Name(), func(tx *vfs.Tx) (err error) {
		if a.Result, err = merge.IntoIn(tx, from, &merge.Options{Prefer: o.Prefer}); err != nil {
			return err
		}
		if o.Refuse && len(a.Added) > 0 {
			return &OvertakenError{Branch: tree.Head(), Fork: from.Head(), Conflicts: a.Added}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.config.Hear(hooks.Event{Kind: "merge", Name: child.Name()})
	return a, nil
}
