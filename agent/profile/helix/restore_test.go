package helix_test

import (
	"fmt"
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
	"vfsdb/vfs"
)

// One path comes back from a snapshot and from a moment, the rest stays, and undo takes it back.
func TestRestorePath(t *testing.T) {
	b, main := agentkit.Box(t, &tool.Config{Actor: "ann", Session: "s1"}, "docs/plan", "code")
	agentkit.Call(t, b, "workspace_snapshot", agentkit.Args{"name": "before"})
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "/docs/plan", "content": "new"})
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "/code", "content": "new"})

	out := agentkit.Call(t, b, "workspace_restore", agentkit.Args{"ref": "before", "path": "docs/plan"})
	require.Equal(t, []any{map[string]any{"kind": "modified", "path": "/docs/plan"}}, out["changes"])
	require.NotContains(t, out, "undo")
	require.Equal(t, "docs/plan", text(t, main, "docs/plan"))
	require.Equal(t, "new", text(t, main, "code"))
	out = agentkit.Call(t, b, "workspace_restore", agentkit.Args{"ref": out["ref"].(string) + "@before", "path": "/docs"})
	require.Equal(t, true, out["equal"])
	agentkit.Call(t, b, "workspace_undo", nil)
	require.Equal(t, "new", text(t, main, "docs/plan"))

	// A moment: before the last call, which is the undo; a copy; and the whole.
	agentkit.Call(t, b, "workspace_restore", agentkit.Args{"ref": "@{-1}", "path": "/docs/plan", "as": "/old/plan"})
	require.Equal(t, "docs/plan", text(t, main, "old/plan"))
	agentkit.Call(t, b, "workspace_restore", agentkit.Args{"ref": "main@{-2}"})
	require.Equal(t, "docs/plan", text(t, main, "docs/plan"))
	require.Equal(t, []string{"code", "docs/", "docs/plan"}, vfstest.Names(t, main))
	require.Len(t, agentkit.Call(t, b, "workspace_diff", agentkit.Args{"from": "@{-1}"})["changes"], 3)
	agentkit.Call(t, b, "workspace_branch", agentkit.Args{"ref": "main@{-1}", "name": "try", "stay": true})

	for _, tt := range []struct {
		args agentkit.Args
		want error
	}{
		{agentkit.Args{"ref": "before", "as": "/x"}, syscall.EINVAL},
		{agentkit.Args{"ref": "before", "path": "/none"}, syscall.ENOENT},
		{agentkit.Args{"ref": "before", "path": "/"}, syscall.EINVAL},
		{agentkit.Args{"ref": "@{soon}", "path": "/code"}, syscall.EINVAL},
		{agentkit.Args{"ref": "@{-1000}", "path": "/code"}, syscall.ENOENT},
		{agentkit.Args{"ref": "none@{-1}", "path": "/code"}, syscall.ENOENT},
		{agentkit.Args{"ref": "@{call 1}"}, syscall.ENOENT},
	} {
		require.ErrorIs(t, agentkit.Try(t, b, "workspace_restore", tt.args).Err, tt.want, "%v", tt.args)
	}
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_merge", agentkit.Args{"into": "@{-1}", "dryRun": false}).Err, syscall.EROFS)
}

