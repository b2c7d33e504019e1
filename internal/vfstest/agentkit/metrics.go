package agentkit

import (
	"strings"
	"sync"
)

// Counts are metrics that add up.
type Counts struct {
	mu sync.Mutex
	N  map[string]int
}

func (c *Counts) inc(what ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.N == nil {
		c.N = map[string]int{}
	}
	c.N[strings.Join(what, " ")]++
}

// Of returns how often something was counted, such as "call workspace ls ok".
func (c *Counts) Of(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.N[what]
}

func (c *Counts) IncOpen(w string) { c.inc("open", w) }

func (c *Counts) IncClose(w, status string) { c.inc("close", w, status) }

func (c *Counts) ObserveOpenLatencyMs(w string, ms float64) { c.inc("opened", w) }

func (c *Counts) IncEviction(w string) { c.inc("evicted", w) }

func (c *Counts) IncEvictionRetry(w, outcome string) { c.inc("retry", w, outcome) }

func (c *Counts) IncToolCall(w, op, status string) { c.inc("call", w, op, status) }

func (c *Counts) ObserveToolLatencyMs(w, op string, _ float64) { c.inc("called", w, op) }

func (c *Counts) AddChunks(w string, stored, found int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.N["stored"] += int(stored)
	c.N["found"] += int(found)
}

func (c *Counts) AddBytes(w, direction string, n int64) { c.inc("bytes", w, direction) }

func (c *Counts) ObserveTransactionMs(w, kind string, _ float64) { c.inc("tx", w, kind) }
