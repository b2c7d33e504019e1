package vfs

import "time"

// Metrics count what this process has done with a store since it was opened. They only grow, but for LogBytes and
// CacheBytes. The JSON names are for expvar.Func.
type Metrics struct {
	Commits     int64         `json:"commits"`      // transactions that were committed; many short verbs may share one
	Undone      int64         `json:"undone"`       // transactions that write and were rolled back
	Busy        int64         `json:"busy"`         // waits for the write lock that ended without it
	LockWait    time.Duration `json:"lock_wait_ns"` // of transactions, for the lock between processes
	LogBytes    int64         `json:"log_bytes"`    // length of the log after the last commit of this process
	CacheHits   int64         `json:"cache_hits"`   // looks for verified content in memory that found it
	CacheMisses int64         `json:"cache_misses"` // and that did not; a read may look more than once
	CacheBytes  int64         `json:"cache_bytes"`  // of content that is kept in memory
}

// Metrics returns the present counts. It reads nothing of the store, and may be called at any time, also after Close.
func (st *Store) Metrics() Metrics {
	db := st.tree().DB().Metrics()
	m := Metrics{Commits: db.Commits, Undone: db.Undone, Busy: db.Busy, LockWait: db.LockWait, LogBytes: db.LogBytes}
	m.CacheHits, m.CacheMisses, m.CacheBytes = st.tree().Cache().Metrics()
	return m
}
