package tool

import (
	"context"
	"time"

	"vfsdb/agent/tool/metrics"
	"vfsdb/vfs"
)

// storeMetrics returns the further metrics of a config; nil if there are none.
func (c *Config) storeMetrics() metrics.Store {
	m, _ := c.Metrics.(metrics.Store)
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
