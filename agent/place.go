package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"time"

	"vfsdb/agent/tool"
	"vfsdb/agent/tool/hooks"
	"vfsdb/agent/tool/record"
	"vfsdb/agent/tool/retry"
	"vfsdb/vfs"
)

// A place is where a session is over time: not open yet, open, moved to a fork, its file moved away, open again, closed.
// Sessions that share a branch share a place.
type place struct {
	store   *Store
	name    string // of the session, and of the branch that it began on
	config  *tool.Config
	label   string // of metrics
	foreign bool   // another database may stand in for ours
	timeout time.Duration

	onRef func(context.Context, tool.Ref) error
	at    *tool.Position // of the tools

	// find finds the branch in the open file for the first time, and makes it if it is not there.
	find func(ctx context.Context, file *vfs.FS) (*vfs.FS, error)

	turn chan struct{} // held while the place is opened

	mu      sync.Mutex
	health  Health
	failed  *tool.FailedError // for good, until it is reset
	file    *vfs.FS           // the open database of the tree
	tree    *vfs.FS           // nil while it is not open
	id      string            // of the database
	joined  bool              // counted as a user of the store
	running int               // calls
	idle    chan struct{}     // closed when the last call has ended, once the place is closing
	stood   []string          // the branches, in their order; the last one is where it stands
}

// enter counts a call, so that a close can wait for it.
func (p *place) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle != nil {
		return errClosed(p.name)
	}
	p.running++
	return nil
}

func (p *place) exit() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	if p.running == 0 && p.idle != nil {
		close(p.idle)
	}
}

// used notes whether the store served a call. An error of the model is no fault of the store, nor is a call that was
// canceled.
func (p *place) used(err error) {
	for _, fault := range []error{syscall.EIO, syscall.ENOSPC, syscall.EBUSY, syscall.EROFS, fs.ErrClosed} {
		if errors.Is(err, fault) && !errors.Is(err, context.Canceled) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.attempted(err)
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempted(nil)
}

// moved reports whether a tree is in a file that is not the store's any more.
func (p *place) moved(file *vfs.FS) bool {
	return file == nil || file != p.store.current() || file.Store().InPlace() != nil
}

// get returns the tree. It opens what is not open. A file that was moved away is opened once more, as long as reopens
// is not used up.
func (p *place) get(ctx context.Context, reopens *int) (*vfs.FS, error) {
	if tree, file := p.have(); tree != nil && !p.moved(file) {
		return tree, nil
	}
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.turn }()
	tree, file := p.have()
	switch {
	case tree == nil && p.state() != Evicted:
		return p.open(ctx)
	case tree != nil && !p.moved(file):
		return tree, nil
	}
	return p.reopen(ctx, reopens)
}

func (p *place) have() (tree, file *vfs.FS) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tree, p.file
}

func (p *place) state() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.health.State
}

// open opens the place for the first time, or after a failure.
func (p *place) open(ctx context.Context) (*vfs.FS, error) {
	p.mu.Lock()
	if p.failed != nil {
		defer p.mu.Unlock()
		return nil, p.failed
	}
	before := p.health.State
	p.become(Opening)
	p.mu.Unlock()

	began := time.Now()
	err := p.attempt(ctx)
	took := time.Since(began)

	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempted(err)
	switch {
	case err == nil:
		p.become(Opened)
		p.health.OpenedAt = p.health.LastSuccessAt
		if m := p.config.Metrics; m != nil && p.health.State != Closed { // a close that did not wait has not counted either
			m.IncOpen(p.label)
			m.ObserveOpenLatencyMs(p.label, float64(took)/float64(time.Millisecond))
		}
	case ctx.Err() != nil:
		p.become(before)
		return nil, err
	default:
		failed := &tool.FailedError{Transient: errors.Is(err, syscall.EBUSY), Err: err}
		if p.become(Failed); !failed.Transient {
			p.failed = failed
		}
		err = failed
	}
	p.config.Hear(hooks.Event{Kind: "open", Took: took, Err: err})
	return p.tree, err
}

// attempt opens the store's file and stands on the branch.
func (p *place) attempt(ctx context.Context) error {
	_, err := retry.Busy(ctx, func() (struct{}, error) { return struct{}{}, p.once(ctx) })
	return err
}

func (p *place) once(ctx context.Context) error {
	p.mu.Lock()
	known, joined, branch := p.id, p.joined, p.stood[len(p.stood)-1]
	p.mu.Unlock()
	file, err := p.store.use(ctx, !joined, known != "")
	if err != nil {
		return err
	}

	p.mu.Lock()
	p.joined = true
	p.mu.Unlock()
	id, err := tool.DatabaseID(ctx, file)
	if err != nil {
		return err
	}

	if known != "" && known != id && !p.foreign {
		return &tool.ForeignRefError{Ref: tool.Ref{DB: known, Branch: branch}, Here: id}
	}
	var tree *vfs.FS
	if known == "" {
		tree, err = p.find(ctx, file)
	} else {
		tree, err = file.Branch(ctx, branch)
	}
	if err != nil {
		return err
	}

	if known != id {
		p.at.Forget()
	}
	p.mu.Lock()
	p.file, p.tree, p.id = file, tree, id
	p.mu.Unlock()
	p.at.Move(tree)
	return nil
}

