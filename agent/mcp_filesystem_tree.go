package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"vfsdb/vfs"
)

func mcpMkdir(g *guard, in mcpPathIn) (mcpOut, error) {
	_, _, err := g.mkdir(in.Path, true)
	return mcpOut{"Successfully created directory " + in.Path}, err
}

// mcpTag is what a line of a list begins with.
func mcpTag(n *node) string {
	if n.info.IsDir() {
		return "[DIR]"
	}
	return "[FILE]"
}

// mcpMore is the end of a list that was cut.
func mcpMore(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n[... truncated, %d %s omitted; refine your search/path]", n, what)
}

func mcpList(g *guard, in mcpPathIn) (mcpOut, error) {
	l, err := g.list(in.Path, true, g.box.caps.Entries)
	if err != nil {
		return mcpOut{}, err
	}
	lines := make([]string, len(l.nodes))
	for i, n := range l.nodes {
		lines[i] = mcpTag(n) + " " + n.name()
	}
	return mcpOut{strings.Join(lines, "\n") + mcpMore(l.omitted, "entries")}, nil
}

type mcpSizesIn struct {
	Path   string `json:"path"`
	SortBy string `json:"sortBy,omitempty" default:"\"name\"" enum:"name,size" jsonschema:"sort entries by name, or by size with the largest first"`
}

func (in mcpSizesIn) about() string { return in.Path }

func mcpListSizes(g *guard, in mcpSizesIn) (mcpOut, error) {
	l, err := g.list(in.Path, true, g.box.caps.Entries)
	if err != nil {
		return mcpOut{}, err
	}
	sizes := make(map[*node]int64, len(l.nodes))
	for _, n := range l.nodes {
		if n.info.Target() == "" {
			sizes[n] = n.info.Size()
			continue
		}
		to, err := g.stat(rooted(n.path), follow)
		if stops(err) {
			return mcpOut{}, err
		}
		sizes[n] = 0
		if err == nil && !to.info.IsDir() {
			sizes[n] = to.info.Size() // a symlink has the size of the file that it leads to
		}
	}
	if in.SortBy == "size" {
		slices.SortStableFunc(l.nodes, func(a, b *node) int { return cmp.Compare(sizes[b], sizes[a]) })
	}
	var b strings.Builder
	files, dirs, total := 0, 0, int64(0)
	for _, n := range l.nodes {
		size := ""
		if n.info.IsDir() {
			dirs++
		} else {
			files++
			total += sizes[n]
			size = fmt.Sprintf("%10s", mcpSize(sizes[n]))
		}
		fmt.Fprintf(&b, "%s %-30s %s\n", mcpTag(n), n.name(), size)
	}
	fmt.Fprintf(&b, "\nTotal: %d files, %d directories\nCombined size: %s", files, dirs, mcpSize(total))
	return mcpOut{b.String() + mcpMore(l.omitted, "entries")}, nil
}

// mcpSize is a number of bytes for people; a KB has 1024.
func mcpSize(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	v := float64(n)
	unit := 0
	for units := "KMGT"; v >= 1<<10 && unit < len(units); unit++ {
		v /= 1 << 10
	}
	return fmt.Sprintf("%.2f %cB", v, "KMGT"[unit-1])
}

type mcpTreeIn struct {
	Path    string   `json:"path"`
	Exclude []string `json:"excludePatterns,omitempty" default:"[]" jsonschema:"leave out what matches one of these"`
}

func (in mcpTreeIn) about() string { return in.Path }

type mcpEntry struct {
	Name     string       `json:"name"`
	Type     string       `json:"type"`
	Children *[]*mcpEntry `json:"children,omitempty"`
}

// mcpTree is JSON whole or not at all: what is cut is no JSON any more.
func mcpTree(g *guard, in mcpTreeIn) (mcpOut, error) {
	dir, err := mcpDir(g, in.Path)
	if err != nil {
		return mcpOut{}, err
	}
	excluded := mcpPatterns(dir.path, slices.Concat(in.Exclude, anywhere(in.Exclude)))
	top := []*mcpEntry{}
	inside := map[string]*[]*mcpEntry{dir.path: &top}
	shown := 0
	_, err = g.walk(in.Path, PermList, func(n *node, _ int) (bool, error) {
		if excluded(n) {
			return false, nil
		}
		if shown == g.box.caps.Entries {
			return false, refuse(syscall.EFBIG, "'%s' holds more than the %d entries that a result may have. Ask for a directory in it, or leave some out with excludePatterns", rooted(dir.path), shown)
		}
		shown++
		up := inside[parentOf(n.path)]
		e := &mcpEntry{Name: n.name(), Type: "file"}
		if n.info.IsDir() {
			e.Type, e.Children = "directory", &[]*mcpEntry{}
			inside[n.path] = e.Children
		}
		*up = append(*up, e)
		return true, nil
	})
	if err != nil {
		return mcpOut{}, err
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(top)
	return mcpOut{strings.TrimSuffix(b.String(), "\n")}, err
}

// mcpDir finds a directory.
func mcpDir(g *guard, name string) (*node, error) {
	n, err := g.stat(name, follow)
	if err == nil && !n.info.IsDir() {
		err = syscall.ENOTDIR
	}
	return n, err
}

func parentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return "."
}

