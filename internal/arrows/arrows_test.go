package arrows

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A room says which other rooms its packages may import, and which ones more its tests may. Every room may import
// itself and the packages below internal. The tests of any room may import the test kits, whatever these import.
type room struct {
	imports []string
	tests   []string
}

// anything is the arrow of rooms that stand on top of all others. Even they do not import commands or benchmarks.
const anything = "*"

// rooms are the arrows between rooms: schema <- hold <- chunk <- node, history <- journal, memory <- tree <- vfs <- search, check, snapshot, gc <- agent <- the doors.
//
// snapshot and gc read and write a few rows of their own, hence schema; neither knows the other. A test of gc has to
// make snapshots to see that gc keeps them, and the other way round. The doors know no storage.
var rooms = map[string]room{
	"schema":   {},
	"hold":     {imports: []string{"schema"}, tests: []string{"chunk"}},
	"chunk":    {imports: []string{"schema", "hold"}},
	"journal":  {imports: []string{"schema", "chunk", "history", "node"}, tests: []string{"tree", "vfs"}},
	"history":  {imports: []string{"schema"}},
	"node":     {imports: []string{"schema", "chunk"}},
	"memory":   {imports: []string{"schema", "chunk", "history", "node"}, tests: []string{"tree", "vfs", "gc"}},
	"tree":     {imports: []string{"schema", "hold", "chunk", "journal", "history", "node", "memory"}, tests: []string{"vfs", "snapshot"}},
	"vfs":      {imports: []string{"schema", "hold", "chunk", "journal", "history", "node", "tree"}, tests: []string{"search", "check", "gc"}},
	"search":   {imports: []string{"schema", "chunk", "history", "node", "tree", "vfs"}},
	"check":    {imports: []string{"schema", "hold", "chunk", "journal", "history", "node", "tree", "vfs"}},
	"snapshot": {imports: []string{"schema", "chunk", "journal", "history", "node", "textdiff", "tree", "vfs"}, tests: []string{"search", "gc"}},
	"gc":       {imports: []string{"schema", "hold", "chunk", "journal", "history", "node", "memory", "tree", "vfs"}, tests: []string{"snapshot"}},
	"purge":    {imports: []string{"schema", "hold", "chunk", "journal", "history", "node", "tree", "vfs", "gc"}, tests: []string{"snapshot", "check", "merge", "undo", "xattr"}},
	"transfer": {imports: []string{"chunk", "node", "tree", "vfs", "snapshot", "transfer/gitignore", "transfer/glob", "transfer/hostdir", "transfer/memo", "transfer/since", "transfer/tarred", "transfer/zipped"}, tests: []string{"gc", "xattr"}},
	"archive":  {imports: []string{"vfs", "transfer"}, tests: []string{"xattr"}},
	"mcp":      {imports: slices.Concat(agents, []string{"vfs", "snapshot", "gc", "transfer"})},
	"xattr":    {imports: []string{"node", "tree", "vfs"}, tests: []string{"snapshot", "gc", "schema"}},
	"mount":    {imports: []string{"schema", "chunk", "node", "tree", "vfs", "snapshot", "mount/mountinfo"}, tests: []string{"gc"}},
	"webdav":   {imports: []string{"vfs", "xattr"}, tests: []string{"snapshot"}},
	"web":      {imports: slices.Concat(agents, []string{"vfs", "snapshot", "gc", "transfer"})},
	"run":      {imports: []string{"chunk", "journal", "node", "tree", "vfs", "snapshot", "merge", "transfer", "mount"}, tests: []string{"gc"}},
	"vfstest":  {imports: slices.Concat(agents, []string{"vfs", "search", "check"}), tests: []string{"schema"}},
	"internal": {imports: []string{anything}},
	"cmd":      {imports: []string{anything}},
	"bench":    {imports: []string{anything, "tree"}}, // one row asks for an inode by its number
	".":        {imports: []string{"vfs", "snapshot", "gc", "transfer"}},

	// What a transfer asks of the host, and of patterns, knows no store; what a mirror remembers of both does.
	"transfer/gitignore": {},
	"transfer/glob":      {},
	"transfer/hostdir":   {},
	"mount/mountinfo":    {},
	"transfer/memo":      {imports: []string{"chunk", "node", "tree", "vfs", "transfer/hostdir"}},
	"transfer/since":     {imports: []string{"vfs", "snapshot"}},
	"transfer/tarred":    {imports: []string{"node"}},
	"transfer/zipped":    {imports: []string{"node"}},

	// The comparison and the merge of texts know no store.
	"textdiff": {},
	"patch":    {imports: []string{"history", "journal", "node", "textdiff", "tree", "vfs", "snapshot"}, tests: []string{"gc", "xattr"}},
	"merge":    {imports: []string{"schema", "chunk", "journal", "history", "node", "textdiff", "tree", "vfs", "snapshot"}, tests: []string{"gc", "check", "xattr"}},
	"undo":     {imports: []string{"history", "journal", "merge", "snapshot", "tree", "vfs"}, tests: []string{"gc", "check", "xattr", "schema"}},

	// Snapshots go to git as commits, and commits come as snapshots.
	"git": {imports: []string{"chunk", "history", "node", "tree", "vfs", "snapshot"}, tests: []string{"gc"}},

	// A branch goes to a directory of the host by a merge.
	"apply": {imports: []string{"chunk", "history", "node", "tree", "vfs", "snapshot", "merge", "patch", "transfer/hostdir"}, tests: []string{"transfer", "run", "xattr"}},

	// The drawing of the benchmark's ratios knows no benchmark.
	"bench/chart": {},

	// The tools of agents, the profiles over them, and the sessions over both. A profile knows no other.
	"agent/policy":             {imports: []string{"vfs", "search"}},
	"agent/runner":             {imports: []string{"vfs", "run", "agent/tool"}, tests: slices.Concat(agents, []string{"vfs"})},
	"agent/tool":               {imports: []string{"vfs", "search", "snapshot", "agent/policy"}, tests: agents},
	"agent/tool/branches":      {imports: []string{"vfs", "snapshot", "textdiff", "merge", "undo", "agent/tool", "agent/policy"}, tests: agents},
	"agent/profile/helix":      {imports: []string{"vfs", "search", "snapshot", "merge", "agent/tool", "agent/tool/branches", "agent/policy"}, tests: agents},
	"agent/profile/module2":    {imports: []string{"vfs", "search", "agent/tool", "agent/policy"}, tests: agents},
	"agent/profile/dofs":       {imports: []string{"vfs", "search", "agent/tool", "agent/policy"}, tests: agents},
	"agent/profile/deepagents": {imports: []string{"vfs", "search", "agent/tool", "agent/policy"}, tests: agents},
	"agent/profile/mcpfs":      {imports: []string{"vfs", "search", "agent/tool", "agent/policy"}, tests: agents},
	"agent/profile/claude":     {imports: []string{"vfs", "search", "agent/tool", "agent/policy"}, tests: agents},
	"agent/profile/applypatch": {imports: []string{"agent/tool", "agent/policy"}, tests: agents},
	"agent/profile":            {imports: agents[2:], tests: slices.Concat(agents, []string{"vfs", "snapshot", "merge", "undo"})},
	"agent":                    {imports: slices.Concat(agents[1:], []string{"vfs", "snapshot", "merge"})},
}

