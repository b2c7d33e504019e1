package helix

import (
	"fmt"
	"strings"
	"time"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
	"vfsdb/vfs"
)

// An entry is an entry of a directory, as ls, stat and find show it.
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

func entryOf(n *tool.Node) entry {
	e := entry{Name: n.Name(), Path: n.Path(), Type: texts.Kind(n.Info().Mode())}
	if n.Info().Mode().IsRegular() {
		size := n.Info().Size()
		e.Size = &size
	}
	e.Target = n.Info().Target()
	return e
}

func entriesOf(nodes []*tool.Node) []entry {
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

func (o lsOut) Parts() []tool.Part {
	lines := make([]string, len(o.Entries))
	for i, e := range o.Entries {
		lines[i] = e.shownAs(e.Name)
	}
	return listParts(lines, o.OmittedEntries, o.dir, "entry", "entries")
}

// shownAs returns the line of an entry in a list: a directory ends with a slash, a file has its size behind it.
func (e entry) shownAs(name string) string {
	line := texts.OneLine(name)
	switch {
	case e.Type == "directory":
		return line + "/"
	case e.Type == "symlink":
		return line + " -> " + texts.OneLine(e.Target)
	case e.Size != nil:
		return fmt.Sprintf("%s %d", line, *e.Size)
	}
	return line
}

// listParts returns a list, one item a line.
func listParts(lines []string, omitted int, dir, one, more string) []tool.Part {
	line := texts.Count(len(lines), one, more)
	if omitted > 0 {
		line += fmt.Sprintf("; %d more omitted, refine your search/path", omitted)
	}
	return []tool.Part{{Line: line, Ref: dir, Body: strings.Join(lines, "\n")}}
}

func ls(g *tool.Guard, in lsIn) (lsOut, error) {
	l, err := g.List(g.OrDir(in.Path), in.Hidden, g.Caps().Entries)
	if err != nil {
		return lsOut{}, err
	}
	return lsOut{entriesOf(l.Nodes), l.Omitted > 0, l.Omitted, l.Dir}, nil
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

func (o treeOut) Parts() []tool.Part {
	line := texts.Count(o.Files, "file", "files") + ", " + texts.Count(o.Directories, "directory", "directories")
	if o.Truncated {
		line += fmt.Sprintf("; %d entries omitted, refine your search/path", o.OmittedEntries)
	}
	return []tool.Part{{Line: line, Ref: o.Path, Body: strings.TrimSuffix(o.Tree, "\n")}}
}

func tree(g *tool.Guard, in treeIn) (treeOut, error) {
	var o treeOut
	var b strings.Builder
	shown := 0
	at, err := g.Walk(g.OrDir(in.Path), policy.List, func(n *tool.Node, rel string) (bool, error) {
		depth := strings.Count(rel, "/") + 1
		dir := n.Info().IsDir()
		if shown == g.Caps().Entries || b.Len() > g.Caps().ResultBytes {
			o.OmittedEntries++
			return dir && depth < in.Depth && o.OmittedEntries < maxCounted, nil
		}

		shown++
		b.WriteString(strings.Repeat("  ", depth-1) + texts.OneLine(n.Name()))
		switch {
		case dir:
			o.Directories++
			b.WriteString("/")
		case n.Info().Target() != "":
			b.WriteString(" -> " + texts.OneLine(n.Info().Target()))
		default:
			o.Files++
		}
		b.WriteString("\n")
		return dir && depth < in.Depth, nil
	})
	o.Path, o.Tree, o.Truncated = at, b.String(), o.OmittedEntries > 0
	return o, err
}

// maxCounted bounds the walk that only counts the entries that a result leaves out.
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

func (o globOut) Parts() []tool.Part {
	lines := make([]string, len(o.Matches))
	for i, path := range o.Matches {
		lines[i] = texts.OneLine(path)
	}
	return listParts(lines, o.OmittedMatches, o.dir, "match", "matches")
}

func glob(g *tool.Guard, in globIn) (globOut, error) {
	f, err := g.Find(tool.Query{Dir: in.Path, Pattern: in.Pattern, Hidden: true, Limit: g.Caps().Matches})
	if err != nil {
		return globOut{}, err
	}
	o := globOut{Matches: []string{}, OmittedMatches: f.Omitted, Truncated: f.Omitted > 0, dir: f.Dir}
	for _, n := range f.Nodes {
		o.Matches = append(o.Matches, n.Path())
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

func (o findOut) Parts() []tool.Part {
	lines := make([]string, len(o.Entries))
	for i, e := range o.Entries {
		lines[i] = e.shownAs(e.Path)
	}
	return listParts(lines, o.OmittedMatches, o.dir, "match", "matches")
}

func find(g *tool.Guard, in findIn) (findOut, error) {
	limit := g.Caps().Matches
	if in.MaxResults > 0 {
		limit = min(limit, in.MaxResults)
	}
	f, err := g.Find(tool.Query{Dir: in.Path, Pattern: in.Pattern, MatchBase: true, Kind: in.Type, Hidden: true, Limit: limit})
	if err != nil {
		return findOut{}, err
	}
	return findOut{entriesOf(f.Nodes), f.Omitted > 0, f.Omitted, f.Dir}, nil
}

type statIn struct {
	Path   string `json:"path"`
	Follow bool   `json:"follow,omitempty" default:"false"`
}

type statOut struct {
	Stat entry `json:"stat"`
}

func stat(g *tool.Guard, in statIn) (statOut, error) {
	n, err := g.Stat(in.Path, in.Follow)
	if err != nil {
		return statOut{}, err
	}
	e := entryOf(n)
	size, mtime := n.Info().Size(), n.Info().ModTime().UTC()
	e.Size, e.Mtime, e.Mode, e.Sum = &size, &mtime, texts.Mode(n.Info().Mode()), n.Sum()
	return statOut{e}, nil
}

type doneOut struct {
	OK bool `json:"ok"`
}

func (doneOut) Parts() []tool.Part { return []tool.Part{{Line: "done"}} }

type mkdirIn struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive,omitempty" default:"false" jsonschema:"parents too"`
}

func mkdir(g *tool.Guard, in mkdirIn) (doneOut, error) {
	_, _, err := g.Mkdir(in.Path, in.Recursive)
	return doneOut{err == nil}, err
}

type rmIn struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive,omitempty" default:"false"`
	Force     bool   `json:"force,omitempty" default:"false" jsonschema:"missing is fine"`
	IfSum     string `json:"ifSum,omitempty"`
}

func rm(g *tool.Guard, in rmIn) (doneOut, error) {
	_, _, err := g.Remove(in.Path, in.Recursive, in.Force, tool.Precondition{Sum: in.IfSum})
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

func (o moveOut) Parts() []tool.Part {
	if o.Sum == nil {
		return []tool.Part{{Line: "done"}}
	}
	return []tool.Part{{Line: fmt.Sprintf("done; sum %s", o.Sum)}}
}

func mv(g *tool.Guard, in moveIn) (moveOut, error) {
	from, to, err := g.Move(in.Source, in.Destination, in.Overwrite, tool.Precondition{Sum: in.IfSum})
	return moved(g, from, to, err)
}

func cp(g *tool.Guard, in moveIn) (moveOut, error) {
	from, to, err := g.Copy(in.Source, in.Destination, in.Overwrite, tool.Precondition{Sum: in.IfSum})
	return moved(g, from, to, err)
}

func moved(g *tool.Guard, from, to *tool.Node, err error) (moveOut, error) {
	if err != nil {
		return moveOut{}, err
	}
	n, err := g.Describe(to)
	if err != nil {
		return moveOut{}, err
	}
	return moveOut{true, from.Path(), to.Path(), n.Sum()}, nil
}
