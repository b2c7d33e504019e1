package helix_test

import (
	"context"
	"os"
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

// lastCall returns the number of the last call that changed something. One that only read may be recorded later.
func lastCall(t *testing.T, fsys *vfs.FS) int64 {
	t.Helper()
	calls, err := fsys.Store().Calls(t.Context(), &vfs.CallOptions{Newest: true})
	require.NoError(t, err)
	i := slices.IndexFunc(calls, func(c vfs.CallRecord) bool { return c.Changes > 0 })
	require.GreaterOrEqual(t, i, 0)
	return calls[i].ID
}

// A model takes back its own last call, though another one wrote later; then calls by their numbers, and its undos.
func TestUndoTools(t *testing.T) {
	ann, main := agentkit.Box(t, &tool.Config{Actor: "ann", Session: "s1"})
	bob, err := agent.New(main, &tool.Config{Actor: "bob", Session: "s1"})
	require.NoError(t, err)
	agentkit.Call(t, ann, "workspace_write_file", agentkit.Args{"path": "/plan", "content": "one\n\n\ntwo\n"})
	first := lastCall(t, main)
	agentkit.Call(t, ann, "workspace_edit_file", agentkit.Args{"path": "/plan", "oldText": "one", "newText": "1"})
	edit := lastCall(t, main)
	agentkit.Call(t, bob, "workspace_edit_file", agentkit.Args{"path": "/plan", "oldText": "two", "newText": "2"})
	theirs := lastCall(t, main)

	want := []any{map[string]any{"kind": "modified", "path": "/plan"}}
	out := agentkit.Call(t, ann, "workspace_undo", agentkit.Args{"dryRun": true})
	require.Equal(t, true, out["dryRun"])
	require.Equal(t, float64(edit), out["call"])
	require.Equal(t, want, out["changes"])
	require.NotContains(t, out, "by")
	require.Equal(t, "1\n\n\n2\n", text(t, main, "plan"))

	r := agentkit.Try(t, ann, "workspace_undo", nil)
	require.NoError(t, r.Err)
	require.Contains(t, r.Text, "modified /plan")
	require.Equal(t, "one\n\n\n2\n", text(t, main, "plan"), "only her own call is taken back")
	undone := lastCall(t, main)
	require.ErrorIs(t, agentkit.Try(t, ann, "workspace_undo", agentkit.Args{"call": edit}).Err, syscall.EALREADY)
	require.ErrorIs(t, agentkit.Try(t, bob, "workspace_redo", nil).Err, syscall.ENOENT, "the undo is not his")
	require.Equal(t, "one\n\n\n2\n", text(t, main, "plan"))

	out = agentkit.Call(t, ann, "workspace_redo", nil)
	require.Equal(t, float64(undone), out["call"])
	require.Equal(t, want, out["changes"])
	require.Equal(t, "1\n\n\n2\n", text(t, main, "plan"))

	// By number the call of another one is taken back, and that by its number too.
	out = agentkit.Call(t, ann, "workspace_undo", agentkit.Args{"call": theirs})
	require.Equal(t, "bob", out["actor"])
	require.Equal(t, "1\n\n\ntwo\n", text(t, main, "plan"))
	agentkit.Call(t, bob, "workspace_redo", agentkit.Args{"call": out["by"]})
	require.Equal(t, "1\n\n\n2\n", text(t, main, "plan"))

	// What was changed again conflicts, and stays.
	agentkit.Call(t, bob, "workspace_edit_file", agentkit.Args{"path": "/plan", "oldText": "1", "newText": "uno"})
	uno := lastCall(t, main)
	out = agentkit.Call(t, ann, "workspace_undo", agentkit.Args{"call": edit})
	require.Len(t, out["conflicts"], 1)
	require.Equal(t, "content", out["conflicts"].([]any)[0].(map[string]any)["kind"])
	require.Equal(t, "uno\n\n\n2\n", text(t, main, "plan"))
	later := agentkit.Call(t, ann, "workspace_conflicts", nil)
	for _, list := range []any{out["conflicts"], later["conflicts"]} {
		require.Len(t, list, 1)
		by := func(side string) any {
			return list.([]any)[0].(map[string]any)[side].(map[string]any)["by"].(map[string]any)["call"]
		}
		require.Equal(t, float64(uno), by("ours"))
		require.Equal(t, float64(first), by("theirs"), "she wrote what was there before the call")
	}
	agentkit.Call(t, ann, "workspace_resolve", agentkit.Args{"path": "/plan", "take": "theirs"})
	require.Equal(t, "one\n\n\ntwo\n", text(t, main, "plan"), "theirs is the file as it was before the call")
}

// A call that changed several files is taken back with all of them, and nothing else.
func TestUndoIsWhole(t *testing.T) {
	main := vfstest.New(t)
	b, err := agent.New(main, &tool.Config{Session: "s"})
	require.NoError(t, err)
	agentkit.Call(t, b, "workspace_write_many", agentkit.Args{"files": []agentkit.Args{{"path": "/a", "content": "a"}, {"path": "/b", "content": "b"}}})

	// What an open file still waits with is no part of the undo.
	f, err := main.OpenFile(t.Context(), "kept", os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	_, err = f.Write([]byte("kept"))
	require.NoError(t, err)
	out := agentkit.Call(t, b, "workspace_undo", nil)
	require.NoError(t, f.Close())
	require.Len(t, out["changes"], 2)
	require.Equal(t, []string{"kept"}, vfstest.Names(t, main))
	agentkit.Call(t, b, "workspace_redo", nil)
	require.Equal(t, []string{"a", "b", "kept"}, vfstest.Names(t, main))
	require.Equal(t, "kept", text(t, main, "kept"))
}

// The policy judges all that an undo changes, and errors name nothing that is hidden.
func TestUndoTheGuard(t *testing.T) {
	_, main := agentkit.Box(t, nil, "work/a", "secret/b", "fixed/c")
	box := func(c tool.Config) *tool.Toolbox {
		b, err := agent.New(main, &c)
		require.NoError(t, err)
		return b
	}
	all := box(tool.Config{Session: "all"})
	edit := func(path string) int64 {
		agentkit.Call(t, all, "workspace_write_file", agentkit.Args{"path": path, "content": "edited"})
		return lastCall(t, main)
	}
	work, secret, fixed := edit("/work/a"), edit("/secret/b"), edit("/fixed/c")

	narrow := box(tool.Config{Session: "narrow", Policy: &policy.Policy{Paths: []string{"/work", "/fixed"}, ReadOnly: []string{"/fixed"}}})
	for _, call := range []int64{secret, fixed} {
		for _, dry := range []bool{true, false} {
			r := agentkit.Try(t, narrow, "workspace_undo", agentkit.Args{"call": call, "dryRun": dry})
			require.ErrorIs(t, r.Err, syscall.EACCES)
			require.NotContains(t, r.Text, "secret")
		}
	}
	require.Equal(t, "edited", text(t, main, "secret/b"))
	require.Equal(t, "edited", text(t, main, "fixed/c"))
	require.ErrorIs(t, agentkit.Try(t, narrow, "workspace_undo", nil).Err, syscall.ENOENT, "it has no call of its own")
	agentkit.Call(t, narrow, "workspace_undo", agentkit.Args{"call": work})
	agentkit.Call(t, narrow, "workspace_redo", nil)
	require.Equal(t, "edited", text(t, main, "work/a"))

	// A call on another branch, an unknown one, no undo, and tools of no session.
	agentkit.Call(t, all, "workspace_branch", agentkit.Args{"name": "hidden"})
	other := edit("/work/a2")
	r := agentkit.Try(t, narrow, "workspace_undo", agentkit.Args{"call": other})
	require.ErrorIs(t, r.Err, syscall.EINVAL)
	require.NotContains(t, r.Text, "hidden")
	require.ErrorIs(t, agentkit.Try(t, narrow, "workspace_undo", agentkit.Args{"call": 1_000_000}).Err, syscall.ENOENT)
	require.ErrorIs(t, agentkit.Try(t, narrow, "workspace_undo", agentkit.Args{"call": -1}).Err, syscall.EINVAL)
	require.ErrorIs(t, agentkit.Try(t, narrow, "workspace_redo", agentkit.Args{"call": fixed}).Err, syscall.EINVAL)
	require.ErrorIs(t, agentkit.Try(t, box(tool.Config{}), "workspace_undo", nil).Err, syscall.EINVAL)
	require.ErrorIs(t, agentkit.Try(t, box(tool.Config{}), "workspace_redo", nil).Err, syscall.EINVAL)
	require.Nil(t, box(tool.Config{NoSnapshot: true}).Tool("workspace_undo"))
	require.Nil(t, box(tool.Config{NoSnapshot: true}).Tool("workspace_redo"))

	// Approval is asked for once, before anything happens; a dry run needs none to write. The quota counts.
	asked := 0
	careful := box(tool.Config{
		Policy: &policy.Policy{Ask: []policy.Rule{{Permissions: []policy.Permission{policy.Write}, Paths: []string{"/work"}}}},
		Ask:    func(context.Context, tool.Approval) (bool, error) { asked++; return false, nil },
	})
	agentkit.Call(t, careful, "workspace_undo", agentkit.Args{"call": work, "dryRun": true})
	require.Zero(t, asked)
	require.ErrorIs(t, agentkit.Try(t, careful, "workspace_undo", agentkit.Args{"call": work}).Err, syscall.EACCES)
	require.Equal(t, 1, asked)
	writer := box(tool.Config{Session: "writer"})
	agentkit.Call(t, writer, "workspace_write_file", agentkit.Args{"path": "/work/large", "content": strings.Repeat("x", 5000)})
	agentkit.Call(t, writer, "workspace_rm", agentkit.Args{"path": "/work/large"})
	removal := lastCall(t, main)
	small := box(tool.Config{Policy: &policy.Policy{MaxBytes: 4000}})
	require.ErrorIs(t, agentkit.Try(t, small, "workspace_undo", agentkit.Args{"call": removal}).Err, syscall.EDQUOT)
	require.NotContains(t, vfstest.Names(t, main), "work/large")
}

// A call whose states a collection has taken is refused with the nearest snapshots, as far as the tools may look at them.
func TestUndoCollected(t *testing.T) {
	b, main := agentkit.Box(t, &tool.Config{Session: "s"})
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "/plan", "content": "one"})
	call := lastCall(t, main)
	vfstest.Snapshot(t, main, "nearest")
	fork := vfstest.Branch(t, main, "fork")
	vfstest.Exec(t, main, `INSERT INTO reaped (branch, epoch) SELECT id, epoch FROM branch WHERE name = 'main'`)

	for _, tt := range []struct {
		name   string
		fsys   *vfs.FS
		policy *policy.Policy
		named  bool
	}{
		{"its own branch", main, nil, true},
		{"a fork", fork, nil, false},
		{"a fork, and main is granted", fork, &policy.Policy{Branches: []string{"main"}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := agent.New(tt.fsys, &tool.Config{Session: "s", Policy: tt.policy})
			require.NoError(t, err)
			r := agentkit.Try(t, b, "workspace_undo", agentkit.Args{"call": call})
			require.ErrorIs(t, r.Err, syscall.ESTALE)
			require.Contains(t, r.Text, "a collection has taken the state before call")
			require.Equal(t, tt.named, strings.Contains(r.Text, "nearest snapshot is nearest"), r.Text)
		})
	}
}
