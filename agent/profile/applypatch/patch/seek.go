package patch

import (
	"strings"
	"unicode"
)

// passes are the ways to compare lines, strictest first.
var passes = []func(string) string{
	func(s string) string { return s },
	func(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) },
	strings.TrimSpace,
	func(s string) string { return strings.Map(plain, strings.TrimSpace(s)) },
}

// plain returns the ASCII character that a typographic one stands for.
func plain(r rune) rune {
	switch {
	case r >= '\u2010' && r <= '\u2015', r == '\u2212':
		return '-'
	case r >= '\u2018' && r <= '\u201B':
		return '\''
	case r >= '\u201C' && r <= '\u201F':
		return '"'
	case r == '\u00A0', r >= '\u2002' && r <= '\u200A', r == '\u202F', r == '\u205F', r == '\u3000':
		return ' '
	}
	return r
}

// A haystack is the lines of a text in each of the forms they are compared in, made when a pass is first needed.
type haystack struct{ forms [][]string }

func newHaystack(lines []string) *haystack {
	h := &haystack{make([][]string, len(passes))}
	h.forms[0] = lines
	return h
}

func (h *haystack) form(pass int) []string {
	if h.forms[pass] == nil {
		h.forms[pass] = mapped(h.forms[0], passes[pass])
	}
	return h.forms[pass]
}

func mapped(lines []string, form func(string) string) []string {
	list := make([]string, len(lines))
	for i, line := range lines {
		list[i] = form(line)
	}
	return list
}

// seek returns where the lines of a needle stand, at or after from, or -1: a strict match anywhere comes before a loose
// one.
func (h *haystack) seek(needle []string, from int) int {
	for pass, form := range passes {
		if at := find(h.form(pass), mapped(needle, form), from); at >= 0 {
			return at
		}
	}
	return -1
}

// seekEnd returns where a needle stands at the end of the text, or before the empty lines at its end, or -1.
func (h *haystack) seekEnd(needle []string, from int) int {
	lines := h.forms[0]
	for pass, form := range passes {
		want := mapped(needle, form)
		for end := len(lines); end-len(needle) >= from; end-- {
			if find(h.form(pass)[:end], want, end-len(needle)) >= 0 {
				return end - len(needle)
			}
			if end == 0 || strings.TrimSpace(lines[end-1]) != "" {
				break
			}
		}
	}
	return -1
}

// find returns where needle begins in lines, at or after from, or -1. It looks at each line once (Knuth, Morris,
// Pratt): a file of a million equal lines must not hold up its caller.
func find(lines, needle []string, from int) int {
	if len(needle) == 0 {
		return from
	}
	border := make([]int, len(needle)) // of needle[:i+1]: its longest proper prefix that is a suffix too
	for i, k := 1, 0; i < len(needle); i++ {
		for k > 0 && needle[i] != needle[k] {
			k = border[k-1]
		}
		if needle[i] == needle[k] {
			k++
		}
		border[i] = k
	}

	for i, k := from, 0; i < len(lines); i++ {
		for k > 0 && lines[i] != needle[k] {
			k = border[k-1]
		}
		if lines[i] == needle[k] {
			k++
		}
		if k == len(needle) {
			return i - k + 1
		}
	}

	return -1
}
