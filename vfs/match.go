package vfs

// A Pattern is a glob in the dialect of [Glob], ready to be matched. What it takes to match is bounded, whatever
// the pattern is.
type Pattern struct{ compiled *pattern }

// ParsePattern reads a pattern. A malformed one is EINVAL, as in [Glob].
func ParsePattern(text string) (*Pattern, error) {
	compiled, err := compile(text)
	if err != nil {
		return nil, pathErr("pattern", text, err)
	}
	return &Pattern{compiled}, nil
}

// Match reports whether a path in the form of io/fs matches all of the pattern. dir says that it is a directory: a
// slash at the end of a pattern asks for one.
func (p *Pattern) Match(path string, dir bool) bool { return p.compiled.matchPath(path, dir) }
