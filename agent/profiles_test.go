package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/internal/vfstest"
)

// Every tool of every profile tells a client and a model what it is, and what each argument is for is told or plain
// from its name.
func TestProfilesTell(t *testing.T) {
	for _, p := range agent.Profiles() {
		require.NotEmpty(t, p.About, p.Name)
		b, _ := box(t, &agent.Config{Profile: p})
		require.NotEmpty(t, b.Prompt(), p.Name)
		for _, tool := range b.Tools() {
			at := p.Name + " " + tool.Name
			require.NotEmpty(t, tool.Title, at)
			require.NotEmpty(t, tool.Description, at)
			require.Less(t, len(tool.Description), 2000, at)
			require.NotEmpty(t, tool.Risk, at)
			require.Equal(t, "object", tool.Input.Type, at)
			if tool.Hints.ReadOnly {
				require.Empty(t, tool.SideEffects, at)
				require.False(t, tool.Hints.Destructive, at)
			}
		}
	}
}

// A use that has to be approved is asked for through the errors of every profile, and the call goes on.
func TestProfilesAsk(t *testing.T) {
	for profile, in := range map[string]struct {
		tool string
		args args
	}{
		"module2":        {"write", args{"path": "/a", "content": "b"}},
		"dofs":           {"writeFile", args{"path": "/a", "content": "b"}},
		"deepagents":     {"upload_files", args{"files": []args{{"path": "/a", "content": "b"}}}},
		"mcp-filesystem": {"write_file", args{"path": "/a", "content": "b"}},
	} {
		t.Run(profile, func(t *testing.T) {
			var asked []agent.Approval
			b, fsys := box(t, &agent.Config{
				Profile: named(t, profile), Policy: &agent.Policy{Ask: []agent.Rule{{Permissions: []agent.Permission{agent.PermWrite}}}},
				Ask: func(_ context.Context, use agent.Approval) (bool, error) {
					asked = append(asked, use)
					return true, nil
				},
			})
			r := try(t, b, in.tool, in.args)
			require.NoError(t, r.Err, r.Text)
			require.Equal(t, []agent.Approval{{Permission: agent.PermWrite, Path: "/a"}}, asked)
			require.Equal(t, "b", vfstest.Read(t, fsys, "a"))
		})
	}
}

// Relative paths, and searches without a path, begin in the first directory that is allowed.
func TestProfilesStartAllowed(t *testing.T) {
	for profile, in := range map[string]struct {
		tool string
		args args
		want string
	}{
		"module2":        {"ls", args{}, `"path":"/work/a"`},
		"deepagents":     {"grep", args{"pattern": "work"}, "/work/a"},
		"mcp-filesystem": {"read_text_file", args{"path": "a"}, "work/a"},
		"helix":          {"workspace_ls", args{}, `ref="/work"`},
		"claude-code":    {"Grep", args{"pattern": "work"}, "/work/a"},
	} {
		b, _ := box(t, &agent.Config{Profile: named(t, profile), Policy: &agent.Policy{Paths: []string{"/work", "/more"}}}, "work/a", "more/b", "c")
		r := try(t, b, in.tool, in.args)
		require.NoError(t, r.Err, profile)
		require.Contains(t, r.Text, in.want, profile)
		require.False(t, strings.Contains(r.Text, "more"), profile)
	}
}

// In helix each tool that looks for something does, without a path, and a pattern with a slash in front is of paths from
// the root, in whichever directory that is allowed.
func TestHelixStartsAllowed(t *testing.T) {
	for _, config := range []*agent.Config{
		{Policy: &agent.Policy{Paths: []string{"/work", "/more"}}},
		{Dir: "/work", Policy: &agent.Policy{Paths: []string{"/work", "/more"}}},
		{Dir: "/work"},
	} {
		b, _ := box(t, config, "work/a", "work/in/b", "more/b", "secret/b")
		for tool, in := range map[string]args{
			"glob": {"pattern": "**"}, "grep": {"pattern": "work"}, "ls": {}, "find": {"pattern": "a"}, "tree": {},
		} {
			r := try(t, b, "workspace_"+tool, in)
			require.NoError(t, r.Err, tool)
			require.Contains(t, r.Text, "a", tool)
			require.NotContains(t, r.Text, "secret", tool)
		}
		require.Equal(t, []any{"/work/a", "/work/in", "/work/in/b"}, call(t, b, "workspace_glob", args{"pattern": "/work/**/*"})["matches"])
		require.Equal(t, []any{"/more/b"}, call(t, b, "workspace_glob", args{"pattern": "/more/*"})["matches"])
		require.Len(t, call(t, b, "workspace_find", args{"pattern": "/work/*", "type": "file"})["entries"], 1)
		if config.Policy != nil {
			require.Equal(t, []any{"/more/b", "/work/in/b"}, call(t, b, "workspace_glob", args{"pattern": "/**/b"})["matches"])
			require.Empty(t, call(t, b, "workspace_glob", args{"pattern": "/secret/*"})["matches"])
		}
		require.Contains(t, b.Prompt(), "start in /work")
	}
}
