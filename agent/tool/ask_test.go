package tool_test

import (
	"context"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/profile/claude"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/snapshot"
)

// A search of a directory, a copy or a move does not reveal what is below it, unless somebody approves.
func TestAskAboutTrees(t *testing.T) {
	for _, tt := range []struct {
		tool string
		args agentkit.Args
		perm policy.Permission
		path string
	}{
		{"grep", agentkit.Args{"pattern": "KEY"}, policy.Read, "/"},
		{"grep", agentkit.Args{"pattern": "KEY", "path": "/d"}, policy.Read, "/d"},
		{"tree", agentkit.Args{}, policy.List, "/"},
		{"find", agentkit.Args{"path": "/d"}, policy.List, "/d"},
		{"glob", agentkit.Args{"pattern": "**"}, policy.List, "/"},
		{"cp", agentkit.Args{"source": "/d", "destination": "/e"}, policy.Read, "/d"},
		{"mv", agentkit.Args{"source": "/d", "destination": "/e"}, policy.Read, "/d"},
		{"mv", agentkit.Args{"source": "/d/secret/key", "destination": "/key"}, policy.Read, "/d/secret/key"},
		{"diff", agentkit.Args{"from": "s"}, policy.List, "/"},
		{"ls", agentkit.Args{"path": "/d/secret"}, policy.List, "/d/secret"},
		{"ls", agentkit.Args{"path": "/d"}, "", ""},
		{"read_file", agentkit.Args{"path": "/other"}, "", ""},
		{"grep", agentkit.Args{"pattern": "KEY", "path": "/other"}, "", ""},
		{"snapshot", agentkit.Args{}, "", ""},
	} {
		var asked []tool.Approval
		allow := false
		b, fsys := agentkit.Box(t, &tool.Config{
			Policy: &policy.Policy{Ask: []policy.Rule{{Permissions: []policy.Permission{policy.Read, policy.List}, Paths: []string{"/d/secret"}}}},
			Ask: func(_ context.Context, use tool.Approval) (bool, error) {
				asked = append(asked, use)
				return allow, nil
			},
		}, "d/secret/key", "other")
		_, err := snapshot.Create(t.Context(), fsys, "s", nil)
		require.NoError(t, err)
		r := agentkit.Try(t, b, "workspace_"+tt.tool, tt.args)
		if tt.perm == "" {
			require.NoError(t, r.Err, tt.tool)
			require.Empty(t, asked, tt.tool)
			continue
		}
		require.ErrorIs(t, r.Err, syscall.EACCES, tt.tool)
		require.Equal(t, []tool.Approval{{Permission: tt.perm, Path: tt.path}}, asked, tt.tool)
		allow = true
		require.NoError(t, agentkit.Try(t, b, "workspace_"+tt.tool, tt.args).Err, tt.tool)
	}
}

// A rename with one hidden end is reported by its visible end alone, and a restore that would change something hidden
// does not name it.
func TestHiddenEndOfRename(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{Deny: []string{"/secret"}}}, "secret/hush", "a", "c")
	_, err := snapshot.Create(t.Context(), fsys, "s", nil)
	require.NoError(t, err)
	for from, to := range map[string]string{"secret/hush": "public", "a": "secret/other", "c": "d"} {
		require.NoError(t, fsys.Rename(t.Context(), from, to))
	}
	require.Equal(t, []any{
		agentkit.Args{"kind": "removed", "path": "/a"},
		agentkit.Args{"kind": "renamed", "path": "/d", "from": "/c"},
		agentkit.Args{"kind": "added", "path": "/public"},
	}, agentkit.Call(t, b, "workspace_diff", agentkit.Args{"from": "s"})["changes"])
	r := agentkit.Try(t, b, "workspace_restore", agentkit.Args{"ref": "s"})
	require.ErrorIs(t, r.Err, syscall.EACCES)
	require.NotContains(t, r.Text, "secret")
	vfstest.Write(t, fsys, "secret/more", "x")
	require.Len(t, agentkit.Call(t, b, "workspace_diff", agentkit.Args{"from": "s"})["changes"], 3)
}

// The refusal of a symlink that a model may not see does not reveal where it leads.
func TestRefusalTellsNoTarget(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{Paths: []string{"/work"}}}, "work/", "secret/", "hidden")
	require.NoError(t, fsys.Symlink(t.Context(), "/hidden", "secret/l"))
	for path, told := range map[string]string{
		"/secret/l": "/secret/l", "/secret/l/x": "/secret/l/x", "/secret/no": "/secret/no", "/work/../secret/l": "/secret/l", "/": "/",
	} {
		for _, op := range []string{"read_file", "rm", "ls"} {
			r := agentkit.Try(t, b, "workspace_"+op, agentkit.Args{"path": path})
			require.ErrorIs(t, r.Err, syscall.EACCES)
			require.Contains(t, r.Text, "Path '"+told+"' is outside allowed paths", "%s %s", op, path)
		}
	}
}

// An undo of an edit is approved once.
func TestUndoEditAsksOnce(t *testing.T) {
	asked := 0
	b, _ := agentkit.Box(t, &tool.Config{
		Profile: claude.Editor, Session: "s",
		Policy: &policy.Policy{Ask: []policy.Rule{{Permissions: []policy.Permission{policy.Read}}}},
		Ask:    func(context.Context, tool.Approval) (bool, error) { asked++; return true, nil },
	}, "a")
	const tool = "str_replace_based_edit_tool"
	require.NoError(t, agentkit.Try(t, b, tool, agentkit.Args{"command": "insert", "path": "/a", "insert_line": 0, "insert_text": "x"}).Err)
	asked = 0
	require.NoError(t, agentkit.Try(t, b, tool, agentkit.Args{"command": "undo_edit", "path": "/a"}).Err)
	require.Equal(t, 1, asked)
}
