package agent

import (
	"fmt"
	"strings"
	"time"

	"vfsdb/vfs"
)

// entry is something in a directory, as ls, stat and find show it (S0: FileEntry and FileStat).
type entry struct {
	Name   string     `json:"name"`
	Path   string     `json:"path"`
	Type   string     `json:"type" enum:"file,directory,symlink,other"`
	Size   *int64     `json:"size,omitempty" jsonschema:"bytes, of a file"`
	Mtime  *time.Time `json:"mtime,omitempty"`
	Mode   string     `json:"mode,omitempty"`
	Sum    *vfs.Sum   `json:"sum,omitempty" jsonschema:"of a file's content"`
	Target string     `json:"target,omitempty" jsonschema:"of a symlink"`
}

func entryOf(n *node) entry {
	e := entry{Name: n.name(), Path: rooted(n.path), Type: kindOf(n.info.Mode())}
	if n.info.Mode().IsRegular() {
		size := n.info.Size()
		e.Size = &size
	}
	return e
}

func entriesOf(nodes []*node) []entry {
	entries := make([]entry, len(nodes))
	for i, n := range nodes {
		entries[i] = entryOf(n)
	}
	return entries
}

type lsIn struct {
	Path   string `json:"path,omitempty" jsonschema:"the directory; the workspace's own if left out"`
	Hidden bool   `json:"hidden,omitempty" default:"true" jsonschema:"show names that begin with a dot"`
}

type lsOut struct {
	Entries        []entry `json:"entries"`
	Truncated      bool    `json:"truncated,omitempty"`
	OmittedEntries int     `json:"omittedEntries,omitempty"`
}

func ls(g *guard, in lsIn) (lsOut, error) {
	l, err := g.list(g.orDir(in.Path), in.Hidden, g.box.caps.Entries)
	if err != nil {
		return lsOut{}, err
	}
	return lsOut{entriesOf(l.nodes), l.omitted > 0, l.omitted}, nil
}

type treeIn struct {
	Path  string `json:"path,omitempty" jsonschema:"the directory; the workspace's own if left out"`
	Depth int    `json:"depth,omitempty" default:"3" min:"1" jsonschema:"how many levels down"`
}

type treeOut struct {
	Path           string `json:"path"`
	Tree           string `json:"tree" jsonschema:"one line each, two spaces for a level; directories end with a slash"`
	Files          int    `json:"files"`
	Directories    int    `json:"directories"`
	Truncated      bool   `json:"truncated,omitempty"`
	OmittedEntries int    `json:"omittedEntries,omitempty"`
}

func (o treeOut) text() string {
	text := o.Path + "\n" + o.Tree
	if o.Truncated {
		text += fmt.Sprintf("[... truncated, %d entries omitted; refine your search/path]\n", o.OmittedEntries)
	}
	return text
}

func tree(g *guard, in treeIn) (treeOut, error) {
	var o treeOut
	var b strings.Builder
	shown := 0
	at, err := g.walk(g.orDir(in.Path), PermList, func(n *node, depth int) (bool, error) {
		dir := n.info.IsDir()
		if shown == g.box.caps.Entries || b.Len() > g.box.caps.ResultBytes {
			o.OmittedEntries++
			return dir && depth < in.Depth && o.OmittedEntries < maxCounted, nil
		}
		shown++
		b.WriteString(strings.Repeat("  ", depth-1) + oneLine(n.name()))
		switch {
		case dir:
			o.Directories++
			b.WriteString("/")
		case n.info.Target() != "":
			b.WriteString(" -> " + oneLine(n.info.Target()))
		default:
			o.Files++
		}
		b.WriteString("\n")
		return dir && depth < in.Depth, nil
	})
	o.Path, o.Tree, o.Truncated = rooted(at), b.String(), o.OmittedEntries > 0
	return o, err
}

// maxCounted bounds how far a walk goes on only to count what it leaves out.
const maxCounted = 100000

type globIn struct {
	Pattern string `json:"pattern" jsonschema:"such as **/*.go or src/*.{ts,tsx}; * stays within a name, ** crosses directories"`
	Path    string `json:"path,omitempty" jsonschema:"the directory that the pattern starts in; the workspace's own if left out"`
}

type globOut struct {
	Matches        []string `json:"matches" jsonschema:"paths, sorted"`
	Truncated      bool     `json:"truncated,omitempty"`
	OmittedMatches int      `json:"omittedMatches,omitempty"`
}

