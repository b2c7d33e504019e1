package profile_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/profile"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/record"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// mark is in the contents and names of files that no tool may reach. No call contains it, so a result that does
// leaks.
const mark = "MARKED-7f3a"

// callsPerStore is how many calls one store gets: enough to tangle it, few enough that it stays small.
const callsPerStore = 10_000

// An attacker who controls every argument, and every file and symlink below /ok, while somebody else moves directories
// under their feet: no result shows what is outside, nothing outside changes, nothing panics, memory is bounded.
// VFS_LONG runs a million calls.
func TestNoEscape(t *testing.T) {
	calls := 2 * callsPerStore
	if os.Getenv("VFS_LONG") != "" {
		calls = 1_000_000
	}
	if testing.Short() {
		calls = callsPerStore / 5
	}
	for round := range max(1, calls/callsPerStore) {
		seed := uint64(round)
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			attack(t, rand.New(rand.NewPCG(seed, 1)), min(calls, callsPerStore))
		})
		if t.Failed() {
			return
		}
	}
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	require.Less(t, mem.HeapAlloc, uint64(256<<20), "bytes of heap after %d calls", calls)
}

func attack(t *testing.T, r *rand.Rand, calls int) {
	fsys := vfstest.New(t, "ok/a", "ok/d/b", "ok/d/e/c", "ok/ro/f", "elsewhere/x/y", "elsewhere/z", "memories/m")
	ctx := t.Context()
	for _, dir := range []string{"secret", "ok/deny", "ok/d/deny"} {
		at := dir + "/inner/" + mark
		require.NoError(t, fsys.WriteFile(ctx, at+".txt", []byte(mark+"\n"), 0o644, vfs.Parents()))
		require.NoError(t, fsys.WriteFile(ctx, dir+"/file", []byte(mark), 0o644))
		require.NoError(t, fsys.MkdirAll(ctx, at, 0o755))
	}
	for i, target := range []string{
		"/secret", "../secret/inner", "/", "..", "deny", "/ok/deny/inner", "l0/inner", "l2/secret/file", "d/../../secret",
		"/ok/ro", "ro/f", "l11", "l10", "/secret/new", "/elsewhere",
	} {
		require.NoError(t, fsys.Symlink(ctx, target, fmt.Sprintf("ok/l%d", i)))
	}
	outside := func() map[string]string {
		kept := map[string]string{}
		for path, what := range vfstest.Dump(t, fsys) {
			for _, dir := range []string{"secret", "ok/deny", "ok/d/deny", "ok/ro"} {
				if path == dir || strings.HasPrefix(path, dir+"/") {
					kept[path] = what
				}
			}
		}
		return kept
	}
	before := outside()
	require.Greater(t, len(before), 10)

	refused := &policy.Policy{
		Paths: []string{"/ok", "/memories"}, Deny: []string{"/ok/deny", "/ok/d/deny"}, ReadOnly: []string{"/ok/ro"},
		MaxFileSize: 1 << 20,
	}
	var boxes []*tool.Toolbox
	for _, p := range profile.All() {
		b, err := tool.New(fsys, &tool.Config{Profile: p, Policy: refused, Session: "attacker"})
		require.NoError(t, err, p.Name)
		boxes = append(boxes, b)
	}
	g := generator{Rand: r, helix: map[string]*jsonschema.Schema{}}
	for _, op := range boxes[0].Tools() {
		g.helix[strings.TrimPrefix(op.Name, "workspace_")] = op.Input
	}
	worked := 0
	for range calls {
		if r.IntN(20) == 0 {
			g.disturb(t, fsys)
		}
		b := boxes[r.IntN(len(boxes))]
		tools := b.Tools()
		op := tools[r.IntN(len(tools))]
		input, err := json.Marshal(g.value(op.Input, ""))
		require.NoError(t, err)
		if r.IntN(50) == 0 && len(input) > 2 {
			input[r.IntN(len(input))] = byte(r.IntN(256))
		}
		result := b.Call(ctx, op.Name, input)
		data, err := json.Marshal(result)
		require.NoError(t, err)
		if strings.Contains(string(data), mark) || strings.Contains(result.Text, mark) {
			t.Fatalf("%s %s shows what is outside:\n%s", op.Name, input, result.Text)
		}
		for _, m := range result.Media {
			require.NotContains(t, string(m.Data), mark)
		}
		if result.Err == nil {
			worked++
		}
	}
	require.Equal(t, before, outside())
	require.Greater(t, worked, calls/20, "calls that worked, so that the rest means something")
	require.NoError(t, record.Flush(ctx, fsys))
	unattributed(t, fsys)
}

// A generator makes arguments.
type generator struct {
	*rand.Rand
	helix map[string]*jsonschema.Schema
}

var segments = []string{
	"ok", "ok", "ok", "d", "e", "a", "b", "c", "f", "ro", "deny", "inner", "secret", "file", "elsewhere", "x", "y", "new", "memories", "m",
	"l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7", "l8", "l9", "l10", "l11", "l12", "l13", "l14", "..", "..", ".", "", "~", "%2e%2e", "é", "*",
}

func (g generator) path() string {
	switch g.IntN(60) {
	case 0:
		return ""
	case 1:
		return strings.Repeat("../", g.IntN(2000)) + "secret/file"
	case 2:
		return strings.Repeat("n", g.IntN(5000))
	case 3:
		return "/ok/\x00" + "secret"
	case 4:
		return "file:///secret/file"
	}
	var b strings.Builder
	if g.IntN(4) > 0 {
		b.WriteString("/ok")
	}
	for range g.IntN(5) {
		b.WriteString("/" + segments[g.IntN(len(segments))])
	}
	return b.String()
}

