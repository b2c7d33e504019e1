package deepagents

import (
	"path"
	"slices"
	"strings"
	"syscall"

	"vfsdb/agent/tool"
	"vfsdb/search"
)

// A dotPattern is a glob without braces, with the number of its names that begin with a dot.
type dotPattern struct {
	*search.Pattern
	base bool // it has no slash and no **, so it is about the last name of a path
	dots int
}

// maxAlternatives bounds the patterns that the braces of one may stand for.
const maxAlternatives = 1000

// alternatives returns the patterns without braces that a pattern stands for.
func alternatives(pattern string) ([]dotPattern, error) {
	var list []dotPattern
	for open := []string{pattern}; len(open) > 0; {
		text := open[0]
		open = open[1:]
		if more := unbraced(text); more != nil {
			open = append(more, open...)
			continue
		}
		p, err := search.ParsePattern(strings.TrimPrefix(text, "/"))
		if err != nil {
			return nil, err
		}
		if len(list) == maxAlternatives {
			return nil, tool.Refuse(syscall.EINVAL, "the pattern has more than %d alternatives", maxAlternatives)
		}
		list = append(list, dotPattern{p, !strings.Contains(text, "/") && !strings.Contains(text, "**"), dottedNames(text)})
	}
	return list, nil
}

// unbraced puts each alternative of the first braces in their place; nil if there are no braces.
func unbraced(text string) []string {
	start, from, depth := -1, 0, 0
	var inside []string
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '{':
			if depth++; depth == 1 {
				start, from = i, i+1
			}
		case c == ',' && depth == 1:
			inside, from = append(inside, text[from:i]), i+1
		case c == '}' && depth == 1:
			inside = append(inside, text[from:i])
			for k, alternative := range inside {
				inside[k] = text[:start] + alternative + text[i+1:]
			}
			return inside
		case c == '}' && depth > 0:
			depth--
		}
	}

	return nil
}

// hidden reports whether a glob must not find a path, because a star never stands for a leading dot. A pattern
// without a slash is about the last name alone. One with slashes has to name each dot: it needs as many names that
// begin with a dot as the path has.
func hidden(patterns []dotPattern, at string) bool {
	return !slices.ContainsFunc(patterns, func(p dotPattern) bool {
		rel := at
		if p.base {
			rel = path.Base(at)
		}
		return p.dots >= dottedNames(rel) && p.Match(rel, false)
	})
}

// dottedNames counts the names of a path that begin with a dot.
func dottedNames(path string) (n int) {
	for name := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(name, ".") {
			n++
		}
	}
	return n
}
