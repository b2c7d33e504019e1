//lint:file-ignore SA1019 roots and logging are deprecated, and what clients of the versions before 2026-07-28 use

package mcp_test

import (
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// A client that asks for a log hears of its calls, and of no others'.
func TestLogging(t *testing.T) {
	s, _ := serve(t, nil)
	heard := make(chan *sdk.LoggingMessageParams, 10)
	options := &sdk.ClientOptions{LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) { heard <- r.Params }}
	c, other := connect(t, s, stateful, options), connect(t, s, stateful, nil)
	call(t, c, "workspace_ls", nil) // no level is set, so there is no log
	require.NoError(t, c.SetLoggingLevel(t.Context(), &sdk.SetLoggingLevelParams{Level: "debug"}))
	call(t, other, "workspace_tree", nil)
	try(t, c, "workspace_read_file", args{"path": "/none"})
	line := <-heard
	require.Equal(t, "vfsdb", line.Logger)
	data, err := json.Marshal(line.Data)
	require.NoError(t, err)
	require.Contains(t, string(data), "workspace_read_file")
	require.Empty(t, heard)
}
