package texts

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// The bounds of a preview. It is long enough to judge an edit, and short however much the edit changed.
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

// Hunks returns the places where two texts differ.
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
			panic(fmt.Sprintf("a diff has the header %q: %v", line, err)) // we made it ourselves
		}
		h.header = string(line)
		hunks = append(hunks, h)
	}

	return hunks
}

// ShowHunks shows changed places: of each the lines that linesOf returns, with gap between two places.
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

// Diff returns a hunk as a unified diff has it.
func (h Hunk) Diff() []string { return append([]string{h.header}, h.lines...) }

// Now returns the new text of a hunk: its lines with their numbers, in the given format, up to a number of lines
// around each change.
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
