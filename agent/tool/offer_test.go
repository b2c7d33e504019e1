package tool_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/profile"
	"vfsdb/agent/profile/module2"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
)

// The error of a tool that is not here names what it would need: the capability, the permission, the list of actions,
// or a whole branch. The error of a name that the profile does not know lists the names that there are.
func TestMissingIsNamed(t *testing.T) {
	for _, tt := range []struct {
		config     tool.Config
		tool, want string
	}{
		{tool.Config{NoFS: true}, "workspace_read_file", "the tool \"workspace_read_file\" is not here: it needs the capability fs,"},
		{tool.Config{NoSnapshot: true}, "workspace_restore", "it needs the capability snapshot,"},
		{tool.Config{Policy: &policy.Policy{Permissions: []policy.Permission{policy.Read}}}, "workspace_rm", "it needs the permission fs.delete,"},
		{tool.Config{Actions: []string{"ls"}}, "workspace_rm", "it is not among the actions"},
		{tool.Config{Profile: module2.Profile, Actions: []string{"ls"}}, "rm", "it is not among the actions"},
		{tool.Config{NoFS: true, NoSnapshot: true}, "workspace_ls", "there are no others"},
		{tool.Config{}, "workspace_fly", "no tool is called \"workspace_fly\"; there are: workspace_read_file,"},
	} {
		b, _ := agentkit.Box(t, &tt.config)
		r := agentkit.Try(t, b, tt.tool, nil)
		require.ErrorIs(t, r.Err, syscall.ENOENT)
		require.ErrorAs(t, r.Err, new(*tool.NoToolError))
		require.Contains(t, r.Text, tt.want)
		_, err := b.Find(tt.tool)
		require.ErrorContains(t, err, tt.want)
	}
}

// Without a tool the prompt of any profile is empty; with some, it is about these.
func TestPromptOfNothing(t *testing.T) {
	for _, p := range profile.All() {
		b, _ := agentkit.Box(t, &tool.Config{Profile: p, NoFS: true, NoSnapshot: true})
		require.Empty(t, b.Tools(), p.Name)
		require.Empty(t, b.Prompt(), p.Name)
	}
	b, _ := agentkit.Box(t, &tool.Config{Actions: []string{"ls"}})
	require.Contains(t, b.Prompt(), "called workspace_*.")
	require.NotContains(t, b.Prompt(), "ifSum")
}

// A config chooses tools by their names, in any profile.
func TestActions(t *testing.T) {
	for _, p := range profile.All() {
		all, _ := agentkit.Box(t, &tool.Config{Profile: p})
		first := all.Tools()[0].Name
		one, _ := agentkit.Box(t, &tool.Config{Profile: p, Actions: []string{first}})
		require.Len(t, one.Tools(), 1, p.Name)
		require.Equal(t, first, one.Tools()[0].Name)
		_, err := tool.New(nil, &tool.Config{Profile: p, Actions: []string{"fly"}})
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, first)
	}
	c, err := agent.ParseConfig([]byte("profile: module2\nactions: [read, ls]"), nil)
	require.NoError(t, err)
	b, _ := agentkit.Box(t, c, "a")
	require.Len(t, b.Tools(), 2)
	require.Contains(t, b.Prompt(), "these tools for them: read, ls.")
	_, err = agent.ParseConfig([]byte("actions: []"), nil)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = agent.ParseConfig([]byte("actions: [read]"), nil)
	require.ErrorContains(t, err, "the profile helix has no tool \"read\"")

	named, _ := agentkit.Box(t, &tool.Config{Name: "notes", Actions: []string{"read_file", "workspace__notes__ls"}})
	require.NotNil(t, named.Tool("workspace__notes__read_file"))
	require.Len(t, named.Tools(), 2)
}

// apply does nothing by the hand of a tool that was not chosen.
func TestActionsInApply(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Actions: []string{"apply", "write_file"}}, "a")
	r := agentkit.Try(t, b, "workspace_apply", agentkit.Args{"operations": []agentkit.Args{
		{"tool": "write_file", "args": agentkit.Args{"path": "/b", "content": "x"}}, {"tool": "rm", "args": agentkit.Args{"path": "/a"}},
	}})
	require.ErrorIs(t, r.Err, syscall.ENOENT)
	require.Contains(t, r.Text, "not among the actions")
	require.Equal(t, []string{"a"}, vfstest.Names(t, fsys))
	agentkit.Call(t, b, "workspace_apply", agentkit.Args{"operations": []agentkit.Args{{"tool": "write_file", "args": agentkit.Args{"path": "/b", "content": "x"}}}})
}

// A directory of a branch has no tools over the whole branch.
func TestToolsOfDirectory(t *testing.T) {
	fsys := vfstest.New(t, "d/a", "b")
	sub, err := fsys.OpenRoot(t.Context(), "d")
	require.NoError(t, err)
	require.False(t, sub.Whole())
	require.True(t, fsys.Whole())
	b, err := agent.New(sub, nil)
	require.NoError(t, err)
	for _, op := range b.Tools() {
		require.NotContains(t, op.Permissions, policy.Snapshot, op.Name)
		require.NotContains(t, b.Prompt(), "snapshot")
	}
	for _, op := range []string{"snapshot", "restore", "branch", "diff", "list_snapshots", "delete_snapshot"} {
		require.Contains(t, agentkit.Try(t, b, "workspace_"+op, nil).Text, "is a directory of one", op)
	}
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "/c", "content": "x"})
	require.Equal(t, "x", vfstest.Read(t, fsys, "d/c"))
}
