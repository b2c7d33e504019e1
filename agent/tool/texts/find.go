package texts

import (
	"strings"
)

// Models write line breaks as \n. Old text matches \r\n too, and new text in a file with \r\n gets its line breaks, so that
// an edit does not mix them.

// A Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// Occurrences finds old in text, from the start, without overlap. If it does not occur as it is, every \r\n counts as
// \n.
func Occurrences(text, old string) []Span {
	spots := spans(text, old)
	if len(spots) > 0 || !strings.Contains(text, "\r\n") {
		return spots
	}
	spots = spans(UnixBreaks(text), UnixBreaks(old))
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
		spots[i] = Span{unfold(s.Start), unfold(s.End)}
	}
	return spots
}

func spans(text, old string) (found []Span) {
	for from := 0; old != ""; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			break
		}
		found = append(found, Span{from + i, from + i + len(old)})
		from += i + len(old)
	}
	return found
}

// UnixBreaks returns text with \n for each \r\n.
func UnixBreaks(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// LikeBreaks gives text the line breaks of the first of the examples that has any.
func LikeBreaks(text string, examples ...string) string {
	if BreakOf(examples...) == "\n" {
		return text
	}
	return strings.ReplaceAll(UnixBreaks(text), "\n", "\r\n")
}

// BreakOf returns the first line break in the examples.
func BreakOf(examples ...string) string {
	for _, e := range examples {
		if i := strings.IndexByte(e, '\n'); i > 0 && e[i-1] == '\r' {
			return "\r\n"
		} else if i >= 0 {
			return "\n"
		}
	}
	return "\n"
}
