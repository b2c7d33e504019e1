package profile_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/profile"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
)

// Every tool of every profile has a description for clients and models. Every argument has one, or is plain from its
// name.
func TestProfilesTell(t *testing.T) {
	for _, p := range profile.All() {
		require.NotEmpty(t, p.About, p.Name)
		b, _ := agentkit.Box(t, &tool.Config{Profile: p})
		require.NotEmpty(t, b.Prompt(), p.Name)
		for _, op := range b.Tools() {
			at := p.Name + " " + op.Name
			require.NotEmpty(t, op.Title, at)
			require.NotEmpty(t, op.Description, at)
			require.Less(t, len(op.Description), 2000, at)
			require.NotEmpty(t, op.Risk, at)
			require.Equal(t, "object", op.Input.Type, at)
			if op.Hints.ReadOnly {
				require.Empty(t, op.SideEffects, at)
				require.False(t, op.Hints.Destructive, at)
			}
		}
	}
}

// A use that has to be approved is asked for through the errors of every profile, and the call goes on.
func TestProfilesAsk(t *testing.T) {
	for profile, in := range map[string]struct {
		tool string
		args agentkit.Args
	}{
		"module2":        {"write", agentkit.Args{"path": "/a", "content": "b"}},
		"dofs":           {"writeFile", agentkit.Args{"path": "/a", "content": "b"}},
		"deepagents":     {"upload_files", agentkit.Args{"files": []agentkit.Args{{"path": "/a", "content": "b"}}}},
		"mcp-filesystem": {"write_file", agentkit.Args{"path": "/a", "content": "b"}},
	} {
		t.Run(profile, func(t *testing.T) {
			var asked []tool.Approval
			b, fsys := agentkit.Box(t, &tool.Config{
				Profile: agentkit.Named(t, profile), Policy: &policy.Policy{Ask: []policy.Rule{{Permissions: []policy.Permission{policy.Write}}}},
				Ask: func(_ context.Context, use tool.Approval) (bool, error) {
					asked = append(asked, use)
					return true, nil
				},
			})
			r := agentkit.Try(t, b, in.tool, in.args)
			require.NoError(t, r.Err, r.Text)
			require.Equal(t, []tool.Approval{{Permission: policy.Write, Path: "/a"}}, asked)
			require.Equal(t, "b", vfstest.Read(t, fsys, "a"))
		})
	}
}

// Relative paths, and searches without a path, begin in the first directory that is allowed.
func TestProfilesStartAllowed(t *testing.T) {
	for profile, in := range map[string]struct {
		tool string
		args agentkit.Args
		want string
	}{
		"module2":        {"ls", agentkit.Args{}, `"path":"/work/a"`},
		"deepagents":     {"grep", agentkit.Args{"pattern": "work"}, "/work/a"},
		"mcp-filesystem": {"read_text_file", agentkit.Args{"path": "a"}, "work/a"},
		"helix":          {"workspace_ls", agentkit.Args{}, `ref="/work"`},
		"claude-code":    {"Grep", agentkit.Args{"pattern": "work"}, "/work/a"},
	} {
		b, _ := agentkit.Box(t, &tool.Config{Profile: agentkit.Named(t, profile), Policy: &policy.Policy{Paths: []string{"/work", "/more"}}}, "work/a", "more/b", "c")
		r := agentkit.Try(t, b, in.tool, in.args)
		require.NoError(t, r.Err, profile)
		require.Contains(t, r.Text, in.want, profile)
		require.False(t, strings.Contains(r.Text, "more"), profile)
	}
}

// In helix each tool that looks for something does, without a path, and a pattern with a slash in front is of paths from
// the root, in whichever directory that is allowed.
func TestHelixStartsAllowed(t *testing.T) {
	for _, config := range []*tool.Config{
		{Policy: &policy.Policy{Paths: []string{"/work", "/more"}}},
		{Dir: "/work", Policy: &policy.Policy{Paths: []string{"/work", "/more"}}},
		{Dir: "/work"},
	} {
		b, _ := agentkit.Box(t, config, "work/a", "work/in/b", "more/b", "secret/b")
		for op, in := range map[string]agentkit.Args{
			"glob": {"pattern": "**"}, "grep": {"pattern": "work"}, "ls": {}, "find": {"pattern": "a"}, "tree": {},
		} {
			r := agentkit.Try(t, b, "workspace_"+op, in)
			require.NoError(t, r.Err, op)
			require.Contains(t, r.Text, "a", op)
			require.NotContains(t, r.Text, "secret", op)
		}
		require.Equal(t, []any{"/work/a", "/work/in", "/work/in/b"}, agentkit.Call(t, b, "workspace_glob", agentkit.Args{"pattern": "/work/**/*"})["matches"])
		require.Equal(t, []any{"/more/b"}, agentkit.Call(t, b, "workspace_glob", agentkit.Args{"pattern": "/more/*"})["matches"])
		require.Len(t, agentkit.Call(t, b, "workspace_find", agentkit.Args{"pattern": "/work/*", "type": "file"})["entries"], 1)
		if config.Policy != nil {
			require.Equal(t, []any{"/more/b", "/work/in/b"}, agentkit.Call(t, b, "workspace_glob", agentkit.Args{"pattern": "/**/b"})["matches"])
			require.Empty(t, agentkit.Call(t, b, "workspace_glob", agentkit.Args{"pattern": "/secret/*"})["matches"])
		}
		require.Contains(t, b.Prompt(), "start in /work")
	}
}
