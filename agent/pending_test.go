package agent_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
)

// A call that has to wait for an answer is no failure in the log, which holds the call that got it.
func TestPendingApproval(t *testing.T) {
	var answer error = fmt.Errorf("somebody is asked: %w", agent.ErrPending)
	asked := 0
	b, fsys := box(t, &agent.Config{
		Policy: &agent.Policy{Ask: []agent.Rule{{}}},
		Ask: func(context.Context, agent.Approval) (bool, error) {
			asked++
			return true, answer
		},
	}, "a")
	require.ErrorIs(t, try(t, b, "workspace_rm", args{"path": "/a"}).Err, agent.ErrPending)
	answer = nil
	call(t, b, "workspace_rm", args{"path": "/a"})
	require.Equal(t, 2, asked)
	require.NoError(t, agent.FlushLog(t.Context(), fsys))
	calls, err := fsys.Calls(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, calls, 1)
	require.Empty(t, calls[0].Error)

	// The whole branch is asked about once.
	asked = 0
	call(t, b, "workspace_snapshot", args{"name": "s"})
	call(t, b, "workspace_restore", args{"ref": "s"})
	require.Equal(t, 1, asked)
}
