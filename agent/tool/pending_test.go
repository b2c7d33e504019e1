package tool_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/record"
	"vfsdb/internal/vfstest/agentkit"
)

// A call that has to wait for an answer is no failure in the log, which holds the call that got it.
func TestPendingApproval(t *testing.T) {
	var answer error = fmt.Errorf("somebody is asked: %w", tool.ErrPending)
	asked := 0
	b, fsys := agentkit.Box(t, &tool.Config{
		Policy: &policy.Policy{Ask: []policy.Rule{{}}},
		Ask: func(context.Context, tool.Approval) (bool, error) {
			asked++
			return true, answer
		},
	}, "a")
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_rm", agentkit.Args{"path": "/a"}).Err, tool.ErrPending)
	answer = nil
	agentkit.Call(t, b, "workspace_rm", agentkit.Args{"path": "/a"})
	require.Equal(t, 2, asked)
	require.NoError(t, record.Flush(t.Context(), fsys))
	calls, err := fsys.Store().Calls(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, calls, 1)
	require.Empty(t, calls[0].Error)

	// The whole branch is asked about once.
	asked = 0
	agentkit.Call(t, b, "workspace_snapshot", agentkit.Args{"name": "s"})
	agentkit.Call(t, b, "workspace_restore", agentkit.Args{"ref": "s"})
	require.Equal(t, 1, asked)
}
