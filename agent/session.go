package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"syscall"
	"time"

	"vfsdb/agent/profile/helix"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/hooks"
	"vfsdb/agent/tool/kept"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// SessionOptions describe a session. A nil *SessionOptions is the zero value: every tool of the profile helix, an
// empty tree to begin with, and no automatic snapshots.
type SessionOptions struct {
	// Config is that of the tools. If its Session is empty, it gets the session's name.
	Config tool.Config

	// From names the tree that a new branch starts from: a ref as text, the name of a snapshot or a branch, or a moment such
	// as main@{-1}. "" is an empty tree. A branch that exists stays as it is.
	From string

	// AllowForeign takes refs of another database for the branches and snapshots of the same names in this one, and
	// lets another database take the place of one that was moved away.
	AllowForeign bool

	// Auto is the rule for automatic snapshots, which Undo needs. Keep is how many of them stay: 0 is DefaultKeep, -1
	// is all.
	Auto Auto
	Keep int

	// OnRef is called with the session's new ref when a tool moves it to a fork, before that call returns: the host
	// needs it to resume there later. If it fails, so does the call, and the session stays where it was. It must not
	// use the session.
	OnRef func(context.Context, tool.Ref) error

	// CloseTimeout bounds how long Close waits for calls that run; 0 is 30 s.
	CloseTimeout time.Duration
}

const defaultCloseTimeout = 30 * time.Second

// A Session is an agent at work on a branch of its own: the tools over it, the branch's life, and the way back. A
// tool may fork that branch and go on there; the session goes with it. The first call opens it. [Session.Toolbox]
// opens it before that, to see at once whether that works. It survives when its file is moved and put back. Another
// process can resume it from its ref. It is safe for concurrent use, and must be closed.
type Session struct {
	place  *place
	config tool.Config   // of the tools, as it was given
	box    *tool.Toolbox // the tools; they can be listed before the session is opened
	keeper *keeper       // of automatic snapshots; nil if there are none
	owner  bool          // closes the place; else it is the parent's

	brief bool // its branch goes when it is closed

	mu     sync.Mutex
	closed bool // if it is no owner
}

// Open begins a session, or resumes the one of that name: its branch is made if the store has none. Nothing is opened
// yet. If name is empty, one is made up. A name that another open session of the Store has is EBUSY. A name that no
// branch can have is EINVAL.
func Open(store *Store, name string, options *SessionOptions) (*Session, error) {
	return open(store, name, options, begin{})
}

// Resume takes up the session that a ref names, after a restart or in another process. Its branch has to be there:
// ENOENT. A ref that names a snapshot brings the branch back to it; its state before is kept as a snapshot. A ref of
// another database is a [tool.ForeignRefError]. Only the first call finds out about any of these.
func Resume(store *Store, ref string, options *SessionOptions) (*Session, error) {
	r, err := tool.ParseRef(ref)
	if err != nil {
		return nil, err
	}
	return open(store, r.Branch, options, begin{ref: &r})
}

// begin is the way in which a session finds its branch for the first time.
type begin struct {
	ref *tool.Ref // to resume from; nil makes the branch if there is none
}

func open(store *Store, name string, options *SessionOptions, how begin) (*Session, error) {
	var o SessionOptions
	if options != nil {
		o = *options
	}
	if name == "" {
		name = "session-" + kept.Suffix()
	}

	if err := vfs.CheckName(name); err != nil {
		return nil, fmt.Errorf("session %q: %w", name, err)
	}
	s, err := newSession(store, name, &o)
	if err != nil {
		return nil, err
	}

	s.place.find = func(ctx context.Context, file *vfs.FS) (*vfs.FS, error) {
		return how.stand(ctx, s, file, &o)
	}
	if err := store.claimed(name, s.place); err != nil {
		return nil, err
	}

	return s, nil
}

func newSession(store *Store, name string, o *SessionOptions) (*Session, error) {
	if o.CloseTimeout < 0 {
		return nil, fmt.Errorf("session %q: its close timeout is %v: %w", name, o.CloseTimeout, syscall.EINVAL)
	}
	if o.Config.Session == "" {
		o.Config.Session = name
	}
	if o.Config.Profile == nil {
		o.Config.Profile = helix.Profile
	}

	s := &Session{config: o.Config, owner: true}
	keeper, err := newKeeper(o.Auto, o.Keep, s.config.Hear)
	if err != nil {
		return nil, err
	}

	s.keeper = keeper
	s.place = &place{
		store: store, name: name, config: &s.config, foreign: o.AllowForeign,
		timeout: o.CloseTimeout, turn: make(chan struct{}, 1), onRef: o.OnRef, stood: []string{name},
		health: Health{State: Configured, Session: name, Branch: name, Path: store.path},
	}
	if s.place.timeout == 0 {
		s.place.timeout = defaultCloseTimeout
	}

	s.place.at = tool.NewPosition(nil, s.place)
	if s.box, err = tool.NewAt(s.place.at, keeper, &s.config); err != nil {
		return nil, err
	}
	s.place.label = s.box.Workspace()
	return s, nil
}

