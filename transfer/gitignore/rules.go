package gitignore

import (
	"path"
	"strings"
)

// Rules are the rules of a directory's .gitignore file, which come before those of the directories above. A nil *Rules is
// without rules.
type Rules struct {
	above *Rules
	dir   string // inside the source; "" is its top
	rules []rule
}

type rule struct {
	pattern string
	negated bool // it begins with '!': paths that match are kept
	dirOnly bool // it ends in a slash
	base    bool // it has no other slash: it is matched on the last segment
}

// MaxFile is how much of a .gitignore file is read.
const MaxFile = 1 << 20

// Below returns the rules that hold in a directory whose .gitignore file is text.
func (g *Rules) Below(dir, text string) *Rules {
	var rules []rule
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if r, ok := parseIgnore(line); ok {
			rules = append(rules, r)
		}
	}
	if len(rules) == 0 {
		return g
	}
	return &Rules{above: g, dir: dir, rules: rules}
}

func parseIgnore(line string) (r rule, ok bool) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	line = trimSpaces(line)
	r.pattern, r.negated = strings.CutPrefix(line, "!")
	r.pattern, r.dirOnly = strings.CutSuffix(r.pattern, "/")
	r.base = !strings.Contains(r.pattern, "/")
	r.pattern = strings.TrimPrefix(r.pattern, "/")
	return r, r.pattern != ""
}

// trimSpaces removes the spaces at the end of a line that no backslash keeps.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
		case '\\':
			i++
			end = min(i+1, len(line))
		default:
			end = i + 1
		}
	}
	return line[:end]
}

// Match reports whether a path inside the source is ignored. The nearest file comes first, and in it the last rule that
// matches decides. The caller has checked the directories above before.
func (g *Rules) Match(name string, dir bool) bool {
	for ; g != nil; g = g.above {
		inside := name
		if g.dir != "" {
			inside = name[len(g.dir)+1:]
		}
		for i := len(g.rules) - 1; i >= 0; i-- {
			if r := g.rules[i]; (dir || !r.dirOnly) && r.match(inside) {
				return !r.negated
			}
		}
	}
	return false
}

func (r rule) match(name string) bool {
	if r.base {
		return wildmatch(r.pattern, path.Base(name))
	}

	// Like git, compare the part before the first wildcard on its own. So the stars of `a**/b` count as a segment `**`.
	plain := strings.IndexAny(r.pattern, `*?[\`)
	if plain < 0 {
		return name == r.pattern
	}
	rest, ok := strings.CutPrefix(name, r.pattern[:plain])
	return ok && wildmatch(r.pattern[plain:], rest)
}
