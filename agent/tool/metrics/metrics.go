package metrics

// Calls counts events of sessions and calls. Its methods are called during a call and must be quick. Labels are few: the
// name of the workspace, the tool ("unknown" if a model made its name up), and the outcome, never a path.
type Calls interface {
	IncOpen(workspace string)
	IncClose(workspace, status string) // "success", "timeout", "error"
	ObserveOpenLatencyMs(workspace string, ms float64)
	IncEviction(workspace string)
	IncEvictionRetry(workspace, outcome string) // "recovered", "exhausted"
	IncToolCall(workspace, op, status string)   // "ok", "error"
	ObserveToolLatencyMs(workspace, op string, ms float64)
}

// Store is what a [Calls] may count besides: the cost of calls to the store.
type Store interface {
	// AddBytes counts the bytes of inputs ("in") and results ("out").
	AddBytes(workspace, direction string, n int64)

	// AddChunks counts the chunks that calls wrote: those that had to be stored, and those that the store had already.
	AddChunks(workspace string, stored, found int64)

	// ObserveTransactionMs observes how long a transaction of a call took: "read" or "write", waiting included.
	ObserveTransactionMs(workspace, kind string, ms float64)
}
