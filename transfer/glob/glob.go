package glob

import (
	"fmt"
	"path"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

// A List is a list of patterns. A path matches it if it matches any of them.
type List []pattern

type pattern struct {
	text    string
	base    bool // it has no slash, so it is matched on the last segment
	dirOnly bool // it ended in a slash
}

// Parse parses patterns. A malformed one is EINVAL.
func Parse(patterns []string) (List, error) {
	var list List
	for _, p := range patterns {
		g := pattern{text: strings.TrimPrefix(strings.TrimSuffix(p, "/"), "/"), dirOnly: strings.HasSuffix(p, "/")}
		g.base = !strings.Contains(strings.TrimSuffix(p, "/"), "/")
		if g.text == "" || !doublestar.ValidatePattern(g.text) {
			return nil, fmt.Errorf("exclude pattern %q: %w", p, syscall.EINVAL)
		}
		list = append(list, g)
	}
	return list, nil
}

// Match reports whether a path inside the tree matches one of the patterns. A caller that walks a tree does not ask about
// the paths below a directory that matches.
func (l List) Match(name string, dir bool) bool {
	for _, g := range l {
		subject := name
		if g.base {
			subject = path.Base(name)
		}
		if (dir || !g.dirOnly) && doublestar.MatchUnvalidated(g.text, subject) {
			return true
		}
	}
	return false
}
