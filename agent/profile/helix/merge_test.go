package helix_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/record"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// text is the content of a file of a tree.
func text(t *testing.T, fsys *vfs.FS, path string) string {
	t.Helper()
	data, err := fsys.ReadFile(t.Context(), path)
	require.NoError(t, err)
	return string(data)
}

// A model tries something on a fork, brings main into it, decides about the conflict, and brings all back to main.
func TestMergeTools(t *testing.T) {
	ctx := t.Context()
	b, main := agentkit.Box(t, &tool.Config{Actor: "ann", Session: "s1"})
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "/plan", "content": "one\n\ntwo\n\nthree\n"})
	agentkit.Call(t, b, "workspace_branch", agentkit.Args{"name": "try"})
	agentkit.Call(t, b, "workspace_edit_file", agentkit.Args{"path": "/plan", "oldText": "two", "newText": "zwei"})
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "/tried", "content": "x"})
	other, err := agent.New(main, &tool.Config{Actor: "bob"})
	require.NoError(t, err)
	agentkit.Call(t, other, "workspace_edit_file", agentkit.Args{"path": "/plan", "oldText": "two", "newText": "deux"})
	agentkit.Call(t, other, "workspace_mv", agentkit.Args{"source": "/plan", "destination": "/agreed"})
	require.NoError(t, record.Flush(ctx, main))

	out := agentkit.Call(t, b, "workspace_merge", agentkit.Args{"into": "main"})
	require.Equal(t, true, out["dryRun"])
	require.Len(t, out["conflicts"], 1)
	for side, want := range map[string]string{"ours": "main", "theirs": "try"} { // ours is what into names
		require.Equal(t, want, out["conflicts"].([]any)[0].(map[string]any)[side].(map[string]any)["label"])
	}
	r := agentkit.Try(t, b, "workspace_merge", agentkit.Args{"into": "main", "dryRun": false})
	require.ErrorIs(t, r.Err, syscall.ESTALE)
	require.Contains(t, r.Text, "Merge 'main' into your branch first")
	require.NotContains(t, vfstest.Names(t, main), "tried")

	r = agentkit.Try(t, b, "workspace_merge", agentkit.Args{"ref": "main"})
	require.NoError(t, r.Err)
	require.Contains(t, r.Text, "Nothing was changed yet.")
	require.Contains(t, r.Text, "Call again with dryRun false")
	require.Equal(t, []string{"plan", "tried"}, vfstest.Names(t, b.FS()))
	list, err := snapshot.List(ctx, main)
	require.NoError(t, err)
	require.Empty(t, list, "a dry run leaves nothing behind")

	out = agentkit.Call(t, b, "workspace_merge", agentkit.Args{"ref": "main", "dryRun": false})
	undo := out["undo"].(string)
	require.NotContains(t, out, "dryRun")
	require.Equal(t, []any{map[string]any{"kind": "renamed", "path": "/agreed", "from": "/plan"}}, out["changes"])
	require.Equal(t, []string{"agreed", "tried"}, vfstest.Names(t, b.FS()))

	found := agentkit.Call(t, b, "workspace_conflicts", nil)
	require.Equal(t, out["conflicts"], found["conflicts"])
	one := found["conflicts"].([]any)[0].(map[string]any)
	require.Equal(t, "/agreed", one["path"])
	require.Equal(t, "content", one["kind"])
	require.Equal(t, []any{map[string]any{"line": 3., "base": "two\n", "ours": "zwei\n", "theirs": "deux\n"}}, one["hunks"])
	for side, want := range map[string][2]string{"ours": {"try", "ann"}, "theirs": {"main", "bob"}} {
		of := one[side].(map[string]any)
		require.Equal(t, want[0], of["label"])
		by := of["by"].(map[string]any)
		require.Equal(t, want[1], by["actor"])
		require.Equal(t, "workspace_edit_file", by["tool"])
		calls, err := main.Store().Calls(ctx, nil)
		require.NoError(t, err)
		id := int64(by["call"].(float64))
		require.True(t, func() bool {
			for _, c := range calls {
				if c.ID == id {
					return c.Actor == want[1] && c.Tool == "workspace_edit_file"
				}
			}
			return false
		}(), "the call is one of the log")
	}
	r = agentkit.Try(t, b, "workspace_conflicts", nil)
	require.Contains(t, r.Text, "line 3:\n<<<<<<< try\nzwei\n||||||| base\ntwo\n=======\ndeux\n>>>>>>> main\n")

	require.ErrorIs(t, agentkit.Try(t, b, "workspace_resolve", agentkit.Args{"path": "/tried", "take": "ours"}).Err, syscall.EINVAL)
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_resolve", agentkit.Args{"path": "/agreed"}).Err, syscall.EINVAL)
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_resolve", agentkit.Args{"path": "/agreed", "take": "ours", "content": "x"}).Err, syscall.EINVAL)
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_resolve", agentkit.Args{"path": "/agreed", "take": "mine"}).Err, syscall.EINVAL)
	out = agentkit.Call(t, b, "workspace_resolve", agentkit.Args{"path": "/agreed", "content": "both\n"})
	require.Equal(t, 0., out["left"])
	require.Empty(t, agentkit.Call(t, b, "workspace_conflicts", nil)["conflicts"])

	out = agentkit.Call(t, b, "workspace_merge", agentkit.Args{"into": "main", "dryRun": false})
	require.Equal(t, true, out["fastForward"])
	require.Equal(t, "both\n", text(t, main, "agreed"))
	require.Equal(t, "x", text(t, main, "tried"))
	require.Equal(t, true, agentkit.Call(t, b, "workspace_merge", agentkit.Args{"ref": "main"})["upToDate"])

	agentkit.Call(t, b, "workspace_restore", agentkit.Args{"ref": undo})
	require.Equal(t, []string{"plan", "tried"}, vfstest.Names(t, b.FS()), "a merge is taken back by its undo")
}

