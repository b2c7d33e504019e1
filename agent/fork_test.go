package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/profile/module2"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/record"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func readOn(t *testing.T, fsys *vfs.FS, branch, path string) string {
	t.Helper()
	tree, err := fsys.Branch(t.Context(), branch)
	require.NoError(t, err)
	return vfstest.Read(t, tree, path)
}

// A fork moves the tools to the new branch, reports that, and grants both branches. The one that was left stays as it
// is.
func TestForkMoves(t *testing.T) {
	b, fsys := agentkit.Box(t, nil, "a")
	out := agentkit.Call(t, b, "workspace_branch", agentkit.Args{"name": "try"})
	require.Equal(t, "try", out["branch"])
	require.Equal(t, "try", out["on"])
	require.Equal(t, "try", b.FS().Head())
	left := out["left"].(string)
	ref, err := tool.ParseRef(left)
	require.NoError(t, err)
	require.Equal(t, "main", ref.Branch)

	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "/b", "content": "x"})
	require.Equal(t, "x", readOn(t, fsys, "try", "b"))
	_, err = fsys.Stat(t.Context(), "b")
	require.ErrorIs(t, err, fs.ErrNotExist, "the branch that was left stays as it is")

	for _, from := range []string{"main", left} {
		require.Equal(t, []any{map[string]any{"kind": "added", "path": "/b"}}, agentkit.Call(t, b, "workspace_diff", agentkit.Args{"from": from})["changes"])
	}
	require.Equal(t, "try", agentkit.Call(t, b, "workspace_snapshot", agentkit.Args{"name": "s"})["branch"])
	agentkit.Call(t, b, "workspace_restore", agentkit.Args{"ref": "main"})
	_, err = b.FS().Stat(t.Context(), "b")
	require.ErrorIs(t, err, fs.ErrNotExist, "restore brings back what is on another branch, and moves nowhere")
	require.Equal(t, "try", b.FS().Head())

	text := agentkit.Try(t, b, "workspace_branch", agentkit.Args{"name": "again", "ref": "s"}).Text
	require.Contains(t, text, "You are on the new branch 'again' now")
	require.Contains(t, text, "You left vfs://")
	require.Equal(t, "x", vfstest.Read(t, b.FS(), "b"))

	require.NoError(t, record.Flush(t.Context(), fsys))
	calls, err := fsys.Store().Calls(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, "workspace_branch main", calls[0].Tool+" "+calls[0].Branch, "a fork is a call of the branch that it left")
	require.Equal(t, "workspace_write_file try", calls[1].Tool+" "+calls[1].Branch)
	for _, e := range logged(t, fsys, "try") {
		if e.Path == "b" && e.Op == "create" {
			require.Equal(t, "workspace_write_file", e.Tool)
		}
	}
}

func logged(t *testing.T, fsys *vfs.FS, branch string) []vfs.Event {
	t.Helper()
	tree, err := fsys.Branch(t.Context(), branch)
	require.NoError(t, err)
	events, err := tree.Log(t.Context(), nil)
	require.NoError(t, err)
	return events
}

// With stay nothing moves, and the new branch can be looked at all the same.
func TestForkStays(t *testing.T) {
	b, fsys := agentkit.Box(t, nil, "a")
	r := agentkit.Try(t, b, "workspace_branch", agentkit.Args{"name": "try", "stay": true})
	require.NoError(t, r.Err)
	require.Contains(t, r.Text, "You stay on 'main'")
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "/b", "content": "x"})
	require.Equal(t, "x", vfstest.Read(t, fsys, "b"))
	require.Len(t, agentkit.Call(t, b, "workspace_diff", agentkit.Args{"from": "try"})["changes"], 1)
	agentkit.Call(t, b, "workspace_restore", agentkit.Args{"ref": "try"})
	require.Equal(t, []string{"a"}, vfstest.Names(t, fsys))
}