// anywhere lets a pattern without a star match a name at any depth, with all that is below it.
func anywhere(patterns []string) (more []string) {
	for _, p := range patterns {
		if !strings.Contains(p, "*") {
			more = append(more, "**/"+p, "**/"+p+"/**")
		}
	}
	return more
}

// mcpPatterns is a matcher of paths relative to a directory: one of the patterns has to match all of the path.
func mcpPatterns(dir string, texts []string) func(*node) bool {
	patterns := make([]func(rel string, dir bool) bool, len(texts))
	for i, text := range texts {
		patterns[i] = mcpPattern(text)
	}
	return func(n *node) bool {
		rel := relative(dir, n.path)
		return slices.ContainsFunc(patterns, func(match func(string, bool) bool) bool { return match(rel, n.info.IsDir()) })
	}
}

// mcpPattern is a pattern in our dialect of globs, with the rules of minimatch where that has others: nothing matches an
// empty pattern, "!" in front negates, "d/**" is what is below d and not d, and what is no pattern is a name.
func mcpPattern(text string) func(rel string, dir bool) bool {
	if text == "" {
		return func(string, bool) bool { return false }
	}
	if rest, ok := strings.CutPrefix(text, "!"); ok {
		match := mcpPattern(rest)
		return func(rel string, dir bool) bool { return !match(rel, dir) }
	}
	if strings.HasSuffix(text, "/**") {
		text += "/*"
	}
	p, err := vfs.ParsePattern(text)
	if err != nil {
		return func(rel string, _ bool) bool { return rel == text }
	}
	return p.Match
}

type mcpSearchIn struct {
	Path    string   `json:"path"`
	Pattern string   `json:"pattern"`
	Exclude []string `json:"excludePatterns,omitempty" default:"[]" jsonschema:"leave out what matches one of these, with all that is below it"`
}

func (in mcpSearchIn) about() string { return in.Path }

func mcpSearch(g *guard, in mcpSearchIn) (mcpOut, error) {
	dir, err := mcpDir(g, in.Path)
	if err != nil {
		return mcpOut{}, err
	}
	wanted, excluded := mcpPatterns(dir.path, []string{in.Pattern}), mcpPatterns(dir.path, in.Exclude)
	var found []string
	omitted := 0
	_, err = g.walk(in.Path, PermList, func(n *node, _ int) (bool, error) {
		if excluded(n) {
			return false, nil
		}
		if n.info.Target() != "" {
			file, dir, err := followed(g, n)
			if err != nil || !file && !dir {
				return false, err // it leads nowhere, or outside
			}
		}
		switch {
		case !wanted(n):
		case len(found) < g.box.caps.Matches:
			found = append(found, rooted(n.path))
		default:
			omitted++
		}
		return true, nil
	})
	if err != nil || len(found) == 0 {
		return mcpOut{"No matches found"}, err
	}
	return mcpOut{strings.Join(found, "\n") + mcpMore(omitted, "matches")}, nil
}

type mcpMoveIn struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
}

func mcpMove(g *guard, in mcpMoveIn) (mcpOut, error) {
	_, _, err := g.move(in.Source, in.Destination, false, precondition{})
	switch {
	case errors.Is(err, fs.ErrExist):
		err = refuse(syscall.EEXIST, "Destination already exists: %s", g.box.shown(in.Destination))
	case err != nil:
		err = &nodeError{"rename", g.box.shown(in.Source), g.box.shown(in.Destination), err}
	}
	return mcpOut{"Successfully moved " + in.Source + " to " + in.Destination}, err
}

func mcpAllowed(g *guard, _ struct{}) (mcpOut, error) {
	return mcpOut{"Allowed directories:\n" + strings.Join(g.box.allowedDirs(), "\n")}, nil
}
