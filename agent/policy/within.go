package policy

import (
	"slices"
)

// Within returns the policy narrowed to some paths: it allows what p allows below one of them, and no programs, since
// they see all paths. No paths leave nothing. A nil p is [AllowAll].
func (p *Policy) Within(paths []string) (*Policy, error) {
	if p == nil {
		p = AllowAll
	}
	c, err := p.Check()
	if err != nil {
		return nil, err
	}

	bounds, err := Clean(paths)
	if err != nil {
		return nil, err
	}
	allowed := c.Paths
	if len(allowed) == 0 {
		allowed = []string{"."}
	}

	c.Paths = nil
	for _, a := range allowed {
		for _, b := range bounds {
			switch {
			case Under(a, b):
				c.Paths = append(c.Paths, a)
			case Under(b, a):
				c.Paths = append(c.Paths, b)
			}
		}
	}

	if len(c.Paths) == 0 {
		c.Deny = append(c.Deny, ".")
	}
	if !slices.Equal(c.Paths, []string{"."}) {
		c.noPrograms()
	}
	return c, nil
}

// noPrograms takes the right to run programs away.
func (p *Policy) noPrograms() {
	p.Programs = nil
	p.Permissions = slices.DeleteFunc(slices.Clone(p.Permissions), func(perm Permission) bool { return perm == Run })
}

// Part returns the policy for a tree that serves a path, but not the others below it. It grants no programs.
func (p Policy) Part(path string, others []string) *Policy {
	if path != "." {
		var paths []string
		for _, allowed := range p.Paths {
			if Under(allowed, path) {
				paths = append(paths, allowed)
			} else if Under(path, allowed) {
				paths = append(paths, path)
			}
		}
		if len(p.Paths) > 0 && len(paths) == 0 {
			p.Deny = append(slices.Clip(p.Deny), path)
		}
		if len(paths) == 0 {
			paths = []string{path}
		}
		p.Paths = paths
	}

	p.noPrograms()
	for _, other := range others {
		if other != path && Under(other, path) {
			p.Deny = append(slices.Clip(p.Deny), other)
		}
	}
	return &p
}
