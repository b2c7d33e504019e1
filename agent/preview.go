package agent

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// What an edit shows of itself: enough to see that it did what was meant, however much it changed.
const (
	previewHunks = 10       // changed places
	previewLines = 40       // of one of them
	previewBytes = 10 << 10 // in all
)

// A hunk is a place that an edit changed, as a unified diff has it: lines with a sign, three around the change.
type hunk struct {
	header string
	first  int // line of the new text
	lines  []string
}

// hunksOf are the places in which two texts differ.
func hunksOf(before, after []byte) []hunk {
	var hunks []hunk
	text := diff.Diff("a", before, "b", after)
	for range 3 { // its own header
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	for line := range bytes.Lines(text) {
		var h hunk
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

// showHunks shows changed places: numbered lines as they are now, or the diff.
func showHunks(hunks []hunk, asDiff bool) string {
	var b strings.Builder
	for i, h := range hunks {
		switch {
		case asDiff:
			b.WriteString(h.header)
		case i > 0:
			b.WriteString("   ...\n")
		}
		lines := h.lines
		if !asDiff {
			lines = h.now()
		}
		more := max(0, len(lines)-previewLines)
		for _, line := range lines[:len(lines)-more] {
			short := clipped(strings.TrimSuffix(line, "\n"), maxLine)
			b.WriteString(short + "\n")
		}
		if more > 0 {
			fmt.Fprintf(&b, "   ... %d more lines\n", more)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// now is the new text of a hunk, each line with its number.
func (h hunk) now() []string {
	var lines []string
	at := h.first
	for _, line := range h.lines {
		if line[0] == '+' || line[0] == ' ' {
			lines = append(lines, fmt.Sprintf("%6d\t%s", at, line[1:]))
			at++
		}
	}
	return lines
}
