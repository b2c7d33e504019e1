package agent_test

import (
	"context"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
)

// What is below a directory is not seen by a search of it, nor after a copy or a move, unless somebody says so.
func TestAskAboutTrees(t *testing.T) {
	for _, tt := range []struct {
		tool string
		args args
		perm agent.Permission
		path string
	}{
		{"grep", args{"pattern": "KEY"}, agent.PermRead, "/"},
		{"grep", args{"pattern": "KEY", "path": "/d"}, agent.PermRead, "/d"},
		{"tree", args{}, agent.PermList, "/"},
		{"find", args{"path": "/d"}, agent.PermList, "/d"},
		{"glob", args{"pattern": "**"}, agent.PermList, "/"},
		{"cp", args{"source": "/d", "destination": "/e"}, agent.PermRead, "/d"},
		{"mv", args{"source": "/d", "destination": "/e"}, agent.PermRead, "/d"},
		{"mv", args{"source": "/d/secret/key", "destination": "/key"}, agent.PermRead, "/d/secret/key"},
		{"diff", args{"from": "s"}, agent.PermList, "/"},
		{"ls", args{"path": "/d/secret"}, agent.PermList, "/d/secret"},
		{"ls", args{"path": "/d"}, "", ""},
		{"read_file", args{"path": "/other"}, "", ""},
		{"grep", args{"pattern": "KEY", "path": "/other"}, "", ""},
		{"snapshot", args{}, "", ""},
	} {
		var asked []agent.Approval
		allow := false
		b, fsys := box(t, &agent.Config{
			Policy: &agent.Policy{Ask: []agent.Rule{{Permissions: []agent.Permission{agent.PermRead, agent.PermList}, Paths: []string{"/d/secret"}}}},
			Ask: func(_ context.Context, use agent.Approval) (bool, error) {
				asked = append(asked, use)
				return allow, nil
			},
		}, "d/secret/key", "other")
		_, err := snapshot.Create(t.Context(), fsys, "s", nil)
		require.NoError(t, err)
		r := try(t, b, "workspace_"+tt.tool, tt.args)
		if tt.perm == "" {
			require.NoError(t, r.Err, tt.tool)
			require.Empty(t, asked, tt.tool)
			continue
		}
		require.ErrorIs(t, r.Err, syscall.EACCES, tt.tool)
		require.Equal(t, []agent.Approval{{Permission: tt.perm, Path: tt.path}}, asked, tt.tool)
		allow = true
		require.NoError(t, try(t, b, "workspace_"+tt.tool, tt.args).Err, tt.tool)
	}
}

// A rename between what is visible and what is not is told of the visible end alone, and a restore that would
// change something hidden does not name it.
func TestHiddenEndOfRename(t *testing.T) {
	b, fsys := box(t, &agent.Config{Policy: &agent.Policy{Deny: []string{"/secret"}}}, "secret/hush", "a", "c")
	_, err := snapshot.Create(t.Context(), fsys, "s", nil)
	require.NoError(t, err)
	for from, to := range map[string]string{"secret/hush": "public", "a": "secret/other", "c": "d"} {
		require.NoError(t, fsys.Rename(t.Context(), from, to))
	}
	require.Equal(t, []any{
		args{"kind": "removed", "path": "/a"},
		args{"kind": "renamed", "path": "/d", "from": "/c"},
		args{"kind": "added", "path": "/public"},
	}, call(t, b, "workspace_diff", args{"from": "s"})["changes"])
	r := try(t, b, "workspace_restore", args{"ref": "s"})
	require.ErrorIs(t, r.Err, syscall.EACCES)
	require.NotContains(t, r.Text, "secret")
	vfstest.Write(t, fsys, "secret/more", "x")
	require.Len(t, call(t, b, "workspace_diff", args{"from": "s"})["changes"], 3)
}

// Whoever may not see a symlink does not learn from the refusal where it leads.
func TestRefusalTellsNoTarget(t *testing.T) {
	b, fsys := box(t, &agent.Config{Policy: &agent.Policy{Paths: []string{"/work"}}}, "work/", "secret/", "hidden")
	require.NoError(t, fsys.Symlink(t.Context(), "/hidden", "secret/l"))
	for path, told := range map[string]string{
		"/secret/l": "/secret/l", "/secret/l/x": "/secret/l/x", "/secret/no": "/secret/no", "/work/../secret/l": "/secret/l", "/": "/",
	} {
		for _, tool := range []string{"read_file", "rm", "ls"} {
			r := try(t, b, "workspace_"+tool, args{"path": path})
			require.ErrorIs(t, r.Err, syscall.EACCES)
			require.Contains(t, r.Text, "Path '"+told+"' is outside allowed paths", "%s %s", tool, path)
		}
	}
}

// Whoever undoes an edit is asked for once.
func TestUndoEditAsksOnce(t *testing.T) {
	asked := 0
	b, _ := box(t, &agent.Config{
		Profile: agent.ClaudeEditor, Session: "s",
		Policy: &agent.Policy{Ask: []agent.Rule{{Permissions: []agent.Permission{agent.PermRead}}}},
		Ask:    func(context.Context, agent.Approval) (bool, error) { asked++; return true, nil },
	}, "a")
	const tool = "str_replace_based_edit_tool"
	require.NoError(t, try(t, b, tool, args{"command": "insert", "path": "/a", "insert_line": 0, "insert_text": "x"}).Err)
	asked = 0
	require.NoError(t, try(t, b, tool, args{"command": "undo_edit", "path": "/a"}).Err)
	require.Equal(t, 1, asked)
}
