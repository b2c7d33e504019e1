package einofs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/cloudwego/eino/adk/filesystem"

	"vfsdb/search"
	"vfsdb/vfs"
)

// maxResults is the most results of a search. More is EFBIG.
const maxResults = 10_000

// tooMany is the error of a search with too many results.
func tooMany(verb, pattern string) error {
	return fmt.Errorf("%s %q: more than %d results or %d bytes; narrow the path or the pattern: %w", verb, pattern, maxResults, maxText, syscall.EFBIG)
}

// GlobInfo describes the files below a directory that match a pattern, in the dialect of [search.Glob], by their paths
// from that directory. A pattern with a slash in front begins at the root, and so do the paths.
func (b *Backend) GlobInfo(ctx context.Context, r *filesystem.GlobInfoRequest) (list []filesystem.FileInfo, err error) {
	dir, pattern := "/"+r.Path, r.Pattern
	absolute := strings.HasPrefix(pattern, "/")
	if absolute {
		dir, pattern = "/", strings.TrimLeft(pattern, "/")
	}
	if pattern == "" {
		return nil, &fs.PathError{Op: "glob", Path: r.Pattern, Err: syscall.EINVAL}
	}
	base, err := b.fsys.Resolve(ctx, dir, true)
	if err != nil {
		return nil, err
	}

	hits, more, err := search.Find(ctx, b.fsys, dir, &search.FindOptions{Pattern: pattern, Kind: "file", Max: maxResults})
	if err != nil {
		return nil, err
	}
	if more {
		return nil, tooMany("glob", r.Pattern)
	}
	for _, hit := range hits {
		name := "/" + hit.Path
		if !absolute && base != "." {
			name = strings.TrimPrefix(name, "/"+base)
		}
		if !absolute {
			name = name[1:]
		}
		list = append(list, fileInfo(name, hit.Info))
	}
	return list, nil
}

// GrepRaw returns the lines that match a regular expression in the syntax of package regexp, with the lines around them
// that are asked for, each once. Paths begin at the root of the tree. Files that look binary, and those above 10 MiB, are
// not searched.
func (b *Backend) GrepRaw(ctx context.Context, r *filesystem.GrepRequest) ([]filesystem.GrepMatch, error) {
	if r.EnableMultiline {
		return b.grepFiles(ctx, r)
	}
	o := &search.GrepOptions{
		Regex: true, IgnoreCase: r.CaseInsensitive, Path: "/" + r.Path, Include: include(r),
		Before: max(r.BeforeLines, 0), After: max(r.AfterLines, 0), Max: maxResults, MaxText: maxText,
	}
	found, err := search.Grep(ctx, b.fsys, r.Pattern, o)
	if err != nil {
		return nil, err
	}
	if found.Truncated {
		return nil, tooMany("grep", r.Pattern)
	}

	var list []filesystem.GrepMatch
	for _, m := range found.Matches {
		if !ofType(m.Path, r.FileType) {
			continue
		}
		first := m.Line - len(m.Before)
		for i, text := range slices.Concat(m.Before, []string{m.Text}, m.After) {
			list = add(list, filesystem.GrepMatch{Path: "/" + m.Path, Line: first + i, Content: text})
		}
	}
	return list, nil
}

// add adds a line, unless the list ends with it or with a later one of the same file.
func add(list []filesystem.GrepMatch, m filesystem.GrepMatch) []filesystem.GrepMatch {
	if n := len(list); n > 0 && list[n-1].Path == m.Path && list[n-1].Line >= m.Line {
		return list
	}
	return append(list, m)
}

// include returns the patterns of the files that are searched.
func include(r *filesystem.GrepRequest) (list []string) {
	if r.Glob != "" {
		return []string{r.Glob}
	}
	for _, extension := range extensions(r.FileType) {
		list = append(list, "*."+extension)
	}
	return list
}

