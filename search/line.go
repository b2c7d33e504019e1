package search

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// A lineMatcher decides which lines match a pattern.
type lineMatcher struct {
	// finder finds, in a text of whole lines, a place in the first line that may match, or in a line before it. If it
	// finds nothing, no line matches.
	finder

	// probes rule out many files without reading them.
	probes []probe

	// match decides about one line, without its line break.
	match func(line []byte) bool
}

// maxRegex bounds the length of a regular expression in bytes. To compile one takes much more time and memory than to
// read it, and cannot be cancelled.
const maxRegex = 16 << 10

func newLineMatcher(pattern string, regex, fold bool) (m lineMatcher, err error) {
	switch {
	case pattern == "":
		return m, fmt.Errorf("%w: the pattern is empty", syscall.EINVAL)
	case regex && len(pattern) > maxRegex:
		return m, fmt.Errorf("%w: the pattern is longer than %d bytes", syscall.EINVAL, maxRegex)
	case !regex && strings.Contains(pattern, "\n"):
		return m, fmt.Errorf("%w: the pattern has a line break in it, which no line has", syscall.EINVAL)
	case !regex && fold && !utf8.ValidString(pattern):
		return m, fmt.Errorf("%w: a pattern that is not UTF-8 has no case to ignore", syscall.EINVAL)
	case !regex && fold:
		return needsOfText(pattern, true).matcher(foldMatch(pattern)), nil
	case !regex:
		literal := []byte(pattern)
		return needsOfText(pattern, false).matcher(func(line []byte) bool { return bytes.Contains(line, literal) }), nil
	case fold:
		pattern = "(?i)" + pattern
	}

	re, err := regexp.Compile(pattern)
	if err != nil {
		return m, fmt.Errorf("%w: %w", syscall.EINVAL, err)
	}
	return needsOfRegexp(pattern).matcher(re.Match), nil
}

// matcher returns the lineMatcher for a pattern that needs all of n.
func (n needs) matcher(match func(line []byte) bool) lineMatcher {
	m := lineMatcher{finder: n.first().finder(), match: match}
	for _, one := range n {
		if p := one.probe(); p != nil {
			m.probes = append(m.probes, p)
		}
	}
	return m
}

// foldMatch returns a match for a literal in any case. It is equal to "(?i)" in a regular expression, and faster.
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
