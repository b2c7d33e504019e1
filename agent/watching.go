package agent

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Metrics counts what happens. Its methods are called on the way of a call and must be quick; labels are few: the
// name of the workspace, the tool, and how it ended, never a path (W13, W22).
type Metrics interface {
	IncOpen(workspace string)
	IncClose(workspace, status string)
	ObserveOpenLatencyMs(workspace string, ms float64)
	IncEviction(workspace string)
	IncEvictionRetry(workspace, outcome string)
	IncToolCall(workspace, tool, status string)
	ObserveToolLatencyMs(workspace, tool string, ms float64)
}

// Hooks hears of what happens, after it has (W14). Events wait in a queue for OnEvent, which runs in a goroutine of its
// own: a slow one never holds up a call. When the queue is full an event is dropped and counted. A panic in OnEvent is
// logged, and ends nothing. A nil *Hooks hears nothing.
type Hooks struct {
	queue   chan HookEvent
	dropped atomic.Int64
	stopped sync.Once
	idle    chan struct{}
}

// A HookEvent is one thing that happened.
type HookEvent struct {
	Kind string // "open", "close", "evicted", "eviction-retry", "snapshot", "restore", "branch", "call"
	Name string // of the snapshot, the branch, the tool or the session
	Took time.Duration
	Err  error
}

// hookQueue is how many events may wait.
const hookQueue = 256

// NewHooks starts to hear. Close it when nothing more happens. logger may be nil.
func NewHooks(onEvent func(HookEvent), logger *slog.Logger) *Hooks {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	h := &Hooks{queue: make(chan HookEvent, hookQueue), idle: make(chan struct{})}
	go func() {
		defer close(h.idle)
		for e := range h.queue {
			h.tell(onEvent, e, logger)
		}
	}()
	return h
}

func (h *Hooks) tell(onEvent func(HookEvent), e HookEvent, logger *slog.Logger) {
	defer func() {
		if p := recover(); p != nil {
			logger.Error("hook", "kind", e.Kind, "panic", p)
		}
	}()
	onEvent(e)
}

// Dropped returns how many events found the queue full.
func (h *Hooks) Dropped() int64 { return h.dropped.Load() }

// Close waits until the events in the queue have been heard. Nothing may happen afterwards.
func (h *Hooks) Close() {
	h.stopped.Do(func() { close(h.queue) })
	<-h.idle
}

func (h *Hooks) send(e HookEvent) {
	if h == nil {
		return
	}
	select {
	case h.queue <- e:
	default:
		h.dropped.Add(1)
	}
}

func (h *Hooks) snapshot(kind, name string) { h.send(HookEvent{Kind: kind, Name: name}) }

func (h *Hooks) toolCall(call Call, err error, took time.Duration) {
	h.send(HookEvent{Kind: "call", Name: call.Tool, Err: err, Took: took})
}
