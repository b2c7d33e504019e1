package textdiff

import (
	"bufio"
	"bytes"
	"io"
)

// Labels name the three texts in the lines that mark a conflict. A label may be empty.
type Labels struct{ Ours, Base, Theirs string }

// A Style says how conflicts are shown.
type Style uint8

// The styles. Both show the lines of ours, of the base and of theirs.
const (
	Diff3  Style = iota // all lines of the conflict
	ZDiff3              // lines with which both sides begin or end stand outside of the marks; the base is shown whole
)

// Markers writes the merged text, with each conflict between marks: seven characters and a label, each a line of its own.
// Within a conflict, a last line without a line feed gets one, so that the next mark begins a line. Marks end in CRLF
// where the lines around do. The output is that of git merge-file with --diff3 or --zdiff3.
func Markers(w io.Writer, m Merged, labels Labels, style Style) error {
	buffered := bufio.NewWriter(w)
	for _, r := range m.Regions {
		if r.Origin == Conflict {
			m.mark(buffered, r, labels, style)
		} else {
			buffered.Write(r.Text)
		}
	}
	return buffered.Flush()
}

// mark writes one conflict.
func (m Merged) mark(w *bufio.Writer, r Region, labels Labels, style Style) {
	var head, tail int
	if style == ZDiff3 {
		head, tail = m.alike(r)
	}
	first, last, end := r.Ours.From+head, r.Ours.To-tail, r.Ours.To
	w.Write(m.Ours.Lines(Range{r.Ours.From, first}))

	r.Ours = Range{first, last}
	r.Theirs = Range{r.Theirs.From + head, r.Theirs.To - tail}
	feed := m.lineEnd(r)
	mark(w, '<', labels.Ours, feed)
	put(w, m.Ours.Lines(r.Ours), feed)
	mark(w, '|', labels.Base, feed)
	put(w, m.Base.Lines(r.Base), feed)
	mark(w, '=', "", feed)
	put(w, m.Theirs.Lines(r.Theirs), feed)
	mark(w, '>', labels.Theirs, feed)

	w.Write(m.Ours.Lines(Range{last, end}))
}

// mark writes a line of seven times c and the label, which ends in feed.
func mark(w *bufio.Writer, c byte, label, feed string) {
	w.Write(bytes.Repeat([]byte{c}, 7))
	if label != "" {
		w.WriteByte(' ')
		w.WriteString(label)
	}
	w.WriteString(feed)
}

// put writes lines, and a line feed behind the last one if it has none.
func put(w *bufio.Writer, lines []byte, feed string) {
	w.Write(lines)
	if len(lines) > 0 && lines[len(lines)-1] != '\n' {
		w.WriteString(feed)
	}
}

// alike counts the lines with which both sides of a conflict begin, and with which they end.
func (m Merged) alike(r Region) (head, tail int) {
	short := min(r.Ours.Len(), r.Theirs.Len())
	for head < short && bytes.Equal(m.Ours.Line(r.Ours.From+head), m.Theirs.Line(r.Theirs.From+head)) {
		head++
	}
	for tail < short-head && bytes.Equal(m.Ours.Line(r.Ours.To-1-tail), m.Theirs.Line(r.Theirs.To-1-tail)) {
		tail++
	}
	return head, tail
}

// lineEnd returns how the marks of conflict r end. It is CRLF if the first line of the base ends so, and neither side has a
// bare line feed before the conflict, or in its first line if the conflict is there.
func (m Merged) lineEnd(r Region) string {
	ours := m.Ours.ending(max(r.Ours.From-1, 0))
	theirs := m.Theirs.ending(max(r.Theirs.From-1, 0))
	if ours == "\n" || theirs == "\n" || m.Base.ending(0) != "\r\n" {
		return "\n"
	}
	return "\r\n"
}

// ending returns how line i ends, or the one before it if i is the last and has no end. It is empty if no line shows that.
func (t Text) ending(i int) string {
	if i >= t.Len() {
		return ""
	}
	line := t.Line(i)
	if !bytes.HasSuffix(line, []byte{'\n'}) {
		if i == 0 {
			return ""
		}
		line = t.Line(i - 1)
	}
	if bytes.HasSuffix(line, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