// agents are the rooms for agents, the highest first.
var agents = []string{
	"agent", "agent/profile", "agent/profile/helix", "agent/profile/module2", "agent/profile/dofs", "agent/profile/deepagents",
	"agent/profile/mcpfs", "agent/profile/claude", "agent/profile/applypatch", "agent/tool/branches", "agent/tool", "agent/policy",
}

// inner are the rooms that the rooms of a user's program never import, though they may import anything else.
var inner = []string{"history", "journal", "memory", "node", "tree"}

// tops are the rooms that nobody imports.
var tops = []string{"cmd", "bench"}

// engines are the modules that only schema may import: SQLite and the layers over it.
var engines = []string{"modernc.org/sqlite", "zombiezen.com/go/sqlite"}

// fuse is the module that speaks to the kernel of the host. Beside mount, bench may import it, to measure what it costs.
const fuse = "github.com/hanwen/go-fuse"

// dav is the server of the protocol that file managers speak.
const dav = "golang.org/x/net/webdav"

// rival is the plain driver, which bench measures us against.
const rival = "modernc.org/sqlite"

// unsafes are the packages that may import unsafe. The rules of ownership stand in their doc.go.
var unsafes = []string{"schema/engine", "schema/engine/powerloss", "transfer/hostdir"}

// kits are the test kits, ours and the one for everybody. They stand over all rooms, and nothing but tests may import them.
var kits = []string{module + "/internal/vfstest", module + "/vfstest"}