// A side that lacks the file, an empty content, and two files of one name.
func TestResolveTool(t *testing.T) {
	ctx := t.Context()
	b, main := agentkit.Box(t, nil)
	for _, path := range []string{"edited", "removed", "emptied"} {
		vfstest.Write(t, main, path, "base\n")
	}
	agentkit.Call(t, b, "workspace_branch", agentkit.Args{"name": "try", "stay": true})
	try, err := main.Branch(ctx, "try")
	require.NoError(t, err)
	vfstest.Write(t, main, "edited", "ours\n")
	require.NoError(t, main.Remove(ctx, "removed"))
	vfstest.Write(t, main, "emptied", "ours\n")
	vfstest.Write(t, main, "new", "ours\n")
	require.NoError(t, try.Remove(ctx, "edited"))
	vfstest.Write(t, try, "removed", "theirs\n")
	vfstest.Write(t, try, "emptied", "theirs\n")
	vfstest.Write(t, try, "new", "theirs\n")

	out := agentkit.Call(t, b, "workspace_merge", agentkit.Args{"ref": "try", "dryRun": false})
	kinds := map[any]any{}
	for _, c := range out["conflicts"].([]any) {
		c := c.(map[string]any)
		kinds[c["path"]] = c["kind"]
	}
	require.Equal(t, map[any]any{"/edited": "edit/delete", "/removed": "delete/edit", "/emptied": "content", "/new": "add/add"}, kinds)

	// Once the branch is gone, the log still has who merged it.
	require.NoError(t, snapshot.DeleteBranch(ctx, main, "try"))
	for _, c := range agentkit.Call(t, b, "workspace_conflicts", nil)["conflicts"].([]any) {
		by := c.(map[string]any)["theirs"].(map[string]any)["by"].(map[string]any)
		require.Equal(t, "workspace_merge", by["tool"])
	}

	for path, take := range map[string]agentkit.Args{
		"/edited": {"take": "theirs"}, "/removed": {"take": "theirs"}, "/emptied": {"content": ""}, "/new": {"take": "ours"},
	} {
		take["path"] = path
		agentkit.Call(t, b, "workspace_resolve", take)
	}
	require.Equal(t, []string{"emptied", "new", "removed"}, vfstest.Names(t, main))
	require.Empty(t, text(t, main, "emptied"))
	require.Equal(t, "ours\n", text(t, main, "new"))
}

