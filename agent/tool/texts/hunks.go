package texts

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// The bounds of a preview. It shows enough to see that an edit did what was meant, however much it changed.
const (
	MaxHunks     = 10       // changed places
	previewLines = 40       // of one of them
	MaxPreview   = 10 << 10 // in all
	HunkContext  = 3        // lines around a change that its diff has
)

// A Hunk is a place that an edit changed, as a unified diff has it: lines with a sign, hunkContext around the change.
type Hunk struct {
	header string
	first  int // line of the new text
	lines  []string
}

// Hunks are the places in which two texts differ.
func Hunks(before, after []byte) []Hunk {
	var hunks []Hunk
	text := diff.Diff("a", before, "b", after)
	for range 3 { // its own header
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}

	for line := range bytes.Lines(text) {
		var h Hunk
		var skip int
		if line[0] != '@' {
			last := &hunks[len(hunks)-1]
			last.lines = append(last.lines, string(line))
			continue
		}
		if n, err := fmt.Sscanf(string(line), "@@ -%d,%d +%d,", &skip, &skip, &h.first); n != 3 {
			panic(fmt.Sprintf("a diff has the header %q: %v", line, err)) // it is of our own making
		}
		h.header = string(line)
		hunks = append(hunks, h)
	}

	return hunks
}

// ShowHunks shows changed places, each as the lines of it that the caller wants, and a gap between two of them.
func ShowHunks(hunks []Hunk, linesOf func(Hunk) []string, gap string) string {
	var b strings.Builder
	for i, h := range hunks {
		if i > 0 {
			b.WriteString(gap)
		}
		lines := linesOf(h)
		more := max(0, len(lines)-previewLines)
		for _, line := range lines[:len(lines)-more] {
			short := Clip(strings.TrimSuffix(line, "\n"), MaxLine)
			b.WriteString(short + "\n")
		}
		if more > 0 {
			fmt.Fprintf(&b, "   ... %d more lines\n", more)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Diff is a hunk as a unified diff has it.
func (h Hunk) Diff() []string { return append([]string{h.header}, h.lines...) }

// Now is the new text of a hunk: each line that is at most around lines from a change, with its number, as format has it.
func (h Hunk) Now(format string, around int) []string {
	var lines []string
	at := h.first
	for i, line := range h.lines {
		if line[0] != '+' && line[0] != ' ' {
			continue
		}
		if h.changes(i-around, i+around) {
			lines = append(lines, fmt.Sprintf(format, at, line[1:]))
		}
		at++
	}
	return lines
}

// changes reports whether a line from the first to the last of these was added or removed.
func (h Hunk) changes(first, last int) bool {
	return slices.ContainsFunc(h.lines[max(0, first):min(len(h.lines), last+1)], func(line string) bool {
		return line[0] == '+' || line[0] == '-'
	})
}
