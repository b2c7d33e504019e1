package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/internal/mcpclients"
	"vfsdb/vfstest"
)

// The reference server for files and ours get the same calls on the same tree: a directory of the host, and a copy of
// it in a store. Their answers are the same but for the differences that the table names, and so are the trees they
// leave.
func TestReferenceServer(t *testing.T) {
	servers := mcpclients.Find(t)
	host := filepath.Join(t.TempDir(), "host")
	grow(t, host)
	db := filepath.Join(t.TempDir(), "agent.db")
	vfsctl := binary(t)
	executed(t, vfsctl, "--db", db, "init")
	executed(t, vfsctl, "--db", db, "import", host, "/")

	theirs := speak(t, servers.Filesystem(t, filepath.Join(host, "work"), filepath.Join(host, "more")))
	refused := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(refused, []byte("paths: [/work, /more]\n"), 0o644))
	ours := speak(t, exec.Command(vfsctl, "--db", db, "mcp", "--profile", "mcp-filesystem", "--policy", refused))

	require.GreaterOrEqual(t, len(referenceCalls), 150)
	called := map[string]bool{}
	for _, c := range referenceCalls {
		called[c.tool] = true
		t.Run(c.tool+" "+c.name, func(t *testing.T) {
			want, got := theirs.answer(t, c, host), ours.answer(t, c, "")
			if c.differs == "" {
				require.Equal(t, want, got)
				return
			}
			require.NotEqual(t, want, got, "no longer differs: %s", c.differs)
			require.Contains(t, got, c.ours)
			if !strings.HasPrefix(c.ours, "failed: ") && !strings.HasPrefix(c.ours, "passed: ") {
				require.Equal(t, want[:len("passed: ")], got[:len("passed: ")])
			}
		})
	}
	var tools []string
	for op, err := range ours.Tools(t.Context(), nil) {
		require.NoError(t, err)
		tools = append(tools, op.Name)
		require.True(t, called[op.Name], op.Name)
	}
	for op, err := range theirs.Tools(t.Context(), nil) {
		require.NoError(t, err)
		require.Contains(t, tools, op.Name)
	}

	left := filepath.Join(t.TempDir(), "left")
	executed(t, vfsctl, "--db", db, "export", "/", left)
	require.Equal(t, settled(t, host), settled(t, left))
}

// settled is a directory as text, without the files in which the calls make a difference on purpose.
func settled(t *testing.T, dir string) string {
	t.Helper()
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "work", "apart")))
	return vfstest.Tree(t, vfstest.FromFS(t, os.DirFS(dir)))
}

func executed(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// A speaker is a server that a client has on the line.
type speaker struct{ *mcp.ClientSession }

func speak(t *testing.T, server *exec.Cmd) speaker {
	t.Helper()
	server.Env = append(os.Environ(), "TZ=UTC", "HOME=/home/nobody")
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: server, TerminateDuration: 5 * time.Second}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return speaker{session}
}

// answer makes a call below a directory, and puts what it gave into words that can be compared.
func (s speaker) answer(t *testing.T, c referenceCall, host string) string {
	t.Helper()
	args := json.RawMessage(strings.ReplaceAll(c.args, "%", host))
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: args})
	if err != nil {
		return "failed: " + err.Error()
	}
	parts := make([]string, 0, len(r.Content))
	for _, content := range r.Content {
		parts = append(parts, shownContent(t, content))
	}
	text := strings.ReplaceAll(strings.Join(parts, "\n"), host+"/", "/")
	text = strings.ReplaceAll(text, host, "")
	for _, n := range c.normal {
		text = n(text)
	}
	if r.IsError {
		return "failed: " + text
	}
	return "passed: " + text
}

func shownContent(t *testing.T, content mcp.Content) string {
	t.Helper()
	switch c := content.(type) {
	case *mcp.TextContent:
		return c.Text
	case *mcp.ImageContent:
		return "image " + c.MIMEType + " " + base64.StdEncoding.EncodeToString(c.Data)
	case *mcp.AudioContent:
		return "audio " + c.MIMEType + " " + base64.StdEncoding.EncodeToString(c.Data)
	case *mcp.EmbeddedResource:
		return "resource " + c.Resource.MIMEType + " " + c.Resource.Text + base64.StdEncoding.EncodeToString(c.Resource.Blob)
	}
	t.Fatalf("content of type %T", content)
	return ""
}

// anyCall leaves out which call of the system failed, and its paths: the reference names the one it happened to make.
func anyCall(text string) string { return failedCall.ReplaceAllString(text, "$1") }

var failedCall = regexp.MustCompile(`(?m)(E[A-Z]+: [a-z ]+), [a-z]+( '[^']*'( -> '[^']*')?)?$`)

// refusedArguments leaves out what is wrong with the arguments of a call: each server checks them in its own words.
func refusedArguments(text string) string {
	return badArguments.ReplaceAllString(text, "arguments of $1$2")
}

var badArguments = regexp.MustCompile(`^(?:MCP error -32602: Input validation error: Invalid arguments for tool (\w+): |EINVAL: arguments of (\w+): ).*$`)

// undescribed leaves out the line in which ours describes what is no text, for clients that show text alone.
func undescribed(text string) string { return description.ReplaceAllString(text, "") }

var description = regexp.MustCompile(`^\[[a-z0-9+/-]+, \d+ bytes\]\n`)

// uncontexted leaves out the lines around those that an edit changed: the reference shows four of them, ours three.
func uncontexted(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "@@")
	})
	return strings.Join(lines, "\n")
}

// sorted is a text with its lines in order: the reference lists a directory in the order of the host.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// sortedTree is a tree in JSON with its entries in order.
func sortedTree(text string) string {
	var tree any
	if json.Unmarshal([]byte(text), &tree) != nil {
		return text
	}
	sortTree(tree)
	data, err := json.MarshalIndent(tree, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func sortTree(tree any) {
	list, _ := tree.([]any)
	for _, entry := range list {
		sortTree(entry.(map[string]any)["children"])
	}
	slices.SortFunc(list, func(a, b any) int {
		return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
	})
}

var whenMade = regexp.MustCompile(`(?m)^(created|accessed): [A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d GMT\+0000 \(Coordinated Universal Time\)$`)

// untimed leaves out the times that no copy of a file has in common with it.
func untimed(text string) string { return whenMade.ReplaceAllString(text, "$1: <time>") }