// Claim reserves a branch that a tool is about to fork and move to.
func (p *place) Claim(branch string) error { return p.store.claimed(branch, p) }

// Release gives up a branch that was claimed.
func (p *place) Release(branch string) { p.store.free(branch) }

// Follow moves the place to a branch that a tool forked, once the host has noted that. Nothing moves in a file that is
// not the open one any more.
func (p *place) Follow(ctx context.Context, tree *vfs.FS, ref tool.Ref) error {
	if p.onRef != nil {
		if err := p.onRef(ctx, ref); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tree == nil || p.tree.Store() != tree.Store() {
		return fmt.Errorf("session %q: its file was moved away: %w", p.name, syscall.ESTALE)
	}
	if left := p.stood[len(p.stood)-1]; left != p.name {
		p.store.free(left)
	}
	p.tree, p.stood, p.health.Branch = tree, append(p.stood, ref.Branch), ref.Branch
	return nil
}

// reopen follows an eviction: the file was moved or replaced. It is opened once more at its path, where it has to be
// the same database, restored from a backup for example.
func (p *place) reopen(ctx context.Context, reopens *int) (*vfs.FS, error) {
	p.mu.Lock()
	first := p.health.State != Evicted
	p.become(Evicted)
	p.tree, p.file = nil, nil
	p.mu.Unlock()
	m := p.config.Metrics
	if first {
		if m != nil {
			m.IncEviction(p.label)
		}
		p.config.Hear(hooks.Event{Kind: "evicted"})
	}

	err := error(syscall.ESTALE)
	if *reopens > 0 {
		*reopens--
		err = p.attempt(ctx)
	}

	outcome := "recovered"
	if err != nil {
		outcome = "exhausted"
		err = &tool.EvictedError{Path: p.store.path, Err: err}
		p.logger().ErrorContext(ctx, "workspace tool: eviction retry exhausted", "session", p.name, "error", err)
	}
	if m != nil {
		m.IncEvictionRetry(p.label, outcome)
	}

	p.config.Hear(hooks.Event{Kind: "eviction-retry", Name: outcome, Err: err})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempted(err)
	if err != nil {
		return nil, err
	}

	p.become(Opened)
	p.health.OpenedAt = p.health.LastSuccessAt
	return p.tree, nil
}

// close ends the place. It waits for calls that run and for their rows in the log, runs last on the tree if that is
// open, and gives up its use of the store. When the timeout is over, the calls and last go on by themselves.
func (p *place) close(ctx context.Context, last func(context.Context, *vfs.FS) error) error {
	p.mu.Lock()
	if p.idle != nil {
		p.mu.Unlock()
		return nil
	}
	p.idle = make(chan struct{})
	p.health.State = Closing
	if p.running == 0 {
		close(p.idle)
	}
	p.mu.Unlock()

	began := time.Now()
	ended := make(chan error, 1)
	go func() {
		<-p.idle
		ended <- p.end(context.WithoutCancel(ctx), last)
	}()
	patience := time.NewTimer(p.timeout)
	defer patience.Stop()
	status := "success"
	var err error
	select {
	case err = <-ended:
		if err != nil {
			status = "error"
		}
	case <-patience.C:
		status, err = "timeout", fmt.Errorf("close session %q: calls still run after %v: %w", p.name, p.timeout, syscall.ETIMEDOUT)
	case <-ctx.Done():
		status, err = "timeout", ctx.Err()
	}
	p.mu.Lock()
	p.health.State = Closed
	if err != nil {
		p.attempted(err)
	}
	opened := !p.health.OpenedAt.IsZero()
	p.mu.Unlock()

	// A place that was never open has no close to count.
	if m := p.config.Metrics; m != nil && opened {
		m.IncClose(p.label, status)
	}
	if opened {
		p.config.Hear(hooks.Event{Kind: "close", Name: status, Took: time.Since(began), Err: err})
	}
	return err
}

// end releases what the place holds, after its last call.
func (p *place) end(ctx context.Context, last func(context.Context, *vfs.FS) error) error {
	tree, _ := p.have()
	var errs []error
	if tree != nil {
		errs = append(errs, record.Flush(ctx, tree), last(ctx, tree))
	}
	p.mu.Lock()
	joined := p.joined
	p.tree, p.file, p.joined = nil, nil, false
	p.mu.Unlock()
	if joined {
		errs = append(errs, p.store.leave())
	}
	p.store.free(p.name)
	p.store.free(p.branches()[len(p.branches())-1])
	return errors.Join(errs...)
}

// branches returns the branches that the place has stood on; it stands on the last one.
func (p *place) branches() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.stood)
}

func (p *place) logger() *slog.Logger {
	if p.config.Logger != nil {
		return p.config.Logger
	}
	return slog.New(slog.DiscardHandler)
}
