package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/internal/mcpclients"
)

var updateTokens = flag.Bool("update-tokens", false, "write the table of tokens in agent/CONFIG.md, for review")

// A comparison is one text of our server and the same of the reference, as a model reads them.
type comparison struct {
	what, ours string
	args       string
	theirs     string // the reference's tool; "" if it has none
	theirArgs  string
}

// What models read of the profile helix and of the reference server, in tokens of four bytes, is the table in
// agent/CONFIG.md. Paths of the host, which are of any length, do not count.
func TestTokens(t *testing.T) {
	clients := mcpclients.Find(t)
	host := t.TempDir()
	long := &strings.Builder{}
	for i := range 50_000 {
		fmt.Fprintf(long, "2024-03-09 12:00:00 INFO request %05d was answered in %d ms\n", i, i%97)
	}
	files := map[string]string{"log.txt": long.String(), "code.go": long.String()[:6000]}
	for i := range 100 {
		files[fmt.Sprintf("dir/component-%02d.test.ts", i)] = strings.Repeat("x", i)
	}
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(host, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(host, name), []byte(text), 0o644))
	}
	db, vfsctl := filepath.Join(t.TempDir(), "agent.db"), binary(t)
	require.NoError(t, exec.Command(vfsctl, "--db", db, "init").Run())
	require.NoError(t, exec.Command(vfsctl, "--db", db, "import", host, "/").Run())
	ours, theirs := weigh(t, exec.Command(vfsctl, "--db", db, "mcp")), weigh(t, clients.Filesystem(t, host))

	edit := `"oldText":"request 00050 was","newText":"request 00050 is"`
	table := "| what a model reads | helix | reference |\n|---|---|---|\n" + fmt.Sprintf("| all tools, in every turn | %d | %d |\n", ours.tools()/4, theirs.tools()/4)
	for _, w := range []comparison{
		{"a directory of 100 files", "ls", `{"path":"/dir"}`, "list_directory", `{"path":"HOST/dir"}`},
		{"the same, with sizes", "ls", `{"path":"/dir"}`, "list_directory_with_sizes", `{"path":"HOST/dir"}`},
		{"a file of 6 KB", "read_file", `{"path":"/code.go"}`, "read_text_file", `{"path":"HOST/code.go"}`},
		{"a log of 3 MB, without a limit", "read_file", `{"path":"/log.txt"}`, "read_text_file", `{"path":"HOST/log.txt"}`},
		{"its last 20 lines", "read_file", `{"path":"/log.txt","tail":20}`, "read_text_file", `{"path":"HOST/log.txt","tail":20}`},
		{"an edit of one line", "edit_file", `{"path":"/code.go",` + edit + `}`, "edit_file", `{"path":"HOST/code.go","edits":[{` + edit + `}]}`},
		{"an edit of 50,000 lines", "edit_file", `{"path":"/log.txt","oldText":"INFO","newText":"WARN","all":true}`, "", ""},
		{"a search with 100 matches", "grep", `{"pattern":"request 0..42 was","path":"/log.txt"}`, "", ""},
	} {
		reference := "-"
		if w.theirs != "" {
			reference = fmt.Sprint(theirs.result(w.theirs, strings.ReplaceAll(w.theirArgs, "HOST", host), host) / 4)
		}
		table += fmt.Sprintf("| %s | %d | %s |\n", w.what, ours.result("workspace_"+w.ours, w.args, host)/4, reference)
	}
	t.Log("\n" + table)

	const config = "../../agent/CONFIG.md"
	text, err := os.ReadFile(config)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), "<!-- tokens -->\n")
	old, after, closed := strings.Cut(rest, "<!-- -->\n")
	require.True(t, found && closed)
	if *updateTokens {
		require.NoError(t, os.WriteFile(config, []byte(before+"<!-- tokens -->\n"+table+"<!-- -->\n"+after), 0o644))
		return
	}
	require.Equal(t, old, table, "go test ./cmd/vfsctl -run TestTokens -update-tokens writes it")
}

// A scale weighs what a client of a server gives its model.
type scale struct {
	t *testing.T
	c *mcp.ClientSession
}

func weigh(t *testing.T, server *exec.Cmd) scale {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "scale", Version: "1"}, nil)
	c, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: server}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return scale{t, c}
}

// tools are the bytes of the names, descriptions and arguments of all tools.
func (s scale) tools() (bytes int) {
	for op, err := range s.c.Tools(s.t.Context(), nil) {
		require.NoError(s.t, err)
		told, err := json.Marshal(map[string]any{"name": op.Name, "description": op.Description, "input_schema": op.InputSchema})
		require.NoError(s.t, err)
		bytes += len(told)
	}
	return bytes
}

// result are the bytes of the text of a call.
func (s scale) result(op, args, host string) (bytes int) {
	r, err := s.c.CallTool(s.t.Context(), &mcp.CallToolParams{Name: op, Arguments: json.RawMessage(args)})
	require.NoError(s.t, err)
	for _, c := range r.Content {
		text, ok := c.(*mcp.TextContent)
		require.True(s.t, ok)
		require.False(s.t, r.IsError, text.Text)
		bytes += len(strings.ReplaceAll(text.Text, host, ""))
	}
	return bytes
}
