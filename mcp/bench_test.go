package mcp_test

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/mcp"
	"vfsdb/vfs"
)

// What the protocol adds to a call: the same read in the toolbox, and through a client in memory.
func BenchmarkCall(b *testing.B) {
	fsys, err := vfs.Open(b.Context(), b.TempDir()+"/agent.db", nil)
	require.NoError(b, err)
	defer fsys.Close()
	require.NoError(b, fsys.WriteFile(b.Context(), "a", make([]byte, 0), 0o644))
	s, err := mcp.New(b.Context(), []mcp.Workspace{{FS: fsys}}, nil)
	require.NoError(b, err)
	defer s.Close()
	b.Run("toolbox", func(b *testing.B) {
		box, err := agent.New(fsys, nil)
		require.NoError(b, err)
		for b.Loop() {
			require.NoError(b, box.Call(b.Context(), "workspace_read_file", []byte(`{"path":"/a"}`)).Err)
		}
	})
	b.Run("new toolbox", func(b *testing.B) {
		for b.Loop() {
			_, err := agent.New(fsys, nil)
			require.NoError(b, err)
		}
	})
	for _, version := range []string{stateful, stateless} {
		b.Run(version, func(b *testing.B) {
			here, there := sdk.NewInMemoryTransports()
			_, err := mcp.SDK(s).Connect(b.Context(), there, nil)
			require.NoError(b, err)
			c, err := sdk.NewClient(&sdk.Implementation{Name: "bench"}, nil).Connect(b.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: version})
			require.NoError(b, err)
			defer c.Close()
			for b.Loop() {
				_, err := c.CallTool(b.Context(), &sdk.CallToolParams{Name: "workspace_read_file", Arguments: args{"path": "/a"}})
				require.NoError(b, err)
			}
		})
	}
}
