//lint:file-ignore SA1019 roots and logging are deprecated, and what clients of the versions before 2026-07-28 use

package mcp_test

import (
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/mcp"
)

// withRoots is a client that works in some roots.
func withRoots(t *testing.T, s *mcp.Server, version string, uris ...string) (*sdk.Client, *sdk.ClientSession) {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{ListChanged: true}},
	})
	for _, uri := range uris {
		client.AddRoots(&sdk.Root{URI: uri})
	}
	here, there := sdk.NewInMemoryTransports()
	_, err := mcp.SDK(s).Connect(t.Context(), there, nil)
	require.NoError(t, err)
	c, err := client.Connect(t.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return client, c
}

// Roots of ours limit what a client reaches, within the policy; roots of the host mean nothing.
func TestRoots(t *testing.T) {
	fsys := vfstest.New(t, "a/in", "a/deep/x", "b/out", "secret/key")
	at := base(t, fsys)
	refused := &policy.Policy{Deny: []string{"/secret"}}
	for _, tt := range []struct {
		name   string
		roots  []string
		ok, no []string
	}{
		{"none", nil, []string{"/a/in", "/b/out"}, []string{"/secret/key"}},
		{"of the host", []string{"file:///home/me/project"}, []string{"/a/in", "/b/out"}, []string{"/secret/key"}},
		{"of another database", []string{"vfs://00/main/a"}, []string{"/a/in", "/b/out"}, []string{"/secret/key"}},
		{"a directory", []string{at + "a"}, []string{"/a/in", "/a/deep/x"}, []string{"/b/out", "/secret/key", "/a/../b/out"}},
		{"two", []string{at + "a/deep", at + "b/", "file:///x"}, []string{"/a/deep/x", "/b/out"}, []string{"/a/in"}},
		{"all", []string{at}, []string{"/a/in", "/b/out"}, []string{"/secret/key"}},
		{"one that the policy denies", []string{at + "secret"}, nil, []string{"/a/in", "/secret/key"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, version string) {
				s := serveAll(t, nil, mcp.Workspace{FS: fsys, Config: &tool.Config{Policy: refused}})
				_, c := withRoots(t, s, version, tt.roots...)
				for _, path := range tt.ok {
					require.False(t, try(t, c, "workspace_read_file", args{"path": path}).IsError, path)
				}
				for _, path := range tt.no {
					require.True(t, try(t, c, "workspace_read_file", args{"path": path}).IsError, path)
					_, err := read(t, c, at+path[1:])
					require.Error(t, err, path)
				}
				var listed []string
				for r, err := range c.Resources(t.Context(), nil) {
					require.NoError(t, err)
					listed = append(listed, r.Name)
				}
				require.Subset(t, listed, tt.ok)
				for _, path := range tt.no {
					require.NotContains(t, listed, path)
				}
			})
		})
	}
}

// A client that changes its roots is asked again.
func TestRootsChange(t *testing.T) {
	s, fsys := serve(t, nil, "a/x", "b/y")
	client, c := withRoots(t, s, stateful, base(t, fsys)+"a")
	reads := func(path string) bool { return !try(t, c, "workspace_read_file", args{"path": path}).IsError }
	require.True(t, reads("/a/x"))
	require.False(t, reads("/b/y"))
	client.RemoveRoots(base(t, fsys) + "a")
	client.AddRoots(&sdk.Root{URI: base(t, fsys) + "b"})
	require.Eventually(t, func() bool { return reads("/b/y") }, time.Minute, 5*time.Millisecond)
	require.False(t, reads("/a/x"))
}

const (
	hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` +
		"\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	write = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workspace_write_file","arguments":{"path":"/a","content":"a"}}}` + "\n"
)