// Branches that others forked are not granted, nor is a new branch with the name of a granted one: a grant is for the
// branch itself.
func TestForkGrantsItsOwn(t *testing.T) {
	b, fsys := agentkit.Box(t, nil, "a")
	_, err := snapshot.Branch(t.Context(), fsys, fsys, "theirs")
	require.NoError(t, err)
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_diff", agentkit.Args{"from": "theirs"}).Err, syscall.EACCES)

	agentkit.Call(t, b, "workspace_branch", agentkit.Args{"name": "mine", "stay": true})
	agentkit.Call(t, b, "workspace_diff", agentkit.Args{"from": "mine"})
	require.NoError(t, snapshot.DeleteBranch(t.Context(), fsys, "mine"))
	_, err = snapshot.Branch(t.Context(), fsys, nil, "mine")
	require.NoError(t, err)
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_diff", agentkit.Args{"from": "mine"}).Err, syscall.EACCES)

	_, err = b.On(t.Context(), "theirs")
	require.ErrorIs(t, err, syscall.EACCES)
	_, err = b.On(t.Context(), "none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	other, err := b.With(&tool.Config{Profile: module2.Profile})
	require.NoError(t, err)
	agentkit.Call(t, b, "workspace_branch", agentkit.Args{"name": "next"})
	require.Equal(t, "next", other.FS().Head(), "they stand together")
	was, err := b.On(t.Context(), "main")
	require.NoError(t, err)
	require.Equal(t, "main", was.FS().Head())
	require.ErrorIs(t, was.Call(t.Context(), "workspace_branch", nil).Err, syscall.EPERM, "it stays where it was put")
	require.Equal(t, []string{"main", "mine", "next"}, b.Branches())
}

// A move that is not approved, not permitted or not wanted makes no branch.
func TestForkRefused(t *testing.T) {
	none := func(b *tool.Toolbox, fsys *vfs.FS, want error) {
		t.Helper()
		require.ErrorIs(t, agentkit.Try(t, b, "workspace_branch", agentkit.Args{"name": "try"}).Err, want)
		_, err := fsys.Branch(t.Context(), "try")
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.Equal(t, "main", b.FS().Head())
	}
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{Ask: []policy.Rule{{Permissions: []policy.Permission{policy.Snapshot}}}}})
	none(b, fsys, syscall.EACCES)
	b, fsys = agentkit.Box(t, &tool.Config{Policy: &policy.Policy{Permissions: []policy.Permission{policy.Read}}})
	none(b, fsys, fs.ErrNotExist)
	b, fsys = agentkit.Box(t, &tool.Config{Fixed: true})
	none(b, fsys, syscall.EPERM)
	require.Contains(t, agentkit.Try(t, b, "workspace_branch", agentkit.Args{}).Text, "set stay")
	agentkit.Call(t, b, "workspace_branch", agentkit.Args{"name": "apart", "stay": true})
}

// The policy and the quota hold on the new branch, and the quota counts what that holds.
func TestForkUnderPolicy(t *testing.T) {
	b, _ := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{ReadOnly: []string{"/ro"}, MaxEntries: 3}}, "ro/a")
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "/b", "content": "x"})
	agentkit.Call(t, b, "workspace_branch", agentkit.Args{})
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_write_file", agentkit.Args{"path": "/ro/a", "content": "x"}).Err, syscall.EACCES)
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_write_file", agentkit.Args{"path": "/c", "content": "x"}).Err, syscall.EDQUOT)
	agentkit.Call(t, b, "workspace_rm", agentkit.Args{"path": "/b"})
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "/c", "content": "x"})
}

// A session goes with its tools: its ref, its health and its snapshots are of the new branch, also after a restart, and
// the host hears of it before the call returns.
func TestSessionMoves(t *testing.T) {
	store := newStore(t)
	ctx := t.Context()
	var noted []tool.Ref
	var refuse error
	s, err := agent.Open(store, "one", &agent.SessionOptions{
		Auto:  agent.EachTurn,
		OnRef: func(_ context.Context, ref tool.Ref) error { noted = append(noted, ref); return refuse },
	})
	require.NoError(t, err)
	writes(t, s, "/a", "1")
	writes(t, s, "/a", "2")
	r := runs(t, s, "branch", agentkit.Args{"name": "try"})
	require.NoError(t, r.Err, r.Text)
	require.Equal(t, []tool.Ref{refOf(t, s)}, noted)
	require.Equal(t, "try", refOf(t, s).Branch)
	require.Equal(t, "one", s.Name())
	require.Equal(t, "try", s.Health().Branch)
	h, ok := store.Health("try")
	require.True(t, ok)
	require.Equal(t, "one", h.Session)
	for _, name := range []string{"one", "try"} {
		_, err = agent.Open(store, name, nil)
		require.ErrorIs(t, err, syscall.EBUSY, "nobody else writes there by accident")
	}

	writes(t, s, "/a", "3") // of the same turn, and a step of its own on this branch
	_, err = s.Undo(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, "2", holds(t, s, "a"))
	_, err = s.Undo(ctx, 9)
	require.ErrorIs(t, err, fs.ErrNotExist)

	refuse = errors.New("the disk of the host is full")
	r = runs(t, s, "branch", agentkit.Args{"name": "lost"})
	require.ErrorIs(t, r.Err, refuse)
	require.Contains(t, r.Text, "you are still on 'try'")
	require.Equal(t, "try", refOf(t, s).Branch)
	free, err := agent.Open(store, "lost", nil)
	require.NoError(t, err)
	require.NoError(t, free.Close(ctx))

	shared, err := s.Sub(ctx, "", &agent.SubOptions{Inherit: true})
	require.NoError(t, err)
	refuse = nil
	require.NoError(t, runs(t, shared, "branch", agentkit.Args{"name": "both"}).Err)
	require.Equal(t, "both", refOf(t, s).Branch, "who shares a branch moves together")
	again := openSession(t, store, "try", nil)
	require.NoError(t, runs(t, again, "ls", nil).Err, "what was left in between is free")

	ref := refOf(t, s).String()
	require.NoError(t, s.Close(ctx))
	resumed, err := agent.Resume(store, ref, nil)
	require.NoError(t, err)
	closes(t, resumed)
	require.Equal(t, "2", holds(t, resumed, "a"))
	require.Equal(t, "both", refOf(t, resumed).Branch)
	_, ok = store.Health("one")
	require.False(t, ok)
}

