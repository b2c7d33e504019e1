package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
)

// What a model reads of every tool, in every turn, is no more than 2,000 tokens.
func TestHelixIsBrief(t *testing.T) {
	b, _ := box(t, nil)
	size := 0
	for _, tool := range b.Tools() {
		told, err := json.Marshal(map[string]any{"name": tool.Name, "description": tool.Description, "inputSchema": tool.Input})
		require.NoError(t, err)
		size += len(told)
	}
	require.LessOrEqual(t, size, 4*2000)
	// What is not told is checked all the same.
	require.ErrorIs(t, try(t, b, "workspace_read_file", args{"path": "/", "offset": 0}).Err, syscall.EINVAL)
	require.ErrorIs(t, try(t, b, "workspace_ls", args{"nope": 1}).Err, syscall.EINVAL)
}

// log shows what the policy lets one see, page by page, and nothing of branches that are not granted.
func TestLogTool(t *testing.T) {
	_, fsys := box(t, nil, "work/a", "secret/b")
	for i := range 5 {
		vfstest.Write(t, fsys, "work/a", fmt.Sprint(i))
		vfstest.Write(t, fsys, "secret/b", fmt.Sprint(i))
	}
	require.NoError(t, fsys.Rename(t.Context(), "secret/b", "work/from-secret"))
	_, err := snapshot.Branch(t.Context(), fsys, fsys, "other-branch")
	require.NoError(t, err)
	b, err := agent.New(fsys, &agent.Config{Policy: &agent.Policy{Deny: []string{"/secret"}}})
	require.NoError(t, err)

	all := try(t, b, "workspace_log", nil)
	require.NoError(t, all.Err, all.Text)
	require.NotContains(t, all.Text, "secret/")
	require.NotContains(t, all.Text, "other-branch")
	require.Contains(t, all.Text, "/work/from-secret")
	require.ErrorIs(t, try(t, b, "workspace_log", args{"path": "/secret"}).Err, syscall.EACCES)

	page := call(t, b, "workspace_log", args{"path": "/work/a", "limit": 3})
	require.Len(t, page["events"], 3)
	require.Equal(t, true, page["truncated"])
	oldest := page["events"].([]any)[2].(map[string]any)["seq"]
	next := call(t, b, "workspace_log", args{"path": "/work/a", "limit": 3, "before": oldest})
	require.Less(t, next["events"].([]any)[0].(map[string]any)["seq"], oldest)
}

// blame tells of each line in which change it came, of files that may be read.
func TestBlameTool(t *testing.T) {
	b, fsys := box(t, &agent.Config{Policy: &agent.Policy{Deny: []string{"/secret"}}, Actor: "model"})
	vfstest.Write(t, fsys, "secret", "x\n")
	require.NoError(t, fsys.Symlink(t.Context(), "secret", "way-in"))
	require.NoError(t, try(t, b, "workspace_write_file", args{"path": "/a", "content": "one\ntwo\n"}).Err)
	require.NoError(t, try(t, b, "workspace_append_file", args{"path": "/a", "content": "three\n"}).Err)
	got := call(t, b, "workspace_blame", args{"path": "/a"})
	lines := got["lines"].([]any)
	require.Len(t, lines, 3)
	require.Equal(t, "workspace_write_file", lines[1].(map[string]any)["tool"])
	require.Equal(t, "workspace_append_file", lines[2].(map[string]any)["tool"])
	text := try(t, b, "workspace_blame", args{"path": "/a", "limit": 2}).Text
	require.Contains(t, text, "go on with offset 3")
	require.Equal(t, 1, strings.Count(text, "\n--- "))
	require.ErrorIs(t, try(t, b, "workspace_blame", args{"path": "/secret"}).Err, syscall.EACCES)
	require.ErrorIs(t, try(t, b, "workspace_blame", args{"path": "/way-in"}).Err, syscall.EACCES)
}

// list_branches lists those that are granted, and says which one is its own.
func TestListBranchesTool(t *testing.T) {
	b, fsys := box(t, &agent.Config{Policy: &agent.Policy{Branches: []string{"try-*"}}}, "a")
	for _, name := range []string{"try-1", "private"} {
		_, err := snapshot.Branch(t.Context(), fsys, fsys, name)
		require.NoError(t, err)
	}
	var names []string
	for _, one := range call(t, b, "workspace_list_branches", nil)["branches"].([]any) {
		of := one.(map[string]any)
		names = append(names, of["name"].(string))
		require.Equal(t, of["name"] == "main", of["current"] == true)
	}
	require.Equal(t, []string{"main", "try-1"}, names)
}