func glob(g *guard, in globIn) (globOut, error) {
	f, err := g.find(search{dir: in.Path, pattern: in.Pattern, hidden: true, limit: g.box.caps.Matches})
	if err != nil {
		return globOut{}, err
	}
	o := globOut{Matches: []string{}, OmittedMatches: f.omitted, Truncated: f.omitted > 0}
	for _, n := range f.nodes {
		o.Matches = append(o.Matches, rooted(n.path))
	}
	return o, nil
}

type findIn struct {
	Pattern    string `json:"pattern,omitempty" jsonschema:"a glob; without a slash it matches names at any depth"`
	Path       string `json:"path,omitempty" jsonschema:"the directory to look in; the workspace's own if left out"`
	Type       string `json:"type,omitempty" enum:"file,directory,symlink" jsonschema:"only these"`
	MaxResults int    `json:"maxResults,omitempty" min:"1" jsonschema:"how many are enough"`
}

type findOut struct {
	Entries        []entry `json:"entries"`
	Truncated      bool    `json:"truncated,omitempty"`
	OmittedMatches int     `json:"omittedMatches,omitempty"`
}

func find(g *guard, in findIn) (findOut, error) {
	limit := g.box.caps.Matches
	if in.MaxResults > 0 {
		limit = min(limit, in.MaxResults)
	}
	f, err := g.find(search{dir: in.Path, pattern: in.Pattern, matchBase: true, kind: in.Type, hidden: true, limit: limit})
	if err != nil {
		return findOut{}, err
	}
	return findOut{entriesOf(f.nodes), f.omitted > 0, f.omitted}, nil
}

type statIn struct {
	Path   string `json:"path" jsonschema:"what to describe"`
	Follow bool   `json:"follow,omitempty" default:"false" jsonschema:"describe what a symlink leads to, not the symlink"`
}

type statOut struct {
	Stat entry `json:"stat"`
}

func stat(g *guard, in statIn) (statOut, error) {
	n, err := g.stat(in.Path, in.Follow)
	if err != nil {
		return statOut{}, err
	}
	e := entryOf(n)
	size, mtime := n.info.Size(), n.info.ModTime().UTC()
	e.Size, e.Mtime, e.Mode, e.Sum, e.Target = &size, &mtime, perm(n.info.Mode()), n.sum, n.info.Target()
	return statOut{e}, nil
}

type okOut struct {
	OK bool `json:"ok"`
}

type mkdirIn struct {
	Path      string `json:"path" jsonschema:"the directory to make"`
	Recursive bool   `json:"recursive,omitempty" default:"false" jsonschema:"make those above too; one that is there is fine"`
}

func mkdir(g *guard, in mkdirIn) (okOut, error) {
	_, _, err := g.mkdir(in.Path, in.Recursive)
	return okOut{err == nil}, err
}

type rmIn struct {
	Path      string `json:"path" jsonschema:"what to remove"`
	Recursive bool   `json:"recursive,omitempty" default:"false" jsonschema:"a directory with all that is in it"`
	Force     bool   `json:"force,omitempty" default:"false" jsonschema:"nothing there is fine"`
	IfSum     string `json:"ifSum,omitempty" jsonschema:"remove only a file that still has this sum"`
}

func rm(g *guard, in rmIn) (okOut, error) {
	_, _, err := g.remove(in.Path, in.Recursive, in.Force, precondition{sum: in.IfSum})
	return okOut{err == nil}, err
}

type moveIn struct {
	Source      string `json:"source" jsonschema:"what to move or copy"`
	Destination string `json:"destination" jsonschema:"its new path"`
	Overwrite   bool   `json:"overwrite,omitempty" default:"false" jsonschema:"replace a file that is there; merge a directory into one"`
	IfSum       string `json:"ifSum,omitempty" jsonschema:"only if the source still has this sum"`
}

type moveOut struct {
	OK          bool     `json:"ok"`
	Source      string   `json:"source"`
	Destination string   `json:"destination"`
	Sum         *vfs.Sum `json:"sum,omitempty" jsonschema:"of a file"`
}

func mv(g *guard, in moveIn) (moveOut, error) {
	from, to, err := g.move(in.Source, in.Destination, in.Overwrite, precondition{sum: in.IfSum})
	return moved(g, from, to, err)
}

func cp(g *guard, in moveIn) (moveOut, error) {
	from, to, err := g.copy(in.Source, in.Destination, in.Overwrite, precondition{sum: in.IfSum})
	return moved(g, from, to, err)
}

func moved(g *guard, from, to string, err error) (moveOut, error) {
	if err != nil {
		return moveOut{}, err
	}
	info, err := g.tx.Lstat(to)
	if err != nil {
		return moveOut{}, err
	}
	sum, err := g.sum(to, info)
	return moveOut{true, rooted(from), rooted(to), sum}, err
}
