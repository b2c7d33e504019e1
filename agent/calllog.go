package agent

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"vfsdb/vfs"
)

// logEntry is the row of a call in the log: who calls what, with which arguments, told by their digest alone.
func (b *Toolbox) logEntry(call Call) *vfs.Call {
	return &vfs.Call{
		Began: time.Now(), Actor: b.config.Actor, Session: b.config.Session, Tool: call.Tool, Ref: call.ID,
		Digest: vfs.SumOf(call.Input),
	}
}

// finish records how a call went. That a record could not be written fails no call: what it changed stands, and names
// it since its commit.
func (b *Toolbox) finish(ctx context.Context, call Call, entry *vfs.Call, result *Result, took time.Duration) {
	if errors.Is(result.Err, ErrPending) {
		return
	}
	entry.Took, entry.Result = took, resultSize(result)
	status := "ok"
	if result.Err != nil {
		entry.Error, status = clipped(result.Err.Error(), maxLoggedError), "error"
	}
	b.record(entry)
	b.logger().DebugContext(ctx, "call", "tool", call.Tool, "ref", call.ID, "session", b.config.Session,
		"ms", took.Milliseconds(), "bytes", entry.Result, "status", status, "error", entry.Error)
	if m := b.config.Metrics; m != nil {
		m.IncToolCall(b.Workspace(), call.Tool, status)
		m.ObserveToolLatencyMs(b.Workspace(), call.Tool, millis(took))
	}
	if m := b.config.storeMetrics(); m != nil {
		m.AddBytes(b.Workspace(), "in", int64(len(call.Input)))
		m.AddBytes(b.Workspace(), "out", entry.Result)
	}
	b.config.hear(HookEvent{Kind: "call", Name: call.Tool, Err: result.Err, Took: took})
}

// record has the row of a call written, soon. A store that takes no writes, or could not be opened, keeps no log.
func (b *Toolbox) record(entry *vfs.Call) {
	if b.fsys == nil || b.fsys.Frozen() || b.fsys.DB().ReadOnly() {
		return
	}
	logged{b.fsys, entry, b.logger()}.enter()
}

func (b *Toolbox) logger() *slog.Logger {
	if b.config.Logger != nil {
		return b.config.Logger
	}
	return slog.New(slog.DiscardHandler)
}

// maxLoggedError is how much of an error the log keeps, in bytes.
const maxLoggedError = 1000

// resultSize is what the model gets, in bytes.
func resultSize(r *Result) int64 {
	n := int64(len(r.Text))
	for _, m := range r.Media {
		n += int64(len(m.Data))
	}
	return n
}
