package claude

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
	"vfsdb/search"
)

type codeGlobIn struct {
	Pattern string `json:"pattern" jsonschema:"what paths have to match; without a slash, the last part of them, at any depth"`
	Path    string `json:"path,omitempty" jsonschema:"the directory to search in; the workspace's own if left out"`
}

// maxCodeGlob is the number of paths that Glob returns at most.
const maxCodeGlob = 100

func codeGlob(g *tool.Guard, in codeGlobIn) (tool.Text, error) {
	f, err := g.Find(tool.Query{Dir: in.Path, Pattern: in.Pattern, MatchBase: true, Kind: "file", Hidden: true, Limit: policy.NoBound})
	if tool.Lost(err) {
		return "", tool.Refuse(syscall.ENOENT, "Directory does not exist: %s", g.OrDir(in.Path))
	}
	if err != nil {
		return "", err
	}

	if len(f.Nodes) == 0 {
		return "No files found", nil
	}
	slices.SortStableFunc(f.Nodes, func(a, b *tool.Node) int { return b.Info().ModTime().Compare(a.Info().ModTime()) })
	limit := min(maxCodeGlob, g.Caps().Matches)
	lines := make([]string, 0, limit+1)
	for _, n := range f.Nodes[:min(limit, len(f.Nodes))] {
		lines = append(lines, n.Path())
	}

	if len(f.Nodes) > limit {
		lines = append(lines, "(Results are truncated. Consider using a more specific path or pattern.)")
	}
	return tool.Text(strings.Join(lines, "\n")), nil
}

type codeGrepIn struct {
	Pattern    string `json:"pattern" jsonschema:"a regular expression"`
	Path       string `json:"path,omitempty" jsonschema:"the file or directory to search; the workspace's own directory if left out"`
	Glob       string `json:"glob,omitempty" jsonschema:"search only files that match, such as *.js or *.{ts,tsx}; !*.md leaves files out"`
	Type       string `json:"type,omitempty" jsonschema:"search only files of this type, such as js, py, rust, go, java"`
	Mode       string `json:"output_mode,omitempty" enum:"files_with_matches,content,count" default:"\"files_with_matches\"" jsonschema:"content shows the lines, count how many there are in each file"`
	After      int    `json:"-A,omitempty" min:"0" max:"1000" jsonschema:"for content: lines to show after each match"`
	Before     int    `json:"-B,omitempty" min:"0" max:"1000" jsonschema:"for content: lines to show before each match"`
	Around     int    `json:"-C,omitempty" min:"0" max:"1000" jsonschema:"for content: lines to show before and after each match"`
	Numbers    bool   `json:"-n,omitempty" default:"true" jsonschema:"for content: show the numbers of lines"`
	IgnoreCase bool   `json:"-i,omitempty" default:"false" jsonschema:"upper and lower case are the same"`
	Multiline  bool   `json:"multiline,omitempty" default:"false" jsonschema:"not supported: a match is within one line"`
	HeadLimit  int    `json:"head_limit,omitempty" min:"0" jsonschema:"show only the first so many lines, or files"`
}

// maxCodeMatches is the number of matching lines that Grep looks at.
const maxCodeMatches = 100_000

func codeGrep(g *tool.Guard, in codeGrepIn) (tool.Text, error) {
	if in.Multiline {
		return "", tool.Refuse(syscall.EINVAL, "multiline is not supported here: a pattern matches within one line. "+
			"Search for one of the lines with output_mode content, and show those around it with -A or -B.")
	}
	o := search.GrepOptions{Regex: true, IgnoreCase: in.IgnoreCase, Path: in.Path, Max: maxCodeMatches}
	if in.Mode == "content" {
		o.Max = g.Caps().Matches
		o.Before, o.After = max(in.Before, in.Around), max(in.After, in.Around)
	}

	if err := codeFilters(&o, in); err != nil {
		return "", err
	}
	r, err := g.Grep(in.Pattern, o)
	if tool.Lost(err) {
		return "", tool.Refuse(syscall.ENOENT, "Path does not exist: %s", g.OrDir(in.Path))
	}
	if err != nil {
		return "", err
	}

	var text string
	switch in.Mode {
	case "content":
		text = codeContent(g, r, in)
	case "count":
		text = codeCounts(r, in)
	default:
		if text, err = codeFiles(r, in); err != nil {
			return "", err
		}
	}

	if r.Truncated {
		text += "\n\n(Results are truncated. Consider using a more specific path or pattern.)"
	}
	if n := len(r.SkippedLarge); n > 0 {
		text += fmt.Sprintf("\n\n(%d files are too large and were not searched: %s)", n, texts.Few(tool.RootedAll(r.SkippedLarge)))
	}
	shown, _ := texts.Cut(text, g.Caps().ResultBytes)
	return tool.Text(shown), nil
}

