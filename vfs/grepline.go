package vfs

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// A lineMatcher tells the lines that match from those that do not.
type lineMatcher struct {
	// find returns where in a text of whole lines the first one may be that matches: a place in it, or in one before
	// it. There is none if find returns -1.
	find func(text []byte) int

	// match decides about one line, which comes without its line break.
	match func(line []byte) bool
}

func newLineMatcher(pattern string, regex, fold bool) (m lineMatcher, err error) {
	switch {
	case pattern == "":
		return m, fmt.Errorf("%w: the pattern is empty", syscall.EINVAL)
	case !regex && strings.Contains(pattern, "\n"):
		return m, fmt.Errorf("%w: the pattern has a line break in it, which no line has", syscall.EINVAL)
	case !regex && fold && !utf8.ValidString(pattern):
		return m, fmt.Errorf("%w: a pattern that is not UTF-8 has no case to ignore", syscall.EINVAL)
	case !regex && fold:
		return lineMatcher{find: foldFind(foldable([]rune(pattern))), match: foldMatch(pattern)}, nil
	case !regex:
		literal := []byte(pattern)
		return lineMatcher{
			find:  func(text []byte) int { return bytes.Index(text, literal) },
			match: func(line []byte) bool { return bytes.Contains(line, literal) },
		}, nil
	case fold:
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return m, fmt.Errorf("%w: %w", syscall.EINVAL, err)
	}
	return lineMatcher{find: finder(pattern), match: re.Match}, nil
}

// finder returns a fast find for a regular expression: package regexp looks at each character, but often there is a
// literal text that every match must contain, and a line without it need not be looked at.
func finder(pattern string) func([]byte) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return everyLine
	}
	lit := required(tree)
	switch {
	case lit.fold:
		return foldFind(lit.text)
	case lit.text == "":
		return everyLine
	}
	return func(text []byte) int { return bytes.Index(text, []byte(lit.text)) }
}

func everyLine([]byte) int { return 0 }

// A literal is a text that every match contains. With fold it is ASCII, in lower case, and may be contained in any
// case.
type literal struct {
	text string
	fold bool
}

// required returns the longest literal that it finds in a regular expression, or an empty one.
func required(re *syntax.Regexp) (best literal) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return literal{foldable(re.Rune), true}
		}
		if slices.Contains(re.Rune, utf8.RuneError) {
			return best // it also matches what is not UTF-8
		}
		return literal{string(re.Rune), false}
	case syntax.OpRepeat:
		if re.Min == 0 {
			return best
		}
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
	default:
		return best
	}
	for _, sub := range re.Sub {
		if lit := required(sub); len(lit.text) > len(best.text) {
			best = lit
		}
	}
	return best
}

// foldable returns the longest part of a text of which each letter has no other form than its two of ASCII. That is
// not so for K and S, which have the Kelvin sign and the long s.
func foldable(text []rune) string {
	apart := func(r rune) bool { return r > unicode.MaxASCII || strings.ContainsRune("kKsS", r) }
	var longest string
	for _, part := range strings.FieldsFunc(string(text), apart) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return strings.ToLower(longest)
}

// foldFind returns a find for a text that foldable returned, by the algorithm of Horspool.
func foldFind(text string) func([]byte) int {
	if text == "" {
		return everyLine
	}
	f := &foldFinder{text: text}
	last := len(text) - 1
	for i := range f.skip {
		f.skip[i] = len(text)
	}
	for i := range last {
		c := text[i]
		f.skip[c] = last - i
		if 'a' <= c && c <= 'z' {
			f.skip[c-'a'+'A'] = last - i
		}
	}
	return f.find
}

type foldFinder struct {
	text string
	skip [256]int // how far to go on from a byte that stands under the last one of text
}

func (f *foldFinder) find(p []byte) int {
	last := len(f.text) - 1
	for i := last; i < len(p); i += f.skip[p[i]] {
		if lower(p[i]) == f.text[last] && f.equal(p[i-last:i]) {
			return i - last
		}
	}
	return -1
}

func (f *foldFinder) equal(p []byte) bool {
	for i, c := range p {
		if lower(c) != f.text[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c - 'A' + 'a'
	}
	return c
}

// foldMatch returns a match for a literal in any case. It is what "(?i)" does in a regular expression, only faster.
func foldMatch(pattern string) func([]byte) bool {
	want := []rune(pattern)
	for i, r := range want {
		want[i] = folded(r)
	}
	return func(line []byte) bool {
		for len(line) > 0 {
			r, size := utf8.DecodeRune(line)
			line = line[size:]
			if folded(r) == want[0] && foldPrefix(line, want[1:]) {
				return true
			}
		}
		return false
	}
}

func foldPrefix(p []byte, want []rune) bool {
	for _, w := range want {
		r, size := utf8.DecodeRune(p)
		if size == 0 || folded(r) != w {
			return false
		}
		p = p[size:]
	}
	return true
}

// folded returns the first of all characters that Unicode folds to the same as r.
func folded(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	first := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		first = min(first, f)
	}
	return first
}
