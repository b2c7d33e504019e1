package transfer

import (
	"fmt"
	"path"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

// A glob is one pattern of Exclude.
type glob struct {
	pattern string
	base    bool // it has no slash, so it is matched on the last segment
	dirOnly bool // it ended in a slash
}

// globs parses the patterns of Exclude. A malformed one is EINVAL.
func globs(patterns []string) ([]glob, error) {
	var list []glob
	for _, p := range patterns {
		g := glob{pattern: strings.TrimPrefix(strings.TrimSuffix(p, "/"), "/"), dirOnly: strings.HasSuffix(p, "/")}
		g.base = !strings.Contains(strings.TrimSuffix(p, "/"), "/")
		if g.pattern == "" || !doublestar.ValidatePattern(g.pattern) {
			return nil, fmt.Errorf("exclude pattern %q: %w", p, syscall.EINVAL)
		}
		list = append(list, g)
	}
	return list, nil
}

// leavesOut reports whether Exclude or GitIgnore leaves out a path inside the source. rules are those of its directory.
func (im *importer) leavesOut(name string, dir bool, rules *ignoreRules) bool {
	if im.o.GitIgnore && (path.Base(name) == ".git" || rules.match(name, dir)) {
		return true
	}
	return excluded(im.globs, name, dir)
}

// excluded reports whether one of the globs matches a path inside the source.
func excluded(list []glob, name string, dir bool) bool {
	for _, g := range list {
		subject := name
		if g.base {
			subject = path.Base(name)
		}
		if (dir || !g.dirOnly) && doublestar.MatchUnvalidated(g.pattern, subject) {
			return true
		}
	}
	return false
}
