package tool

import (
	"context"

	"vfsdb/agent/policy"
)

// A skip is a file that a search did not look into. The result names it for the model, and the log for the operator.
type skip struct{ path, why string }

// skip notes files for the log, which gets them once the transaction is over.
func (g *Guard) skip(why string, paths []string) {
	for _, path := range paths {
		g.skips = append(g.skips, skip{policy.Rooted(path), why})
	}
}

// warnOf logs a line for each file that was skipped, up to the number that a result may name, and then the number of
// the others.
func (b *Toolbox) warnOf(ctx context.Context, skips []skip) {
	if b.config.Logger == nil {
		return
	}
	shown := min(len(skips), b.caps.Matches)
	for _, s := range skips[:shown] {
		b.config.Logger.WarnContext(ctx, "file skipped", "session", b.config.Session, "path", s.path, "why", s.why)
	}
	if more := len(skips) - shown; more > 0 {
		b.config.Logger.WarnContext(ctx, "more files skipped", "session", b.config.Session, "files", more)
	}
}
