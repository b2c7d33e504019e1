package docs

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// blocks returns the fenced blocks of a document in a language.
func blocks(text, language string) (list []string) {
	for _, found := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		list = append(list, found[1])
	}
	return list
}

// block returns the only one.
func block(t *testing.T, text, language string) string {
	t.Helper()
	found := blocks(text, language)
	require.Len(t, found, 1, "blocks of %s", language)
	return found[0]
}

// The Go of the README is a program of another module, whose go.mod has the place of ours. It runs, and runs again.
func TestReadmeGo(t *testing.T) {
	dir := t.TempDir()
	ours, err := filepath.Abs(root)
	require.NoError(t, err)
	_, requires, found := strings.Cut(document(t, "go.mod"), "\nrequire (")
	require.True(t, found)
	module := moduleOf(t)
	mod := fmt.Sprintf("module attempt\n\ngo 1.26.0\n\nrequire %s v0.1.0\n\nreplace %[1]s => %s\n\nrequire (%s", module, ours, requires)
	for name, text := range map[string]string{
		"go.mod": mod, "go.sum": document(t, "go.sum"), "main.go": block(t, document(t, "README.md"), "go"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	formatted, err := format.Source([]byte(block(t, document(t, "README.md"), "go")))
	require.NoError(t, err)
	require.Equal(t, string(formatted), block(t, document(t, "README.md"), "go"))

	build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-o", filepath.Join(dir, "attempt"), ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, want := range []string{"added notes\nadded notes/plan.md\n", "modified notes/plan.md\n"} {
		run := exec.CommandContext(t.Context(), filepath.Join(dir, "attempt"))
		run.Dir, run.Stderr = dir, os.Stderr
		out, err := run.Output()
		require.NoError(t, err)
		require.Equal(t, want, string(out))
	}
	require.LessOrEqual(t, strings.Count(function(t, "agent/example_loop_test.go", "loop"), "\n"), 40, "lines of the loop of an agent")
}

// moduleOf returns the path of this module.
func moduleOf(t *testing.T) string {
	t.Helper()
	return regexp.MustCompile(`(?m)^module (\S+)$`).FindStringSubmatch(document(t, "go.mod"))[1]
}

// function returns the text of a function in a file.
func function(t *testing.T, name, called string) string {
	t.Helper()
	text := document(t, name)
	file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
	require.NoError(t, err)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == called {
			return text[f.Pos()-1:f.End()-1] + "\n"
		}
	}
	t.Fatalf("%s has no function %s", name, called)
	return ""
}

// shells returns the fenced blocks of commands in the README.
func shells(t *testing.T) []string { return blocks(document(t, "README.md"), "sh") }

// The session of the README prints what the README shows, and does so again. Sizes, times and names differ.
func TestReadmeSession(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the session is for a POSIX shell")
	}
	program, err := vfsctl()
	require.NoError(t, err)
	found := slices.IndexFunc(shells(t), func(block string) bool { return strings.Contains(block, "vfsctl snapshot create") })
	require.GreaterOrEqual(t, found, 0)
	dir := t.TempDir()
	for range 2 {
		session := exec.CommandContext(t.Context(), "sh")
		session.Stdin = strings.NewReader(shells(t)[found])
		session.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "TMPDIR="+dir, "VFS_DB=", "VFS_BRANCH=")
		out, err := session.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, timeless(block(t, document(t, "README.md"), "text")), timeless(string(out)))
	}
}

// The first commands of the README work as they stand there, in a directory with a module of Go.
func TestReadmeRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the session is for a POSIX shell")
	}
	program, err := vfsctl()
	require.NoError(t, err)
	found := slices.IndexFunc(shells(t), func(block string) bool { return strings.Contains(block, "vfsctl run") })
	require.GreaterOrEqual(t, found, 0)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example\n\ngo 1.26\n",
		"a_test.go": "package example\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	session := exec.CommandContext(t.Context(), "sh")
	session.Dir, session.Stdin = dir, strings.NewReader(shells(t)[found])
	session.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "VFS_DB=agent.db", "VFS_BRANCH=", "GOFLAGS=", "GOWORK=off")
	out, err := session.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "ok  \texample")
}

// A client that is configured as in the README finds tools that work, now and when it is started again.
func TestReadmeMCP(t *testing.T) {
	program, err := vfsctl()
	require.NoError(t, err)
	var config struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	require.NoError(t, json.Unmarshal([]byte(block(t, document(t, "README.md"), "json")), &config))
	server := config.Servers["workspace"]
	require.Equal(t, "vfsctl", server.Command)
	i := slices.Index(server.Args, "/home/me/agent.db")
	require.Positive(t, i)
	server.Args[i] = filepath.Join(t.TempDir(), "agent.db")

	for range 2 {
		client := mcp.NewClient(&mcp.Implementation{Name: "reader"}, nil)
		session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: exec.Command(program, server.Args...)}, nil)
		require.NoError(t, err)
		written, err := session.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "workspace_write_file", Arguments: map[string]any{"path": "/plan.md", "content": "1. measure\n"},
		})
		require.NoError(t, err)
		require.False(t, written.IsError)
		require.NoError(t, session.Close())
	}
}

// The commands that the README promises stand alone on a line: scripts look for them.
func TestReadmeCommands(t *testing.T) {
	var alone []string
	for _, block := range shells(t) {
		alone = append(alone, strings.Split(block, "\n")...)
	}
	require.Contains(t, alone, "go run ./cmd/vfsctl tour .")
	require.Contains(t, alone, "go install ./cmd/vfsctl")
	require.Contains(t, alone, "go test ./...")
}

// Every ratio and every time in the prose of the README is a figure of the newest run, which bench/README.md has.
func TestReadmeFigures(t *testing.T) {
	measured := strings.ReplaceAll(document(t, "bench/README.md"), " us", " µs")
	prose := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(document(t, "README.md"), "")
	figures := regexp.MustCompile(`\b[0-9][0-9.]*(?:x| (?:ns|µs|ms))\b`).FindAllString(prose, -1)
	require.GreaterOrEqual(t, len(figures), 8)
	for _, figure := range figures {
		require.Contains(t, measured, " "+figure, "of the README")
	}
}
