package claude

import (
	"slices"
	"strings"

	"vfsdb/agent/tool/texts"
)

// insertAfter puts whole lines after a line of a text; 0 is its start. It reports false if there is no such line.
func insertAfter(text string, line int, insert string) (string, bool) {
	lines := texts.Split(text)
	if line < 0 || line > len(lines) {
		return "", false
	}
	end := texts.BreakOf(text)
	insert = texts.LikeBreaks(insert, text)
	if !strings.HasSuffix(insert, "\n") {
		insert += end
	}
	head := strings.Join(lines[:line], "")
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += end
	}
	return head + insert + strings.Join(lines[line:], ""), true
}

// lineAt returns the line, counted from 0, that a byte of a text is on.
func lineAt(text string, at int) int { return strings.Count(text[:at], "\n") }

// shownLines returns the lines of a text as the references number them: the text is split at line breaks, so a final
// one has an empty line after it. Line breaks are left out.
func shownLines(text string) []string {
	return strings.Split(texts.UnixBreaks(texts.Valid(text)), "\n")
}

// snippet numbers the lines of a text from one to another, counted from 0, as far as there are any.
func snippet(text string, from, to, limit int) string {
	lines := shownLines(text)
	from, to = max(0, from), min(len(lines), to)
	shown, _ := texts.Cut(texts.Cat(lines[from:to], from+1), limit)
	return shown
}

// manyLines is the number of places that an error names at most.
const manyLines = 100

// linesWith returns the lines that spans begin on, counted from 1, as text.
func linesWith(text string, spots []texts.Span) string {
	var lines []int
	line, from := 1, 0
	for _, s := range spots[:min(len(spots), manyLines)] {
		line += lineAt(text[from:], s.Start-from)
		from = s.Start
		lines = append(lines, line)
	}
	list := texts.Numbers(slices.Compact(lines))
	if len(spots) > manyLines {
		list += ", ..."
	}
	return list
}
