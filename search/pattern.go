package search

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

// A Pattern is a glob in the dialect of [Glob], ready to be matched. The work of a match is bounded, whatever the
// pattern is.
//
// Its braces are spelled out, and each alternative is cut into segments. So it can be matched one name after the other
// while a tree is walked, and a directory in which nothing can match is never listed. The dialect is that of doublestar,
// on paths: a slash in front, empty segments and "." mean nothing.
type Pattern struct{ alts []alternative }

// ParsePattern reads a pattern. A malformed one is EINVAL, as in [Glob].
func ParsePattern(text string) (*Pattern, error) {
	p, err := compile(text)
	if err != nil {
		return nil, pathErr("pattern", text, err)
	}
	return p, nil
}

// Match reports whether a path in the form of io/fs matches all of the pattern. dir reports that it is a directory: a
// slash at the end of a pattern asks for one.
func (p *Pattern) Match(path string, dir bool) bool {
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
	segGlob                       // by doublestar
	segAny                        // every name: "*"
	segDeep                       // any number of names: "**"
)

// A cursor is a segment of an alternative that the next name may match.
type cursor struct{ alt, seg int }

// maxPattern is how long a pattern may be in bytes: as long as a path.
const maxPattern = 4096

// maxExpansions bounds the work of spelling out braces, which may double with each pair.
const maxExpansions = 1024

// compile reads a pattern. A malformed one is EINVAL, and so is an empty one.
func compile(text string) (*Pattern, error) {
	switch {
	case text == "":
		return nil, badPattern("it is empty")
	case len(text) > maxPattern:
		return nil, badPattern("it is longer than %d bytes", maxPattern)
	case !doublestar.ValidatePattern(text):
		return nil, badPattern("a bracket, a brace or a backslash is not finished")
	}

	x := expander{budget: maxExpansions}
	x.expand(text, 0)
	if x.budget < 0 {
		return nil, badPattern("its braces stand for too many alternatives")
	}

	p := &Pattern{}
	for _, alt := range x.texts {
		// An alternative of nothing, as in "{a,}", matches nothing. The root is ".", or "/" without braces.
		if alt == text || strings.Trim(alt, "/") != "" {
			p.alts = append(p.alts, newAlternative(alt))
		}
	}
	return p, nil
}

// compileBase compiles a pattern that, if it has no slash but at its end, matches the last segment of a path at any
// depth.
func compileBase(text string) (*Pattern, error) {
	if text != "" && !strings.Contains(strings.TrimRight(text, "/"), "/") {
		text = "**/" + text
	}
	return compile(text)
}

func badPattern(format string, args ...any) error {
	return fmt.Errorf("%w: bad pattern: %s", syscall.EINVAL, fmt.Sprintf(format, args...))
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

// add appends a segment. A second "**" in a row adds nothing.
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

// begin returns the cursors at the directory that the pattern is relative to.
func (p *Pattern) begin() []cursor {
	var at []cursor
	for alt := range p.alts {
		at = p.put(at, cursor{alt, 0})
	}
	return at
}

// next returns the cursors below a directory called name. There are none if nothing below it can match.
func (p *Pattern) next(at []cursor, name string) []cursor {
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
func (p *Pattern) put(list []cursor, c cursor) []cursor {
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
func (p *Pattern) match(at []cursor, name string, dir bool) bool {
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

// names returns the only names that can match, sorted; nil if any name may.
func (p *Pattern) names(at []cursor) []string {
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
func (p *Pattern) root() bool {
	return slices.ContainsFunc(p.alts, func(a alternative) bool { return len(a.segs) == 0 })
}
