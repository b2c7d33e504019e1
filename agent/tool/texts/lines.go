package texts

import (
	"fmt"
	"strings"
)

// Cat numbers lines as cat -n does, from first.
func Cat(lines []string, first int) string { return numbered(lines, first, "\n") }

// Number puts the number of each line of a text before it, as cat -n does.
func Number(text string, first int) string { return numbered(Split(text), first, "") }

// numbered puts numbers before lines: six wide and a tab.
func numbered(lines []string, first int, between string) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteString(between)
		}
		fmt.Fprintf(&b, "%6d\t%s", first+i, line)
	}
	return b.String()
}

// LinesOf returns the lines on which the occurrences of a text begin, at most limit of them.
func LinesOf(text, old string, limit int) []int {
	var lines []int
	line, from := 1, 0
	for len(lines) < limit && old != "" {
		i := strings.Index(text[from:], old)
		if i < 0 {
			break
		}
		line += strings.Count(text[from:from+i], "\n")
		lines = append(lines, line)
		line += strings.Count(old, "\n")
		from += i + len(old)
	}
	return lines
}

// Split cuts text after each line break. Text that ends with one has no empty line after it.
func Split(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
