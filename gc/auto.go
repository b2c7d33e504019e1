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

// Auto collects in the background, each time that every has passed, until ctx ends or stop is called; stop waits for a collection that
// runs. It tells log what was freed, at level debug, and what went wrong, at level warn; log may be nil. That another process
// collects is fine.
func Auto(ctx context.Context, fsys *vfs.FS, every time.Duration, log *slog.Logger) (stop func()) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for sleep(ctx, every) == nil {
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
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}