// stand finds or makes the branch of a session.
func (how begin) stand(ctx context.Context, s *Session, file *vfs.FS, o *SessionOptions) (*vfs.FS, error) {
	if how.ref != nil {
		return how.resume(ctx, s, file, o)
	}
	name := s.Name()
	tree, err := file.Branch(ctx, name)
	if !tool.Missing(err) {
		return tree, err
	}

	var base snapshot.Tree
	if o.From != "" {
		if base, err = treeOf(ctx, file, o.From, o.AllowForeign); err != nil {
			return nil, err
		}
	}

	tree, err = snapshot.Branch(ctx, file, base, name)
	if errors.Is(err, syscall.EEXIST) {
		return file.Branch(ctx, name) // another process was first
	}
	if err == nil {
		s.config.Hear(hooks.Event{Kind: "branch", Name: name})
	}

	return tree, err
}

// resume stands on the branch of a ref, as it was at the ref's snapshot if that names one.
func (how begin) resume(ctx context.Context, s *Session, file *vfs.FS, o *SessionOptions) (*vfs.FS, error) {
	then, err := treeOf(ctx, file, how.ref.String(), o.AllowForeign)
	if err != nil {
		return nil, err
	}
	tree, err := file.Branch(ctx, how.ref.Branch)
	if err != nil || how.ref.Snapshot == "" {
		return tree, err
	}
	for _, err := range snapshot.Diff(ctx, then, tree) {
		if err == nil {
			_, err = s.rewind(ctx, tree, then, "resume")
		}
		return tree, err
	}
	return tree, nil
}

// treeOf finds the tree that a host names: by a ref as text, by the name of a snapshot or a branch, or by a moment such as
// main@{-1}.
func treeOf(ctx context.Context, file *vfs.FS, text string, foreign bool) (snapshot.Tree, error) {
	ref, err := tool.ParseRef(text)
	if err != nil {
		return snapshot.ResolveRef(ctx, file, text)
	}
	if foreign {
		if ref.DB, err = tool.DatabaseID(ctx, file); err != nil {
			return nil, err
		}
	}
	return tool.Resolve(ctx, file, ref)
}

// Name returns the name of the session, which is that of the branch that it began on. A tool may have moved it from
// there: see [Session.Ref] and [Health].
func (s *Session) Name() string { return s.place.name }

// Tools returns the tools, in the order of the profile. It opens nothing.
func (s *Session) Tools() []*tool.Tool { return s.box.Tools() }

// Prompt describes the tools to a model, for its system prompt.
func (s *Session) Prompt() string { return s.box.Prompt() }

// Call runs a tool, as [tool.Toolbox.Call] does. It opens the session if need be.
func (s *Session) Call(ctx context.Context, op string, input json.RawMessage) *tool.Result {
	return s.Do(ctx, tool.Call{Tool: op, Input: input})
}

// Do runs a call, as [Session.Call] does. If the file was moved away, the call runs once on the file that is at its
// path now.
func (s *Session) Do(ctx context.Context, call tool.Call) *tool.Result {
	if err := s.enter(); err != nil {
		return s.box.Refuse(ctx, call, err)
	}
	defer s.place.exit()
	for reopens := 1; ; {
		before := reopens
		file, err := s.live(ctx, &reopens)
		if err != nil {
			return s.box.Refuse(ctx, call, err)
		}
		result := s.box.Do(ctx, call)
		if result.Err != nil && before > 0 && s.place.moved(file) {
			continue
		}
		s.place.used(result.Err)
		return result
	}
}

// tree returns the tree that the tools stand on.
func (s *Session) tree() *vfs.FS { return s.place.at.Tree() }

// enter counts a call.
func (s *Session) enter() error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return errClosed(s.place.name)
	}
	return s.place.enter()
}

// live opens the session if need be, and returns the file that its tree is in.
func (s *Session) live(ctx context.Context, reopens *int) (*vfs.FS, error) {
	if _, err := s.place.get(ctx, reopens); err != nil {
		return nil, err
	}
	_, file := s.place.have()
	return file, nil
}

// on runs fn while the tools stand on a tree.
func (s *Session) on(ctx context.Context, fn func() error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.place.exit()
	reopens := 1
	if _, err := s.live(ctx, &reopens); err != nil {
		return err
	}
	return fn()
}

// Toolbox opens the session and returns its tools: for a door that takes a Toolbox. Calls of it take automatic snapshots
// and move the session too, but they do not open a file again that was moved away, and Close does not wait for them.
func (s *Session) Toolbox(ctx context.Context) (*tool.Toolbox, error) {
	if err := s.on(ctx, func() error { return nil }); err != nil {
		return nil, err
	}
	return s.box, nil
}

// Ref names the branch that the session stands on, so that it can be resumed. It opens the session.
func (s *Session) Ref(ctx context.Context) (ref tool.Ref, err error) {
	err = s.on(ctx, func() (err error) {
		ref, err = tool.RefOf(ctx, s.tree())
		return err
	})
	return ref, err
}

// Turn begins a turn: if snapshots are taken by turns, the next call that may change something takes one.
func (s *Session) Turn() {
	if s.keeper != nil {
		s.keeper.turn.Add(1)
	}
}

// Close ends the session. It waits for calls that run until its timeout is over (ETIMEDOUT) or ctx ends. The branches
// of a session stay, except those of a sub-agent that is not persistent. A session that shares its parent's branch
// ends alone. A second Close does nothing.
func (s *Session) Close(ctx context.Context) error {
	if !s.owner {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		return nil
	}
	if !s.brief {
		return s.place.close(ctx, s.last)
	}
	// The branch was made by Sub, so it is taken away though no call has ever opened it.
	err := s.on(ctx, func() error { return nil })
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return errors.Join(err, s.place.close(ctx, s.last))
}
