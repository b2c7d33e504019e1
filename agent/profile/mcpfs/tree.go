package mcpfs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/search"
)

func mkdir(g *tool.Guard, in pathIn) (result, error) {
	_, _, err := g.Mkdir(in.Path, true)
	return result{"Successfully created directory " + in.Path}, err
}

// tag returns the beginning of a line in a list.
func tag(n *tool.Node) string {
	if n.Info().IsDir() {
		return "[DIR]"
	}
	return "[FILE]"
}

// more returns the end of a list that was cut.
func more(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n[... truncated, %d %s omitted; refine your search/path]", n, what)
}

func list(g *tool.Guard, in pathIn) (result, error) {
	l, err := g.List(in.Path, true, g.Caps().Entries)
	if err != nil {
		return result{}, err
	}
	lines := make([]string, len(l.Nodes))
	for i, n := range l.Nodes {
		lines[i] = tag(n) + " " + n.Name()
	}
	return result{strings.Join(lines, "\n") + more(l.Omitted, "entries")}, nil
}

type sizesIn struct {
	Path   string `json:"path"`
	SortBy string `json:"sortBy,omitempty" default:"\"name\"" enum:"name,size" jsonschema:"sort entries by name, or by size with the largest first"`
}

func (in sizesIn) About() string { return in.Path }

func listSizes(g *tool.Guard, in sizesIn) (result, error) {
	l, err := g.List(in.Path, true, g.Caps().Entries)
	if err != nil {
		return result{}, err
	}
	sizes := make(map[*tool.Node]int64, len(l.Nodes))
	for _, n := range l.Nodes {
		if n.Info().Target() == "" {
			sizes[n] = n.Info().Size()
			continue
		}
		to, err := g.Stat(n.Path(), tool.Follow)
		if tool.Stops(err) {
			return result{}, err
		}
		sizes[n] = 0
		if err == nil && !to.Info().IsDir() {
			sizes[n] = to.Info().Size() // a symlink has the size of the file that it leads to
		}
	}

	if in.SortBy == "size" {
		slices.SortStableFunc(l.Nodes, func(a, b *tool.Node) int { return cmp.Compare(sizes[b], sizes[a]) })
	}
	var b strings.Builder
	files, dirs, total := 0, 0, int64(0)
	for _, n := range l.Nodes {
		size := ""
		if n.Info().IsDir() {
			dirs++
		} else {
			files++
			total += sizes[n]
			size = fmt.Sprintf("%10s", humanSize(sizes[n]))
		}
		fmt.Fprintf(&b, "%s %-30s %s\n", tag(n), n.Name(), size)
	}
	fmt.Fprintf(&b, "\nTotal: %d files, %d directories\nCombined size: %s", files, dirs, humanSize(total))
	return result{b.String() + more(l.Omitted, "entries")}, nil
}

