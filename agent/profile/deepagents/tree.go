package deepagents

import (
	"cmp"
	"fmt"
	slashes "path"
	"regexp"
	"slices"
	"strings"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
	"vfsdb/search"
)

type lsIn struct {
	Path string `json:"path" jsonschema:"absolute path of the directory"`
}

func (in lsIn) About() string { return in.Path }

// A listing is the part of a list of paths that one tree has.
type listing struct {
	paths []string
	more  bool
}

func ls(g *tool.Guard, in lsIn) (listing, error) {
	if dir, route, below := g.RouteBelow(in.Path); below {
		name, _, _ := strings.Cut(tool.Relative(dir, route), "/")
		return listing{[]string{slashes.Join(dir, name) + "/"}, false}, nil
	}
	l, err := g.List(in.Path, true, g.Caps().Entries)
	if err != nil {
		return listing{}, absent(g, "Path", in.Path, err)
	}

	var paths []string
	for _, n := range l.Nodes {
		at := n.Path()
		_, isDir, err := g.Followed(n)
		if err != nil {
			return listing{}, err
		}
		if isDir {
			at += "/"
		}
		paths = append(paths, at)
	}

	return listing{paths, l.Omitted > 0}, nil
}

// list joins the listings of all trees, sorted and each path once.
func list[In any](_ policy.Caps, _ In, parts []listing) tool.Text {
	paths, more := parts[0].paths, parts[0].more
	for _, part := range parts[1:] {
		paths, more = append(paths, part.paths...), more || part.more
	}
	if len(parts) > 1 {
		slices.Sort(paths)
		paths = slices.Compact(paths)
	}
	return pyList(paths, more)
}

type globIn struct {
	Pattern string `json:"pattern" jsonschema:"such as **/*.py, *.txt or /docs/**/*.md"`
	Path    string `json:"path,omitempty" jsonschema:"the directory to search; the workspace's own if left out"`
}

func (in globIn) About() string { return in.Path }

func glob(g *tool.Guard, in globIn) (listing, error) {
	s := tool.Query{Dir: in.Path, Pattern: in.Pattern, MatchBase: true, Hidden: true, Limit: policy.NoBound}
	dir, route, below := g.RouteBelow(in.Path)
	if below { // the pattern is matched on paths from a directory above it
		s.Dir, s.Pattern = route, ""
	}

	f, err := g.Find(s)
	if err != nil {
		return listing{}, absent(g, "Path", in.Path, err)
	}
	if !below {
		dir = f.Dir
	}

	patterns, err := alternatives(in.Pattern)
	if err != nil {
		return listing{}, err
	}
	var paths []string
	for _, n := range f.Nodes {
		if n.Info().IsDir() || hidden(patterns, tool.Relative(dir, n.Path())) {
			continue
		}
		isFile, _, err := g.Followed(n)
		if err != nil {
			return listing{}, err
		}
		if isFile {
			paths = append(paths, n.Path())
		}
	}
	limit := min(len(paths), g.Caps().Matches)
	return listing{paths[:limit], limit < len(paths)}, nil
}

type grepIn struct {
	Pattern string `json:"pattern" jsonschema:"the text to find, taken literally"`
	Path    string `json:"path,omitempty" jsonschema:"the directory or file to search; the workspace's own directory if left out"`
	Glob    string `json:"glob,omitempty" jsonschema:"search only files that match, such as *.py"`
	Mode    string `json:"output_mode,omitempty" default:"\"files_with_matches\"" enum:"files_with_matches,content,count" jsonschema:"files_with_matches: paths; content: the lines; count: how many lines in each file"`
	Max     int    `json:"max_count,omitempty" min:"1" jsonschema:"how many matches are enough, in all files together; 1000 if left out"`
}

func (in grepIn) About() string { return in.Path }

// most returns the number of matches that are enough.
func (in grepIn) most(caps policy.Caps) int {
	return min(cmp.Or(in.Max, mostMatches), caps.Matches)
}

// A haul is the result of a search of contents in one tree.
type haul struct {
	matches []search.GrepMatch
	more    bool
	large   []string // files that were not searched
}

