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
	"vfsdb/merge"
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
	a, err := s.Adopt(ctx, child, nil)
	require.NoError(t, err)
	require.True(t, a.FastForward)
	require.Equal(t, "main", a.Ref.Branch)
	require.Equal(t, "2", holds(t, s, "a"))
	writes(t, child, "/b", "newer")
	_, err = s.Adopt(ctx, child, nil)
	require.NoError(t, err)
	require.Equal(t, "newer", holds(t, s, "b"))
	a, err = s.Adopt(ctx, child, nil)
	require.NoError(t, err)
	require.True(t, a.UpToDate)

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
	_, err = s.Adopt(ctx, kept, nil)
	require.NoError(t, err)
	require.Equal(t, "kept", holds(t, s, "c"))

	early, err := s.Snapshot(ctx, "early", "")
	require.NoError(t, err)
	writes(t, s, "/d", "later")
	older, err := s.Sub(ctx, "", &agent.SubOptions{From: early.String()})
	require.NoError(t, err)
	closes(t, older)
	writes(t, older, "/c", "from the past")
	_, err = s.Adopt(ctx, older, nil)
	require.NoError(t, err)
	require.Equal(t, "from the past", holds(t, s, "c"))
	require.Equal(t, "later", holds(t, s, "d"), "only what it changed")

	shared, err := s.Sub(ctx, "", &agent.SubOptions{Inherit: true, Config: &tool.Config{Policy: &policy.Policy{ReadOnly: []string{"/"}}}})
	require.NoError(t, err)
	require.Equal(t, "from the past", holds(t, shared, "c"))
	_, err = s.Adopt(ctx, shared, nil)
	require.ErrorIs(t, err, syscall.EINVAL)
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

// Two sub-agents work at the same time, and both are adopted. What they changed in different ways is a conflict, which the
// host gets; or it has decided before.
func TestAdoptBoth(t *testing.T) {
	for _, tt := range []struct {
		name      string
		options   *agent.AdoptOptions
		plan      string
		conflicts []string
	}{
		{"conflicts stay", nil, "main first\ntwo\nthree\n", []string{"plan"}},
		{"the session counts", &agent.AdoptOptions{Prefer: merge.Ours}, "main first\ntwo\nthree\n", nil},
		{"the sub-agent counts", &agent.AdoptOptions{Prefer: merge.Theirs}, "main second\ntwo\nthree\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := t.Context()
			s := openSession(t, newStore(t), "main", &agent.SessionOptions{Auto: agent.EachCall})
			writes(t, s, "/plan", "one\ntwo\nthree\n")
			writes(t, s, "/notes", "one\n\n\ntwo\n")
			first, err := s.Sub(ctx, "first", nil)
			require.NoError(t, err)
			closes(t, first)
			second, err := s.Sub(ctx, "second", nil)
			require.NoError(t, err)
			closes(t, second)
			writes(t, first, "/plan", "main first\ntwo\nthree\n")
			writes(t, first, "/notes", "first\n\n\ntwo\n")
			writes(t, first, "/of-first", "1")
			writes(t, second, "/plan", "main second\ntwo\nthree\n")
			writes(t, second, "/notes", "one\n\n\nsecond\n")
			writes(t, second, "/of-second", "2")

			a, err := s.Adopt(ctx, first, tt.options)
			require.NoError(t, err)
			require.True(t, a.FastForward)
			a, err = s.Adopt(ctx, second, tt.options)
			require.NoError(t, err)
			require.False(t, a.FastForward)

			var paths []string
			for _, c := range a.Added {
				paths = append(paths, c.Path)
				require.Equal(t, "second", c.TheirsLabel)
			}
			require.Equal(t, tt.conflicts, paths)
			require.Equal(t, tt.plan, holds(t, s, "plan"))
			require.Equal(t, "first\n\n\nsecond\n", holds(t, s, "notes"))
			require.Equal(t, "1", holds(t, s, "of-first"))
			require.Equal(t, "2", holds(t, s, "of-second"))

			_, err = s.Undo(ctx, 1)
			require.NoError(t, err)
			require.Equal(t, "first\n\n\ntwo\n", holds(t, s, "notes"), "an adoption is one step")
			require.Equal(t, "1", holds(t, s, "of-first"))
		})
	}
}

// An adoption that is not to make conflicts names them, and changes nothing. Conflicts that were there before do not count.
func TestAdoptRefuses(t *testing.T) {
	ctx := t.Context()
	s := openSession(t, newStore(t), "main", nil)
	for _, path := range []string{"/a", "/b"} {
		writes(t, s, path, "1")
	}
	child, err := s.Sub(ctx, "child", nil)
	require.NoError(t, err)
	closes(t, child)
	writes(t, s, "/a", "3")
	writes(t, child, "/a", "4")
	writes(t, child, "/b", "4")

	refuse := &agent.AdoptOptions{Refuse: true}
	var overtaken *agent.OvertakenError
	_, err = s.Adopt(ctx, child, refuse)
	require.ErrorAs(t, err, &overtaken)
	require.ErrorIs(t, err, syscall.ESTALE)
	require.EqualError(t, err, "'main' and 'child' have changed the same files in different ways (/a): nothing was adopted")
	require.Len(t, overtaken.Conflicts, 1)
	require.Equal(t, "1", holds(t, s, "b"))

	_, err = s.Adopt(ctx, child, nil)
	require.NoError(t, err)
	require.Equal(t, "3", holds(t, s, "a"))
	require.Equal(t, "4", holds(t, s, "b"))
	writes(t, child, "/b", "5")
	a, err := s.Adopt(ctx, child, refuse)
	require.NoError(t, err)
	require.Len(t, a.Conflicts, 1)
	require.Equal(t, "5", holds(t, s, "b"))
}