// grepFiles is GrepRaw for matches that may go over several lines: it matches each file as a whole.
func (b *Backend) grepFiles(ctx context.Context, r *filesystem.GrepRequest) (list []filesystem.GrepMatch, err error) {
	if r.Pattern == "" {
		return nil, &fs.PathError{Op: "grep", Path: r.Pattern, Err: syscall.EINVAL}
	}
	flags := ""
	if r.CaseInsensitive {
		flags = "(?i)"
	}
	pattern, err := regexp.Compile(flags + r.Pattern)
	if err != nil {
		return nil, fmt.Errorf("grep: %w: %w", err, syscall.EINVAL)
	}
	names, err := b.files(ctx, r)
	if err != nil {
		return nil, err
	}

	size := 0
	for _, name := range names {
		text, err := b.text(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		matches := pattern.FindAllStringIndex(text, maxResults+1)
		if len(matches) > maxResults {
			return nil, tooMany("grep", r.Pattern)
		}
		before := len(list)
		list = addLines(list, "/"+name, text, matches, max(r.BeforeLines, 0), max(r.AfterLines, 0))
		for _, m := range list[before:] {
			size += len(m.Content)
		}
		if len(list) > maxResults || size > maxText {
			return nil, tooMany("grep", r.Pattern)
		}
	}
	return list, nil
}

// files lists the paths of the files that a request is about.
func (b *Backend) files(ctx context.Context, r *filesystem.GrepRequest) (names []string, err error) {
	info, err := b.fsys.Stat(ctx, "/"+r.Path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		name, err := b.fsys.Resolve(ctx, "/"+r.Path, true)
		return []string{name}, err
	}
	hits, _, err := search.Find(ctx, b.fsys, "/"+r.Path, &search.FindOptions{Pattern: r.Glob, MatchBase: true, Kind: "file"})
	for _, hit := range hits {
		if ofType(hit.Path, r.FileType) && hit.Info.Size() <= search.DefaultMaxFileSize {
			names = append(names, hit.Path)
		}
	}
	return names, err
}

// text returns the content of a file, nothing if it looks binary.
func (b *Backend) text(ctx context.Context, name string) (string, error) {
	data, err := b.fsys.ReadRange(ctx, name, 0, search.DefaultMaxFileSize)
	if err != nil || vfs.LooksBinary(data) {
		return "", err
	}
	return string(data), nil
}

// addLines adds the lines of a text that matches go over, and those around them, each once.
func addLines(list []filesystem.GrepMatch, name, text string, matches [][]int, before, after int) []filesystem.GrepMatch {
	if len(matches) == 0 {
		return list
	}
	lines := strings.Split(text, "\n")
	at, line := 0, 1
	for _, m := range matches {
		line += strings.Count(text[at:m[0]], "\n")
		last := line + strings.Count(text[m[0]:m[1]], "\n")
		for n := max(line-before, 1); n <= min(last+after, len(lines)); n++ {
			list = add(list, filesystem.GrepMatch{Path: name, Line: n, Content: lines[n-1]})
		}
		at, line = m[1], last
	}
	return list
}

// types are the types of files that have other extensions than their names, as ripgrep has them.
var types = map[string][]string{
	"c": {"c", "h"}, "cpp": {"cpp", "cc", "cxx", "hpp", "hh", "hxx", "h"}, "csharp": {"cs"}, "elixir": {"ex", "exs"},
	"haskell": {"hs", "lhs"}, "html": {"html", "htm"}, "js": {"js", "jsx", "cjs", "mjs", "vue"}, "kotlin": {"kt", "kts"},
	"markdown": {"md", "markdown", "mdx"}, "md": {"md", "markdown", "mdx"}, "ocaml": {"ml", "mli"}, "perl": {"pl", "pm", "t"},
	"py": {"py", "pyi"}, "python": {"py", "pyi"}, "ruby": {"rb", "gemspec"}, "rust": {"rs"}, "sh": {"sh", "bash", "zsh"},
	"ts": {"ts", "tsx", "cts", "mts"}, "typescript": {"ts", "tsx", "cts", "mts"}, "yaml": {"yaml", "yml"},
}

// extensions returns those of a type of files; one that is not known is an extension itself.
func extensions(fileType string) []string {
	if fileType == "" {
		return nil
	}
	if known := types[fileType]; known != nil {
		return known
	}
	return []string{fileType}
}

// ofType reports whether a file is of a type; any file is of the type "".
func ofType(name, fileType string) bool {
	return fileType == "" || slices.Contains(extensions(fileType), strings.TrimPrefix(path.Ext(name), "."))
}