// Nothing comes back from or to a path that the policy protects, through no symlink of any time.
func TestRestorePathUnderPolicy(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{Paths: []string{"/work"}, ReadOnly: []string{"/work/fixed"}, Deny: []string{"/work/hidden"}}},
		"work/file", "work/fixed/a", "work/hidden/b", "secret/key", "work/dir/c")
	require.NoError(t, fsys.Symlink(t.Context(), "../secret", "work/way"))
	vfstest.Snapshot(t, fsys, "before")
	for _, name := range []string{"work/file", "work/fixed/a", "work/hidden/b", "secret/key", "work/dir/c"} {
		vfstest.Write(t, fsys, name, "new")
	}
	was := vfstest.Dump(t, fsys)
	for _, args := range []agentkit.Args{
		{"path": "/secret/key"},
		{"path": "/secret/none"},
		{"path": "/secret"},
		{"path": "/work/way/key"},
		{"path": "/work/way/key", "as": "/work/key"},
		{"path": "/work/hidden/b"},
		{"path": "/work/hidden/b", "as": "/work/b"},
		{"path": "/work", "as": "/work/copy"},
		{"path": "/work"},
		{"path": "/work/fixed/a"},
		{"path": "/work/fixed"},
		{"path": "/work/file", "as": "/work/fixed/b"},
		{"path": "/work/file", "as": "/secret/b"},
		{"path": "/work/file", "as": "/work/way/b"},
		{"path": "/work/dir", "as": "/work/hidden"},
		{"path": "/work/dir/../../secret/key"},
	} {
		args["ref"] = "before"
		r := agentkit.Try(t, b, "workspace_restore", args)
		require.ErrorIs(t, r.Err, syscall.EACCES, "%v: %s", args, r.Text)
		require.Equal(t, was, vfstest.Dump(t, fsys), "%v", args)
	}
	agentkit.Call(t, b, "workspace_restore", agentkit.Args{"ref": "before", "path": "/work/dir"})
	require.Equal(t, "work/dir/c", text(t, fsys, "work/dir/c"))

	// A restore stays within the bounds of the branch.
	small, full := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{MaxBytes: 100}}, "a")
	vfstest.Write(t, full, "big", strings.Repeat("x", 99))
	vfstest.Snapshot(t, full, "s")
	require.NoError(t, full.Remove(t.Context(), "big"))
	vfstest.Write(t, full, "b", strings.Repeat("x", 99))
	require.ErrorIs(t, agentkit.Try(t, small, "workspace_restore", agentkit.Args{"ref": "s", "path": "/big"}).Err, syscall.EDQUOT)
	require.Equal(t, []string{"a", "b"}, vfstest.Names(t, full))
	tight, err := agent.New(full, &tool.Config{Policy: &policy.Policy{MaxBytes: 99}})
	require.NoError(t, err)
	require.ErrorIs(t, agentkit.Try(t, tight, "workspace_restore", agentkit.Args{"ref": "s"}).Err, syscall.EDQUOT)
	require.Equal(t, []string{"a", "b"}, vfstest.Names(t, full))
	short, err := agent.New(full, &tool.Config{Policy: &policy.Policy{MaxFileSize: 98}})
	require.NoError(t, err)
	for _, args := range []agentkit.Args{{"ref": "s", "path": "/big"}, {"ref": "s"}} {
		require.ErrorIs(t, agentkit.Try(t, short, "workspace_restore", args).Err, syscall.EFBIG)
	}
	require.Equal(t, []string{"a", "b"}, vfstest.Names(t, full))
}

// A moment is granted as the branch is whose state it was: not that of another branch, and not one before the fork.
func TestMomentsUnderPolicy(t *testing.T) {
	_, main := agentkit.Box(t, nil, "a")
	write := func(fsys *vfs.FS, content string) {
		ctx := vfs.WithCall(t.Context(), &vfs.Call{Tool: "test"})
		require.NoError(t, fsys.WriteFile(ctx, "a", []byte(content), 0o644))
	}
	write(main, "main1")
	write(main, "main2")
	other := vfstest.Branch(t, main, "other")
	write(other, "other1")
	write(other, "other2")
	calls, err := main.Store().Calls(t.Context(), &vfs.CallOptions{Newest: true})
	require.NoError(t, err)
	theirs := fmt.Sprintf("@{call %d}", calls[0].ID)

	n := 0
	for _, granted := range [][]string{nil, {"main"}, {"*"}} {
		for ref, of := range map[string]string{
			"@{-1}": "try", "try@{-1}": "try", "@{-2}": "try", "@{-3}": "main", "try@{-3}": "main", "main@{-1}": "main",
			"other@{-1}": "other", "other@{-2}": "other", "other" + theirs: "other",
		} {
			n++
			name := fmt.Sprint("try", n)
			ref = strings.Replace(ref, "try", name, 1)
			try := vfstest.Branch(t, main, name)
			write(try, "try1")
			write(try, "try2")
			b, err := agent.New(try, &tool.Config{Policy: &policy.Policy{Branches: granted}})
			require.NoError(t, err)
			var want error
			if of != "try" && !slices.Contains(granted, of) && !slices.Contains(granted, "*") {
				want = syscall.EACCES
			}
			for _, call := range []struct {
				tool string
				args agentkit.Args
			}{
				{"workspace_diff", agentkit.Args{"from": ref}},
				{"workspace_branch", agentkit.Args{"ref": ref, "stay": true}},
				{"workspace_merge", agentkit.Args{"ref": ref}},
				{"workspace_restore", agentkit.Args{"ref": ref, "path": "/a", "as": "/copy"}},
				{"workspace_restore", agentkit.Args{"ref": ref}},
			} {
				r := agentkit.Try(t, b, call.tool, call.args)
				require.ErrorIs(t, r.Err, want, "%s of %s: %s", call.tool, ref, r.Text)
				if want != nil {
					require.NotContains(t, r.Text, "other1")
				}
			}
		}
	}
}