func grep(g *tool.Guard, in grepIn) (haul, error) {
	o := search.GrepOptions{Path: in.Path, Max: in.most(g.Caps())}
	if in.Glob != "" {
		o.Include = []string{in.Glob}
	}
	dotted := strings.HasPrefix(in.Glob, ".") || strings.Contains(in.Glob, "/.")
	if !dotted {
		o.Exclude = []string{".*"} // as ripgrep leaves them out
	} else if !strings.Contains(in.Glob, "/") {
		o.Exclude = []string{".*/"}
	}

	dir, route, below := g.RouteBelow(in.Path)
	if below && !dotted && dottedNames(tool.Relative(dir, route)) > 0 {
		return haul{}, nil
	}
	chosen := func(string) bool { return true }
	if below {
		o.Path = route
		if strings.Contains(in.Glob, "/") { // it is matched from a directory above
			patterns, err := alternatives(in.Glob)
			if err != nil {
				return haul{}, err
			}
			o.Include, o.Max = nil, 0
			chosen = func(path string) bool { return !hidden(patterns, tool.Relative(dir, path)) }
		}
	}

	r, err := g.Grep(in.Pattern, o)
	if err != nil {
		return haul{}, absent(g, "Path", in.Path, err)
	}
	matches, more := g.Fit(r)
	matches = slices.DeleteFunc(matches, func(m search.GrepMatch) bool { return !chosen(m.Path) })
	return haul{matches, more, r.SkippedLarge}, nil
}

// matches joins the results of all trees into the text of the answer.
func matches(caps policy.Caps, in grepIn, parts []haul) tool.Text {
	var all haul
	for _, part := range parts {
		all.matches, all.large = append(all.matches, part.matches...), append(all.large, part.large...)
		all.more = all.more || part.more
	}

	if most := in.most(caps); len(all.matches) > most {
		all.matches, all.more = all.matches[:most], true
	}
	text := shown(all.matches, in.Mode)
	if head := []rune(text); len(head) > limit {
		text = string(head[:limit]) + "\n" + guidance
	} else if all.more {
		text += fmt.Sprintf("\n\n[These are the first %s, and there are more. Narrow the pattern or the path, or raise max_count.]", texts.Count(len(all.matches), "match", "matches"))
	}

	if len(all.matches) == 0 {
		text += literal(in.Pattern)
	}
	if n := len(all.large); n > 0 { // otherwise a model would conclude that the text does not occur
		text += fmt.Sprintf("\n[%s too large to search: %s]", texts.Count(n, "file is", "files are"), texts.Few(tool.RootedAll(all.large)))
	}

	return tool.Text(text)
}

// literal returns a note that the pattern was taken literally, if it looks like a regular expression.
func literal(pattern string) string {
	if regexLike.MatchString(pattern) {
		return "\n\n[The pattern was taken literally, and it looks like a regular expression. Search for a text that stands in the file as it is; for alternatives, search several times.]"
	}
	return ""
}

// regexLike finds signs of a regular expression: a class, a repetition of any character, alternatives, anchors.
var regexLike = regexp.MustCompile(`\\[wsdbSWDB.|()[\]*+?]|\.[*+]|\[[^\]]+\][*+]|\w\|\w|\(\?|^\^|\$$`)

// shown returns the lines of a grep, file by file, in one of three ways. Files are sorted by path.
func shown(matches []search.GrepMatch, mode string) string {
	if len(matches) == 0 {
		return "No matches found"
	}
	slices.SortStableFunc(matches, func(a, b search.GrepMatch) int { return strings.Compare(a.Path, b.Path) })
	var lines []string
	for len(matches) > 0 {
		at, n := matches[0].Path, 0
		for n < len(matches) && matches[n].Path == at {
			n++
		}
		switch mode {
		case "count":
			lines = append(lines, fmt.Sprintf("%s: %d", at, n))
		case "content":
			lines = append(lines, at+":")
			for _, m := range matches[:n] {
				lines = append(lines, fmt.Sprintf("  %d: %s", m.Line, m.Text))
			}
		default:
			lines = append(lines, at)
		}
		matches = matches[n:]
	}

	return strings.Join(lines, "\n")
}
