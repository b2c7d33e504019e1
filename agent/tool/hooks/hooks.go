package hooks

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Hooks gets events after they have happened. They wait in a queue for OnEvent, which runs in a goroutine of its own:
// a slow one never holds up a call. When the queue is full an event is dropped and counted. A panic in OnEvent is
// logged, and ends nothing. One Hooks may serve any number of sessions. A nil *Hooks gets no events.
type Hooks struct {
	queue   chan Event
	dropped atomic.Int64
	idle    chan struct{} // closed when OnEvent has returned from the last event

	mu     sync.RWMutex // held to write by Close: no event is sent to a queue that was closed
	closed bool
}

// An Event is one thing that happened.
type Event struct {
	Kind      string // "open", "close", "evicted", "eviction-retry", "snapshot", "restore", "merge", "undo", "redo", "branch", "move", "call"
	Workspace string // its name, as in metrics
	Session   string // "" if the tools are nobody's
	Name      string // of the snapshot, the branch or the tool; the outcome of a close or of an eviction's retry
	Took      time.Duration
	Err       error
}

// hookQueue is the number of events that may wait.
const hookQueue = 256

// New returns hooks that call onEvent for each event. Close them when no more calls come. logger may be nil.
func New(onEvent func(Event), logger *slog.Logger) *Hooks {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	h := &Hooks{queue: make(chan Event, hookQueue), idle: make(chan struct{})}
	go func() {
		defer close(h.idle)
		for e := range h.queue {
			deliver(onEvent, e, logger)
		}
	}()
	return h
}

func deliver(onEvent func(Event), e Event, logger *slog.Logger) {
	defer func() {
		if p := recover(); p != nil {
			logger.Error("hook", "kind", e.Kind, "panic", p)
		}
	}()
	onEvent(e)
}

// Dropped returns the number of events that OnEvent never got: the queue was full, or Close had been called.
func (h *Hooks) Dropped() int64 { return h.dropped.Load() }

// Close takes no more events, and waits until OnEvent has got those in the queue, or until ctx ends. An OnEvent that
// never returns is left behind with its goroutine.
func (h *Hooks) Close(ctx context.Context) error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.queue)
	}
	h.mu.Unlock()
	select {
	case <-h.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Send queues an event, and never waits.
func (h *Hooks) Send(e Event) {
	if h == nil {
		return
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.closed {
		h.dropped.Add(1)
		return
	}
	select {
	case h.queue <- e:
	default:
		h.dropped.Add(1)
	}
}
