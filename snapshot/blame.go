package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"vfsdb/textdiff"
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
	open  int           // lines without an event
	sum   vfs.Sum       // of the content that it has reached
	text  textdiff.Text // the lines of that content
	from  []int         // for each line of that content, the present line that it became; -1 if none
}

func newBlamer(now []byte, sum vfs.Sum) *blamer {
	b := &blamer{sum: sum, text: linesOf(now)}
	n := b.text.Len()
	b.lines, b.from, b.open = make([]Line, n), make([]int, n), n
	for i := range n {
		b.lines[i].Text = strings.TrimSuffix(string(b.text.Line(i)), "\n")
		b.from[i] = i
	}
	return b
}

// step goes back over an event, if the event left the content that the blamer has reached.
func (b *blamer) step(ctx context.Context, fsys *vfs.FS, e *vfs.Event) error {
	if e.After == nil || *e.After != b.sum || e.Op == vfs.OpCopy || e.Before != nil && *e.Before == b.sum {
		return nil
	}
	if e.Before == nil { // the file was created
		b.credit(e, textdiff.Text{})
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

	before := linesOf(text)
	b.credit(e, before)
	b.sum, b.text = *e.Before, before
	return nil
}

// credit gives the event to the lines that before does not have, and follows the others to their place in before.
func (b *blamer) credit(e *vfs.Event, before textdiff.Text) {
	kept := keptLines(before, b.text)
	from := make([]int, before.Len())
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

// keptLines returns for each line of the new text which line of the old text it is, as a diff pairs them; -1 if none.
func keptLines(was, is textdiff.Text) []int {
	kept := make([]int, is.Len())
	old, line := 0, 0
	keep := func(to int) {
		for ; line < to; line++ {
			kept[line] = old
			old++
		}
	}

	for _, h := range textdiff.Compare(was, is) {
		keep(h.B.From)
		for ; line < h.B.To; line++ {
			kept[line] = -1
		}
		old = h.A.To
	}
	keep(is.Len())
	return kept
}

// linesOf cuts a text into lines. Each ends in a line feed: that the last one lacks it is no difference.
func linesOf(text []byte) textdiff.Text {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	return textdiff.Lines(text)
}
