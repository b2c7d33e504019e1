package agent

import (
	"cmp"
	"fmt"
	slashes "path"
	"regexp"
	"slices"
	"strings"

	"vfsdb/vfs"
)

type deepLsIn struct {
	Path string `json:"path" jsonschema:"absolute path of the directory"`
}

func (in deepLsIn) about() string { return in.Path }

// A deepListing is what one tree has for a list of paths.
type deepListing struct {
	paths []string
	more  bool
}

func deepLs(g *guard, in deepLsIn) (deepListing, error) {
	if dir, below := g.routeBelow(in.Path); below {
		name, _, _ := strings.Cut(relative(dir, g.box.serves), "/")
		return deepListing{[]string{slashes.Join("/", dir, name) + "/"}, false}, nil
	}
	l, err := g.list(in.Path, true, g.box.caps.Entries)
	if err != nil {
		return deepListing{}, absent(g, "Path", in.Path, err)
	}
	var paths []string
	for _, n := range l.nodes {
		at := rooted(n.path)
		_, isDir, err := followed(g, n)
		if err != nil {
			return deepListing{}, err
		}
		if isDir {
			at += "/"
		}
		paths = append(paths, at)
	}
	return deepListing{paths, l.omitted > 0}, nil
}

// deepList is the list of what the trees have.
func deepList[In any](b *Toolbox, _ In, parts []deepListing) said {
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

type deepGlobIn struct {
	Pattern string `json:"pattern" jsonschema:"such as **/*.py, *.txt or /docs/**/*.md"`
	Path    string `json:"path,omitempty" jsonschema:"the directory to search; the workspace's own if left out"`
}

func (in deepGlobIn) about() string { return in.Path }

func deepGlob(g *guard, in deepGlobIn) (deepListing, error) {
	s := search{dir: in.Path, pattern: in.Pattern, matchBase: true, hidden: true, limit: noBound}
	dir, below := g.routeBelow(in.Path)
	if below { // what the pattern is about begins above it
		s.dir, s.pattern = rooted(g.box.serves), ""
	}
	f, err := g.find(s)
	if err != nil {
		return deepListing{}, absent(g, "Path", in.Path, err)
	}
	if !below {
		dir = f.dir
	}
	patterns, err := alternatives(in.Pattern)
	if err != nil {
		return deepListing{}, err
	}
	var paths []string
	for _, n := range f.nodes {
		if n.info.IsDir() || deepHidden(patterns, relative(dir, n.path)) {
			continue
		}
		isFile, _, err := followed(g, n)
		if err != nil {
			return deepListing{}, err
		}
		if isFile {
			paths = append(paths, rooted(n.path))
		}
	}
	limit := min(len(paths), g.box.caps.Matches)
	return deepListing{paths[:limit], limit < len(paths)}, nil
}

type deepGrepIn struct {
	Pattern string `json:"pattern" jsonschema:"the text to find, taken literally"`
	Path    string `json:"path,omitempty" jsonschema:"the directory or file to search; the workspace's own directory if left out"`
	Glob    string `json:"glob,omitempty" jsonschema:"search only files that match, such as *.py"`
	Mode    string `json:"output_mode,omitempty" default:"\"files_with_matches\"" enum:"files_with_matches,content,count" jsonschema:"files_with_matches: paths; content: the lines; count: how many lines in each file"`
	Max     int    `json:"max_count,omitempty" min:"1" jsonschema:"how many matches are enough, in all files together; 1000 if left out"`
}

func (in deepGrepIn) about() string { return in.Path }

// most is how many matches are enough.
func (in deepGrepIn) most(b *Toolbox) int {
	return min(cmp.Or(in.Max, deepMostMatches), b.caps.Matches)
}

// deepFound is what one tree has for a search of contents.
type deepFound struct {
	matches []vfs.GrepMatch
	more    bool
	large   []string // files that were not searched
}

func deepGrep(g *guard, in deepGrepIn) (deepFound, error) {
	o := vfs.GrepOptions{Path: in.Path, Max: in.most(g.box)}
	if in.Glob != "" {
		o.Include = []string{in.Glob}
	}
	dotted := strings.HasPrefix(in.Glob, ".") || strings.Contains(in.Glob, "/.")
	if !dotted {
		o.Exclude = []string{".*"} // as ripgrep leaves them out
	} else if !strings.Contains(in.Glob, "/") {
		o.Exclude = []string{".*/"}
	}
	dir, below := g.routeBelow(in.Path)
	if below && !dotted && dottedNames(relative(dir, g.box.serves)) > 0 {
		return deepFound{}, nil
	}
	chosen := func(string) bool { return true }
	if below {
		o.Path = rooted(g.box.serves)
		if strings.Contains(in.Glob, "/") { // it begins above
			patterns, err := alternatives(in.Glob)
			if err != nil {
				return deepFound{}, err
			}
			o.Include, o.Max = nil, 0
			chosen = func(path string) bool { return !deepHidden(patterns, relative(dir, path[1:])) }
		}
	}
	r, err := g.grep(in.Pattern, o)
	if err != nil {
		return deepFound{}, absent(g, "Path", in.Path, err)
	}
	matches, more := g.fit(r)
	matches = slices.DeleteFunc(matches, func(m vfs.GrepMatch) bool { return !chosen(m.Path) })
	return deepFound{matches, more, r.SkippedLarge}, nil
}

// deepMatches is what the trees have for a search of contents, in words.
func deepMatches(b *Toolbox, in deepGrepIn, parts []deepFound) said {
	var all deepFound
	for _, part := range parts {
		all.matches, all.large = append(all.matches, part.matches...), append(all.large, part.large...)
		all.more = all.more || part.more
	}
	if most := in.most(b); len(all.matches) > most {
		all.matches, all.more = all.matches[:most], true
	}
	text := deepShown(all.matches, in.Mode)
	if head := []rune(text); len(head) > deepLimit {
		text = string(head[:deepLimit]) + "\n" + deepGuidance
	} else if all.more {
		text += fmt.Sprintf("\n\n[These are the first %s, and there are more. Narrow the pattern or the path, or raise max_count.]", counted(len(all.matches), "match", "matches"))
	}
	if len(all.matches) == 0 {
		text += deepLiteral(in.Pattern)
	}
	if n := len(all.large); n > 0 { // or no match would be taken for no such text
		text += fmt.Sprintf("\n[%s too large to search: %s]", counted(n, "file is", "files are"), few(rootedAll(all.large)))
	}
	return said(text)
}

// deepLiteral says that a pattern which found nothing was taken literally, if it looks as if it was not meant so.
func deepLiteral(pattern string) string {
	if regexLike.MatchString(pattern) {
		return "\n\n[The pattern was taken literally, and it looks like a regular expression. Search for a text that stands in the file as it is; for alternatives, search several times.]"
	}
	return ""
}

// regexLike finds what hardly stands in a literal text: a class, a repetition of any character, alternatives, anchors.
var regexLike = regexp.MustCompile(`\\[wsdbSWDB.|()[\]*+?]|\.[*+]|\[[^\]]+\][*+]|\w\|\w|\(\?|^\^|\$$`)

// deepShown are the lines of a grep, file by file, in one of three ways. Files are sorted by path.
func deepShown(matches []vfs.GrepMatch, mode string) string {
	if len(matches) == 0 {
		return "No matches found"
	}
	slices.SortStableFunc(matches, func(a, b vfs.GrepMatch) int { return strings.Compare(a.Path, b.Path) })
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
