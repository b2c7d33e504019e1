package mcp

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vfsdb/vfs"
)

// How long changes are gathered before clients hear of them, so that what many changes touch is told once.
const (
	gatherUpdates = 20 * time.Millisecond
	gatherLists   = time.Second // who hears that the list has changed may read all of it again
	watchAgain    = time.Second // after a failure
)

// A teller tells clients what changed. What is still to be told is a set, so a slow client makes no writer wait, and
// takes no more memory than there are subscriptions.
type teller struct {
	wake chan struct{}

	mu             sync.Mutex
	updates, lists time.Duration   // how long to gather
	uris           map[string]bool // that changed and are subscribed to
	list           bool            // files came or went
}

func newTeller() *teller {
	return &teller{updates: gatherUpdates, lists: gatherLists, wake: make(chan struct{}, 1), uris: map[string]bool{}}
}

// watch follows a branch from an event on, until ctx ends or the branch is deleted. It sees what other processes do, too.
func (s *Server) watch(ctx context.Context, at branch, since int64) {
	tree := at.box.FS()
	for ctx.Err() == nil {
		err := s.follow(ctx, tree, at, &since)
		var trimmed *vfs.TrimmedError
		switch {
		case ctx.Err() != nil, errors.Is(err, fs.ErrClosed):
			return
		case errors.As(err, &trimmed):
			since = trimmed.Since
			s.changed(at, nil)
			continue
		}
		s.logger.Warn("watch a workspace", "workspace", at.box.Workspace(), "branch", tree.Head(), "error", err)
		if errors.Is(err, syscall.ESTALE) {
			return
		}
		s.pause(watchAgain)
	}
}

func (s *Server) follow(ctx context.Context, tree *vfs.FS, at branch, since *int64) error {
	for e, err := range tree.Watch(ctx, "", *since) {
		if err != nil {
			return err
		}
		*since = e.Seq
		s.changed(at, &e)
	}
	return nil
}

// changed takes note of an event; nil is that anything may have changed.
func (s *Server) changed(at branch, e *vfs.Event) {
	uris := s.concerned(at.files, e)
	t := s.teller
	t.mu.Lock()
	for _, uri := range uris {
		t.uris[uri] = true
	}
	t.list = t.list || e == nil || movesFiles(e) && (at.box.Shows(e.Path) || e.Op == vfs.OpRename && at.box.Shows(e.Arg))
	idle := len(t.uris) == 0 && !t.list
	t.mu.Unlock()
	if !idle {
		t.nudge()
	}
}

// concerned returns the URIs that clients subscribed to and an event changed.
func (s *Server) concerned(of files, e *vfs.Event) (uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri := range s.watched {
		if path, ok := of.path(uri); ok && (e == nil || e.Concerns(path)) {
			uris = append(uris, uri)
		}
	}
	return uris
}

// movesFiles reports whether an event may have brought files or taken some.
func movesFiles(e *vfs.Event) bool {
	switch e.Op {
	case vfs.OpCreate, vfs.OpLink, vfs.OpRename, vfs.OpCopy, vfs.OpRemove, vfs.OpRemoveAll:
		return true
	case vfs.OpRestore:
		return e.Before == nil || e.After == nil
	}
	return false
}

// relisted has clients hear that the list of files is another one.
func (t *teller) relisted() {
	t.mu.Lock()
	t.list = true
	t.mu.Unlock()
	t.nudge()
}

func (t *teller) nudge() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// tell tells clients until the server ends.
func (s *Server) tell() {
	t := s.teller
	var listed time.Time // when clients last heard of the list
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		select {
		case <-t.wake:
		case <-again.C:
		case <-s.ctx.Done():
			return
		}
		t.mu.Lock()
		gather := t.updates
		t.mu.Unlock()
		s.pause(gather)
		t.mu.Lock()
		uris, list := t.uris, t.list && time.Since(listed) >= t.lists
		t.uris = map[string]bool{}
		if list {
			t.list, listed = false, time.Now()
		}
		later, wait := t.list, t.lists-time.Since(listed)
		t.mu.Unlock()
		for uri := range uris {
			if err := s.sdk.ResourceUpdated(s.ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
				s.logger.Debug("tell of a change", "uri", uri, "error", err)
			}
		}
		if list {
			// The SDK tells clients when templates change, and this is the way to make it.
			s.addTemplate(s.workspaces[0])
		}
		if later {
			again.Reset(wait)
		}
	}
}

// pause waits, or until the server ends.
func (s *Server) pause(d time.Duration) {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-s.ctx.Done():
	}
}
