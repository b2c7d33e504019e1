package tool

import (
	"io/fs"
	"iter"
	"strings"

	"vfsdb/agent/policy"
	"vfsdb/vfs"
)

// A Listing is the content of a directory.
type Listing struct {
	Dir     string // resolved, with a slash in front
	Nodes   []*Node
	Omitted int // entries beyond the cap
}

// entries yields the entries of a directory whose names come after the name after, sorted by name. It reads a page at a
// time, so the loop may remove what it is given.
func (g *Guard) entries(dir, after string) iter.Seq2[fs.DirEntry, error] {
	const limit = 1000
	return func(yield func(fs.DirEntry, error) bool) {
		for {
			page, err := g.tx.ReadDirPage(dir, after, limit)
			if err != nil {
				yield(nil, err)
				return
			}

			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				after = e.Name()
			}
			if len(page) < limit {
				return
			}
		}
	}
}

// List reads a directory, sorted by name: up to limit entries; the rest is only counted. hidden shows names that begin
// with a dot.
func (g *Guard) List(name string, hidden bool, limit int) (*Listing, error) {
	at, err := g.path(name, policy.List, Follow)
	if err != nil {
		return nil, err
	}
	l := &Listing{Dir: policy.Rooted(at)}
	for e, err := range g.entries(at, "") {
		if err == nil {
			err = g.ctx.Err()
		}
		if err != nil {
			return nil, err
		}

		if !hidden && strings.HasPrefix(e.Name(), ".") || !g.box.policy.Visible(below(at, e.Name())) {
			continue
		}
		if len(l.Nodes) == limit {
			l.Omitted++
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		l.Nodes = append(l.Nodes, &Node{path: below(at, e.Name()), info: info.(*vfs.Info)})
	}
	return l, nil
}
