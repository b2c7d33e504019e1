package tool_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"slices"
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
	"vfsdb/vfs"
)

// Sizes have units, and MB is 2^20.
func TestParseSize(t *testing.T) {
	for text, want := range map[string]policy.Size{
		"0": 0, "4096": 4096, "12B": 12, "1KB": 1 << 10, "1kib": 1 << 10, "100MB": 100 << 20, "1.5 GiB": 3 << 29, "2GB": 2 << 30, " 7 mb ": 7 << 20,
	} {
		got, err := policy.ParseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "MB", "-1", "1TBs", "ten", "1e400", "NaN", "9999999999GB", "1,5MB"} {
		_, err := policy.ParseSize(text)
		require.ErrorIs(t, err, syscall.EINVAL, text)
	}
	var p policy.Policy
	require.NoError(t, json.Unmarshal([]byte(`{"max_file_size":"50MB","max_bytes":1000}`), &p))
	require.Equal(t, policy.Policy{MaxFileSize: 50 << 20, MaxBytes: 1000}, p)
}

// An allowed path is enforced segment by segment, whatever its spelling.
func TestAllowedPaths(t *testing.T) {
	for _, spelled := range []string{"/work", "work", "work/", "//work//"} {
		b, _ := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{Paths: []string{spelled}}}, "work/a", "work-2/b", "c")
		agentkit.Call(t, b, "workspace_read_file", agentkit.Args{"path": "/work/a"})
		require.ErrorIs(t, agentkit.Try(t, b, "workspace_read_file", agentkit.Args{"path": "/work-2/b"}).Err, syscall.EACCES, spelled)
	}
	for _, bad := range []string{"", "../x", "a/../b", "./a"} {
		_, err := agent.New(vfstest.New(t), &tool.Config{Policy: &policy.Policy{Paths: []string{bad}}})
		require.ErrorIs(t, err, syscall.EINVAL, bad)
	}
}

// The size is checked before a read, and for a write, an edit, an insert, an append or a copy the size that it would
// leave.
func TestMaxFileSize(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{MaxFileSize: 10}}, "d/x")
	vfstest.Write(t, fsys, "big", strings.Repeat("x", 11))
	vfstest.Write(t, fsys, "d/big", strings.Repeat("x", 11))
	vfstest.Write(t, fsys, "full", strings.Repeat("y", 10))
	for _, tt := range []struct {
		tool string
		args agentkit.Args
	}{
		{"read_file", agentkit.Args{"path": "/big"}},
		{"write_file", agentkit.Args{"path": "/new", "content": strings.Repeat("x", 11)}},
		{"append_file", agentkit.Args{"path": "/full", "content": "x"}},
		{"edit_file", agentkit.Args{"path": "/full", "oldText": "y", "newText": "zz", "count": 1}},
		{"insert_lines", agentkit.Args{"path": "/full", "line": 1, "content": "x"}},
		{"cp", agentkit.Args{"source": "/big", "destination": "/copy"}},
		{"cp", agentkit.Args{"source": "/d", "destination": "/copy"}},
	} {
		r := agentkit.Try(t, b, "workspace_"+tt.tool, tt.args)
		require.ErrorIs(t, r.Err, syscall.EFBIG, tt.tool)
		require.Contains(t, r.Text, "above the limit of 10", tt.tool)
	}
	agentkit.Call(t, b, "workspace_read_file", agentkit.Args{"path": "/full"})
	require.Equal(t, []any{"/big", "/d/big"}, agentkit.Call(t, b, "workspace_grep", agentkit.Args{"pattern": "x"})["skippedPaths"], "grep does not read them either")
}

// No policy, and AllowAll, allow everything.
func TestAllowAll(t *testing.T) {
	for _, p := range []*policy.Policy{nil, policy.AllowAll, {}} {
		b, _ := agentkit.Box(t, &tool.Config{Policy: p}, "a/b")
		agentkit.Call(t, b, "workspace_rm", agentkit.Args{"path": "/a", "recursive": true})
	}
}

// A permission that is not granted leaves no tool that needs it; each tool has the permissions and hints that it
// declares.
func TestPermissionsAndCapabilities(t *testing.T) {
	names := func(c *tool.Config) []string {
		b, _ := agentkit.Box(t, c)
		var list []string
		for _, op := range b.Tools() {
			list = append(list, strings.TrimPrefix(op.Name, "workspace_"))
		}
		return list
	}
	granted := func(p ...policy.Permission) *tool.Config {
		return &tool.Config{Policy: &policy.Policy{Permissions: p}}
	}
	require.Equal(t, []string{"ls", "tree", "glob", "find", "stat"}, names(granted(policy.List)))
	require.Equal(t, []string{"read_file", "read_many", "grep"}, names(granted(policy.Read)))
	require.Equal(t, []string{"rm"}, names(granted(policy.Delete)))
	require.Equal(t, []string{"snapshot", "restore", "list_snapshots", "delete_snapshot", "branch", "diff", "list_branches", "merge", "resolve", "undo", "redo"}, names(&tool.Config{NoFS: true}))
	require.NotContains(t, names(&tool.Config{NoSnapshot: true}), "restore")
	require.NotContains(t, names(granted(policy.Snapshot)), "restore", "it writes and deletes")

	// A tool that was never injected is not there to call either.
	b, _ := agentkit.Box(t, granted(policy.Read), "a")
	var none *tool.NoToolError
	require.ErrorAs(t, agentkit.Try(t, b, "workspace_rm", agentkit.Args{"path": "a"}).Err, &none)

	for _, tt := range []struct {
		risk  tool.Risk
		tools []string
	}{
		{tool.Low, []string{"read_file", "ls", "grep", "find", "mkdir", "stat"}},
		{tool.Medium, []string{"write_file", "edit_file", "insert_lines", "mv", "cp"}},
		{tool.High, []string{"rm", "restore", "delete_snapshot"}},
	} {
		b, _ := agentkit.Box(t, nil)
		for _, name := range tt.tools {
			op := b.Tool("workspace_" + name)
			require.Equal(t, tt.risk, op.Risk, name)
			require.Equal(t, slices.Contains(op.SideEffects, "filesystem_write") || slices.Contains(op.SideEffects, "filesystem_delete"),
				!op.Hints.ReadOnly && name != "delete_snapshot", name)
			require.False(t, op.Hints.OpenWorld, name)
		}
	}
}