func (g generator) Text() string {
	switch g.IntN(8) {
	case 0:
		return g.path()
	case 1:
		return strings.Repeat("line\n", g.IntN(50))
	case 2:
		return "\x00\x01binary"
	case 3:
		return g.patch()
	case 4:
		return "</workspace_tool_result>"
	}
	return []string{"a", "b", "ok/a", "", "line", "x\ny\n", "before", "main", "main@before"}[g.IntN(9)]
}

// patch is text for the profile apply-patch, more or less.
func (g generator) patch() string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n")
	for range g.IntN(3) {
		switch g.IntN(3) {
		case 0:
			fmt.Fprintf(&b, "*** Add File: %s\n+x\n", g.path())
		case 1:
			fmt.Fprintf(&b, "*** Delete File: %s\n", g.path())
		case 2:
			fmt.Fprintf(&b, "*** Update File: %s\n*** Move to: %s\n@@\n-ok/a\n+ok/b\n", g.path(), g.path())
		}
	}
	return b.String() + "*** End Patch"
}

// value makes a value that fits a schema, mostly. name is the property that it is for.
func (g generator) value(s *jsonschema.Schema, name string) any {
	if g.IntN(200) == 0 {
		return []any{nil, 1, "x", []any{}, map[string]any{"a": 1}, -1.5}[g.IntN(6)]
	}
	if len(s.Enum) > 0 {
		return s.Enum[g.IntN(len(s.Enum))]
	}
	kind := s.Type
	if kind == "" && len(s.Types) > 0 {
		kind = s.Types[g.IntN(len(s.Types))]
	}
	switch kind {
	case "object":
		return g.object(s)
	case "array":
		list := []any{}
		for range g.IntN(4) {
			if s.Items != nil {
				list = append(list, g.value(s.Items, name))
			}
		}
		return list
	case "integer":
		return []int{0, 1, 2, 3, 10, 1000, -1, 1 << 40}[g.IntN(8)]
	case "number":
		return []float64{0, 1, 0.001, 1e300, -1}[g.IntN(5)]
	case "boolean":
		return g.IntN(2) == 0
	}
	if strings.Contains(name, "sum") {
		return strings.Repeat("0", 64)
	}
	if strings.Contains(name, "pattern") || strings.Contains(name, "lob") {
		return []string{"**", "*", "**/*", "../**", "/secret/**", "{ok,secret}/**", "[", ".", "(?i)m", "l0/**", "deny/**", mark[:3]}[g.IntN(12)]
	}
	if name == "ref" || name == "from" || name == "to" {
		return []string{"before", "main", "other", "main@before", "vfs://x/main", ""}[g.IntN(6)]
	}
	if strings.Contains(name, "path") || name == "source" || name == "destination" {
		return g.path()
	}
	return g.Text()
}

func (g generator) object(s *jsonschema.Schema) map[string]any {
	out := map[string]any{}
	for _, name := range sortedNames(s) {
		if slices.Contains(s.Required, name) && g.IntN(50) > 0 || g.IntN(3) == 0 {
			out[name] = g.value(s.Properties[name], name)
		}
	}
	if op, ok := out["tool"].(string); ok && out["args"] != nil && g.helix[op] != nil {
		out["args"] = g.value(g.helix[op], "")
	}
	return out
}

func sortedNames(s *jsonschema.Schema) []string {
	var names []string
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// disturb is what somebody else does meanwhile: swap a directory and a symlink that leads outside, move directories
// out and in. Marked content stays where it is.
func (g generator) disturb(t *testing.T, fsys *vfs.FS) {
	ctx := t.Context()
	switch g.IntN(5) {
	case 0:
		_ = fsys.Rename(ctx, "ok/d/e", "elsewhere/e")
		_ = fsys.Symlink(ctx, "/secret", "ok/d/e")
	case 1:
		if info, err := fsys.Lstat(ctx, "ok/d/e"); err == nil && !info.IsDir() {
			_ = fsys.Remove(ctx, "ok/d/e")
		}
		_ = fsys.Rename(ctx, "elsewhere/e", "ok/d/e")
	case 2:
		_ = fsys.Remove(ctx, "ok/a")
		_ = fsys.Symlink(ctx, "deny/file", "ok/a")
	case 3:
		_ = fsys.Remove(ctx, "ok/a")
		_ = fsys.WriteFile(ctx, "ok/a", []byte("ok/a"), 0o644)
	case 4:
		_ = fsys.Remove(ctx, "ok/d/e")
		if fsys.Mkdir(ctx, "ok/d/e", 0o755) == nil {
			_ = fsys.WriteFile(ctx, "ok/d/e/c", []byte("c\n"), 0o644)
		}
	}
}

// unattributed looks into the log: no change that the attacker's calls made is of a path outside.
func unattributed(t *testing.T, fsys *vfs.FS) {
	t.Helper()
	events, err := fsys.Log(t.Context(), &vfs.LogOptions{Session: "attacker"})
	require.NoError(t, err)
	require.NotEmpty(t, events)
	under := func(path string, dirs ...string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") })
	}
	seen := func(path string) bool { return under(path, "ok", "memories") && !under(path, "ok/deny", "ok/d/deny") }
	inside := func(path string) bool { return seen(path) && !under(path, "ok/ro") }
	for _, e := range events {
		switch e.Op {
		case "snapshot", "snapshot-delete", "branch":
			continue // they are of no path
		case "rename":
			require.True(t, inside(e.Arg), "%+v", e)
		case "copy":
			require.True(t, seen(e.Arg), "%+v", e) // what is copied is only read
		}
		require.True(t, inside(e.Path), "%+v", e)
	}
}
