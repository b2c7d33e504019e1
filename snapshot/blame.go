package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	unified "github.com/rogpeppe/go-internal/diff"

	"vfsdb/vfs"
)

// A Line is one line of a file, and the event that last touched it.
type Line struct {
	Text  string     // without the line break
	Event *vfs.Event // nil if it is no longer kept, or is older than the log
}

// Blame returns for each line of a text file the event that brought it. It compares the contents that the log names,
// newest first. A line of the oldest content that is still stored has no event, unless the log shows that the file was
// created with that content. A file beyond [vfs.MaxEditSize] is EFBIG, and one that looks binary is EINVAL.
func Blame(ctx context.Context, fsys *vfs.FS, name string) ([]Line, error) {
	lines, err := blame(ctx, fsys, name)
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	if err != nil {
		return nil, &fs.PathError{Op: "blame", Path: name, Err: err}
	}
	return lines, nil
}

func blame(ctx context.Context, fsys *vfs.FS, name string) ([]Line, error) {
	path, now, sum, err := readText(ctx, fsys, name)
	if err != nil {
		return nil, err
	}

	// Newest first, until every line has its event.
	events, err := fsys.Log(ctx, &vfs.LogOptions{Path: path, Newest: true})
	if err != nil {
		return nil, err
	}
	b := newBlamer(now, sum)
	for i := range events {
		if b.open == 0 {
			break
		}
		if err := b.step(ctx, fsys, &events[i]); err != nil {
			return nil, err
		}
	}
	return b.lines, nil
}

// readText reads the present content of a text file, with its sum, and the path under which the log has it.
func readText(ctx context.Context, fsys *vfs.FS, name string) (path string, now []byte, sum vfs.Sum, err error) {
	err = fsys.View(ctx, func(tx *vfs.Tx) (err error) {
		if path, err = tx.Resolve(name, true); err != nil {
			return err
		}

		info, err := tx.Stat(path)
		switch {
		case err != nil:
			return err
		case info.IsDir():
			return syscall.EISDIR
		case info.Size() > vfs.MaxEditSize:
			return syscall.EFBIG
		}

		if now, err = tx.ReadFile(path); err != nil {
			return err
		}
		sum, err = tx.Sum(path)
		return err
	})
	if err == nil && vfs.LooksBinary(now) {
		err = fmt.Errorf("%w: it is not text", syscall.EINVAL)
	}
	return path, now, sum, err
}

// A blamer goes back through the contents of a file, one event after the other.
type blamer struct {
	lines []Line
	open  int      // lines without an event
	sum   vfs.Sum  // of the content that it has reached
	text  []string // the lines of that content
	from  []int    // for each line of that content, the present line that it became; -1 if none
}

func newBlamer(now []byte, sum vfs.Sum) *blamer {
	b := &blamer{sum: sum, text: textLines(now)}
	for i, text := range b.text {
		b.lines = append(b.lines, Line{Text: text})
		b.from = append(b.from, i)
	}
	b.open = len(b.lines)
	return b
}

// step goes back over an event, if the event left the content that the blamer has reached.
func (b *blamer) step(ctx context.Context, fsys *vfs.FS, e *vfs.Event) error {
	if e.After == nil || *e.After != b.sum || e.Op == vfs.OpCopy || e.Before != nil && *e.Before == b.sum {
		return nil
	}
	if e.Before == nil { // the file was created
		b.credit(e, nil)
		return nil
	}

	var text []byte
	err := fsys.View(ctx, func(tx *vfs.Tx) (err error) {
		text, err = tx.ReadSum(*e.Before, vfs.MaxEditSize)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, vfs.ErrCorrupt), errors.Is(err, syscall.EFBIG):
		b.open = 0 // collected, or about to be: older events cannot be compared
		return nil
	case err != nil:
		return err
	}

	before := textLines(text)
	b.credit(e, before)
	b.sum, b.text = *e.Before, before
	return nil
}

// credit gives the event to the lines that before does not have, and follows the others to their place in before.
func (b *blamer) credit(e *vfs.Event, before []string) {
	kept := keptLines(before, b.text)
	from := make([]int, len(before))
	for i := range from {
		from[i] = -1
	}

	for line, today := range b.from {
		switch old := kept[line]; {
		case today < 0:
		case old >= 0:
			from[old] = today
		default:
			b.lines[today].Event = e
			b.open--
		}
	}
	b.from = from
}

// keptLines returns for each line of the new text which line of the old text it is, as a diff pairs them; -1 if none. The lines that
// both begin with, and those that both end with, need no diff: most edits change a few lines of many.
func keptLines(was, is []string) []int {
	kept := make([]int, len(is))
	for i := range kept {
		kept[i] = -1
	}
	at, to := 0, 0 // how far the two are mapped
	keep := func(n int) {
		for range n {
			kept[to] = at
			at, to = at+1, to+1
		}
	}

	head, tail, both := 0, 0, min(len(was), len(is))
	for head < both && was[head] == is[head] {
		head++
	}
	for tail < both-head && was[len(was)-1-tail] == is[len(is)-1-tail] {
		tail++
	}
	keep(head)
	was, is = was[head:len(was)-tail], is[head:len(is)-tail]

	if len(was) > 0 && len(is) > 0 {
		for _, h := range hunks(unified.Diff("old", joined(was), "new", joined(is))) {
			keep(head + h.old - at) // the lines before the hunk

			for _, kind := range h.kinds {
				switch kind {
				case ' ':
					keep(1)
				case '-':
					at++
				case '+':
					to++
				}
			}
		}
		keep(min(head+len(was)-at, head+len(is)-to))
	}

	at, to = head+len(was), head+len(is)
	keep(tail)
	return kept
}

// A hunk is one changed part of a diff, with the lines around it.
type hunk struct {
	old   int    // the first line of the old text in it, from 0
	kinds []byte // of its lines: ' ', '-' or '+'
}

// hunks reads a unified diff.
func hunks(text []byte) []hunk {
	var list []hunk
	for line := range bytes.Lines(text) {
		switch {
		case bytes.HasPrefix(line, []byte("@@ ")):
			list = append(list, hunk{old: firstLine(line)})
		case len(list) > 0:
			h := &list[len(list)-1]
			h.kinds = append(h.kinds, line[0])
		}
	}
	return list
}

// firstLine reads where "@@ -3,7 +3,9 @@" begins, from 0. An empty range "-0,0" begins at 0.
func firstLine(line []byte) int {
	n := 0
	for _, c := range line[len("@@ -"):] {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int(c-'0')
	}
	return max(0, n-1)
}

// joined returns lines as a text with a line break at its end, so that a missing one is no difference.
func joined(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

// textLines cuts text into lines, without their line breaks.
func textLines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
