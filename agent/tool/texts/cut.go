package texts

import (
	"fmt"
	"unicode/utf8"
)

// Cut shortens text to at most limit bytes, at the start of a rune. The result ends with a note about the cut. Cut
// returns the number of bytes that it left out, too.
func Cut(text string, limit int) (string, int) {
	if len(text) <= limit {
		return text, 0
	}
	head := Clip(text, limit)
	omitted := len(text) - len(head)
	return head + Omitted(omitted), omitted
}

// Clip returns the beginning of a text, at most limit bytes, up to the start of a rune.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// Omitted returns the note at the end of a text that was cut.
func Omitted(n int) string {
	return fmt.Sprintf("\n[... truncated, %d bytes omitted; refine your search/path]", n)
}

// Last returns the end of a text, at most limit bytes, from the start of a rune, and the number of bytes before it.
func Last(text string, limit int) (string, int) {
	from := max(0, len(text)-limit)
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:], from
}

// MaxLine bounds the bytes of one line that grep shows: minified files have lines of megabytes.
const MaxLine = 2000
