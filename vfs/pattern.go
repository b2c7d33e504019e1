package vfs

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

// A pattern is a compiled glob: its braces are spelled out, and each alternative is cut into segments. So it can be
// matched one name after the other while a tree is walked, and what no longer can match is never listed.
//
// The dialect is that of doublestar: `*` and `?` match within a name, also a leading dot; `[a-z]` and `[^a-z]` one
// character; `{a,b/c}` alternatives; `\` takes the meaning off what follows. A segment `**` matches any number of
// names; at the end, none only for a directory, so "a/**" matches "a" if that is one. A slash at the end asks for a
// directory. As in a path, a slash in front, empty segments and "." mean nothing.
type pattern struct{ alts []alternative }

type alternative struct {
	segs []segment
	dirs bool // matches directories only
}

type segment struct {
	text string
	kind segmentKind
}

type segmentKind int

const (
	segLiteral segmentKind = iota // exactly text
	segGlob                       // what doublestar says that text matches
	segAny                        // every name: "*"
	segDeep                       // any number of names: "**"
)

// A cursor is a segment of an alternative that the next name may match.
type cursor struct{ alt, seg int }

// maxExpansions bounds the work of spelling out braces, which may double with each pair.
const maxExpansions = 1024

// compile reads a pattern. A malformed one is EINVAL, and so is an empty one.
func compile(text string) (*pattern, error) {
	switch {
	case text == "":
		return nil, badPattern("it is empty")
	case len(text) > maxPath:
		return nil, badPattern("it is longer than %d bytes", maxPath)
	case !doublestar.ValidatePattern(text):
		return nil, badPattern("a bracket, a brace or a backslash is not finished")
	}
	x := expander{budget: maxExpansions}
	x.expand(text, 0)
	if x.budget < 0 {
		return nil, badPattern("its braces stand for too many alternatives")
	}
	p := &pattern{}
	for _, alt := range x.texts {
		// An alternative of nothing, as in "{a,}", matches nothing. The root is ".", or "/" without braces.
		if alt == text || strings.Trim(alt, "/") != "" {
			p.alts = append(p.alts, newAlternative(alt))
		}
	}
	return p, nil
}

func badPattern(format string, args ...any) error {
	return fmt.Errorf("%w: bad pattern: %s", syscall.EINVAL, fmt.Sprintf(format, args...))
}

// An expander spells out the braces of a pattern, outermost and leftmost first.
type expander struct {
	texts  []string
	budget int
}

// expand adds what text stands for. What is before from has no more braces.
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

// tokenLen returns the length of what begins at i: an escaped byte, a bracket with what is in it, or any other byte.
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

func newAlternative(text string) alternative {
	var a alternative
	for more := true; more; {
		var seg string
		if i := indexToken(text, 0, "/"); i >= 0 {
			seg, text = text[:i], text[i+1:]
		} else {
			seg, more = text, false
		}
		a.dirs = seg == "" || seg == "."
		if !a.dirs {
			a.add(newSegment(seg))
		}
	}
	return a
}

// add appends a segment. A second "**" in a row says nothing more.
func (a *alternative) add(s segment) {
	if n := len(a.segs); s.kind != segDeep || n == 0 || a.segs[n-1].kind != segDeep {
		a.segs = append(a.segs, s)
	}
}

func newSegment(text string) segment {
	switch {
	case text == "**":
		return segment{kind: segDeep}
	case text == "*":
		return segment{kind: segAny}
	case indexToken(text, 0, "*?[") >= 0:
		return segment{text: text, kind: segGlob}
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
		}
		b.WriteByte(text[i])
	}
	return segment{text: b.String()}
}

func (s segment) match(name string) bool {
	switch s.kind {
	case segLiteral:
		return s.text == name
	case segGlob:
		return doublestar.MatchUnvalidated(s.text, name)
	}
	return true
}

// begin returns the cursors at the root of what the pattern is matched in.
func (p *pattern) begin() []cursor {
	var at []cursor
	for alt := range p.alts {
		at = p.put(at, cursor{alt, 0})
	}
	return at
}

// next returns the cursors below a directory called name. There are none if nothing below it can match.
func (p *pattern) next(at []cursor, name string) []cursor {
	var below []cursor
	for _, c := range at {
		s := p.alts[c.alt].segs[c.seg]
		switch {
		case s.kind == segDeep:
			below = p.put(below, c)
		case s.match(name):
			below = p.put(below, cursor{c.alt, c.seg + 1})
		}
	}
	return below
}

// put adds a cursor, unless its alternative has ended, and with a "**" the one behind it. Cursors stay grouped by
// alternative.
func (p *pattern) put(list []cursor, c cursor) []cursor {
	segs := p.alts[c.alt].segs
	if c.seg == len(segs) {
		return list
	}
	for i := len(list) - 1; i >= 0 && list[i].alt == c.alt; i-- {
		if list[i] == c {
			return list
		}
	}
	list = append(list, c)
	if segs[c.seg].kind == segDeep {
		list = p.put(list, cursor{c.alt, c.seg + 1})
	}
	return list
}

// match reports whether an entry matches all of the pattern.
func (p *pattern) match(at []cursor, name string, dir bool) bool {
	for _, c := range at {
		alt := p.alts[c.alt]
		rest := alt.segs[c.seg:]
		ends := len(rest) == 1 || dir && len(rest) == 2 && rest[1].kind == segDeep
		if ends && (dir || !alt.dirs) && rest[0].match(name) {
			return true
		}
	}
	return false
}

// matchPath reports whether a path matches the pattern.
func (p *pattern) matchPath(path string, dir bool) bool {
	at := p.begin()
	for len(at) > 0 {
		name, rest, more := strings.Cut(path, "/")
		if !more {
			return p.match(at, name, dir)
		}
		at, path = p.next(at, name), rest
	}
	return false
}

// names returns the only names that can match, sorted; nil if there is no telling.
func (p *pattern) names(at []cursor) []string {
	names := make([]string, len(at))
	for i, c := range at {
		s := p.alts[c.alt].segs[c.seg]
		if s.kind != segLiteral {
			return nil
		}
		names[i] = s.text
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// root reports whether the pattern means the root itself, as "." and "/" do.
func (p *pattern) root() bool {
	return slices.ContainsFunc(p.alts, func(a alternative) bool { return len(a.segs) == 0 })
}

// compileBase compiles a pattern that, if it has no slash but at its end, matches the last segment of a path at any
// depth.
func compileBase(text string) (*pattern, error) {
	if text != "" && !strings.Contains(strings.TrimRight(text, "/"), "/") {
		text = "**/" + text
	}
	return compile(text)
}
