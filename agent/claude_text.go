package agent

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"vfsdb/vfs"
)

// Models write line breaks as \n. What they look for matches \r\n too, and what they put into a file with \r\n gets its
// line breaks, so that an edit does not mix them.

// A span is a part of a text, in bytes.
type span struct{ start, end int }

// occurrences finds where old stands in text, from the start, without overlap: as it is, or if it does not occur so,
// with every \r\n taken for \n.
func occurrences(text, old string) []span {
	spots := spans(text, old)
	if len(spots) > 0 || !strings.Contains(text, "\r\n") {
		return spots
	}
	spots = spans(unixBreaks(text), unixBreaks(old))
	at, folded := 0, 0 // the same place in text, and in text with its breaks folded
	unfold := func(to int) int {
		for folded < to {
			if strings.HasPrefix(text[at:], "\r\n") {
				at++
			}
			at++
			folded++
		}
		return at
	}
	for i, s := range spots {
		spots[i] = span{unfold(s.start), unfold(s.end)}
	}
	return spots
}

func spans(text, old string) (found []span) {
	for from := 0; old != ""; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			break
		}
		found = append(found, span{from + i, from + i + len(old)})
		from += i + len(old)
	}
	return found
}

// replaced puts text in place of some spans. A result that no file here may hold is EFBIG.
func replaced(text string, spots []span, with string) (string, error) {
	if len(with) > 0 && len(spots) > vfs.MaxEditSize/len(with) {
		return "", refuse(syscall.EFBIG, "the file would be larger than %d bytes", vfs.MaxEditSize)
	}
	var b strings.Builder
	from := 0
	for _, s := range spots {
		b.WriteString(text[from:s.start])
		b.WriteString(likeBreaks(with, text[s.start:s.end], text))
		from = s.end
	}
	b.WriteString(text[from:])
	return b.String(), nil
}

func unixBreaks(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// likeBreaks gives text the line breaks of the first of the examples that has any.
func likeBreaks(text string, examples ...string) string {
	if breakOf(examples...) == "\n" {
		return text
	}
	return strings.ReplaceAll(unixBreaks(text), "\n", "\r\n")
}

// breakOf is the first line break in the examples.
func breakOf(examples ...string) string {
	for _, e := range examples {
		if i := strings.IndexByte(e, '\n'); i > 0 && e[i-1] == '\r' {
			return "\r\n"
		} else if i >= 0 {
			return "\n"
		}
	}
	return "\n"
}

// insertAfter puts whole lines after a line of a text; 0 is its start. It reports false if there is no such line.
func insertAfter(text string, line int, insert string) (string, bool) {
	lines := splitLines(text)
	if line < 0 || line > len(lines) {
		return "", false
	}
	end := breakOf(text)
	insert = likeBreaks(insert, text)
	if !strings.HasSuffix(insert, "\n") {
		insert += end
	}
	head := strings.Join(lines[:line], "")
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += end
	}
	return head + insert + strings.Join(lines[line:], ""), true
}

// lineAt is the line, counted from 0, that a byte of a text is on.
func lineAt(text string, at int) int { return strings.Count(text[:at], "\n") }

// shownLines are the lines of a text as the references number them: what stands between line breaks, so that after a
// final one there is an empty line. Line breaks are left out.
func shownLines(text string) []string { return strings.Split(unixBreaks(valid(text)), "\n") }

// catN numbers lines as cat -n does, from first.
func catN(lines []string, first int) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%6d\t%s", first+i, line)
	}
	return b.String()
}

// snippet numbers the lines of a text from one to another, counted from 0, as far as there are any.
func snippet(text string, from, to, limit int) string {
	lines := shownLines(text)
	from, to = max(0, from), min(len(lines), to)
	shown, _ := cut(catN(lines[from:to], from+1), limit)
	return shown
}

// manyLines is how many places an error names.
const manyLines = 100

// linesWith are the lines that spans begin on, counted from 1, as text.
func linesWith(text string, spots []span) string {
	var lines []int
	line, from := 1, 0
	for _, s := range spots[:min(len(spots), manyLines)] {
		line += lineAt(text[from:], s.start-from)
		from = s.start
		lines = append(lines, line)
	}
	list := joined(slices.Compact(lines))
	if len(spots) > manyLines {
		list += ", ..."
	}
	return list
}
