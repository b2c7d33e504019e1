package helix_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/snapshot"
)

// The descriptions of all tools, which a model reads in every turn, take no more than 2,400 tokens.
func TestHelixIsBrief(t *testing.T) {
	b, _ := agentkit.Box(t, nil)
	size := 0
	for _, op := range b.Tools() {
		schema, err := json.Marshal(map[string]any{"name": op.Name, "description": op.Description, "inputSchema": op.Input})
		require.NoError(t, err)
		size += len(schema)
	}
	require.LessOrEqual(t, size, 4*2400)
	// Bounds that the model does not read are checked all the same.
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_read_file", agentkit.Args{"path": "/", "offset": 0}).Err, syscall.EINVAL)
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_ls", agentkit.Args{"nope": 1}).Err, syscall.EINVAL)
}

// log shows what the policy lets one see, page by page, and nothing of branches that are not granted.
func TestLogTool(t *testing.T) {
	_, fsys := agentkit.Box(t, nil, "work/a", "secret/b")
	for i := range 5 {
		vfstest.Write(t, fsys, "work/a", fmt.Sprint(i))
		vfstest.Write(t, fsys, "secret/b", fmt.Sprint(i))
	}
	require.NoError(t, fsys.Rename(t.Context(), "secret/b", "work/from-secret"))
	_, err := snapshot.Branch(t.Context(), fsys, fsys, "other-branch")
	require.NoError(t, err)
	b, err := agent.New(fsys, &tool.Config{Policy: &policy.Policy{Deny: []string{"/secret"}}})
	require.NoError(t, err)

	all := agentkit.Try(t, b, "workspace_log", nil)
	require.NoError(t, all.Err, all.Text)
	require.NotContains(t, all.Text, "secret/")
	require.NotContains(t, all.Text, "other-branch")
	require.Contains(t, all.Text, "/work/from-secret")
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_log", agentkit.Args{"path": "/secret"}).Err, syscall.EACCES)

	page := agentkit.Call(t, b, "workspace_log", agentkit.Args{"path": "/work/a", "limit": 3})
	require.Len(t, page["events"], 3)
	require.Equal(t, true, page["truncated"])
	oldest := page["events"].([]any)[2].(map[string]any)["seq"]
	next := agentkit.Call(t, b, "workspace_log", agentkit.Args{"path": "/work/a", "limit": 3, "before": oldest})
	require.Less(t, next["events"].([]any)[0].(map[string]any)["seq"], oldest)
}

// blame names the change that brought each line of a file, if the file may be read.
func TestBlameTool(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{Deny: []string{"/secret"}}, Actor: "model"})
	vfstest.Write(t, fsys, "secret", "x\n")
	require.NoError(t, fsys.Symlink(t.Context(), "secret", "way-in"))
	require.NoError(t, agentkit.Try(t, b, "workspace_write_file", agentkit.Args{"path": "/a", "content": "one\ntwo\n"}).Err)
	require.NoError(t, agentkit.Try(t, b, "workspace_append_file", agentkit.Args{"path": "/a", "content": "three\n"}).Err)
	got := agentkit.Call(t, b, "workspace_blame", agentkit.Args{"path": "/a"})
	lines := got["lines"].([]any)
	require.Len(t, lines, 3)
	require.Equal(t, "workspace_write_file", lines[1].(map[string]any)["tool"])
	require.Equal(t, "workspace_append_file", lines[2].(map[string]any)["tool"])
	text := agentkit.Try(t, b, "workspace_blame", agentkit.Args{"path": "/a", "limit": 2}).Text
	require.Contains(t, text, "go on with offset 3")
	require.Equal(t, 1, strings.Count(text, "\n--- "))
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_blame", agentkit.Args{"path": "/secret"}).Err, syscall.EACCES)
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_blame", agentkit.Args{"path": "/way-in"}).Err, syscall.EACCES)
}

// list_branches lists the branches that are granted, and marks its own.
func TestListBranchesTool(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{Branches: []string{"try-*"}}}, "a")
	for _, name := range []string{"try-1", "private"} {
		_, err := snapshot.Branch(t.Context(), fsys, fsys, name)
		require.NoError(t, err)
	}
	var names []string
	for _, one := range agentkit.Call(t, b, "workspace_list_branches", nil)["branches"].([]any) {
		of := one.(map[string]any)
		names = append(names, of["name"].(string))
		require.Equal(t, of["name"] == "main", of["current"] == true)
	}
	require.Equal(t, []string{"main", "try-1"}, names)
}