// humanSize writes a number of bytes for people; a KB has 1024.
func humanSize(n int64) string {
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

type treeIn struct {
	Path    string   `json:"path"`
	Exclude []string `json:"excludePatterns,omitempty" default:"[]" jsonschema:"leave out what matches one of these"`
}

func (in treeIn) About() string { return in.Path }

type entry struct {
	Name     string    `json:"name"`
	Type     string    `json:"type"`
	Children *[]*entry `json:"children,omitempty"`
}

// tree returns JSON whole or not at all: a cut text is no JSON.
func tree(g *tool.Guard, in treeIn) (result, error) {
	dir, err := dir(g, in.Path)
	if err != nil {
		return result{}, err
	}
	excluded := patterns(slices.Concat(in.Exclude, anywhere(in.Exclude)))
	top := []*entry{}
	inside := map[string]*[]*entry{dir.Path(): &top}
	shown := 0
	_, err = g.Walk(in.Path, policy.List, func(n *tool.Node, rel string) (bool, error) {
		if excluded(n, rel) {
			return false, nil
		}
		if shown == g.Caps().Entries {
			return false, tool.Refuse(syscall.EFBIG, "'%s' holds more than the %d entries that a result may have. Ask for a directory in it, or leave some out with excludePatterns", dir.Path(), shown)
		}
		shown++
		up := inside[path.Dir(n.Path())]
		e := &entry{Name: n.Name(), Type: "file"}
		if n.Info().IsDir() {
			e.Type, e.Children = "directory", &[]*entry{}
			inside[n.Path()] = e.Children
		}
		*up = append(*up, e)
		return true, nil
	})
	if err != nil {
		return result{}, err
	}

	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(top)
	return result{strings.TrimSuffix(b.String(), "\n")}, err
}

// dir finds a directory.
func dir(g *tool.Guard, name string) (*tool.Node, error) {
	n, err := g.Stat(name, tool.Follow)
	if err == nil && !n.Info().IsDir() {
		err = syscall.ENOTDIR
	}
	return n, err
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

// patterns returns a matcher of paths below a directory: one of the patterns has to match all of the path.
func patterns(texts []string) func(n *tool.Node, rel string) bool {
	patterns := make([]func(rel string, dir bool) bool, len(texts))
	for i, text := range texts {
		patterns[i] = pattern(text)
	}
	return func(n *tool.Node, rel string) bool {
		return slices.ContainsFunc(patterns, func(match func(string, bool) bool) bool { return match(rel, n.Info().IsDir()) })
	}
}

// pattern returns the matcher of a glob, with the rules of minimatch where these differ from ours: nothing matches an
// empty pattern, "!" in front negates, "d/**" matches all below d and not d, and a text that is no pattern is a name.
func pattern(text string) func(rel string, dir bool) bool {
	if text == "" {
		return func(string, bool) bool { return false }
	}
	if rest, ok := strings.CutPrefix(text, "!"); ok {
		match := pattern(rest)
		return func(rel string, dir bool) bool { return !match(rel, dir) }
	}
	if strings.HasSuffix(text, "/**") {
		text += "/*"
	}
	p, err := search.ParsePattern(text)
	if err != nil {
		return func(rel string, _ bool) bool { return rel == text }
	}
	return p.Match
}

type searchIn struct {
	Path    string   `json:"path"`
	Pattern string   `json:"pattern"`
	Exclude []string `json:"excludePatterns,omitempty" default:"[]" jsonschema:"leave out what matches one of these, with all that is below it"`
}

func (in searchIn) About() string { return in.Path }

func searchFiles(g *tool.Guard, in searchIn) (result, error) {
	if _, err := dir(g, in.Path); err != nil {
		return result{}, err
	}
	wanted, excluded := patterns([]string{in.Pattern}), patterns(in.Exclude)
	var found []string
	omitted := 0
	_, err := g.Walk(in.Path, policy.List, func(n *tool.Node, rel string) (bool, error) {
		if excluded(n, rel) {
			return false, nil
		}
		if n.Info().Target() != "" {
			file, dir, err := g.Followed(n)
			if err != nil || !file && !dir {
				return false, err // it leads nowhere, or outside
			}
		}
		switch {
		case !wanted(n, rel):
		case len(found) < g.Caps().Matches:
			found = append(found, n.Path())
		default:
			omitted++
		}
		return true, nil
	})
	if err != nil || len(found) == 0 {
		return result{"No matches found"}, err
	}

	return result{strings.Join(found, "\n") + more(omitted, "matches")}, nil
}

type moveIn struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
}

func move(g *tool.Guard, in moveIn) (result, error) {
	_, _, err := g.Move(in.Source, in.Destination, false, tool.Precondition{})
	switch {
	case errors.Is(err, fs.ErrExist):
		err = tool.Refuse(syscall.EEXIST, "Destination already exists: %s", g.Shown(in.Destination))
	case err != nil:
		err = &tool.CallError{Op: "rename", Path: g.Shown(in.Source), Dest: g.Shown(in.Destination), Err: err}
	}
	return result{"Successfully moved " + in.Source + " to " + in.Destination}, err
}

func allowed(g *tool.Guard, _ struct{}) (result, error) {
	return result{"Allowed directories:\n" + strings.Join(allowedDirs(g.Allowed()), "\n")}, nil
}
