package agent

import (
	"cmp"
	"fmt"
	"regexp"
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
	patterns, err := alternatives(in.Pattern)
	if err != nil {
		return "", err
	}
	nodes := slices.DeleteFunc(f.nodes, func(n *node) bool {
		return n.info.IsDir() || deepHidden(patterns, relative(f.dir, n.path))
	})
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
	Max     int    `json:"max_count,omitempty" min:"1" jsonschema:"how many matches are enough, in all files together; 1000 if left out"`
}

func deepGrep(g *guard, in deepGrepIn) (said, error) {
	o := vfs.GrepOptions{Path: in.Path, Max: min(cmp.Or(in.Max, deepMatches), g.box.caps.Matches)}
	if in.Glob != "" {
		o.Include = []string{in.Glob}
	}
	if !strings.HasPrefix(in.Glob, ".") && !strings.Contains(in.Glob, "/.") {
		o.Exclude = []string{".*"} // as ripgrep leaves them out
	} else if !strings.Contains(in.Glob, "/") {
		o.Exclude = []string{".*/"}
	}
	r, err := g.grep(in.Pattern, o)
	if err != nil {
		return "", absent(g, "Path", in.Path, err)
	}
	matches, more := g.fit(r)
	text := deepShown(matches, in.Mode)
	if head := []rune(text); len(head) > deepLimit {
		text = string(head[:deepLimit]) + "\n" + deepGuidance
	} else if more {
		text += fmt.Sprintf("\n\n[These are the first %s, and there are more. Narrow the pattern or the path, or raise max_count.]", counted(len(matches), "match", "matches"))
	}
	if len(matches) == 0 {
		text += deepLiteral(in.Pattern)
	}
	if n := len(r.SkippedLarge); n > 0 { // or no match would be taken for no such text
		text += fmt.Sprintf("\n[%s too large to search: %s]", counted(n, "file is", "files are"), few(rootedAll(r.SkippedLarge)))
	}
	return said(text), nil
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
