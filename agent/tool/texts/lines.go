package texts

import (
	"fmt"
	"strings"
)

// Cat numbers lines as cat -n does, from first.
func Cat(lines []string, first int) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%6d\t%s", first+i, line)
	}
	return b.String()
}

// Number puts the number of each line before it: six wide and a tab, as cat -n does.
func Number(text string, first int) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	line := first
	for rest := text; rest != ""; line++ {
		n := strings.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		}
		fmt.Fprintf(&b, "%6d\t%s", line, rest[:n])
		rest = rest[n:]
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