// A symlink at the end of a path is refused if the policy denies it; within the store it is no race either way.
func TestDenyLeafSymlinks(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{DenyLeafSymlinks: true}}, "a", "d/x")
	require.NoError(t, fsys.Symlink(t.Context(), "a", "link"))
	require.NoError(t, fsys.Symlink(t.Context(), "d", "dir"))
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_read_file", agentkit.Args{"path": "/link"}).Err, syscall.EACCES)
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_write_file", agentkit.Args{"path": "/link", "content": ""}).Err, syscall.EACCES)
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_stat", agentkit.Args{"path": "/link", "follow": true}).Err, syscall.EACCES)
	agentkit.Call(t, b, "workspace_stat", agentkit.Args{"path": "/link"})
	agentkit.Call(t, b, "workspace_read_file", agentkit.Args{"path": "/dir/x"})
	agentkit.Call(t, b, "workspace_rm", agentkit.Args{"path": "/link"})
}

// A filter sees each result before the model, and may scrub it.
func TestOnResult(t *testing.T) {
	b, _ := agentkit.Box(t, &tool.Config{OnResult: func(_ context.Context, c tool.Call, r *tool.Result) {
		r.Text, r.Data = strings.ReplaceAll(r.Text, "token", "[redacted]"), nil
	}})
	call := func(op string, a agentkit.Args) *tool.Result { return agentkit.Try(t, b, op, a) }
	call("workspace_write_file", agentkit.Args{"path": "a", "content": "a token"})
	require.Contains(t, call("workspace_read_file", agentkit.Args{"path": "a"}).Text, "a [redacted]")
}

// A restore that would change what is protected is refused, whole.
func TestRestoreUnderPolicy(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{ReadOnly: []string{"/plan"}}}, "plan", "work")
	agentkit.Call(t, b, "workspace_snapshot", agentkit.Args{"name": "before"})
	vfstest.Write(t, fsys, "plan", "changed by a person")
	vfstest.Write(t, fsys, "work", "changed")
	r := agentkit.Try(t, b, "workspace_restore", agentkit.Args{"ref": "before"})
	require.ErrorIs(t, r.Err, syscall.EACCES)
	require.Equal(t, "changed", vfstest.Read(t, fsys, "work"))
	require.Len(t, agentkit.Call(t, b, "workspace_list_snapshots", nil)["snapshots"], 1, "no undo is left behind")
	vfstest.Write(t, fsys, "plan", "plan")
	agentkit.Call(t, b, "workspace_restore", agentkit.Args{"ref": "before"})
	require.Equal(t, "work", vfstest.Read(t, fsys, "work"))
}

// Another branch is out of reach unless it is granted, and so is whatever would take one away.
func TestOtherBranches(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{Branches: []string{"shared-*"}}}, "a")
	for _, name := range []string{"shared-1", "private"} {
		_, err := snapshot.Branch(t.Context(), fsys, fsys, name)
		require.NoError(t, err)
	}
	agentkit.Call(t, b, "workspace_diff", agentkit.Args{"from": "shared-1"})
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_diff", agentkit.Args{"from": "private"}).Err, syscall.EACCES)
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_delete_snapshot", agentkit.Args{"ref": "shared-1"}).Err, syscall.EPERM)
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_restore", agentkit.Args{"ref": "vfs://other/main"}).Err, syscall.EXDEV)
	for _, op := range b.Tools() {
		for _, word := range []string{"gc", "check", "repair", "delete_branch", "reset"} {
			require.NotContains(t, op.Name, word)
		}
	}
}

// A path is judged by where it leads, also if something on its way is not there: what is written behind that counts.
func TestPolicyThroughNothing(t *testing.T) {
	for _, profile := range []string{"helix", "module2", "dofs", "mcp-filesystem"} {
		fsys := vfstest.New(t, "else/")
		require.NoError(t, fsys.Symlink(t.Context(), "../else", "work/link", vfs.Parents()))
		b, err := tool.New(fsys, &tool.Config{Profile: agentkit.Named(t, profile), Policy: &policy.Policy{Paths: []string{"/work", "/absent"}}})
		require.NoError(t, err)
		op := map[string]string{"helix": "workspace_read_file", "module2": "read", "dofs": "readFile", "mcp-filesystem": "read_text_file"}[profile]
		for path, outside := range map[string]string{
			"/absent/../etc/passwd":          "/etc/passwd",
			"/absent/../../etc/../etc/x/../": "/etc",
			"/work/none/../../etc/passwd":    "/etc/passwd",
			"/work/none/../link/x":           "", // lexically within
			"/work/none/../a":                "",
			"/absent/a/../b":                 "",
			"/work/link/../a":                "/a",
		} {
			r := agentkit.Try(t, b, op, agentkit.Args{"path": path})
			if outside == "" {
				require.ErrorIs(t, r.Err, fs.ErrNotExist, "%s %s", profile, path)
				continue
			}
			var refused *policy.Error
			require.ErrorAs(t, r.Err, &refused, "%s %s: %s", profile, path, r.Text)
			require.Equal(t, outside, refused.Path, "%s %s", profile, path)
		}
	}
}
