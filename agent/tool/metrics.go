package tool

import (
	"context"
	"time"

	"vfsdb/vfs"
)

// Metrics counts events. Its methods are called during a call and must be quick. Labels are few: the name of the
// workspace, the tool ("unknown" if a model made its name up), and the outcome, never a path.
type Metrics interface {
	IncOpen(workspace string)
	IncClose(workspace, status string) // "success", "timeout", "error"
	ObserveOpenLatencyMs(workspace string, ms float64)
	IncEviction(workspace string)
	IncEvictionRetry(workspace, outcome string) // "recovered", "exhausted"
	IncToolCall(workspace, op, status string)   // "ok", "error"
	ObserveToolLatencyMs(workspace, op string, ms float64)
}

// StoreMetrics is what a [Metrics] may count besides: the cost of calls to the store.
type StoreMetrics interface {
	// AddBytes counts the bytes of inputs ("in") and results ("out").
	AddBytes(workspace, direction string, n int64)

	// AddChunks counts the chunks that calls wrote: those that had to be stored, and those that the store had already.
	AddChunks(workspace string, stored, found int64)

	// ObserveTransactionMs observes how long a transaction of a call took: "read" or "write", waiting included.
	ObserveTransactionMs(workspace, kind string, ms float64)
}

// storeMetrics returns the further metrics of a config; nil if there are none.
func (c *Config) storeMetrics() StoreMetrics {
	m, _ := c.Metrics.(StoreMetrics)
	return m
}

// timed returns run, made to report how long each transaction took.
func (b *Toolbox) timed(kind string, run transaction) transaction {
	m := b.config.storeMetrics()
	if m == nil {
		return run
	}
	return func(ctx context.Context, fn func(*vfs.Tx) error) error {
		began := time.Now()
		err := run(ctx, fn)
		m.ObserveTransactionMs(b.Workspace(), kind, millis(time.Since(began)))
		return err
	}
}

// tallied returns a context under which written chunks are counted, and a function that reports the counts.
func (b *Toolbox) tallied(ctx context.Context) (_ context.Context, report func()) {
	m := b.config.storeMetrics()
	if m == nil {
		return ctx, func() {}
	}
	var t vfs.Tally
	return vfs.WithTally(ctx, &t), func() { m.AddChunks(b.Workspace(), t.Stored.Load(), t.Found.Load()) }
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
