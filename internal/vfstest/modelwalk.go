package vfstest

import (
	"io/fs"
	"slices"
	"strings"
	"syscall"
)

// A spot is the place to which a path leads.
type spot struct {
	dir   int
	base  string // "" for the root, and where the path ends in ".."
	id    int
	ok    bool // a node is there
	chain []int
}

// walk follows a path, and symlinks in it. The last name is followed only if follow is true.
func (m *Model) walk(name string, follow bool) (spot, error) {
	if name == "" {
		return spot{}, syscall.ENOENT
	}

	chain, names, links := []int{modelRoot}, []string{}, 0
	rest := segments(name)
	for len(rest) > 0 {
		seg := rest[0]
		rest = rest[1:]

		if seg == ".." {
			if len(chain) > 1 {
				chain, names = chain[:len(chain)-1], names[:len(names)-1]
				if len(rest) == 0 {
					at := here(chain, names)
					at.base = ""
					return at, nil
				}
			}
			continue
		}

		if len(seg) > 255 {
			return spot{}, syscall.ENAMETOOLONG
		}

		dir := chain[len(chain)-1]
		id, ok := m.nodes[dir].entries[seg]
		last := len(rest) == 0
		switch {
		case ok && m.nodes[id].mode&fs.ModeSymlink != 0 && (!last || follow):
			if links++; links > 40 {
				return spot{}, syscall.ELOOP
			}
			target := m.nodes[id].target
			if strings.HasPrefix(target, "/") {
				chain, names = chain[:1], names[:0]
			}
			rest = append(segments(target), rest...)
		case last:
			return spot{dir: dir, base: seg, id: id, ok: ok, chain: slices.Clone(chain)}, nil
		case !ok:
			return spot{}, syscall.ENOENT
		case !m.nodes[id].mode.IsDir():
			return spot{}, syscall.ENOTDIR
		default:
			chain, names = append(slices.Clip(chain), id), append(slices.Clip(names), seg)
		}
	}
	return here(chain, names), nil
}

// here returns the spot at the end of a chain of directories.
func here(chain []int, names []string) spot {
	top := len(chain) - 1
	at := spot{id: chain[top], ok: true, chain: chain}
	if top > 0 {
		at.dir, at.base, at.chain = chain[top-1], names[top-1], chain[:top]
	}
	return at
}

// segments splits a path, without empty segments and ".".
func segments(name string) []string {
	return slices.DeleteFunc(strings.Split(name, "/"), func(s string) bool { return s == "" || s == "." })
}

// find returns the node at a path, or ENOENT.
func (m *Model) find(name string, follow bool) (spot, *node, error) {
	at, err := m.walk(name, follow)
	if err == nil && !at.ok {
		err = syscall.ENOENT
	}
	if err != nil {
		return at, nil, err
	}
	return at, m.nodes[at.id], nil
}

// vacant returns a spot without a node, or EEXIST.
func (m *Model) vacant(name string) (spot, error) {
	at, err := m.walk(name, false)
	if err == nil && at.ok {
		err = syscall.EEXIST
	}
	return at, err
}

// create adds a node at a spot and returns its number.
func (m *Model) create(at spot, n *node) int {
	*m.last++
	id := *m.last
	n.links = 1
	if n.mode.IsDir() {
		n.entries = map[string]int{}
	}
	m.nodes[id] = n
	m.nodes[at.dir].entries[at.base] = id
	return id
}

// unlink removes a name. A node without names is removed, with all below it.
func (m *Model) unlink(at spot) {
	n := m.nodes[at.id]
	delete(m.nodes[at.dir].entries, at.base)
	if n.links--; n.links > 0 {
		return
	}
	for name, id := range n.entries {
		m.unlink(spot{dir: at.id, base: name, id: id})
	}
	delete(m.nodes, at.id)
}
