package agent_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/profile/claude"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/snapshot"
)

// Every profile's writes are steps that Undo takes back, each call one.
func TestUndoInEveryProfile(t *testing.T) {
	patch := "*** Begin Patch\n*** Add File: b\n+x\n*** Add File: c\n+x\n*** End Patch"
	for profile, do := range map[string]struct {
		tool string
		args agentkit.Args
	}{
		"helix":          {"workspace_write_file", agentkit.Args{"path": "/b", "content": "x"}},
		"module2":        {"write", agentkit.Args{"path": "/b", "content": "x"}},
		"dofs":           {"writeFile", agentkit.Args{"path": "/b", "content": "x"}},
		"deepagents":     {"write_file", agentkit.Args{"file_path": "/b", "content": "x"}},
		"mcp-filesystem": {"write_file", agentkit.Args{"path": "/b", "content": "x"}},
		"claude-editor":  {"str_replace_based_edit_tool", agentkit.Args{"command": "create", "path": "/b", "file_text": "x"}},
		"claude-memory":  {"memory", agentkit.Args{"command": "create", "path": "/memories/b", "file_text": "x"}},
		"apply-patch":    {"apply_patch", agentkit.Args{"input": patch, "partial": true}},
		"claude-code":    {"Write", agentkit.Args{"file_path": "/b", "content": "x"}},
	} {
		t.Run(profile, func(t *testing.T) {
			s := openSession(t, newStore(t), "w", &agent.SessionOptions{Config: tool.Config{Profile: agentkit.Named(t, profile)}, Auto: agent.EachCall})
			input, err := json.Marshal(do.args)
			require.NoError(t, err)
			r := s.Call(t.Context(), do.tool, input)
			require.NoError(t, r.Err, r.Text)
			_, err = s.Undo(t.Context(), 1)
			require.NoError(t, err)
			box, err := s.Toolbox(t.Context())
			require.NoError(t, err)
			left, err := box.FS().ReadDir(t.Context(), ".")
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// A model can neither take away the snapshots that a session keeps for its host, nor make any that look like them.
func TestKeptSnapshots(t *testing.T) {
	s := openSession(t, newStore(t), "w", &agent.SessionOptions{Auto: agent.EachCall})
	writes(t, s, "/a", "1")
	_, err := s.Sub(t.Context(), "child", nil)
	require.NoError(t, err)
	var out struct{ Snapshots []struct{ Name string } }
	data, err := json.Marshal(runs(t, s, "list_snapshots", nil).Data)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &out))
	require.Len(t, out.Snapshots, 1)
	box, err := s.Toolbox(t.Context())
	require.NoError(t, err)
	for _, kept := range out.Snapshots {
		made, err := snapshot.Open(t.Context(), box.FS(), kept.Name)
		require.NoError(t, err)
		require.True(t, made.Info.Automatic(), "a prune has a policy of its own for it")
		require.ErrorIs(t, runs(t, s, "delete_snapshot", agentkit.Args{"ref": kept.Name}).Err, syscall.EACCES)
	}
	require.ErrorIs(t, runs(t, s, "snapshot", agentkit.Args{"name": "auto-x", "note": "automatic: before x"}).Err, syscall.EINVAL)
	_, err = s.Undo(t.Context(), 1)
	require.NoError(t, err)
}

// A write by the model of claude-code counts as seen only if it was committed.
func TestCodeSawCommitted(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: claude.Code, Policy: &policy.Policy{MaxBytes: 10}})
	vfstest.Write(t, fsys, "a", "12345678")
	require.NoError(t, agentkit.Try(t, b, "Read", agentkit.Args{"file_path": "/a"}).Err)
	require.ErrorIs(t, agentkit.Try(t, b, "Edit", agentkit.Args{"file_path": "/a", "old_string": "1", "new_string": "xxxxxxx"}).Err, syscall.EDQUOT)
	require.NoError(t, agentkit.Try(t, b, "Edit", agentkit.Args{"file_path": "/a", "old_string": "1", "new_string": "x"}).Err)
	require.NoError(t, agentkit.Try(t, b, "Edit", agentkit.Args{"file_path": "/a", "old_string": "2", "new_string": "y"}).Err)
}

// A snapshot before each call that changes something, of which the newest stay, and the way back.
func TestUndo(t *testing.T) {
	store := newStore(t)
	s := openSession(t, store, "one", &agent.SessionOptions{Auto: agent.EachCall, Keep: 5})
	count := func() (n int) {
		box, err := s.Toolbox(t.Context())
		require.NoError(t, err)
		list, err := snapshot.List(t.Context(), box.FS())
		require.NoError(t, err)
		for _, i := range list {
			if strings.HasPrefix(i.Name, "auto-") {
				n++
			}
		}
		return n
	}
	undo := func(n int, want string) {
		t.Helper()
		r, err := s.Undo(t.Context(), n)
		require.NoError(t, err)
		require.Equal(t, refOf(t, s), r)
		require.Equal(t, want, holds(t, s, "a"))
	}
	for _, text := range []string{"1", "2", "3"} {
		writes(t, s, "/a", text)
		runs(t, s, "read_file", agentkit.Args{"path": "a"})
		runs(t, s, "rm", agentkit.Args{"path": "none"})
	}
	require.Equal(t, 3, count(), "neither reads nor failures are steps")
	writes(t, s, "/a", "3")
	undo(1, "3")
	undo(3, "2")
	undo(1, "3") // takes the undo back
	undo(1, "2")
	require.LessOrEqual(t, count(), 5)
	writes(t, s, "/a", "4")
	undo(1, "2")
	_, err := s.Snapshot(t.Context(), "mine", "")
	require.NoError(t, err)
	for _, text := range []string{"5", "6", "7", "8", "9", "10"} {
		writes(t, s, "/a", text)
	}
	require.Equal(t, 5, count())
	undo(5, "5")
	_, err = s.Undo(t.Context(), 6)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = s.Undo(t.Context(), 0)
	require.ErrorIs(t, err, syscall.EINVAL)
	r := runs(t, s, "restore", agentkit.Args{"ref": "mine"})
	require.NoError(t, r.Err)
	require.Equal(t, "2", holds(t, s, "a"))
	undo(1, "5")
}

// By turns, all calls of one are one step.
func TestUndoTurns(t *testing.T) {
	s := openSession(t, newStore(t), "one", &agent.SessionOptions{Auto: agent.EachTurn})
	for _, turn := range []string{"1", "2", "3"} {
		s.Turn()
		writes(t, s, "/a", "at first "+turn)
		writes(t, s, "/a", turn)
	}
	_, err := s.Undo(t.Context(), 2)
	require.NoError(t, err)
	require.Equal(t, "1", holds(t, s, "a"))
	writes(t, s, "/a", "4")
	writes(t, s, "/a", "5")
	_, err = s.Undo(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, "1", holds(t, s, "a"))

	plain := openSession(t, newStore(t), "one", nil)
	_, err = plain.Undo(t.Context(), 1)
	require.ErrorIs(t, err, syscall.EINVAL)
}
