package agent

import (
	"fmt"
	"slices"
	"strings"

	"vfsdb/vfs"
)

type deepLsIn struct {
	Path string `json:"path" jsonschema:"absolute path of the directory"`
}

func deepLs(g *guard, in deepLsIn) (said, error) {
	l, err := g.list(in.Path, true, g.box.caps.Entries)
	if err != nil {
		return "", absent(g, "Path", in.Path, err)
	}
	var paths []string
	for _, n := range l.nodes {
		at := rooted(n.path)
		_, isDir, err := followed(g, n)
		if err != nil {
			return "", err
		}
		if isDir {
			at += "/"
		}
		paths = append(paths, at)
	}
	return pyList(paths, l.omitted > 0), nil
}

type deepGlobIn struct {
	Pattern string `json:"pattern" jsonschema:"such as **/*.py, *.txt or /docs/**/*.md"`
	Path    string `json:"path,omitempty" jsonschema:"the directory to search; the workspace's own if left out"`
}

func deepGlob(g *guard, in deepGlobIn) (said, error) {
	f, err := g.find(search{dir: in.Path, pattern: in.Pattern, matchBase: true, hidden: true, limit: noBound})
	if err != nil {
		return "", absent(g, "Path", in.Path, err)
	}
	nodes := slices.DeleteFunc(f.nodes, func(n *node) bool { return n.info.IsDir() })
	limit := min(len(nodes), g.box.caps.Matches)
	var paths []string
	for _, n := range nodes[:limit] {
		paths = append(paths, rooted(n.path))
	}
	return pyList(paths, limit < len(nodes)), nil
}

type deepGrepIn struct {
	Pattern string `json:"pattern" jsonschema:"the text to find, taken literally"`
	Path    string `json:"path,omitempty" jsonschema:"the directory or file to search; the workspace's own directory if left out"`
	Glob    string `json:"glob,omitempty" jsonschema:"search only files that match, such as *.py"`
	Mode    string `json:"output_mode,omitempty" default:"\"files_with_matches\"" enum:"files_with_matches,content,count" jsonschema:"files_with_matches: paths; content: the lines; count: how many lines in each file"`
}

func deepGrep(g *guard, in deepGrepIn) (said, error) {
	o := vfs.GrepOptions{Path: in.Path, Max: min(g.box.caps.Matches, DefaultMatches)}
	if in.Glob != "" {
		o.Include = []string{in.Glob}
	}
	r, err := g.grep(in.Pattern, o)
	if err != nil {
		return "", absent(g, "Path", in.Path, err)
	}
	matches, more := g.fit(r)
	text := deepMatches(matches, in.Mode)
	if more {
		text += "\n" + deepGuidance
	}
	if n := len(r.SkippedLarge); n > 0 { // or no match would be taken for no such text (G09)
		text += fmt.Sprintf("\n[%s too large to search: %s]", counted(n, "file is", "files are"), few(rootedAll(r.SkippedLarge)))
	}
	return said(text), nil
}

// deepMatches are the lines of a grep, file by file, in one of three ways. Files are sorted by path.
func deepMatches(matches []vfs.GrepMatch, mode string) string {
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
