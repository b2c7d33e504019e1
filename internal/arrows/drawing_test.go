package arrows

import (
	"flag"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "draw docs/rooms.svg again")

// captions say in a few words what each room of the drawing holds.
var captions = map[string]string{
	"schema":        "the file: tables, transactions, the log",
	"hold":          "what a collector must leave alone",
	"chunk":         "bytes: cut, summed, stored once, verified",
	"history":       "branches, lineages, moments and their names",
	"journal":       "what happened, by which call; watching",
	"memory":        "caches of trees; writes of open files",
	"node":          "inodes and entries, as values",
	"tree":          "nodes and entries by number; their history",
	"vfs":           "paths, the verbs of os.Root, open files",
	"search":        "grep, find, glob, usage",
	"check":         "every promise of the file",
	"gc":            "what nothing reaches is given back",
	"purge":         "files that must never have been",
	"snapshot":      "named moments, branches, diff, restore",
	"textdiff":      "lines, hunks, the merge of texts",
	"patch":         "two trees, compared as git does it",
	"merge":         "one branch into another, conflicts",
	"apply":         "a branch onto a directory of the host",
	"undo":          "calls, taken back by a merge",
	"xattr":         "extended attributes, by path",
	"mount":         "a frozen tree as a directory of the host",
	"run":           "programs of the host in a branch",
	"transfer":      "directories and archives, in and out",
	"archive":       "archives by format, packed or plain",
	"git":           "snapshots as commits of git, and back",
	"agent/policy":  "which uses are allowed, and how much",
	"agent/tool":    "guard, toolbox, results, the log of calls",
	"agent/profile": "the tools of one agent each, by its names",
	"agent":         "sessions: a branch with a life; config",
	"mcp":           "the Model Context Protocol",
	"webdav":        "a tree for file managers, by WebDAV",
	"cmd/vfsctl":    "one file for each command",
}

// undrawn are the rooms that stand on all others and say nothing about how these stand on each other.
var undrawn = []string{"internal", "bench", "vfstest", "."}

// drawnAs is the box that a directory is in, or nothing.
func drawnAs(dir string) string {
	top, rest, _ := strings.Cut(dir, "/")
	if slices.Contains(undrawn, top) {
		return ""
	}
	second, _, _ := strings.Cut(rest, "/")
	if name := path.Join(top, second); captions[name] != "" {
		return name
	}
	return top
}

// A plan is a graph of rooms: which rooms each one imports, and which packages of their own stand in it by name.
type plan struct {
	imports  map[string][]string
	packages map[string][]string
}

// survey makes the plan of all sources but tests.
func survey(all []source) plan {
	p := plan{make(map[string][]string), make(map[string][]string)}
	for _, s := range all {
		from := drawnAs(s.dir)
		if s.test || from == "" {
			continue
		}
		if _, ok := p.imports[from]; !ok {
			p.imports[from] = nil
		}
		if path.Dir(s.dir) == "agent/profile" && !slices.Contains(p.packages[from], path.Base(s.dir)) {
			p.packages[from] = append(p.packages[from], path.Base(s.dir))
		}
		for _, imported := range s.imports {
			if !within(imported, module) {
				continue
			}
			if to := drawnAs(inModule(imported)); to != "" && to != from && !slices.Contains(p.imports[from], to) {
				p.imports[from] = append(p.imports[from], to)
			}
		}
	}
	for _, list := range p.packages {
		slices.Sort(list)
	}
	return p
}

// reduce leaves out every arrow that others imply.
func reduce(imports map[string][]string) map[string][]string {
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		return slices.ContainsFunc(imports[from], func(next string) bool { return next == to || reaches(next, to) })
	}
	reduced := make(map[string][]string)
	for from, list := range imports {
		reduced[from] = nil
		for _, to := range list {
			implied := slices.ContainsFunc(list, func(other string) bool { return other != to && reaches(other, to) })
			if !implied {
				reduced[from] = append(reduced[from], to)
			}
		}
		slices.Sort(reduced[from])
	}
	return reduced
}

// floors puts each room one floor above the highest that it imports.
func floors(imports map[string][]string) [][]string {
	var floorOf func(name string) int
	floorOf = func(name string) int {
		floor := 0
		for _, below := range imports[name] {
			floor = max(floor, floorOf(below)+1)
		}
		return floor
	}
	var list [][]string
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		floor := floorOf(name)
		for len(list) <= floor {
			list = append(list, nil)
		}
		list[floor] = append(list[floor], name)
	}
	return list
}

// TestDrawing draws the rooms as their imports have them, and compares that with the drawing in ARCHITECTURE.md.
func TestDrawing(t *testing.T) {
	p := survey(sources(t, root))
	for name := range p.imports {
		require.NotEmpty(t, captions[name], "the room %s has no caption", name)
	}
	for name := range captions {
		require.Contains(t, p.imports, name, "there is a caption for no room")
	}
	p.imports = reduce(p.imports)
	drawn := paint(p, arrange(p))

	file := filepath.Join(root, "docs", "rooms.svg")
	if *update {
		require.NoError(t, os.WriteFile(file, drawn, 0o644))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(drawn), string(text), "go test ./internal/arrows -run TestDrawing -update draws it again; look at it")
}

func TestReduce(t *testing.T) {
	imports := map[string][]string{"a": nil, "b": {"a"}, "c": {"b", "a"}, "d": {"a", "c"}, "e": {"b"}}
	reduced := reduce(imports)
	require.Equal(t, map[string][]string{"a": nil, "b": {"a"}, "c": {"b"}, "d": {"c"}, "e": {"b"}}, reduced)
	require.Equal(t, [][]string{{"a"}, {"b"}, {"c", "e"}, {"d"}}, floors(reduced))
}

// No box covers another one or leaves the drawing, and each text fits into its box.
func TestArrange(t *testing.T) {
	p := survey(sources(t, root))
	p.imports = reduce(p.imports)
	l := arrange(p)
	for i, floor := range l.floors {
		for k, b := range floor {
			require.GreaterOrEqual(t, b.x-b.width/2, 0.0, b.name)
			require.LessOrEqual(t, b.x+b.width/2, float64(drawingWidth), b.name)
			if k > 0 {
				require.GreaterOrEqual(t, b.x-b.width/2, floor[k-1].x+floor[k-1].width/2, "%s covers another one on floor %d", b.name, i)
			}
			for _, line := range b.lines {
				require.LessOrEqual(t, line.width(), b.width-8, "%s: %s", b.name, line.text)
			}
		}
	}
}