// A name that another open session has is refused before there is a branch of it.
func TestForkToOpenSession(t *testing.T) {
	store := newStore(t)
	s := openSession(t, store, "one", nil)
	openSession(t, store, "two", nil) // and never used
	r := runs(t, s, "branch", agentkit.Args{"name": "two"})
	require.ErrorIs(t, r.Err, syscall.EBUSY)
	require.Equal(t, "one", refOf(t, s).Branch)
}

// A sub-agent is adopted from where it stands, and takes the branches that it moved to with it.
func TestSubMoves(t *testing.T) {
	store := newStore(t)
	ctx := t.Context()
	s := openSession(t, store, "parent", nil)
	writes(t, s, "/a", "1")
	child, err := s.Sub(ctx, "child", nil)
	require.NoError(t, err)
	require.NoError(t, runs(t, child, "branch", agentkit.Args{"name": "deeper"}).Err)
	writes(t, child, "/a", "2")
	_, err = s.Adopt(ctx, child, nil)
	require.NoError(t, err)
	require.Equal(t, "2", holds(t, s, "a"))
	require.NoError(t, child.Close(ctx))
	box, err := s.Toolbox(ctx)
	require.NoError(t, err)
	for _, name := range []string{"child", "deeper"} {
		_, err = box.FS().Branch(ctx, name)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
	}

	late, err := s.Sub(ctx, "late", nil)
	require.NoError(t, err)
	closes(t, late)
	require.NoError(t, runs(t, s, "branch", agentkit.Args{"name": "elsewhere"}).Err)
	writes(t, late, "/b", "late")
	a, err := s.Adopt(ctx, late, nil)
	require.NoError(t, err)
	require.Equal(t, "elsewhere", a.Ref.Branch)
	require.Equal(t, "late", holds(t, s, "b"), "where the session stands")
}

// A sub-agent that is kept goes on, after its end, where a tool had moved it: its host heard of the ref.
func TestSubResumesWhereItMoved(t *testing.T) {
	store := newStore(t)
	ctx := t.Context()
	s := openSession(t, store, "parent", nil)
	var heard tool.Ref
	options := &agent.SubOptions{Persistent: true, OnRef: func(_ context.Context, ref tool.Ref) error {
		heard = ref
		return nil
	}}
	child, err := s.Sub(ctx, "child", options)
	require.NoError(t, err)
	require.NoError(t, runs(t, child, "branch", agentkit.Args{"name": "deeper"}).Err)
	require.Equal(t, "deeper", heard.Branch)
	writes(t, child, "/a", "1")
	require.NoError(t, child.Close(ctx))

	again, err := agent.Resume(store, heard.String(), nil)
	require.NoError(t, err)
	closes(t, again)
	require.Equal(t, "1", holds(t, again, "a"))

	options.Inherit, options.Persistent = true, false
	_, err = s.Sub(ctx, "", options)
	require.ErrorIs(t, err, syscall.EINVAL, "its parent's host hears of that")
}

// A branch that is deleted under its session is named, and the session can go on elsewhere.
func TestBranchGone(t *testing.T) {
	store := newStore(t)
	s := openSession(t, store, "one", nil)
	writes(t, s, "/a", "1")
	require.NoError(t, runs(t, s, "branch", agentkit.Args{"name": "try"}).Err)
	box, err := s.Toolbox(t.Context())
	require.NoError(t, err)
	require.NoError(t, snapshot.DeleteBranch(t.Context(), box.FS(), "try"))
	r := runs(t, s, "ls", nil)
	require.ErrorIs(t, r.Err, syscall.ESTALE)
	require.Contains(t, r.Text, "'try'")
	r = runs(t, s, "write_file", agentkit.Args{"path": "/b", "content": "2"})
	require.ErrorIs(t, r.Err, syscall.ESTALE)
	r = runs(t, s, "branch", agentkit.Args{"ref": "one", "name": "next"})
	require.NoError(t, r.Err, r.Text)
	require.Equal(t, "1", holds(t, s, "a"))
}

// A write that was acknowledged before a fork is in it, and a later one is on the new branch: concurrent calls lose
// nothing to a branch that nobody stands on any more.
func TestForksAtOnce(t *testing.T) {
	b, _ := agentkit.Box(t, nil)
	const writers, each = 4, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				input, _ := json.Marshal(agentkit.Args{"path": fmt.Sprintf("/%d/%d", w, i), "content": "x"})
				if r := b.Call(t.Context(), "workspace_write_file", input); r.Err != nil {
					t.Error(r.Err)
				}
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			for range 5 {
				if r := b.Call(t.Context(), "workspace_branch", nil); r.Err != nil {
					t.Error(r.Err)
				}
			}
		})
	}
	wg.Wait()
	require.Len(t, b.Branches(), 11)
	found := agentkit.Call(t, b, "workspace_find", agentkit.Args{"type": "file"})
	require.Len(t, found["entries"], writers*each)
}
