package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"

	"vfsdb/vfs"
)

// A stand is the branch that tools work on, and what goes with it. A fork moves it, and with it every [Toolbox] that
// shares it.
type stand struct {
	// writing orders writes and moves. A transaction that writes holds it to read and a move to write, so that what was
	// written before a fork is in it, and what is written later is not left behind.
	writing sync.RWMutex

	mu    sync.Mutex
	tree  *vfs.FS
	meter *meter  // of what the branch holds
	known []int64 // branches that were stood on, or forked by a tool: they are granted
	names []string

	place *place // of the session that the stand is of; nil if it is of a mere Toolbox
}

func newStand(tree *vfs.FS) *stand {
	s := &stand{}
	s.move(tree)
	return s
}

// now returns where the stand is.
func (s *stand) now() (*vfs.FS, *meter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree, s.meter
}

// move stands on a tree; nil is none.
func (s *stand) move(tree *vfs.FS) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tree, s.meter = tree, new(meter)
	if tree != nil {
		s.learn(tree)
	}
}

// grant lets tools look at a branch that one of them forked.
func (s *stand) grant(tree *vfs.FS) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.learn(tree)
}

// learn notes a branch. The caller holds s.mu.
func (s *stand) learn(tree *vfs.FS) {
	if id := tree.Moment().Branch; !slices.Contains(s.known, id) {
		s.known = append(s.known, id)
		s.names = append(s.names, tree.Head())
	}
}

// forget takes back what was granted: the database is another one.
func (s *stand) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known, s.names = nil, nil
}

// knows reports whether a branch was stood on, or forked by a tool.
func (s *stand) knows(branch int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.known, branch)
}

// here returns the tools as they are for one call: on the branch where the stand is now.
func (b *Toolbox) here() *Toolbox {
	box := *b
	box.fsys, box.meter = b.at.now()
	return &box
}

// hold keeps the stand where it is until release, for a transaction that writes. b is of one call, and goes to where
// that is.
func (b *Toolbox) hold() (release func()) {
	b.at.writing.RLock()
	b.fsys, b.meter = b.at.now()
	return b.at.writing.RUnlock
}

// With makes the tools of another config that stand where those of b do: when a tool of one of them moves to a fork,
// all do.
func (b *Toolbox) With(config *Config) (*Toolbox, error) {
	other, err := New(b.FS(), config)
	if err != nil {
		return nil, err
	}
	other.at = b.at
	return other, nil
}

// On returns the tools on a branch that they stood on or forked, or that the policy grants; there they stay. Another
// one is EACCES, one that is not there ENOENT.
func (b *Toolbox) On(ctx context.Context, branch string) (*Toolbox, error) {
	tree, err := b.FS().Branch(ctx, branch)
	if err != nil {
		return nil, err
	}
	if !b.here().may(tree.Moment().Branch, branch) {
		return nil, notGranted(branch, branch)
	}
	box := *b
	box.config.Fixed = true
	box.at = newStand(tree)
	return &box, nil
}

// Branches returns the names of the branches that the tools stood on or forked, the first one first.
func (b *Toolbox) Branches() []string {
	b.at.mu.Lock()
	defer b.at.mu.Unlock()
	return slices.Clone(b.at.names)
}

func notGranted(what, branch string) error {
	return &PolicyError{Permission: PermSnapshot, Why: fmt.Sprintf("'%s' is of branch '%s', which this workspace does not grant", what, branch)}
}

// A GoneError is a call on a branch, or a snapshot, that was deleted meanwhile. It is ESTALE.
type GoneError struct {
	Branch string // "" of a snapshot
	Err    error
}

func (e *GoneError) Error() string {
	if e.Branch == "" {
		return "the snapshot that this workspace shows is gone"
	}
	return fmt.Sprintf("the branch '%s' that this workspace stands on is gone", e.Branch)
}

// Unwrap returns what the call failed with.
func (e *GoneError) Unwrap() error { return e.Err }

// gone says of a failed call that the branch is gone, if that is why.
func (b *Toolbox) gone(ctx context.Context, err error) error {
	var stale *vfs.StaleError
	if !errors.Is(err, syscall.ESTALE) || errors.As(err, &stale) || b.fsys == nil {
		return err
	}
	if now := b.fsys.View(ctx, func(*vfs.Tx) error { return nil }); !errors.Is(now, syscall.ESTALE) {
		return err
	}
	return &GoneError{b.fsys.Head(), err}
}

// errFixed refuses a move that the next call would not know of.
func (b *Toolbox) errFixed() error {
	return refuse(syscall.EPERM, "this workspace stays on the branch '%s': set stay to fork a branch and not go there", b.fsys.Head())
}
