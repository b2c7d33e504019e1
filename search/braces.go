package search

import "strings"

// An expander spells out the braces of a pattern, outermost and leftmost first.
type expander struct {
	texts  []string
	budget int
}

// expand adds the texts that text stands for. There are no braces before from.
func (x *expander) expand(text string, from int) {
	if x.budget--; x.budget < 0 {
		return
	}
	open := indexToken(text, from, "{")
	if open < 0 {
		x.texts = append(x.texts, text)
		return
	}
	end := closing(text, open)
	for at := open + 1; at <= end; {
		comma := min(nextComma(text, at), end)
		x.expand(text[:open]+text[at:comma]+text[end+1:], open)
		at = comma + 1
	}
}

// closing returns the index of the brace that closes the one at open.
func closing(text string, open int) int {
	depth := 0
	for i := open; ; i += tokenLen(text, i) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
}

// nextComma returns the index of the comma that ends the alternative at from, or of the brace that does.
func nextComma(text string, from int) int {
	for i := from; ; i += tokenLen(text, i) {
		switch text[i] {
		case '{':
			i = closing(text, i)
		case ',', '}':
			return i
		}
	}
}

// tokenLen returns the length of what begins at i: an escaped byte, a bracket with its content, or any other byte.
func tokenLen(text string, i int) int {
	switch text[i] {
	case '\\':
		return min(2, len(text)-i)
	case '[':
		for n := 1; i+n < len(text); n++ {
			switch text[i+n] {
			case '\\':
				n++
			case ']':
				return n + 1
			}
		}
		return len(text) - i
	}
	return 1
}

// indexToken returns where, from from on, one of the bytes in chars stands with its special meaning; -1 if nowhere.
func indexToken(text string, from int, chars string) int {
	for i := from; i < len(text); i += tokenLen(text, i) {
		if strings.IndexByte(chars, text[i]) >= 0 {
			return i
		}
	}
	return -1
}
