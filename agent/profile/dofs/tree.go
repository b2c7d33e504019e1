package dofs

import (
	slashes "path"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
	"vfsdb/search"
)

// dir finds a directory. A path that leads nowhere, or through a file, is ENOENT; a file is ENOTDIR.
func dir(g *tool.Guard, name string) (*tool.Node, error) {
	n, err := g.Stat(name, tool.Follow)
	switch {
	case err != nil:
		return nil, underFile(err)
	case !n.Info().IsDir():
		return nil, syscall.ENOTDIR
	}
	return n, nil
}

// asAsked returns a path at or below a directory, written with the caller's name for the directory.
func asAsked(name, dir, at string) string {
	if slices.Contains(strings.Split(name, "/"), "..") {
		return at // the name alone does not show where that leads
	}
	return slashes.Join(name, tool.Relative(dir, at))
}

type readdirIn struct {
	Path string `json:"path" jsonschema:"absolute path of the directory"`
	pageIn
}

func (in readdirIn) About() string { return in.Path }

type dirent struct {
	Name        string `json:"name"`
	ParentPath  string `json:"parentPath"`
	IsFile      bool   `json:"isFile"`
	IsDirectory bool   `json:"isDirectory"`
}

type readdirOut struct {
	Entries    []dirent `json:"entries" jsonschema:"sorted by name"`
	NextOffset int      `json:"nextOffset,omitempty" jsonschema:"offset of the next page; there is none if it is missing"`
}

func (o readdirOut) Text() string { return paged(o.Entries, o.NextOffset) }

func readdir(g *tool.Guard, in readdirIn) (o readdirOut, err error) {
	if _, err := dir(g, in.Path); err != nil {
		return o, err
	}
	l, err := g.List(in.Path, true, in.end())
	if err != nil {
		return o, err
	}
	nodes, next := page(in.pageIn, l.Nodes, l.Omitted > 0)
	o.Entries, o.NextOffset = []dirent{}, next
	for _, n := range nodes {
		e := dirent{Name: n.Name(), ParentPath: asAsked(in.Path, l.Dir, l.Dir)}
		if e.IsFile, e.IsDirectory, err = g.Followed(n); err != nil {
			return o, err
		}
		o.Entries = append(o.Entries, e)
	}
	return o, nil
}

type lsIn struct {
	Prefix string `json:"prefix" jsonschema:"absolute path; whole segments count, and no character is special"`
	pageIn
}

func (in lsIn) About() string { return in.Prefix }

type lsOut struct {
	Paths      []string `json:"paths" jsonschema:"of files, sorted"`
	NextOffset int      `json:"nextOffset,omitempty" jsonschema:"offset of the next page; there is none if it is missing"`
}

func (o lsOut) Text() string { return paged(o.Paths, o.NextOffset) }

// ls lists regular files alone: a symlink is no file of its own.
func ls(g *tool.Guard, in lsIn) (lsOut, error) {
	at, err := g.Stat(in.Prefix, tool.Follow)
	if err = underFile(err); tool.Missing(err) {
		return lsOut{Paths: []string{}}, nil
	}
	if err != nil {
		return lsOut{}, err
	}

	var all []string
	if at.Info().Mode().IsRegular() {
		all = []string{asAsked(in.Prefix, at.Path(), at.Path())}
	}
	if at.Info().IsDir() {
		f, err := g.Find(tool.Query{Dir: in.Prefix, Kind: "file", Hidden: true, Limit: policy.NoBound})
		if err != nil {
			return lsOut{}, err
		}
		for _, n := range f.Nodes {
			all = append(all, asAsked(in.Prefix, f.Dir, n.Path()))
		}
		slices.Sort(all)
	}
	paths, next := page(in.pageIn, all, false)
	return lsOut{paths, next}, nil
}

type findIn struct {
	Directory string `json:"directory" jsonschema:"absolute path of the directory to look in"`
	Pattern   string `json:"pattern,omitempty" jsonschema:"such as *.ts or **/*.md; everything if left out"`
	pageIn
}

func (in findIn) About() string { return in.Directory }

type hit struct {
	Path string `json:"path"`
	Type string `json:"type" enum:"file,dir"`
}

type findOut struct {
	Matches    []hit `json:"matches" jsonschema:"each directory before what is in it"`
	NextOffset int   `json:"nextOffset,omitempty" jsonschema:"offset of the next page; there is none if it is missing"`
}

func (o findOut) Text() string { return paged(o.Matches, o.NextOffset) }

