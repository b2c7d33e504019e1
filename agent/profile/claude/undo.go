package claude

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/vfs"
)

// An undoLog keeps what the edits of one toolbox took away, newest last, so that they can be taken back. It is bounded:
// the oldest go first. Each step is as small as the change, and good only while the file still has the sum that the
// edit left.
type undoLog struct {
	mu    sync.Mutex
	steps []*undoStep
	bytes int
}

// An undoStep takes one edit back.
type undoStep struct {
	path    string   // resolved
	after   string   // the sum that the edit left
	created bool     // there was no file before
	at      int      // where the change begins
	removed string   // what was there
	added   int      // how many bytes are there instead
	before  *vfs.Sum // of the whole content before, instead of at, removed and added: a step from the history of the store
}

// The bounds of an undoLog.
const (
	maxUndoSteps = 1000
	maxUndoBytes = 16 << 20
)

// undoStepOf returns the step from a file's content after an edit back to what it was.
func undoStepOf(path, sum, before, after string) *undoStep {
	same := min(len(before), len(after))
	head := 0
	for head < same && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < same-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	removed := string([]byte(before[head : len(before)-tail])) // a copy, which does not keep the rest
	return &undoStep{path: path, after: sum, at: head, removed: removed, added: len(after) - tail - head}
}

// back returns the content before the edit.
func (s *undoStep) back(after string) string {
	return after[:s.at] + s.removed + after[s.at+s.added:]
}

// content returns the content of a file before the edit that left it as it is. ok is false if the store does not have
// it any more.
func (s *undoStep) content(g *tool.Guard, n *tool.Node) (text string, ok bool, err error) {
	var data []byte
	if s.before == nil {
		data, err = g.Content(n)
		return s.back(string(data)), err == nil, err
	}
	data, err = g.Past(n, *s.before, vfs.MaxEditSize)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(data), err == nil, err
}

// maxUndoEvents is how many of the newest events of a file are looked at for its last edit.
const maxUndoEvents = 1000

// stepFromHistory finds the last edit of a file by this session and tool in the history of the store, where those are
// that were made before a restart; nil if there is none. Edits that were taken back do not count, nor does taking back.
func stepFromHistory(ctx context.Context, h *tool.History, path, op string) (*undoStep, error) {
	events, err := h.Own(ctx, path, maxUndoEvents)
	if err != nil {
		return nil, err
	}
	var edits []*vfs.Event // that stand, oldest first
	for i := range slices.Backward(events) {
		e := &events[i]
		switch last := len(edits) - 1; {
		case policy.Rooted(e.Path) != path || e.Tool != op || sameSum(e.Before, e.After):
		case last >= 0 && sameSum(edits[last].Before, e.After) && sameSum(edits[last].After, e.Before):
			edits = edits[:last]
		default:
			edits = append(edits, e)
		}
	}

	if len(edits) == 0 || edits[len(edits)-1].After == nil {
		return nil, nil
	}
	e := edits[len(edits)-1]
	return &undoStep{path: path, after: e.After.String(), created: e.Before == nil, before: e.Before}, nil
}

func sameSum(a, b *vfs.Sum) bool { return a == b || a != nil && b != nil && *a == *b }

func (l *undoLog) push(s *undoStep) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps = append(l.steps, s)
	l.bytes += len(s.removed)
	for len(l.steps) > maxUndoSteps || l.bytes > maxUndoBytes {
		l.bytes -= len(l.steps[0].removed)
		l.steps[0] = nil // the array stays for a while
		l.steps = l.steps[1:]
	}
}

// last is the newest step of a path, or nil.
func (l *undoLog) last(path string) *undoStep {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.steps) - 1; i >= 0; i-- {
		if l.steps[i].path == path {
			return l.steps[i]
		}
	}
	return nil
}

// drop forgets a step that has been taken back.
func (l *undoLog) drop(s *undoStep) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, have := range l.steps {
		if have == s {
			l.steps = append(l.steps[:i:i], l.steps[i+1:]...)
			l.bytes -= len(s.removed)
			return
		}
	}
}
