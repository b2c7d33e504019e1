package tool_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/tool"
	"vfsdb/agent/tool/record"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/vfs"
)

// Each call has a row, whether it changed something, failed, or only looked, and changes name their call.
func TestCallLog(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Actor: "model", Session: "s1"})
	input := []byte(`{"path":"/a","content":"1"}`)
	require.NoError(t, b.Do(t.Context(), tool.Call{ID: "c1", Tool: "workspace_write_file", Input: input}).Err)
	r := b.Do(t.Context(), tool.Call{ID: "c2", Tool: "workspace_read_file", Input: []byte(`{"path":"/none"}`)})
	require.Error(t, r.Err)
	read := agentkit.Call(t, b, "workspace_read_file", agentkit.Args{"path": "a"})
	require.NotEmpty(t, read)
	require.NoError(t, record.Flush(t.Context(), fsys))

	calls, err := fsys.Store().Calls(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, calls, 3)
	sum := vfs.SumOf(input)
	require.Equal(t, []string{"model", "s1", "workspace_write_file", "c1", ""},
		[]string{calls[0].Actor, calls[0].Session, calls[0].Tool, calls[0].Ref, calls[0].Error})
	require.Equal(t, &sum, calls[0].Digest)
	require.Positive(t, calls[0].Result)
	require.Positive(t, calls[0].Took)
	require.EqualValues(t, 1, calls[0].Changes)
	require.Equal(t, r.Err.Error(), calls[1].Error)
	require.Zero(t, calls[2].Changes)

	events, err := fsys.Log(t.Context(), &vfs.LogOptions{Path: "a"})
	require.NoError(t, err)
	require.Equal(t, "workspace_write_file", events[len(events)-1].Tool)
	require.Equal(t, calls[0].ID, events[len(events)-1].Call)
}

// The name of a tool that a model makes up is kept in the log as far as an error is.
func TestCallLogMadeUpTool(t *testing.T) {
	b, fsys := agentkit.Box(t, nil)
	require.Error(t, b.Call(t.Context(), strings.Repeat("x", 1<<20), nil).Err)
	require.NoError(t, record.Flush(t.Context(), fsys))
	calls, err := fsys.Store().Calls(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, calls[0].Tool, 1000)
}

// The name that a model makes up for a tool is no label of metrics: they would grow without end.
func TestMetricsLabels(t *testing.T) {
	metrics := &agentkit.Counts{}
	b, _ := agentkit.Box(t, &tool.Config{Metrics: metrics, NoSnapshot: true})
	for _, op := range []string{"workspace_ls", "workspace_snapshot", "read /etc/passwd", "workspace_dance"} {
		b.Call(t.Context(), op, nil)
	}
	require.Equal(t, 1, metrics.Of("call workspace workspace_ls ok"))
	require.Equal(t, 1, metrics.Of("call workspace workspace_snapshot error"), "a tool of the profile")
	require.Equal(t, 2, metrics.Of("call workspace unknown error"))
	require.Equal(t, 2, metrics.Of("called workspace unknown"))
}

// A call that reads does not wait for those that write, and neither does its log hold it up.
func TestCallLogDoesNotWait(t *testing.T) {
	b, fsys := agentkit.Box(t, nil, "a")
	require.NoError(t, fsys.Update(t.Context(), func(*vfs.Tx) error {
		for range 5000 {
			if err := b.Call(t.Context(), "workspace_stat", []byte(`{"path":"a"}`)).Err; err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, record.Flush(t.Context(), fsys))
	calls, err := fsys.Store().Calls(t.Context(), nil)
	require.NoError(t, err)
	require.LessOrEqual(t, len(calls), 5000)
	require.GreaterOrEqual(t, len(calls), 4096, "what is too much is left out")
}
