package gc

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"vfsdb/vfs"
)

// AutoOptions are the optional parts of Auto. A nil *AutoOptions is the zero value.
type AutoOptions struct {
	// Log gets a record of each collection, at level debug, and of each failure, at level warn. It may be nil.
	Log *slog.Logger

	// Compact is how many bytes to compress at most after each collection, see [Compact]. 0 compresses none.
	Compact int64

	// Before runs before each collection and drops what need not stay, such as the automatic snapshots that
	// snapshot.Prune finds old. If it fails, Log gets a record, and the collection runs all the same. It may be nil.
	Before func(ctx context.Context) error
}

// Auto collects in the background at the interval every, until ctx ends or stop is called. stop waits for a collection
// that is running. Another process may run its own.
func Auto(ctx context.Context, fsys *vfs.FS, every time.Duration, options *AutoOptions) (stop func()) {
	var o AutoOptions
	if options != nil {
		o = *options
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}

	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for sleep(ctx, every) == nil {
			if o.Before != nil {
				if err := o.Before(ctx); err != nil && ctx.Err() == nil {
					log.WarnContext(ctx, "the work before gc failed", "error", err)
				}
			}

			report, err := Run(ctx, fsys, nil)
			switch {
			case ctx.Err() != nil:
				return
			case errors.Is(err, syscall.EBUSY):
				log.DebugContext(ctx, "gc did not run", "error", err)
			case err != nil:
				log.WarnContext(ctx, "gc failed", "error", err)
			default:
				log.DebugContext(ctx, "gc ran", "blobs", report.Blobs, "bytes", report.Bytes, "rows", report.Rows, "orphans", report.Orphans, "changes", report.Changes)
			}

			if o.Compact > 0 {
				compactSome(ctx, fsys, o.Compact, log)
			}
		}
	})

	return func() {
		cancel()
		done.Wait()
	}
}

// compactSome compresses at most bytes.
func compactSome(ctx context.Context, fsys *vfs.FS, bytes int64, log *slog.Logger) {
	made, err := Compact(ctx, fsys, &CompactOptions{MaxBytes: bytes})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		log.WarnContext(ctx, "compact failed", "error", err)
	default:
		log.DebugContext(ctx, "compact ran", "blobs", made.Blobs, "before", made.Before, "after", made.After)
	}
}
