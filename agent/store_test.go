package agent_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
)

// The cost of calls to the store is counted too.
func TestStoreMetrics(t *testing.T) {
	metrics := &agentkit.Counts{N: map[string]int{}}
	b, _ := agentkit.Box(t, &tool.Config{Metrics: metrics})
	for range 3 {
		for _, path := range []string{"a", "b"} {
			agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": path, "content": path})
		}
	}
	require.Equal(t, 2, metrics.Of("stored"))
	require.Equal(t, 4, metrics.Of("found"))
	require.Equal(t, 6, metrics.Of("tx workspace write"))
	require.Equal(t, 6, metrics.Of("bytes workspace in"))
}

// A tree that somebody else opened is not closed by its sessions.
func TestStoreOf(t *testing.T) {
	fsys := vfstest.New(t, "a")
	s := openSession(t, agent.StoreOf(fsys), "main", nil)
	require.Equal(t, "a", holds(t, s, "a"))
	require.NoError(t, s.Close(t.Context()))
	_, err := fsys.Stat(t.Context(), "a")
	require.NoError(t, err)
}

// Many sessions at once, on one store.
func TestSessionsAtOnce(t *testing.T) {
	store := newStore(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := agent.Open(store, "", &agent.SessionOptions{Auto: agent.EachCall})
			if err != nil {
				t.Error(err)
				return
			}
			for range 20 {
				if r := s.Call(t.Context(), "workspace_append_file", json.RawMessage(`{"path":"log","content":"x"}`)); r.Err != nil {
					t.Error(r.Err)
				}
			}
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
