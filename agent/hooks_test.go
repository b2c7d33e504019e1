package agent_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/tool"
	"vfsdb/agent/tool/hooks"
	"vfsdb/internal/vfstest/agentkit"
)

// A hook that never returns holds up no call, and what it misses is counted.
func TestHookBlocks(t *testing.T) {
	release, heard := make(chan struct{}), 0
	hooks := hooks.New(func(hooks.Event) {
		heard++
		<-release
	}, nil)
	b, _ := agentkit.Box(t, &tool.Config{Hooks: hooks}, "a")
	const calls = 400
	for range calls {
		agentkit.Call(t, b, "workspace_ls", nil)
	}
	require.Positive(t, hooks.Dropped())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, hooks.Close(ctx), context.Canceled)
	dropped := hooks.Dropped()
	agentkit.Call(t, b, "workspace_ls", nil)
	require.Equal(t, dropped+1, hooks.Dropped(), "closed")
	close(release)
	require.NoError(t, hooks.Close(t.Context()))
	require.EqualValues(t, calls, int64(heard)+dropped)
}

// Calls and a close may race, and a hook may panic.
func TestHookRace(t *testing.T) {
	hooks := hooks.New(func(hooks.Event) { panic("a hook") }, nil)
	b, _ := agentkit.Box(t, &tool.Config{Hooks: hooks}, "a")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				b.Call(t.Context(), "workspace_stat", []byte(`{"path":"a"}`))
			}
		})
	}
	require.NoError(t, hooks.Close(t.Context()))
	wg.Wait()
}
