package agent

import (
	"fmt"
	"strings"
	"time"

	"vfsdb/vfs"
)

// entry is something in a directory, as ls, stat and find show it.
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
	e.Target = n.info.Target()
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
	Path   string `json:"path,omitempty"`
	Hidden bool   `json:"hidden,omitempty" default:"true" jsonschema:"dotfiles too"`
}

type lsOut struct {
	Entries        []entry `json:"entries"`
	Truncated      bool    `json:"truncated,omitempty"`
	OmittedEntries int     `json:"omittedEntries,omitempty"`

	dir string
}

func (o lsOut) parts() []part {
	lines := make([]string, len(o.Entries))
	for i, e := range o.Entries {
		lines[i] = e.shownAs(e.Name)
	}
	return listParts(lines, o.OmittedEntries, o.dir, "entry", "entries")
}

// shownAs is an entry as a line of a list has it: a directory ends with a slash, a file has its size behind it.
func (e entry) shownAs(name string) string {
	line := oneLine(name)
	switch {
	case e.Type == "directory":
		return line + "/"
	case e.Type == "symlink":
		return line + " -> " + oneLine(e.Target)
	case e.Size != nil:
		return fmt.Sprintf("%s %d", line, *e.Size)
	}
	return line
}

// listParts is a list, one thing a line.
func listParts(lines []string, omitted int, dir, one, more string) []part {
	says := counted(len(lines), one, more)
	if omitted > 0 {
		says += fmt.Sprintf("; %d more omitted, refine your search/path", omitted)
	}
	return []part{{line: says, ref: dir, body: strings.Join(lines, "\n")}}
}

func ls(g *guard, in lsIn) (lsOut, error) {
	l, err := g.list(g.orDir(in.Path), in.Hidden, g.box.caps.Entries)
	if err != nil {
		return lsOut{}, err
	}
	return lsOut{entriesOf(l.nodes), l.omitted > 0, l.omitted, rooted(l.dir)}, nil
}

type treeIn struct {
	Path  string `json:"path,omitempty"`
	Depth int    `json:"depth,omitempty" default:"3" min:"1"`
}

type treeOut struct {
	Path           string `json:"path"`
	Tree           string `json:"tree" jsonschema:"one line each, two spaces for a level; directories end with a slash"`
	Files          int    `json:"files"`
	Directories    int    `json:"directories"`
	Truncated      bool   `json:"truncated,omitempty"`
	OmittedEntries int    `json:"omittedEntries,omitempty"`
}

func (o treeOut) parts() []part {
	says := counted(o.Files, "file", "files") + ", " + counted(o.Directories, "directory", "directories")
	if o.Truncated {
		says += fmt.Sprintf("; %d entries omitted, refine your search/path", o.OmittedEntries)
	}
	return []part{{line: says, ref: o.Path, body: strings.TrimSuffix(o.Tree, "\n")}}
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
	Pattern string `json:"pattern" jsonschema:"such as **/*.go or src/*.{ts,tsx}"`
	Path    string `json:"path,omitempty"`
}

type globOut struct {
	Matches        []string `json:"matches" jsonschema:"paths, sorted"`
	Truncated      bool     `json:"truncated,omitempty"`
	OmittedMatches int      `json:"omittedMatches,omitempty"`

	dir string
}

func (o globOut) parts() []part {
	lines := make([]string, len(o.Matches))
	for i, path := range o.Matches {
		lines[i] = oneLine(path)
	}
	return listParts(lines, o.OmittedMatches, o.dir, "match", "matches")
}

func glob(g *guard, in globIn) (globOut, error) {
	f, err := g.find(search{dir: in.Path, pattern: in.Pattern, hidden: true, limit: g.box.caps.Matches})
	if err != nil {
		return globOut{}, err
	}
	o := globOut{Matches: []string{}, OmittedMatches: f.omitted, Truncated: f.omitted > 0, dir: rooted(f.dir)}
	for _, n := range f.nodes {
		o.Matches = append(o.Matches, rooted(n.path))
	}
	return o, nil
}

type findIn struct {
	Pattern    string `json:"pattern,omitempty" jsonschema:"a glob; no slash: at any depth"`
	Path       string `json:"path,omitempty"`
	Type       string `json:"type,omitempty" enum:"file,directory,symlink"`
	MaxResults int    `json:"maxResults,omitempty" min:"1"`
}

type findOut struct {
	Entries        []entry `json:"entries"`
	Truncated      bool    `json:"truncated,omitempty"`
	OmittedMatches int     `json:"omittedMatches,omitempty"`

	dir string
}

func (o findOut) parts() []part {
	lines := make([]string, len(o.Entries))
	for i, e := range o.Entries {
		lines[i] = e.shownAs(e.Path)
	}
	return listParts(lines, o.OmittedMatches, o.dir, "match", "matches")
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
	return findOut{entriesOf(f.nodes), f.omitted > 0, f.omitted, rooted(f.dir)}, nil
}

type statIn struct {
	Path   string `json:"path"`
	Follow bool   `json:"follow,omitempty" default:"false"`
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
	e.Size, e.Mtime, e.Mode, e.Sum = &size, &mtime, perm(n.info.Mode()), n.sum
	return statOut{e}, nil
}

type doneOut struct {
	OK bool `json:"ok"`
}

func (doneOut) parts() []part { return []part{{line: "done"}} }

type mkdirIn struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive,omitempty" default:"false" jsonschema:"parents too"`
}

func mkdir(g *guard, in mkdirIn) (doneOut, error) {
	_, _, err := g.mkdir(in.Path, in.Recursive)
	return doneOut{err == nil}, err
}

type rmIn struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive,omitempty" default:"false"`
	Force     bool   `json:"force,omitempty" default:"false" jsonschema:"missing is fine"`
	IfSum     string `json:"ifSum,omitempty"`
}

func rm(g *guard, in rmIn) (doneOut, error) {
	_, _, err := g.remove(in.Path, in.Recursive, in.Force, precondition{sum: in.IfSum})
	return doneOut{err == nil}, err
}

type moveIn struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
	Overwrite   bool   `json:"overwrite,omitempty" default:"false" jsonschema:"a file; directories are merged"`
	IfSum       string `json:"ifSum,omitempty"`
}

type moveOut struct {
	OK          bool     `json:"ok"`
	Source      string   `json:"source"`
	Destination string   `json:"destination"`
	Sum         *vfs.Sum `json:"sum,omitempty" jsonschema:"of a file"`
}

func (o moveOut) parts() []part {
	if o.Sum == nil {
		return []part{{line: "done"}}
	}
	return []part{{line: fmt.Sprintf("done; sum %s", o.Sum)}}
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
