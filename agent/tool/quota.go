package tool

import (
	"sync"

	"vfsdb/agent/policy"
	"vfsdb/search"
)

// A tally is an upper bound of the bytes and entries of a branch: those of the last count, and all that were added
// since.
type tally struct {
	seq            int64 // the event it holds for
	bytes, entries int64
}

// A meter keeps the last tally of a branch, so that the tree need not be counted for each call.
type meter struct {
	mu   sync.Mutex
	last tally
}

func (m *meter) get() tally {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// set keeps the tally of a transaction that was committed.
func (m *meter) set(t tally) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.seq > m.last.seq {
		m.last = t
	}
}

// withinQuota refuses a call that added something if the branch now holds more than the policy allows. The answer is
// exact for this transaction, whatever others write. The tree is counted only when it may hold too much: as long as
// the last count and all that was added since stay below the quota, so does the tree.
func (g *Guard) withinQuota() error {
	p := g.box.policy
	if !g.grown || p.MaxBytes <= 0 && p.MaxEntries <= 0 {
		return nil
	}
	last := g.box.meter.get()
	grew, err := g.tx.GrownSince(last.seq)
	if err != nil {
		return err
	}
	g.tally = tally{grew.Seq, last.bytes + grew.Bytes, last.entries + grew.Entries}
	if last.seq != 0 && !grew.Unknown && withinQuota(p, g.tally) == nil {
		return nil
	}
	used, err := search.Usage(g.ctx, g.tx, ".")
	if err != nil {
		return err
	}
	g.tally.bytes, g.tally.entries = used.Bytes, entryCount(used)
	return withinQuota(p, g.tally)
}

// entryCount counts the entries below the root. The root itself is none.
func entryCount(u search.Totals) int64 { return u.Files + u.Dirs + u.Symlinks + u.Others - 1 }

func withinQuota(p *policy.Policy, t tally) error {
	switch {
	case p.MaxBytes > 0 && t.bytes > int64(p.MaxBytes):
		return &policy.QuotaError{What: "bytes", Held: t.bytes, Max: int64(p.MaxBytes)}
	case p.MaxEntries > 0 && t.entries > p.MaxEntries:
		return &policy.QuotaError{What: "entries", Held: t.entries, Max: p.MaxEntries}
	}
	return nil
}
