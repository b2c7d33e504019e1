package gitignore

import "strings"

// wildmatch matches a path with a pattern of a .gitignore file, as git does. `*` and `?` do not match a slash, a
// segment `**` matches any number of segments, `[...]` is a class, and a backslash makes the next byte literal.
func wildmatch(pattern, name string) bool {
	m := matcher{pattern: pattern, name: name}
	return m.match(0, 0)
}

// A matcher matches one pattern with one name. It tries no star twice at the same place of the name, so that no pattern
// takes exponential time.
type matcher struct {
	pattern, name string
	tried         map[[2]int]bool // stars, and where in the name they were tried
}

// match matches the pattern from p on with the name from n on.
func (m *matcher) match(p, n int) bool {
	for p < len(m.pattern) {
		c := m.pattern[p]
		if c == '*' {
			return m.star(p, n)
		}
		if n == len(m.name) {
			return false
		}

		switch c {
		case '?':
			if m.name[n] == '/' {
				return false
			}
			p++
		case '[':
			end, ok := class(m.pattern, p, m.name[n])
			if !ok || m.name[n] == '/' {
				return false
			}
			p = end
		case '\\':
			p++
			if p == len(m.pattern) || m.pattern[p] != m.name[n] {
				return false
			}
			p++
		default:
			if c != m.name[n] {
				return false
			}
			p++
		}
		n++
	}
	return n == len(m.name)
}

// star matches the pattern from a star at p on.
func (m *matcher) star(p, n int) bool {
	end := p
	for end < len(m.pattern) && m.pattern[end] == '*' {
		end++
	}
	deep := end-p > 1 && (p == 0 || m.pattern[p-1] == '/') &&
		(end == len(m.pattern) || m.pattern[end] == '/' || strings.HasPrefix(m.pattern[end:], `\/`))
	if deep && end < len(m.pattern) && m.pattern[end] == '/' && !m.again(-end, n) && m.match(end+1, n) {
		return true // no segment at all
	}
	for ; !m.again(end, n); n++ {
		if m.match(end, n) {
			return true
		}
		if n == len(m.name) || !deep && m.name[n] == '/' {
			return false
		}
	}
	return false
}

// again reports whether a star was tried at this place of the name before. If so, it failed.
func (m *matcher) again(star, n int) bool {
	key := [2]int{star, n}
	if m.tried[key] {
		return true
	}
	if m.tried == nil {
		m.tried = make(map[[2]int]bool)
	}
	m.tried[key] = true
	return false
}

// class matches c with the class that begins at p, and returns where the pattern goes on. A class without an end
// matches nothing.
func class(pattern string, p int, c byte) (end int, ok bool) {
	p++
	negated := p < len(pattern) && (pattern[p] == '!' || pattern[p] == '^')
	if negated {
		p++
	}

	matched := false
	for first := true; ; first = false {
		if p >= len(pattern) {
			return p, false
		}
		switch {
		case pattern[p] == ']' && !first:
			return p + 1, matched != negated
		case strings.HasPrefix(pattern[p:], "[:"):
			name, _, found := strings.Cut(pattern[p+2:], ":]")
			if found && !strings.Contains(name, "]") {
				in, known := posixClass(name, c)
				if !known {
					return p, false
				}
				matched = matched || in
				p += len(name) + 4
				continue
			}
		}

		// One byte, or a range of them.
		low, next, ok := literal(pattern, p)
		if !ok {
			return p, false
		}
		high := low
		if next+1 < len(pattern) && pattern[next] == '-' && pattern[next+1] != ']' {
			if high, next, ok = literal(pattern, next+1); !ok {
				return p, false
			}
		}
		matched = matched || low <= c && c <= high
		p = next
	}
}

// literal returns a byte of a class, which may be escaped.
func literal(pattern string, p int) (c byte, next int, ok bool) {
	if pattern[p] == '\\' {
		p++
	}
	if p == len(pattern) {
		return 0, p, false
	}
	return pattern[p], p + 1, true
}

// posixClass reports whether c is in a class of POSIX, and whether a class of that name exists.
func posixClass(name string, c byte) (in, known bool) {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	graph := '!' <= c && c <= '~'

	switch name {
	case "alnum":
		in = lower || upper || digit
	case "alpha":
		in = lower || upper
	case "blank":
		in = c == ' ' || c == '\t'
	case "cntrl":
		in = c < ' ' || c == 0x7f
	case "digit":
		in = digit
	case "graph":
		in = graph
	case "lower":
		in = lower
	case "print":
		in = graph || c == ' '
	case "punct":
		in = graph && !lower && !upper && !digit
	case "space":
		in = c == ' ' || '\t' <= c && c <= '\r'
	case "upper":
		in = upper
	case "xdigit":
		in = digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
	default:
		return false, false
	}
	return in, true
}
