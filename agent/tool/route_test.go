package tool_test

import (
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/profile/deepagents"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// composite is a tree with a branch that serves /memories, and another store that serves /memories/shared.
func composite(t *testing.T, refused *policy.Policy) (b *tool.Toolbox, own, branch, other *vfs.FS) {
	t.Helper()
	own = vfstest.New(t, "a.md", "src/b.md", "memories/hidden.md")
	branch, err := snapshot.Branch(t.Context(), own, nil, "memories")
	require.NoError(t, err)
	other = vfstest.New(t, "memories/shared/team.md", "private.md")
	agentkit.Plant(t, branch, map[string]string{"memories/m.md": "mine\n", "memories/.dot.md": "mine\n", "memories/out": "->../a.md", "memories/shared/hidden.md": "hidden\n"})
	b, err = tool.New(own, &tool.Config{Profile: deepagents.Profile, Policy: refused, Routes: []tool.Route{
		{Path: "/memories", FS: branch}, {Path: "/memories/shared/", FS: other},
	}})
	require.NoError(t, err)
	return b, own, branch, other
}

// A path is served by the tree of the longest route that holds it, under that very path; all others by the toolbox's own.
func TestRoutes(t *testing.T) {
	b, own, branch, other := composite(t, nil)
	for _, path := range []string{"/new.md", "/memories/new.md", "/memories/deep/er.md", "/memories/shared/new.md", "/memoriesold.md"} {
		require.Equal(t, "Updated file "+path, agentkit.Try(t, b, "write_file", agentkit.Args{"file_path": path, "content": "mine\n"}).Text)
	}
	require.Equal(t, []string{"a.md", "memories/", "memories/hidden.md", "memoriesold.md", "new.md", "src/", "src/b.md"}, vfstest.Names(t, own))
	require.Subset(t, vfstest.Names(t, branch), []string{"memories/new.md", "memories/deep/er.md"})
	require.Equal(t, []string{"memories/", "memories/shared/", "memories/shared/new.md", "memories/shared/team.md", "private.md"}, vfstest.Names(t, other))

	for _, tt := range []struct {
		tool string
		in   agentkit.Args
		want string
	}{
		{"read_file", agentkit.Args{"file_path": "/memories/m.md"}, "1  mine"},
		{"read_file", agentkit.Args{"file_path": "/memories/hidden.md"}, "Error: File '/memories/hidden.md' not found"},
		{"read_file", agentkit.Args{"file_path": "/memories/out"}, "Error: permission denied for read on /a.md"},
		{"edit_file", agentkit.Args{"file_path": "/memories/m.md", "old_string": "mine", "new_string": "MINE"}, "Successfully replaced 1 instance(s) of the string in '/memories/m.md'"},
		{"ls", agentkit.Args{"path": "/"}, "['/a.md', '/memories/', '/memoriesold.md', '/new.md', '/src/']"},
		{"ls", agentkit.Args{"path": "/memories"}, "['/memories/.dot.md', '/memories/deep/', '/memories/m.md', '/memories/new.md', '/memories/out', '/memories/shared/']"},
		{"ls", agentkit.Args{"path": "/memories/shared"}, "['/memories/shared/new.md', '/memories/shared/team.md']"},
		{"glob", agentkit.Args{"pattern": "*.md"}, "['/a.md', '/memories/deep/er.md', '/memories/m.md', '/memories/new.md', '/memories/shared/new.md', '/memories/shared/team.md', '/memoriesold.md', '/new.md', '/src/b.md']"},
		{"glob", agentkit.Args{"pattern": "memories/*.md"}, "['/memories/m.md', '/memories/new.md']"},
		{"glob", agentkit.Args{"pattern": "/*.md"}, "['/a.md', '/memoriesold.md', '/new.md']"},
		{"glob", agentkit.Args{"pattern": "shared/*", "path": "/memories"}, "['/memories/shared/new.md', '/memories/shared/team.md']"},
		{"grep", agentkit.Args{"pattern": "mine"}, "/memories/deep/er.md\n/memories/new.md\n/memories/shared/new.md\n/memoriesold.md\n/new.md"},
		{"grep", agentkit.Args{"pattern": "mine", "glob": "memories/**/*.md"}, "/memories/deep/er.md\n/memories/new.md\n/memories/shared/new.md"},
		{"grep", agentkit.Args{"pattern": "mine", "path": "/memories/shared"}, "/memories/shared/new.md"},
		{"grep", agentkit.Args{"pattern": "mine", "output_mode": "count", "max_count": 2}, "/memoriesold.md: 1\n/new.md: 1\n\n[These are the first 2 matches, and there are more. Narrow the pattern or the path, or raise max_count.]"},
		{"delete", agentkit.Args{"file_path": "/memories/deep"}, "Deleted /memories/deep"},
		{"delete", agentkit.Args{"file_path": "/memories/shared/new.md"}, "Deleted /memories/shared/new.md"},
		{"upload_files", agentkit.Args{"files": []agentkit.Args{{"path": "/memories/shared/u", "content": "1"}, {"path": "/u", "content": "2"}, {"path": "/memories/shared/v", "content": "3"}}}, `{"files":[{"path":"/memories/shared/u"},{"path":"/u"},{"path":"/memories/shared/v"}]}`},
		{"download_files", agentkit.Args{"paths": []string{"/u", "/memories/shared/v", "/memories/none", "/memories/shared/u"}}, `{"files":[{"path":"/u","content":"2","encoding":"utf-8"},{"path":"/memories/shared/v","content":"3","encoding":"utf-8"},{"path":"/memories/none","error":"file_not_found"},{"path":"/memories/shared/u","content":"1","encoding":"utf-8"}]}`},
	} {
		require.Equal(t, tt.want, agentkit.Try(t, b, tt.tool, tt.in).Text, "%s %v", tt.tool, tt.in)
	}
}

// A route is a directory before its tree has anything there, wherever it is asked for.
func TestRouteOfNothing(t *testing.T) {
	b, err := agent.New(vfstest.New(t, "a"), &tool.Config{Profile: deepagents.Profile, Routes: []tool.Route{{Path: "/deep/er", FS: vfstest.New(t)}}})
	require.NoError(t, err)
	for _, tt := range []struct{ path, ls, glob string }{
		{"/", "['/a', '/deep/']", "['/a']"},
		{"/deep", "['/deep/er/']", "No files found"},
		{"/deep/er", "No files found", "No files found"},
		{"/deep/er/none", "Error: Path '/deep/er/none' not found", "Error: Path '/deep/er/none' not found"},
		{"/none", "Error: Path '/none' not found", "Error: Path '/none' not found"},
	} {
		require.Equal(t, tt.ls, agentkit.Try(t, b, "ls", agentkit.Args{"path": tt.path}).Text)
		require.Equal(t, tt.glob, agentkit.Try(t, b, "glob", agentkit.Args{"pattern": "*", "path": tt.path}).Text)
	}
}

// The policy holds for every tree.
func TestRoutesPolicy(t *testing.T) {
	b, _, _, other := composite(t, &policy.Policy{Paths: []string{"/src", "/memories/shared"}, Deny: []string{"/memories/shared/secret"}, ReadOnly: []string{"/memories/shared/team.md"}})
	agentkit.Plant(t, other, map[string]string{"memories/shared/secret": "x\n"})
	for _, path := range []string{"/memories/m.md", "/a.md", "/memories/shared/secret", "/private.md"} {
		require.ErrorIs(t, agentkit.Try(t, b, "read_file", agentkit.Args{"file_path": path}).Err, syscall.EACCES, path)
	}
	require.ErrorIs(t, agentkit.Try(t, b, "write_file", agentkit.Args{"file_path": "/memories/shared/team.md", "content": ""}).Err, syscall.EACCES)
	require.Equal(t, "['/memories/shared/team.md']", agentkit.Try(t, b, "ls", agentkit.Args{"path": "/memories/shared"}).Text)
	require.NoError(t, agentkit.Try(t, b, "write_file", agentkit.Args{"file_path": "/memories/shared/w", "content": ""}).Err)
}

func TestBadRoutes(t *testing.T) {
	fsys := vfstest.New(t)
	for _, routes := range [][]tool.Route{
		{{Path: "/", FS: fsys}}, {{Path: "", FS: fsys}}, {{Path: "/a"}}, {{Path: "/a", FS: fsys}, {Path: "a/", FS: fsys}}, {{Path: "/../a", FS: fsys}},
	} {
		_, err := tool.New(fsys, &tool.Config{Profile: deepagents.Profile, Routes: routes})
		require.ErrorIs(t, err, syscall.EINVAL)
	}
	_, err := agent.New(fsys, &tool.Config{Routes: []tool.Route{{Path: "/a", FS: fsys}}})
	require.ErrorIs(t, err, syscall.EINVAL)
}

// Calls may go to several trees at once.
func TestRoutesAtOnce(t *testing.T) {
	b, own, branch, other := composite(t, nil)
	var calls sync.WaitGroup
	for i := range 12 {
		calls.Go(func() {
			path := []string{"/n%d", "/memories/n%d", "/memories/shared/n%d"}[i%3]
			r := agentkit.Try(t, b, "write_file", agentkit.Args{"file_path": fmt.Sprintf(path, i), "content": "x"})
			require.NoError(t, r.Err)
			require.NoError(t, agentkit.Try(t, b, "grep", agentkit.Args{"pattern": "x"}).Err)
		})
	}
	calls.Wait()
	for i, fsys := range []*vfs.FS{own, branch, other} {
		require.Equal(t, "x", vfstest.Read(t, fsys, []string{"n9", "memories/n10", "memories/shared/n11"}[i]))
	}
}
