package tool

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"vfsdb/agent/tool/hooks"
	"vfsdb/agent/tool/record"
	"vfsdb/agent/tool/texts"
	"vfsdb/vfs"
)

// logEntry returns the row of a call in the log: the caller, the tool, and a digest of the arguments.
func (b *Toolbox) logEntry(call Call) *vfs.Call {
	return &vfs.Call{
		Began: time.Now(), Actor: b.config.Actor, Session: b.config.Session, Tool: texts.Clip(call.Tool, maxLoggedText), Ref: call.ID,
		Digest: vfs.SumOf(call.Input),
	}
}

// finish records the outcome of a call. A record that cannot be written fails no call: its changes stand, and their
// rows have named the call since the commit.
func (b *Toolbox) finish(ctx context.Context, call Call, entry *vfs.Call, result *Result, took time.Duration) {
	if errors.Is(result.Err, ErrPending) {
		return
	}
	entry.Took, entry.Result = took, resultSize(result)
	status := "ok"
	if result.Err != nil {
		entry.Error, status = texts.Clip(result.Err.Error(), maxLoggedText), "error"
	}

	b.record(entry)
	b.logger().DebugContext(ctx, "call", "tool", entry.Tool, "ref", call.ID, "session", b.config.Session,
		"ms", took.Milliseconds(), "bytes", entry.Result, "status", status, "error", entry.Error)
	if m := b.config.Metrics; m != nil {
		m.IncToolCall(b.Workspace(), b.label(call.Tool), status)
		m.ObserveToolLatencyMs(b.Workspace(), b.label(call.Tool), millis(took))
	}

	if m := b.config.storeMetrics(); m != nil {
		m.AddBytes(b.Workspace(), "in", int64(len(call.Input)))
		m.AddBytes(b.Workspace(), "out", entry.Result)
	}
	b.config.Hear(hooks.Event{Kind: "call", Name: call.Tool, Err: result.Err, Took: took})
}

// label returns the label of a tool in metrics: its name, or "unknown" if the profile has no such tool. A made-up
// name is no label, since each new label is a series that is kept.
func (b *Toolbox) label(op string) string {
	if b.byName[op] == nil && b.missing[op] == "" {
		return "unknown"
	}
	return op
}

// record hands the row of a call to the log's writer. A store that takes no writes, or could not be opened, keeps no
// log.
func (b *Toolbox) record(entry *vfs.Call) {
	if b.fsys == nil || b.fsys.Frozen() || b.fsys.Store().ReadOnly() {
		return
	}
	record.Entry{FS: b.fsys, Call: entry, Logger: b.logger()}.Enter()
}

func (b *Toolbox) logger() *slog.Logger {
	if b.config.Logger != nil {
		return b.config.Logger
	}
	return slog.New(slog.DiscardHandler)
}

// maxLoggedText bounds the text of an error in the log, and the name of a tool, which a model may have made up; in
// bytes.
const maxLoggedText = 1000

// resultSize returns the size of the result that the model gets, in bytes.
func resultSize(r *Result) int64 {
	n := int64(len(r.Text))
	for _, m := range r.Media {
		n += int64(len(m.Data))
	}
	return n
}

// Hear sends an event of this workspace to the hooks.
func (c *Config) Hear(e hooks.Event) {
	e.Workspace, e.Session = c.Name, c.Session
	if e.Workspace == "" {
		e.Workspace = defaultWorkspace
	}
	c.Hooks.Send(e)
}