// helpers are the rooms whose code, beside that of tests, may import package testing: it brings flags with it.
var helpers = []string{"internal", "vfstest"}

// powerloss is the host of tests whose power goes, which stands below all rooms and which nothing but tests may import.
const powerloss = module + "/schema/engine/powerloss"

// violations names each import that the arrows do not allow, as "file imports path: reason".
func violations(all []source) []string {
	var found []string
	for _, s := range all {
		if _, ok := rooms[roomOf(s.dir)]; !ok {
			found = append(found, fmt.Sprintf("%s: room %q has no arrows, add it to the table", s.name, roomOf(s.dir)))
			continue
		}
		for _, imported := range s.imports {
			if why := wrong(all, s, imported); why != "" {
				found = append(found, fmt.Sprintf("%s imports %s: %s", s.name, imported, why))
			}
		}
	}
	return found
}

// wrong says why s may not import the path, or nothing when it may.
func wrong(all []source, s source, imported string) string {
	from := roomOf(s.dir)
	for _, engine := range engines {
		if within(imported, engine) && from != "schema" && !(imported == rival && from == "bench" && !s.test) {
			return "only schema may import SQLite"
		}
	}
	if within(imported, fuse) && from != "mount" && from != "bench" {
		return "only mount may import FUSE"
	}
	if within(imported, dav) && from != "webdav" {
		return "only webdav may import WebDAV"
	}
	if imported == "unsafe" && !slices.Contains(unsafes, s.dir) {
		return "only packages that are for that may be unsafe"
	}
	if within(imported, "testing") && !s.test && !slices.Contains(helpers, from) {
		return "only test kits may import testing"
	}
	if !within(imported, module) {
		return ""
	}
	if within(imported, powerloss) && !s.test {
		return "only tests may lose their power"
	}
	if slices.ContainsFunc(kits, func(kit string) bool { return within(imported, kit) }) {
		if s.test || slices.Contains(helpers, from) {
			return ""
		}
		return "only tests may import the test kits"
	}
	for _, reached := range reach(all, imported, map[string]bool{}) {
		to := roomOf(inModule(reached))
		if to == from || to == "internal" {
			continue
		}
		if slices.Contains(tops, to) {
			return fmt.Sprintf("nobody imports %s", to)
		}
		may := rooms[from].imports
		if s.test {
			may = slices.Concat(may, rooms[from].tests)
		}
		all := slices.Contains(may, anything) && !(slices.Contains(tops, from) && slices.Contains(inner, to))
		if !all && !slices.Contains(may, to) {
			return fmt.Sprintf("%s does not import %s", from, to)
		}
	}
	return ""
}

// reach lists the package itself or, when it is below internal, also all that it imports from this module.
func reach(all []source, imported string, seen map[string]bool) []string {
	if seen[imported] {
		return nil
	}
	seen[imported] = true
	reached := []string{imported}
	if roomOf(inModule(imported)) != "internal" {
		return reached
	}
	for _, s := range all {
		if s.test || s.dir != inModule(imported) {
			continue
		}
		for _, next := range s.imports {
			if within(next, module) {
				reached = append(reached, reach(all, next, seen)...)
			}
		}
	}
	return reached
}

// within reports whether an import path is the given one or below it.
func within(imported, top string) bool {
	return imported == top || strings.HasPrefix(imported, top+"/")
}

// inModule turns an import path of this module into a directory relative to the root.
func inModule(imported string) string {
	if imported == module {
		return "."
	}
	return strings.TrimPrefix(imported, module+"/")
}

// roomOf is the room that a directory belongs to: the nearest one of the table that it is in.
func roomOf(dir string) string {
	for at := dir; ; {
		if _, ok := rooms[at]; ok {
			return at
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return at
		}
		at = at[:i]
	}
}

func TestArrows(t *testing.T) {
	require.Empty(t, violations(sources(t, root)))
}

