package tool_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/profile/deepagents"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest/agentkit"
)

// glob ends after ten seconds and grep after fifteen, in words that say what to do. A call that was cancelled is just
// that.
func TestDeepagentsPatience(t *testing.T) {
	b, _ := agentkit.Box(t, &tool.Config{Profile: deepagents.Profile}, "a")
	for op, want := range map[string]time.Duration{"glob": 10 * time.Second, "grep": 15 * time.Second, "ls": 0, "read_file": 0} {
		require.Equal(t, want, tool.Patience(b.Tool(op)), op)
	}
	for op, patience := range map[string]time.Duration{"glob": -1, "grep": -1} {
		tool.SetPatience(b.Tool(op), patience)
		r := agentkit.Try(t, b, op, agentkit.Args{"pattern": "a"})
		require.ErrorIs(t, r.Err, syscall.ETIMEDOUT)
		require.Equal(t, "Error: "+op+" timed out after -1ns. Try a more specific pattern or a narrower path", r.Text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, b.Call(ctx, "grep", []byte(`{"pattern":"a"}`)).Err, context.Canceled)
}
