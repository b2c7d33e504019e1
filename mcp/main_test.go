//lint:file-ignore SA1019 roots and logging are deprecated, and what clients of the versions before 2026-07-28 use

package mcp_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/mcp"
	"vfsdb/vfs"
)

// A server leaves nothing running behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The versions of the protocol that differ: with sessions, and without.
const (
	stateful  = "2025-11-25"
	stateless = "2026-07-28"
)

// eachVersion runs a test with both.
func eachVersion(t *testing.T, test func(t *testing.T, version string)) {
	for _, version := range []string{stateful, stateless} {
		t.Run(version, func(t *testing.T) { test(t, version) })
	}
}

// serve makes a server of one workspace that ends with the test.
func serve(t *testing.T, config *tool.Config, files ...string) (*mcp.Server, *vfs.FS) {
	t.Helper()
	fsys := vfstest.New(t, files...)
	return serveAll(t, nil, mcp.Workspace{FS: fsys, Config: config}), fsys
}

func serveAll(t *testing.T, o *mcp.Options, workspaces ...mcp.Workspace) *mcp.Server {
	t.Helper()
	s, err := mcp.New(t.Context(), workspaces, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// connect connects a client in memory.
func connect(t *testing.T, s *mcp.Server, version string, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	_, err := mcp.SDK(s).Connect(t.Context(), there, nil)
	require.NoError(t, err)
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, o)
	c, err := client.Connect(t.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

type args = map[string]any

// call calls a tool that has to succeed, and returns its structured content.
func call(t *testing.T, c *sdk.ClientSession, op string, a args) map[string]any {
	t.Helper()
	r := try(t, c, op, a)
	require.False(t, r.IsError, text(r))
	out, _ := r.StructuredContent.(map[string]any)
	return out
}

func try(t *testing.T, c *sdk.ClientSession, op string, a args) *sdk.CallToolResult {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: op, Arguments: a})
	require.NoError(t, err)
	return r
}

// text is what the model reads.
func text(r *sdk.CallToolResult) (all string) {
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			all += t.Text
		}
	}
	return all
}

// asJSON is a value as a client gets it.
func asJSON(t *testing.T, v any) (out any) {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}