// The result of a merge has bounds: of conflicts, and of the bytes of each.
func TestMergeIsBounded(t *testing.T) {
	ctx := t.Context()
	b, main := agentkit.Box(t, nil)
	const files, places = 25, 40
	write := func(fsys *vfs.FS, word string) {
		require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
			for i := range files {
				if err := tx.WriteFile(fmt.Sprintf("%02d", i), []byte(strings.Repeat(word+strings.Repeat(word, 200)+"\nsame\n\nsame\n", places)), 0o644); err != nil {
					return err
				}
			}
			return tx.WriteFile("picture", []byte(word+"\x00"), 0o644)
		}))
	}
	write(main, "base")
	agentkit.Call(t, b, "workspace_branch", agentkit.Args{"name": "try", "stay": true})
	try, err := main.Branch(ctx, "try")
	require.NoError(t, err)
	write(main, "ours")
	write(try, "theirs")

	r := agentkit.Try(t, b, "workspace_merge", agentkit.Args{"ref": "try", "dryRun": false})
	require.NoError(t, r.Err)
	require.Less(t, len(r.Text), 256<<10)
	require.Contains(t, r.Text, "Conflict 1 of 26 (content): ")
	require.Contains(t, r.Text, "6 conflicts more not shown")
	out := agentkit.Call(t, b, "workspace_conflicts", nil)
	require.Len(t, out["conflicts"], 20)
	require.Equal(t, 6., out["omittedConflicts"])
	first := out["conflicts"].([]any)[0].(map[string]any)
	require.Equal(t, float64(places), first["omittedHunks"].(float64)+float64(len(first["hunks"].([]any))))

	for i := range files {
		require.NoError(t, merge.Resolve(ctx, main, fmt.Sprintf("%02d", i), merge.Take{Side: merge.Theirs}))
	}
	out = agentkit.Call(t, b, "workspace_conflicts", nil)
	last := out["conflicts"].([]any)[0].(map[string]any)
	require.Equal(t, "/picture", last["path"])
	require.Equal(t, "it is binary", last["why"])
}

