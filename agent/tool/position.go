package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/vfs"
)

// A Position is the branch that tools work on. A fork moves it, and with it every [Toolbox] that shares it.
type Position struct {
	// writing orders writes and moves: a transaction that writes has its read lock, a move its write lock. So a fork
	// has all that was written before it, and later writes go to the fork.
	writing sync.RWMutex

	mu    sync.Mutex
	tree  *vfs.FS
	meter *meter  // of the bytes and entries that the branch holds
	known []int64 // branches that were stood on, or forked by a tool: they are granted
	names []string

	owner Owner // the session that works there; nil if there is none
}

// An Owner is the session whose tools work at a [Position]. A tool that forks the branch and moves on asks it first.
type Owner interface {
	// Claim reserves a branch for the owner, before it is made, and Release gives it back. A branch that another session
	// has is EBUSY.
	Claim(branch string) error
	Release(branch string)

	// Follow is called before the tools move to a branch that was forked. If it fails they stay.
	Follow(ctx context.Context, tree *vfs.FS, ref Ref) error
}

// A Keeper runs the transactions of a session's tools that may change something.
type Keeper interface {
	// Update is that of [vfs.FS], with a snapshot at its beginning if one is due. The argument what is the name of the tool.
	Update(ctx context.Context, fsys *vfs.FS, what string, change func(*vfs.Tx) error) error

	// Begin lets the next change take a snapshot: the tools have moved to another branch.
	Begin()
}

// NewPosition returns a position on a tree, which may be nil until [Position.Move], and its owner, which may be nil.
func NewPosition(tree *vfs.FS, owner Owner) *Position {
	p := &Position{owner: owner}
	p.Move(tree)
	return p
}

// now returns where the tools are.
func (p *Position) now() (*vfs.FS, *meter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tree, p.meter
}

// Move puts the tools on a tree; nil is none.
func (p *Position) Move(tree *vfs.FS) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tree, p.meter = tree, new(meter)
	if tree != nil {
		p.learn(tree)
	}
}

// grant lets tools look at a branch that one of them forked.
func (p *Position) grant(tree *vfs.FS) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learn(tree)
}

// learn notes a branch. The caller holds p.mu.
func (p *Position) learn(tree *vfs.FS) {
	if id := tree.Moment().Branch; !slices.Contains(p.known, id) {
		p.known = append(p.known, id)
		p.names = append(p.names, tree.Head())
	}
}

// Forget takes back all grants: the database is another one.
func (p *Position) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known, p.names = nil, nil
}

// knows reports whether a branch was stood on, or forked by a tool.
func (p *Position) knows(branch int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.known, branch)
}

// here returns the tools as they are for one call: on the branch where they stand now.
func (b *Toolbox) here() *Toolbox {
	box := *b
	box.fsys, box.meter = b.at.now()
	return &box
}

// Tree returns the tree that the tools work on.
func (p *Position) Tree() *vfs.FS {
	tree, _ := p.now()
	return tree
}

// Hold keeps the tools on their tree until release, for a transaction that writes.
func (p *Position) Hold() (tree *vfs.FS, release func()) {
	p.writing.RLock()
	return p.Tree(), p.writing.RUnlock
}

// hold does what [Position.Hold] does, and puts the tools of one call on that tree.
func (b *Toolbox) hold() (release func()) {
	b.at.writing.RLock()
	b.fsys, b.meter = b.at.now()
	return b.at.writing.RUnlock
}

// With makes the tools of another config that share b's position: when a tool of one of them moves to a fork, all
// move. A config without a profile gets that of b.
func (b *Toolbox) With(config *Config) (*Toolbox, error) {
	c := *config
	if c.Profile == nil {
		c.Profile = b.profile
	}
	return NewAt(b.at, nil, &c)
}

// On returns the tools fixed on a branch that they stood on or forked, or that the policy grants. Another branch is
// EACCES, and one that does not exist ENOENT.
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
	box.at = NewPosition(tree, nil)
	return &box, nil
}

// Branches returns the names of the branches that the tools stood on or forked, the first one first.
func (b *Toolbox) Branches() []string {
	b.at.mu.Lock()
	defer b.at.mu.Unlock()
	return slices.Clone(b.at.names)
}

func notGranted(what, branch string) error {
	return &policy.Error{Permission: policy.Snapshot, Why: fmt.Sprintf("'%s' is of branch '%s', which this workspace does not grant", what, branch)}
}

// A GoneError is the error of a call on a branch or a snapshot that was deleted meanwhile. It is ESTALE.
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

// Unwrap returns the error of the call.
func (e *GoneError) Unwrap() error { return e.Err }

// gone makes the error of a call a [GoneError] if the branch was deleted.
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

// errFixed refuses a move to a fork: the next call would not be on it.
func (b *Toolbox) errFixed() error {
	return Refuse(syscall.EPERM, "this workspace stays on the branch '%s': set stay to fork a branch and not go there", b.fsys.Head())
}
