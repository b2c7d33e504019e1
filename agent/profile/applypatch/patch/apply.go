package patch

import (
	"context"
	"slices"
	"strings"
)

// Apply returns the text of a file after the operation, given the text before. A hunk that has no place in it is a
// [MatchError]. Lines that the patch does not change stay as they are, with their line breaks; what it adds gets the
// line breaks around it, and ends with one. Many hunks in a long file take time; ctx can end that.
func (op *FileOp) Apply(ctx context.Context, before string) (string, error) {
	switch op.Kind {
	case Add:
		return op.Content, nil
	case Delete:
		return "", nil
	}

	t := newText(before)
	var changes []change
	cursor := 0
	for i, h := range op.Hunks {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		c, next, err := t.place(&h, cursor)
		if err != nil {
			err.Path, err.Hunk, err.Of, err.At = op.Path, i+1, len(op.Hunks), h.At
			return "", err
		}
		changes = append(changes, c)
		cursor = next
	}

	return t.with(changes), nil
}

// A text is the lines of a file, apart from their line breaks.
type text struct {
	lines  []string
	breaks []string // "\n", "\r\n", or "" at the end of the last line
	hay    *haystack
}

func newText(s string) *text {
	t := &text{}
	for s != "" {
		n := strings.IndexByte(s, '\n') + 1
		if n == 0 {
			n = len(s)
		}
		line, end := s[:n], ""
		for _, b := range []string{"\r\n", "\n"} {
			if cut, ok := strings.CutSuffix(line, b); ok {
				line, end = cut, b
				break
			}
		}
		t.lines, t.breaks = append(t.lines, line), append(t.breaks, end)
		s = s[n:]
	}
	t.hay = newHaystack(t.lines)
	return t
}

// A change is a hunk in its place.
type change struct {
	at    int // the line of the text
	lines []Line
}

// place finds the lines that a hunk replaces, and the line where the next one may begin.
func (t *text) place(h *Hunk, cursor int) (change, int, *MatchError) {
	for _, line := range h.Context {
		at := t.hay.seek([]string{line}, cursor)
		if at < 0 {
			return change{}, 0, &MatchError{Context: line, Earlier: t.hay.seek([]string{line}, 0) + 1}
		}
		cursor = at + 1
	}

	if len(old(h.Lines)) == 0 {
		return change{t.insertion(h, cursor), h.Lines}, cursor, nil
	}
	lines := h.Lines
	for range maxBlanks + 1 {
		want := old(lines)
		at := -1
		if len(want) == 0 {
			at = cursor
		} else if h.EndOfFile {
			at = t.hay.seekEnd(want, cursor)
		} else {
			at = t.hay.seek(want, cursor)
		}
		if at >= 0 {
			return change{at, lines}, at + len(want), nil
		}
		shorter := withoutBlank(lines)
		if shorter == nil || len(old(shorter)) == 0 && len(t.lines) > 0 {
			break
		}
		lines = shorter
	}

	return change{}, 0, &MatchError{Lines: old(h.Lines), Earlier: t.hay.seek(old(h.Lines), 0) + 1}
}

// maxBlanks is how many empty lines at the end of a hunk may be none of the file.
const maxBlanks = 8

// insertion returns the line at which a hunk without old lines is inserted: after the context, if the hunk names one;
// else at the end of the text, before an empty line that it ends with.
func (t *text) insertion(h *Hunk, cursor int) int {
	last := len(t.lines) - 1
	switch {
	case len(h.Context) > 0 && !h.EndOfFile:
		return cursor
	case last >= 0 && t.lines[last] == "":
		return last
	}
	return last + 1
}

// withoutBlank leaves out the last old line of a hunk if it is empty, and an empty new one that goes with it: models
// write one for the line break at the end of a file, or between two hunks. It returns nil if there is none.
func withoutBlank(lines []Line) []Line {
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].Op == '+' {
			continue
		}
		if lines[i].Text != "" {
			return nil
		}
		shorter := slices.Delete(slices.Clone(lines), i, i+1)
		if last := len(shorter) - 1; lines[i].Op == '-' && last >= i && shorter[last] == (Line{'+', ""}) {
			shorter = shorter[:last]
		}
		return shorter
	}
	return nil
}

// with returns the text with the changes applied.
func (t *text) with(changes []change) string {
	slices.SortStableFunc(changes, func(a, b change) int { return a.at - b.at })
	var b strings.Builder
	open := false // the last line that was written has no line break
	write := func(line, end string) {
		if open {
			b.WriteString(t.breakAt(len(t.lines)))
		}
		b.WriteString(line)
		b.WriteString(end)
		open = end == ""
	}

	from := 0
	keep := func(to int) {
		for ; from < to; from++ {
			write(t.lines[from], t.breaks[from])
		}
	}

	for _, c := range changes {
		keep(c.at)
		for _, l := range c.lines {
			switch l.Op {
			case ' ':
				keep(from + 1)
			case '-':
				from++
			case '+':
				write(l.Text, t.breakAt(max(from-1, c.at)))
			}
		}
	}
	keep(len(t.lines))
	return b.String()
}

// breakAt returns the line break for text that is put in at a line.
func (t *text) breakAt(line int) string {
	for _, i := range []int{line, line - 1, 0} {
		if i >= 0 && i < len(t.breaks) && t.breaks[i] != "" {
			return t.breaks[i]
		}
	}
	return "\n"
}