// codeFilters sets which files are searched: those of a glob, or of several with spaces or commas between them, or
// those of a type.
func codeFilters(o *search.GrepOptions, in codeGrepIn) error {
	var globs []string
	between := func(r rune) bool { return r == ' ' || r == ',' && !strings.Contains(in.Glob, "{") }
	for _, one := range strings.FieldsFunc(in.Glob, between) {
		if without, ok := strings.CutPrefix(one, "!"); ok {
			o.Exclude = append(o.Exclude, without)
			continue
		}
		globs = append(globs, one)
	}

	if in.Type == "" {
		o.Include = globs
		return nil
	}
	suffixes, ok := fileTypes[in.Type]
	if !ok {
		return tool.Refuse(syscall.EINVAL, "unrecognized file type: %s; there are: %s. Use glob for others.",
			in.Type, strings.Join(slices.Sorted(maps.Keys(fileTypes)), ", "))
	}

	if len(globs) > 0 {
		return tool.Refuse(syscall.EINVAL, "give glob or type, not both")
	}
	for _, s := range strings.Fields(suffixes) {
		o.Include = append(o.Include, "*."+s)
	}

	return nil
}

// fileTypes are the extensions of a type, by the name that ripgrep has for it.
var fileTypes = map[string]string{
	"c": "c h", "cpp": "cpp cc cxx hpp hh hxx h inl", "cs": "cs", "csharp": "cs", "css": "css scss", "csv": "csv", "dart": "dart",
	"elixir": "ex eex exs", "go": "go", "graphql": "graphql gql", "haskell": "hs lhs", "html": "html htm", "java": "java jsp",
	"js": "js jsx mjs cjs vue", "json": "json", "kotlin": "kt kts", "lua": "lua", "markdown": "md markdown mdx mkd",
	"md": "md markdown mdx mkd", "php": "php", "proto": "proto", "py": "py pyi", "python": "py pyi", "rb": "rb gemspec",
	"ruby": "rb gemspec", "rust": "rs", "scala": "scala sbt", "sh": "sh bash zsh", "sql": "sql", "svelte": "svelte",
	"swift": "swift", "toml": "toml", "ts": "ts tsx mts cts", "tsx": "tsx", "txt": "txt", "typescript": "ts tsx mts cts",
	"vue": "vue", "xml": "xml", "yaml": "yaml yml", "zig": "zig",
}

// head returns the first of some lines, as many as a call asks for.
func head(lines []string, limit int) []string {
	if limit > 0 && limit < len(lines) {
		return lines[:limit]
	}
	return lines
}

// codeFiles lists the files with matches, newest first.
func codeFiles(r *tool.GrepResult, in codeGrepIn) (string, error) {
	var nodes []*tool.Node
	for i, m := range r.Matches {
		if i > 0 && r.Matches[i-1].Path == m.Path {
			continue
		}
		n, err := r.Node(m.Path)
		if err != nil {
			return "", err
		}
		nodes = append(nodes, n)
	}

	if len(nodes) == 0 {
		return "No files found", nil
	}
	slices.SortStableFunc(nodes, func(a, b *tool.Node) int {
		return cmp.Or(b.Info().ModTime().Compare(a.Info().ModTime()), cmp.Compare(a.Path(), b.Path()))
	})

	var paths []string
	for _, n := range nodes {
		paths = append(paths, n.Path())
	}
	paths = head(paths, in.HeadLimit)
	return fmt.Sprintf("Found %s\n%s", several(len(paths), "file"), strings.Join(paths, "\n")), nil
}

// codeCounts counts the lines that match in each file.
func codeCounts(r *tool.GrepResult, in codeGrepIn) string {
	var files []string
	counts := map[string]int{}
	for _, m := range r.Matches {
		if counts[m.Path]++; counts[m.Path] == 1 {
			files = append(files, m.Path)
		}
	}
	if len(files) == 0 {
		return "No matches found"
	}
	total := 0
	var lines []string
	for _, f := range head(files, in.HeadLimit) {
		lines = append(lines, fmt.Sprintf("%s:%d", policy.Rooted(f), counts[f]))
		total += counts[f]
	}
	return fmt.Sprintf("%s\n\nFound %s across %s.", strings.Join(lines, "\n"), several(total, "total occurrence"), several(len(lines), "file"))
}

func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// codeContent shows lines as ripgrep does: matches with a colon, those around them with a dash, each line once, and a
// line of dashes where some are left out.
func codeContent(g *tool.Guard, r *tool.GrepResult, in codeGrepIn) string {
	if len(r.Matches) == 0 {
		return "No matches found"
	}
	var lines []string
	path, next := "", 0 // the file, and its next line that is not shown yet
	show := func(n int, mark, text string) {
		if n < next {
			return
		}
		text, _ = texts.Cut(texts.Valid(text), texts.MaxLine)
		at := policy.Rooted(path) + mark
		if in.Numbers {
			at += fmt.Sprint(n) + mark
		}
		lines = append(lines, at+text)
		next = n + 1
	}

	around := max(in.Before, in.After, in.Around) > 0
	for i, m := range r.Matches {
		first := m.Line - len(m.Before)
		if m.Path != path {
			path, next = m.Path, 0
		}
		if around && i > 0 && (next == 0 || first > next) {
			lines = append(lines, "--")
		}
		for j, text := range m.Before {
			show(first+j, "-", text)
		}
		show(m.Line, ":", m.Text)
		for j, text := range m.After {
			if i+1 < len(r.Matches) && r.Matches[i+1].Path == path && m.Line+1+j >= r.Matches[i+1].Line {
				break // the next match shows it
			}
			show(m.Line+1+j, "-", text)
		}
	}

	return strings.Join(head(lines, in.HeadLimit), "\n")
}
