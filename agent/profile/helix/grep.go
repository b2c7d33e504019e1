package helix

import (
	"fmt"
	"strings"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
	"vfsdb/search"
	"vfsdb/vfs"
)

type grepIn struct {
	Pattern    string  `json:"pattern" jsonschema:"RE2: a\\.ts is a literal a.ts; or set literal"`
	Path       string  `json:"path,omitempty"`
	IgnoreCase bool    `json:"ignoreCase,omitempty" default:"false"`
	Literal    bool    `json:"literal,omitempty" default:"false"`
	Include    string  `json:"includeGlob,omitempty" jsonschema:"*.go"`
	Exclude    string  `json:"excludeGlob,omitempty"`
	MaxResults int     `json:"maxResults,omitempty" min:"1"`
	Context    int     `json:"context,omitempty" default:"0" min:"0" max:"100" jsonschema:"lines around each match"`
	MaxFileMB  float64 `json:"maxGrepFileSizeMb,omitempty" jsonschema:"skip larger; 10 if left out, -1: none"`
}

type grepMatch struct {
	Path       string   `json:"path"`
	LineNumber int      `json:"lineNumber"`
	Line       string   `json:"line"`
	Before     []string `json:"before,omitempty"`
	After      []string `json:"after,omitempty"`
}

// grepOut names the files that were not searched, too. Otherwise a model would conclude that the text does not occur.
type grepOut struct {
	Matches       []grepMatch        `json:"matches"`
	Sums          map[string]vfs.Sum `json:"sums,omitempty" jsonschema:"of the files with matches, by path; pass one as ifSum when you change the file"`
	SkippedLarge  []string           `json:"skippedPaths" jsonschema:"files that are too large and were not searched"`
	SkippedBinary []string           `json:"skippedBinaryPaths" jsonschema:"files that are no text and were not searched"`
	FilesScanned  int                `json:"filesScanned"`
	Truncated     bool               `json:"truncated,omitempty" jsonschema:"there are more matches"`
	OmittedBytes  int                `json:"omittedBytes,omitempty" jsonschema:"bytes of long lines that were cut"`

	dir    string
	hint   string // about files that were too large
	lines  string // of the matches
	large  int    // files not searched, of which SkippedLarge names the first
	binary int    // and SkippedBinary
}

func (o grepOut) Parts() []tool.Part {
	text := fmt.Sprintf("%s in %s searched", texts.Count(len(o.Matches), "match", "matches"), texts.Count(o.FilesScanned, "file", "files"))
	if o.Truncated {
		text += "; there are more: narrow the pattern or the path"
	}
	if n := o.binary; n > 0 {
		text += fmt.Sprintf("; %s not searched", texts.Count(n, "binary file", "binary files"))
	}
	all := []tool.Part{{Line: text, Ref: o.dir, Body: o.lines}}
	if o.large > 0 {
		all = append(all, tool.Part{
			Line: texts.Count(o.large, "file", "files") + " too large to search, " + o.hint + ":",
			Ref:  o.dir, Body: texts.Few(o.SkippedLarge),
		})
	}
	return all
}

func grep(g *tool.Guard, in grepIn) (grepOut, error) {
	o := search.GrepOptions{
		Regex: !in.Literal, IgnoreCase: in.IgnoreCase, Path: in.Path,
		Max: g.Caps().Matches, Before: in.Context, After: in.Context,
	}
	if in.MaxResults > 0 {
		o.Max = min(o.Max, in.MaxResults)
	}

	if in.Include != "" {
		o.Include = []string{in.Include}
	}
	if in.Exclude != "" {
		o.Exclude = []string{in.Exclude}
	}

	switch {
	case in.MaxFileMB < 0:
		o.MaxFileSize = -1
	case in.MaxFileMB > 0:
		o.MaxFileSize = int64(min(in.MaxFileMB*(1<<20), 1<<60))
	}

	r, err := g.Grep(in.Pattern, o)
	if err != nil {
		return grepOut{}, err
	}
	out, err := grepShown(g, r)
	out.dir, out.hint = g.Shown(g.OrDir(in.Path)), grepHint(g, o.MaxFileSize)
	return out, err
}

// grepHint returns advice on files that were too large to search.
func grepHint(g *tool.Guard, own int64) string {
	if bound, refused := g.GrepBound(own); refused {
		return fmt.Sprintf("this workspace reads none above %d bytes", bound)
	}
	return "see maxGrepFileSizeMb"
}

// grepShown puts as many matches into a result as fit the cap of bytes.
func grepShown(g *tool.Guard, r *tool.GrepResult) (grepOut, error) {
	out := grepOut{
		Matches: []grepMatch{}, FilesScanned: r.FilesScanned, Truncated: r.Truncated,
		SkippedLarge: orEmpty(g.Skipped(r.SkippedLarge)), SkippedBinary: orEmpty(g.Skipped(r.SkippedBinary)),
	}

	var b strings.Builder
	room := g.Caps().ResultBytes
	for _, m := range r.Matches {
		line, omitted := texts.Cut(texts.Valid(m.Text), min(room, texts.MaxLine))
		one := grepMatch{Path: policy.Rooted(m.Path), LineNumber: m.Line, Line: line}
		for _, around := range []struct {
			from []string
			to   *[]string
		}{{m.Before, &one.Before}, {m.After, &one.After}} {
			for _, text := range around.from {
				short, n := texts.Cut(texts.Valid(text), min(room, texts.MaxLine))
				*around.to = append(*around.to, short)
				omitted += n
			}
		}
		shown := showMatch(one)
		if b.Len()+len(shown) > room {
			out.Truncated = true
			break
		}
		b.WriteString(shown)
		out.Matches = append(out.Matches, one)
		out.OmittedBytes += omitted
	}

	out.Sums = make(map[string]vfs.Sum)
	for _, m := range r.Matches[:len(out.Matches)] {
		at := policy.Rooted(m.Path)
		if _, known := out.Sums[at]; known {
			continue
		}
		sum, err := r.FileSum(m.Path)
		if err != nil {
			return out, err
		}
		out.Sums[at] = sum
	}
	out.lines, out.large, out.binary = strings.TrimSuffix(b.String(), "\n"), len(r.SkippedLarge), len(r.SkippedBinary)
	return out, nil
}

func showMatch(m grepMatch) string {
	var b strings.Builder
	at := texts.OneLine(m.Path)
	for i, line := range m.Before {
		fmt.Fprintf(&b, "%s-%d-%s\n", at, m.LineNumber-len(m.Before)+i, line)
	}
	fmt.Fprintf(&b, "%s:%d:%s\n", at, m.LineNumber, m.Line)
	for i, line := range m.After {
		fmt.Fprintf(&b, "%s-%d-%s\n", at, m.LineNumber+1+i, line)
	}
	return b.String()
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
