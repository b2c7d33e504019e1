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

// The times for which changes are gathered before clients are notified. Many changes of one file are then one
// notification.
const (
	gatherUpdates = 20 * time.Millisecond
	gatherLists   = time.Second // a client that hears of it may read the whole list again
	watchAgain    = time.Second // after a failure
)

// A notifier notifies clients of changes. The pending changes are a set of URIs, so a slow client makes no writer wait,
// and the memory is bounded by the number of subscriptions.
type notifier struct {
	wake chan struct{}

	mu             sync.Mutex
	updates, lists time.Duration   // to gather changes
	uris           map[string]bool // with a subscription, that have changed
	list           bool            // files came or went
}

func newNotifier() *notifier {
	return &notifier{updates: gatherUpdates, lists: gatherLists, wake: make(chan struct{}, 1), uris: map[string]bool{}}
}

// watch follows a branch from an event on, until ctx ends or the branch is deleted. Changes by other processes count
// too.
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

// follow handles the events of a branch until one fails. since is then the last event before the failure.
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

// changed records an event for the notifier. A nil event stands for any number of unknown changes.
func (s *Server) changed(at branch, e *vfs.Event) {
	uris := s.concerned(at.files, e)
	t := s.notifier
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

// concerned returns the URIs with a subscription that an event concerns.
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

// movesFiles reports whether an event may have added or removed files.
func movesFiles(e *vfs.Event) bool {
	switch e.Op {
	case vfs.OpCreate, vfs.OpLink, vfs.OpRename, vfs.OpCopy, vfs.OpRemove, vfs.OpRemoveAll:
		return true
	case vfs.OpRestore, vfs.OpMerge:
		return e.Before == nil || e.After == nil
	}
	return false
}

// relisted notifies clients that the list of files has changed.
func (t *notifier) relisted() {
	t.mu.Lock()
	t.list = true
	t.mu.Unlock()
	t.nudge()
}

// nudge wakes the notifier.
func (t *notifier) nudge() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// notify notifies clients of changes until the server ends.
func (s *Server) notify() {
	t := s.notifier
	var listed time.Time // the time of the last notification of the list
	again := time.NewTimer(0)
	defer again.Stop()

	for {
		select {
		case <-t.wake:
		case <-again.C:
		case <-s.ctx.Done():
			return
		}

		// Changes are gathered for a while, so that many changes of one file are one message.
		t.mu.Lock()
		gather := t.updates
		t.mu.Unlock()
		s.pause(gather)

		// The list of files is announced less often: a client may read all of it again.
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
				s.logger.Debug("notify of a change", "uri", uri, "error", err)
			}
		}
		if list {
			// The SDK has no such notification. It sends one when templates change, so a template is added again.
			s.addTemplate(s.workspaces[0])
		}
		if later {
			again.Reset(wait)
		}
	}
}

// pause waits for a time, or until the server ends.
func (s *Server) pause(d time.Duration) {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-s.ctx.Done():
	}
}