func TestViolations(t *testing.T) {
	for _, tt := range []struct {
		name, file, imports string
		want                string // part of the complaint; nothing when the import is fine
	}{
		{"schema imports no room", "schema/a.go", "vfsdb/chunk", "schema does not import chunk"},
		{"schema may use SQLite", "schema/a.go", "modernc.org/sqlite/lib", ""},
		{"below schema too", "schema/lite/a.go", "zombiezen.com/go/sqlite/sqlitex", ""},
		{"chunk may not use SQLite", "chunk/a.go", "zombiezen.com/go/sqlite", "only schema may import SQLite"},
		{"nor may a driver's sub-package", "cmd/vfsctl/a.go", "modernc.org/sqlite/vtab", "only schema may import SQLite"},
		{"but bench may race the plain driver", "bench/a.go", "modernc.org/sqlite", ""},
		{"and nothing below it", "bench/a.go", "modernc.org/sqlite/lib", "only schema may import SQLite"},
		{"nor may a test", "bench/a_test.go", "modernc.org/sqlite", "only schema may import SQLite"},
		{"a mount", "mount/a.go", fuse + "/v2/fuse", ""},
		{"and its floor", "bench/doors/a.go", fuse + "/v2/fuse", ""},
		{"FUSE elsewhere", "vfs/a.go", fuse + "/v2/fuse", "only mount may import FUSE"},
		{"WebDAV", "webdav/a.go", dav, ""},
		{"WebDAV elsewhere", "mcp/a.go", dav, "only webdav may import WebDAV"},
		{"unsafe where its rules are", "schema/engine/a.go", "unsafe", ""},
		{"unsafe elsewhere", "schema/a.go", "unsafe", "may be unsafe"},
		{"a host for tests", "schema/a.go", "vfsdb/schema/engine/powerloss", "only tests may lose their power"},
		{"and its tests", "schema/a_test.go", "vfsdb/schema/engine/powerloss", ""},
		{"a name that only begins alike", "chunk/a.go", "modernc.org/sqlite3x", ""},
		{"chunk over schema", "chunk/a.go", "vfsdb/schema", ""},
		{"chunk under vfs", "chunk/a.go", "vfsdb/vfs", "chunk does not import vfs"},
		{"vfs over chunk", "vfs/a.go", "vfsdb/chunk", ""},
		{"vfs over internal", "vfs/a.go", "vfsdb/internal/lru", ""},
		{"vfs under snapshot", "vfs/a.go", "vfsdb/snapshot", "vfs does not import snapshot"},
		{"through internal", "vfs/a.go", "vfsdb/internal/sly", "vfs does not import gc"},
		{"twice through internal", "vfs/a.go", "vfsdb/internal/slyer", "vfs does not import gc"},
		{"snapshot over vfs", "snapshot/a.go", "vfsdb/vfs", ""},
		{"snapshot beside gc", "snapshot/a.go", "vfsdb/gc", "snapshot does not import gc"},
		{"gc beside snapshot", "gc/a.go", "vfsdb/snapshot", "gc does not import snapshot"},
		{"a test of gc makes snapshots", "gc/a_test.go", "vfsdb/snapshot", ""},
		{"a test keeps the other arrows", "gc/a_test.go", "vfsdb/agent", "gc does not import agent"},
		{"transfer over snapshot", "transfer/a.go", "vfsdb/snapshot", ""},
		{"transfer knows no rows", "transfer/a.go", "vfsdb/schema", "transfer does not import schema"},
		{"a merge of texts knows no store", "textdiff/a.go", "vfsdb/vfs", "textdiff does not import vfs"},
		{"git over snapshots", "git/a.go", "vfsdb/snapshot", ""},
		{"git writes no rows", "git/a.go", "vfsdb/schema", "git does not import schema"},
		{"an apply over a merge", "apply/a.go", "vfsdb/merge", ""},
		{"a merge knows no host", "merge/a.go", "vfsdb/apply", "merge does not import apply"},
		{"the host knows no store", "transfer/hostdir/a.go", "vfsdb/vfs", "transfer/hostdir does not import vfs"},
		{"agent knows no storage", "agent/a.go", "vfsdb/chunk", "agent does not import chunk"},
		{"agent knows no numbers", "agent/tool/a.go", "vfsdb/tree", "agent/tool does not import tree"},
		{"agent over profiles", "agent/a.go", "vfsdb/agent/profile", ""},
		{"agent over tools", "agent/a.go", "vfsdb/agent/tool/texts", ""},
		{"a profile over tools", "agent/profile/dofs/a.go", "vfsdb/agent/tool/nodejs", ""},
		{"a profile beside another", "agent/profile/dofs/a.go", "vfsdb/agent/profile/mcpfs", "agent/profile/dofs does not import agent/profile/mcpfs"},
		{"a profile under sessions", "agent/profile/dofs/a.go", "vfsdb/agent", "agent/profile/dofs does not import agent"},
		{"below a profile", "agent/profile/applypatch/patch/a.go", "vfsdb/agent/profile/claude", "agent/profile/applypatch does not import agent/profile/claude"},
		{"its own parser", "agent/profile/applypatch/a.go", "vfsdb/agent/profile/applypatch/patch", ""},
		{"the list over profiles", "agent/profile/a.go", "vfsdb/agent/profile/dofs", ""},
		{"the list under sessions", "agent/profile/a.go", "vfsdb/agent", "agent/profile does not import agent"},
		{"tools under profiles", "agent/tool/a.go", "vfsdb/agent/profile/helix", "agent/tool does not import agent/profile/helix"},
		{"tools under sessions", "agent/tool/a.go", "vfsdb/agent", "agent/tool does not import agent"},
		{"a policy under tools", "agent/policy/a.go", "vfsdb/agent/tool", "agent/policy does not import agent/tool"},
		{"a test of tools", "agent/tool/a_test.go", "vfsdb/agent/profile/helix", ""},
		{"a door over a profile", "mcp/a.go", "vfsdb/agent/profile/helix", ""},
		{"a door knows no record", "mcp/a.go", "vfsdb/journal", "mcp does not import journal"},
		{"nor does the command", "cmd/vfsctl/a.go", "vfsdb/journal", "cmd does not import journal"},
		{"but benchmarks may, for one row", "bench/a.go", "vfsdb/tree", ""},
		{"doors apart", "web/a.go", "vfsdb/mcp", "web does not import mcp"},
		{"the command over all", "cmd/vfsctl/a.go", "vfsdb/gc", ""},
		{"its own packages", "cmd/vfsctl/a.go", "vfsdb/cmd/vfsctl/table", ""},
		{"nobody over the command", "gc/a.go", "vfsdb/cmd/vfsctl", "nobody imports cmd"},
		{"not even benchmarks", "bench/a.go", "vfsdb/cmd/vfsctl", "nobody imports cmd"},
		{"nobody over benchmarks", "cmd/vfsctl/a.go", "vfsdb/bench", "nobody imports bench"},
		{"nor in a test", "vfs/a_test.go", "vfsdb/bench", "nobody imports bench"},
		{"the test kit in a test", "vfs/a_test.go", "vfsdb/internal/vfstest", ""},
		{"the test kit in code", "vfs/a.go", "vfsdb/internal/vfstest", "only tests may import the test kits"},
		{"the public kit in a test", "vfs/a_test.go", "vfsdb/vfstest", ""},
		{"the public kit in code", "cmd/vfsctl/a.go", "vfsdb/vfstest/agenttest", "only tests may import the test kits"},
		{"the public kit over agents", "vfstest/agenttest/a.go", "vfsdb/agent", ""},
		{"the public kit knows no rows", "vfstest/a.go", "vfsdb/schema", "vfstest does not import schema"},
		{"testing in code", "vfs/a.go", "testing", "only test kits may import testing"},
		{"testing in a kit", "vfstest/a.go", "testing", ""},
		{"a room nobody planned", "attic/a.go", "fmt", `room "attic" has no arrows`},
		{"the root's example", "a_test.go", "vfsdb/vfs", ""},
		{"the root from below", "vfs/a.go", module, "vfs does not import ."},
		{"the standard library", "schema/a.go", "net/http", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := []source{
				fake(t, "internal/lru/a.go", "vfsdb/schema"),
				fake(t, "internal/sly/a.go", "vfsdb/gc"),
				fake(t, "internal/slyer/a.go", "vfsdb/internal/sly"),
				fake(t, "internal/vfstest/a.go", "vfsdb/gc"),
				fake(t, tt.file, tt.imports),
			}
			found := violations(all)
			if tt.want == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Contains(t, found[0], tt.file)
			require.Contains(t, found[0], tt.want)
		})
	}
}

// fake is a file that imports one path, as the parser sees it.
func fake(t *testing.T, name, imports string) source {
	t.Helper()
	s, err := parse(name, fmt.Appendf(nil, "package p\n\nimport _ %q\n", imports))
	require.NoError(t, err)
	return s
}
