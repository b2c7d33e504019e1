package mcp_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/agent/tool"
	"vfsdb/mcp"
)

// A client that gave a token hears, while a call takes long, that it still runs.
func TestProgress(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		s, _ := serve(t, nil)
		mcp.SetBeat(s, time.Millisecond)
		var mu sync.Mutex
		var heard []*sdk.ProgressNotificationParams
		enough, once := make(chan struct{}), sync.Once{}
		mcp.Offer(s, &sdk.Tool{Name: "slow", Description: "A fixture.", InputSchema: &jsonschema.Schema{Type: "object"}}, func(ctx context.Context) *tool.Result {
			select {
			case <-enough:
			case <-ctx.Done():
			}
			return &tool.Result{Text: "done", Err: ctx.Err()}
		})
		c := connect(t, s, version, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			if heard = append(heard, r.Params); len(heard) == 3 {
				once.Do(func() { close(enough) })
			}
		}})
		params := &sdk.CallToolParams{Name: "slow"}
		params.SetProgressToken("mine")
		r, err := c.CallTool(t.Context(), params)
		require.NoError(t, err)
		require.False(t, r.IsError)
		mu.Lock()
		defer mu.Unlock()
		for i, p := range heard {
			require.Equal(t, "mine", p.ProgressToken)
			require.Contains(t, p.Message, "slow")
			require.True(t, i == 0 || p.Progress > heard[i-1].Progress, "it increases")
		}
	})
}