func find(g *tool.Guard, in findIn) (o findOut, err error) {
	dir, err := dir(g, in.Directory)
	if err != nil {
		return o, err
	}
	matches, err := glob(in.Pattern)
	if err != nil {
		return o, err
	}

	var found []*tool.Node
	_, err = g.Walk(in.Directory, policy.List, func(n *tool.Node, rel string) (bool, error) {
		if plain := n.Info().IsDir() || n.Info().Mode().IsRegular(); plain && matches(rel) {
			found = append(found, n)
		}
		if len(found) > in.end() {
			return false, tool.ErrEnough
		}
		return true, nil
	})
	if err != nil {
		return o, err
	}

	nodes, next := page(in.pageIn, found, false)
	o.Matches, o.NextOffset = []hit{}, next
	for _, n := range nodes {
		one := hit{asAsked(in.Directory, dir.Path(), n.Path()), "file"}
		if n.Info().IsDir() {
			one.Type = "dir"
		}
		o.Matches = append(o.Matches, one)
	}

	return o, nil
}

// glob returns the matcher of a pattern in the dialect of dofs: `*` is any run of characters within a name, `**` any
// run, and `**/` any number of whole names, none included. Every other character is itself.
func glob(pattern string) (func(string) bool, error) {
	switch {
	case pattern == "":
		return func(string) bool { return true }, nil
	case len(pattern) > maxGlob:
		return nil, tool.Refuse(syscall.EINVAL, "the pattern is longer than %d bytes", maxGlob)
	}

	var b strings.Builder
	for rest := pattern; rest != ""; {
		var ok bool
		if rest, ok = strings.CutPrefix(rest, "**/"); ok {
			b.WriteString("(?:.*/)?")
		} else if rest, ok = strings.CutPrefix(rest, "**"); ok {
			b.WriteString(".*")
		} else if rest, ok = strings.CutPrefix(rest, "*"); ok {
			b.WriteString("[^/]*")
		} else {
			end := strings.IndexByte(rest, '*')
			if end < 0 {
				end = len(rest)
			}
			b.WriteString(regexp.QuoteMeta(rest[:end]))
			rest = rest[end:]
		}
	}

	matcher, err := regexp.Compile(`(?s)\A` + b.String() + `\z`)
	if err != nil {
		return nil, tool.Refuse(syscall.EINVAL, "the pattern is invalid: %v", err)
	}
	return matcher.MatchString, nil
}

// maxGlob is the longest pattern, in bytes: as long as a path can be.
const maxGlob = 4096

type grepIn struct {
	Pattern    string `json:"pattern" jsonschema:"the text to find, taken literally"`
	Path       string `json:"path" jsonschema:"absolute path of a directory or a file"`
	IgnoreCase bool   `json:"ignoreCase,omitempty" default:"false" jsonschema:"upper and lower case are the same"`
	pageIn
}

func (in grepIn) About() string { return in.Path }

type match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

type grepOut struct {
	Matches    []match  `json:"matches"`
	NextOffset int      `json:"nextOffset,omitempty" jsonschema:"offset of the next page; there is none if it is missing"`
	Skipped    []string `json:"skippedPaths,omitempty" jsonschema:"files that are no text, or too large, and were not searched"`
}

func (o grepOut) Text() string {
	text := paged(o.Matches, o.NextOffset)
	if n := len(o.Skipped); n > 0 {
		text += "\n[" + texts.Count(n, "file that is no text, or too large, was", "files that are no text, or too large, were") + " not searched]"
	}
	return text
}

func grep(g *tool.Guard, in grepIn) (grepOut, error) {
	at, err := g.StatFor(policy.Read, in.Path, tool.Follow)
	if err != nil {
		return grepOut{}, underFile(err)
	}
	r, err := g.Grep(in.Pattern, search.GrepOptions{Path: in.Path, IgnoreCase: in.IgnoreCase, Max: in.end()})
	if err != nil {
		return grepOut{}, underFile(err)
	}

	more := r.Truncated
	r.Matches, _ = page(in.pageIn, r.Matches, false)
	matches, cut := g.Fit(r)
	o := grepOut{Matches: []match{}}
	for _, m := range matches {
		o.Matches = append(o.Matches, match{asAsked(in.Path, at.Path(), m.Path), m.Line, m.Text})
	}

	skipped := append(r.SkippedLarge, r.SkippedBinary...)
	for _, path := range skipped[:min(len(skipped), g.Caps().Matches)] {
		o.Skipped = append(o.Skipped, asAsked(in.Path, at.Path(), policy.Rooted(path)))
	}
	if more || cut {
		o.NextOffset = in.Offset + len(matches)
	}

	return o, nil
}