// The policy judges all that a merge and a resolution change, and all that is shown of conflicts.
func TestMergeTheGuard(t *testing.T) {
	ctx := t.Context()
	_, main := agentkit.Box(t, nil, "work/a", "secret/b", "fixed/c")
	box := func(c tool.Config) *tool.Toolbox {
		b, err := agent.New(main, &c)
		require.NoError(t, err)
		return b
	}
	all := box(tool.Config{})
	fork := func(name, path string) {
		agentkit.Call(t, all, "workspace_branch", agentkit.Args{"name": name, "stay": true})
		try, err := main.Branch(ctx, name)
		require.NoError(t, err)
		vfstest.Write(t, try, path, name)
	}
	fork("hidden", "secret/b")
	fork("fixed", "fixed/c")
	fork("fine", "work/a")

	narrow := policy.Policy{Paths: []string{"/work", "/fixed"}, ReadOnly: []string{"/fixed"}, Branches: []string{"*"}}
	b := box(tool.Config{Policy: &narrow})
	for _, dry := range []bool{true, false} {
		for _, ref := range []string{"hidden", "fixed"} {
			r := agentkit.Try(t, b, "workspace_merge", agentkit.Args{"ref": ref, "dryRun": dry})
			require.ErrorIs(t, r.Err, syscall.EACCES, ref)
			require.NotContains(t, r.Text, "secret")
		}
	}
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_merge", agentkit.Args{"into": "fine", "dryRun": false}).Err, syscall.EACCES, "it may only look at it")
	alone := box(tool.Config{Policy: &policy.Policy{Paths: []string{"/work"}}})
	require.ErrorIs(t, agentkit.Try(t, alone, "workspace_merge", agentkit.Args{"ref": "fine"}).Err, syscall.EACCES, "the branch is not granted")
	require.Len(t, agentkit.Call(t, b, "workspace_merge", agentkit.Args{"ref": "fine", "dryRun": false})["changes"], 1)
	require.Equal(t, "fine", text(t, main, "work/a"))

	require.ErrorIs(t, agentkit.Try(t, all, "workspace_merge", nil).Err, syscall.EINVAL)
	require.ErrorIs(t, agentkit.Try(t, all, "workspace_merge", agentkit.Args{"ref": "main"}).Err, syscall.EINVAL)
	require.ErrorIs(t, agentkit.Try(t, all, "workspace_merge", agentkit.Args{"ref": "none"}).Err, syscall.ENOENT)
	agentkit.Call(t, all, "workspace_snapshot", agentkit.Args{"name": "then"})
	require.ErrorIs(t, agentkit.Try(t, all, "workspace_merge", agentkit.Args{"into": "then"}).Err, syscall.EROFS)

	// A conflict of a hidden path is neither listed nor resolved. One that nobody may read without being asked has no lines.
	vfstest.Write(t, main, "secret/b", "ours")
	_, err := merge.Into(ctx, main, branchOf(t, main, "hidden"), nil)
	require.NoError(t, err)
	require.Len(t, agentkit.Call(t, all, "workspace_conflicts", nil)["conflicts"], 1)
	require.Empty(t, agentkit.Call(t, b, "workspace_conflicts", nil)["conflicts"])
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_resolve", agentkit.Args{"path": "/secret/b", "take": "theirs"}).Err, syscall.EINVAL)
	asks := box(tool.Config{Policy: &policy.Policy{Ask: []policy.Rule{{Permissions: []policy.Permission{policy.Read}, Paths: []string{"/secret"}}}}})
	one := agentkit.Call(t, asks, "workspace_conflicts", nil)["conflicts"].([]any)[0].(map[string]any)
	require.NotContains(t, one, "hunks")
	require.Equal(t, "ours", text(t, main, "secret/b"))

	// A merge counts for the quota, and is nothing that a workspace without snapshots has.
	agentkit.Call(t, all, "workspace_branch", agentkit.Args{"name": "large", "stay": true})
	vfstest.Write(t, branchOf(t, main, "large"), "work/large", strings.Repeat("x", 5000))
	small := box(tool.Config{Policy: &policy.Policy{MaxBytes: 4000, Branches: []string{"*"}}})
	require.ErrorIs(t, agentkit.Try(t, small, "workspace_merge", agentkit.Args{"ref": "large", "dryRun": false}).Err, syscall.EDQUOT)
	require.NotContains(t, vfstest.Names(t, main), "work/large")
	require.Nil(t, box(tool.Config{NoSnapshot: true}).Tool("workspace_merge"))
	require.Nil(t, box(tool.Config{NoSnapshot: true}).Tool("workspace_resolve"))

	// Approval is asked for once, before anything happens; a dry run needs none to write.
	asked := 0
	careful := box(tool.Config{
		Policy: &policy.Policy{Branches: []string{"*"}, Ask: []policy.Rule{{Permissions: []policy.Permission{policy.Write}, Paths: []string{"/work"}}}},
		Ask:    func(context.Context, tool.Approval) (bool, error) { asked++; return false, nil },
	})
	agentkit.Call(t, careful, "workspace_merge", agentkit.Args{"ref": "large"})
	require.Zero(t, asked)
	require.ErrorIs(t, agentkit.Try(t, careful, "workspace_merge", agentkit.Args{"ref": "large", "dryRun": false}).Err, syscall.EACCES)
	require.Equal(t, 1, asked)
}

// branchOf opens a branch.
func branchOf(t *testing.T, fsys *vfs.FS, name string) *vfs.FS {
	t.Helper()
	branch, err := fsys.Branch(t.Context(), name)
	require.NoError(t, err)
	return branch
}
