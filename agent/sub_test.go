package agent_test

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/record"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/vfs"
)

// A sub-agent is alone on its branch, or shares its parent's; never both.
func TestSub(t *testing.T) {
	store := newStore(t)
	ctx := t.Context()
	s := openSession(t, store, "main", nil)
	writes(t, s, "/a", "1")

	child, err := s.Sub(ctx, "child", nil)
	require.NoError(t, err)
	writes(t, child, "/a", "2")
	writes(t, child, "/b", "new")
	require.Equal(t, "1", holds(t, s, "a"))
	_, err = s.Adopt(ctx, child)
	require.NoError(t, err)
	require.Equal(t, "2", holds(t, s, "a"))
	writes(t, child, "/b", "newer")
	_, err = s.Adopt(ctx, child)
	require.NoError(t, err)
	require.Equal(t, "newer", holds(t, s, "b"))

	writes(t, s, "/a", "3")
	writes(t, child, "/a", "4")
	var overtaken *agent.OvertakenError
	_, err = s.Adopt(ctx, child)
	require.ErrorAs(t, err, &overtaken)
	require.ErrorIs(t, err, syscall.ESTALE)
	require.EqualError(t, err, "'main' was written to since 'child' was forked from it (/a); nothing was lost: take over by hand what "+
		"differs between the snapshot 'fork-child' and 'child', or begin another sub-agent on 'main' as it is now")
	require.Equal(t, "3", holds(t, s, "a"))

	_, err = s.Sub(ctx, "child", nil)
	require.ErrorIs(t, err, syscall.EBUSY)
	require.NoError(t, child.Close(ctx))
	box, err := s.Toolbox(ctx)
	require.NoError(t, err)
	_, err = box.FS().Branch(ctx, "child")
	require.ErrorIs(t, err, fs.ErrNotExist, "one invocation")
	unused, err := s.Sub(ctx, "unused", nil)
	require.NoError(t, err)
	require.NoError(t, unused.Close(ctx))
	_, err = box.FS().Branch(ctx, "unused")
	require.ErrorIs(t, err, fs.ErrNotExist, "though it was never opened")

	kept, err := s.Sub(ctx, "kept", &agent.SubOptions{Persistent: true})
	require.NoError(t, err)
	writes(t, kept, "/c", "kept")
	require.NoError(t, kept.Close(ctx))
	kept, err = s.Sub(ctx, "kept", &agent.SubOptions{Persistent: true})
	require.NoError(t, err)
	closes(t, kept)
	require.Equal(t, "kept", holds(t, kept, "c"))
	_, err = s.Adopt(ctx, kept)
	require.NoError(t, err)
	require.Equal(t, "kept", holds(t, s, "c"))

	older, err := s.Sub(ctx, "", &agent.SubOptions{From: "fork-kept"})
	require.NoError(t, err)
	closes(t, older)
	_, err = s.Adopt(ctx, older)
	require.ErrorIs(t, err, syscall.EINVAL, "it was not forked from the head")

	shared, err := s.Sub(ctx, "", &agent.SubOptions{Inherit: true, Config: &tool.Config{Policy: &policy.Policy{ReadOnly: []string{"/"}}}})
	require.NoError(t, err)
	require.Equal(t, "kept", holds(t, shared, "c"))
	require.ErrorIs(t, runs(t, shared, "rm", agentkit.Args{"path": "c"}).Err, syscall.EACCES)
	require.NoError(t, record.Flush(ctx, box.FS()))
	calls, err := box.FS().Store().Calls(ctx, &vfs.CallOptions{Newest: true, Max: 1})
	require.NoError(t, err)
	require.Equal(t, "workspace_rm", calls[0].Tool)
	require.Equal(t, "main", calls[0].Session, "the log names the session that it shares")
	require.NoError(t, shared.Close(ctx))
	require.ErrorIs(t, runs(t, shared, "ls", nil).Err, fs.ErrClosed)
	require.NoError(t, runs(t, s, "ls", nil).Err, "the parent closes what is shared")
	_, err = s.Sub(ctx, "both", &agent.SubOptions{Inherit: true})
	require.ErrorIs(t, err, syscall.EINVAL)
}
