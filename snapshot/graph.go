package snapshot

import (
	"cmp"
	"container/heap"
	"context"
	"iter"
	"slices"

	"vfsdb/history"
	"vfsdb/journal"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A StepID tells steps apart.
type StepID struct {
	Call   int64
	Moment vfs.Moment // after the step
	Branch string     // that it changed; "" once that was dropped
}

// A Step is a call that changed a branch, with the steps that it came after. A call that others interrupted, or that changed
// several branches, has several steps.
type Step struct {
	StepID

	// Deed is the call with the calls that it undid, and its first change. Of one that the log no longer has it is the ID.
	Deed Deed

	// Parents are the steps before it: first the one on its branch, or on the branch that this was forked from, and then those
	// of the branches that it took in by a merge. A step that the log no longer has is missing.
	Parents []StepID

	Heads     []string // the branches whose last step it is
	Snapshots []string // of the state after it, without the automatic ones

	UndoneBy int64 // the call by which it is taken back on its branch; 0: none
}

// GraphOptions are the optional parts of a graph. A nil *GraphOptions is the zero value: the steps that led to the tree.
type GraphOptions struct {
	All bool // the steps that led to any branch of the store
	Max int  // how many at most; 0: no limit
}

// Graph yields the steps of the past of a tree, the latest first, and a step after those that have it as a parent. So the forks
// and the merges of branches can be drawn. What was changed as part of no call is not in it.
//
// It costs as much as it yields, and some look-ups for each branch of the store with All.
func Graph(ctx context.Context, fsys *vfs.FS, options *GraphOptions) iter.Seq2[Step, error] {
	g := &grapher{ctx: ctx, t: (*tree.Tree)(fsys), seen: make(map[vfs.Moment]*Step)}
	if options != nil {
		g.o = *options
	}
	return func(yield func(Step, error) bool) {
		if err := g.walk(yield); err != nil {
			yield(Step{}, nameErr("graph", fsys.Name(), err))
		}
	}
}

// A grapher walks from the heads of branches back, the step of the latest call first.
type grapher struct {
	ctx   context.Context
	t     *tree.Tree
	o     GraphOptions
	queue steps
	seen  map[vfs.Moment]*Step
	names map[int64]string // of branches
}

// batch is how many steps one transaction reads.
const batch = 256

// walk yields the steps in batches, so that no transaction waits for the caller.
func (g *grapher) walk(yield func(Step, error) bool) error {
	if err := g.t.View(g.ctx, g.begin); err != nil {
		return err
	}
	left := g.o.Max
	if left <= 0 {
		left = -1
	}
	for left != 0 && len(g.queue) > 0 {
		n := batch
		if left > 0 {
			n = min(n, left)
			left -= n
		}
		var list []*Step
		err := g.t.View(g.ctx, func(tx *tree.Tx) error {
			list = list[:0]
			for len(list) < n && len(g.queue) > 0 {
				s := heap.Pop(&g.queue).(*Step)
				if err := g.fill(tx.DB(), s); err != nil {
					return err
				}
				list = append(list, s)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, s := range list {
			if !yield(*s, nil) {
				return nil
			}
		}
	}
	return nil
}

// begin finds the last steps of all branches, or of the tree.
func (g *grapher) begin(tx *tree.Tx) error {
	db := tx.DB()
	list, err := history.Branches(db)
	if err != nil {
		return err
	}
	g.names = make(map[int64]string, len(list))
	for _, b := range list {
		g.names[b.ID] = b.Name
	}

	at := tx.Moment()
	for _, b := range list {
		head := vfs.Moment{Branch: b.ID, Epoch: schema.Head}
		if !g.o.All && head != at {
			continue
		}
		s, err := g.last(db, head)
		if err != nil {
			return err
		}
		if s != nil {
			s.Heads = append(s.Heads, b.Name)
		}
	}
	if !g.o.All && at.Final() {
		_, err = g.last(db, at)
	}
	return err
}

// last puts the last step that led to a moment into the queue, and returns it; nil if the log has none.
func (g *grapher) last(db *schema.Tx, at vfs.Moment) (*Step, error) {
	s, err := g.before(db, at.Branch, at.Epoch)
	if err != nil || s != nil {
		return s, err
	}
	levels, err := history.FindLineage(db, at)
	if err != nil {
		return nil, err
	}
	for _, l := range levels[1:] {
		if s, err = g.before(db, l.Branch, l.Cap); err != nil || s != nil {
			break
		}
	}

	// A snapshot of the branch that is older than its first step names the state that it was forked from.
	if s != nil {
		named, err := g.named(db, at.Branch, 0, at.Epoch)
		if err != nil {
			return nil, err
		}
		s.Snapshots = append(s.Snapshots, named...)
	}
	return s, err
}

// before puts the last step of a branch in an epoch up to one into the queue, once, and returns it; nil if there is none.
func (g *grapher) before(db *schema.Tx, branch, epoch int64) (*Step, error) {
	list, err := journal.StepsOn(db, branch, epoch+1, 1)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	at := vfs.Moment{Branch: branch, Epoch: list[0].Epoch}
	s := g.seen[at]
	if s == nil {
		s = &Step{StepID: StepID{list[0].Call, at, g.names[branch]}}
		g.seen[at] = s
		heap.Push(&g.queue, s)
	}
	return s, nil
}

// fill finds the parents of a step, and what else is to know of it.
func (g *grapher) fill(db *schema.Tx, s *Step) error {
	at := s.Moment
	parent, err := g.last(db, vfs.Moment{Branch: at.Branch, Epoch: at.Epoch - 1})
	if err != nil {
		return err
	}
	since := int64(0)
	if parent != nil {
		s.Parents = append(s.Parents, parent.StepID)
		if parent.Moment.Branch == at.Branch {
			since = parent.Moment.Epoch + 1
		}
	}

	taken, err := history.TakenIn(db, at.Branch, since, at.Epoch)
	if err != nil {
		return err
	}
	for _, m := range taken {
		from, err := g.before(db, m.Branch, m.Epoch)
		if err != nil {
			return err
		}
		if from != nil && !slices.Contains(s.Parents, from.StepID) {
			s.Parents = append(s.Parents, from.StepID)
		}
	}

	next, err := journal.StepAfter(db, at.Branch, at.Epoch)
	if err != nil {
		return err
	}
	named, err := g.named(db, at.Branch, at.Epoch, next-1)
	if err != nil {
		return err
	}
	s.Snapshots = append(named, s.Snapshots...)

	if err := g.readDeed(db, s); err != nil {
		return err
	}
	s.UndoneBy, err = undoneBy(db, at.Branch, s.Call)
	return err
}

// readDeed reads the call of a step, and its first change on the branch.
func (g *grapher) readDeed(db *schema.Tx, s *Step) (err error) {
	if s.Deed.CallRecord, _, err = journal.ReadCall(db, s.Call); err != nil {
		return err
	}
	s.Deed.ID = s.Call
	if s.Deed.Undid, err = journal.TakenBack(db, s.Call); err != nil || s.Deed.First == 0 {
		return err
	}

	view := func(_ context.Context, fn func(*schema.Tx) error) error { return fn(db) }
	source := journal.Source{Branch: s.Moment.Branch, Epoch: s.Moment.Epoch, View: view}
	s.Deed.Events, err = journal.Read(g.ctx, source, &journal.ReadOptions{Since: s.Deed.First - 1, Until: s.Deed.First + 1})
	return err
}

// undoneBy returns the call that took a call back last on a branch; 0 if none did, or if that was taken back itself.
func undoneBy(db *schema.Tx, branch, call int64) (int64, error) {
	// Each call in the row took back the one before it, so every second one undoes the call. Numbers ascend, unless the file is
	// damaged.
	var first int64
	for n := 0; ; n++ {
		by, err := journal.UndoneBy(db, branch, schema.Head, call)
		switch {
		case err != nil:
			return 0, err
		case by <= call && n%2 == 0:
			return 0, nil
		case by <= call:
			return first, nil
		case n == 0:
			first = by
		}
		call = by
	}
}

// named returns the names of the snapshots of a branch that someone has asked for, from one epoch to another.
func (g *grapher) named(db *schema.Tx, branch, from, to int64) (names []string, err error) {
	list, err := selectBetween(db, branch, from, to)
	for _, s := range list {
		if !s.Automatic() {
			names = append(names, s.Name)
		}
	}
	return names, err
}

// steps is a heap of steps with that of the latest call in front.
type steps []*Step

func (h steps) Len() int      { return len(h) }
func (h steps) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h steps) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(cmp.Compare(b.Call, a.Call), cmp.Compare(b.Moment.Branch, a.Moment.Branch), cmp.Compare(b.Moment.Epoch, a.Moment.Epoch)) < 0
}
func (h *steps) Push(s any) { *h = append(*h, s.(*Step)) }

func (h *steps) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	*h = (*h)[:last]
	return s
}
