package agent_test

import (
	"context"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/profile"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/hooks"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/vfs"
)

// Nothing is opened before it is used, and the session is resumed from its ref.
func TestSessionLife(t *testing.T) {
	store := newStore(t)
	s, err := agent.Open(store, "one", nil)
	require.NoError(t, err)
	require.Len(t, s.Tools(), 32)
	require.Contains(t, s.Prompt(), "workspace_")
	require.Equal(t, agent.Health{State: agent.Configured, Session: "one", Branch: "one", Path: store.Path()}, s.Health())
	require.NoFileExists(t, store.Path())

	writes(t, s, "/a", "1")
	h, ok := store.Health("one")
	require.True(t, ok)
	require.Equal(t, agent.Opened, h.State)
	require.False(t, h.OpenedAt.IsZero())
	r := refOf(t, s)
	require.Equal(t, "one", r.Branch)
	require.NoError(t, s.Close(t.Context()))
	require.NoError(t, s.Close(t.Context()))
	require.Equal(t, agent.Closed, s.Health().State)
	require.ErrorIs(t, runs(t, s, "ls", nil).Err, fs.ErrClosed)
	_, ok = store.Health("one")
	require.False(t, ok)
	require.NoFileExists(t, store.Path()+"-wal", "the last session closes the file")

	again, err := agent.Resume(store, r.String(), nil)
	require.NoError(t, err)
	closes(t, again)
	require.Equal(t, "1", holds(t, again, "a"))
	require.Equal(t, r, refOf(t, again))

	same := openSession(t, store, "two", nil)
	require.ErrorIs(t, runs(t, same, "read_file", agentkit.Args{"path": "a"}).Err, fs.ErrNotExist, "a new session begins empty")
	_, err = agent.Open(store, "two", nil)
	require.ErrorIs(t, err, syscall.EBUSY, "no two sessions on one branch by accident")
	_, err = agent.Open(store, "a b", nil)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = agent.Resume(store, "one", nil)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = agent.Open(store, "x", &agent.SessionOptions{Config: tool.Config{Name: "a b"}})
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = profile.Find("none")
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = agent.Open(store, "x", &agent.SessionOptions{Auto: "hourly"})
	require.ErrorIs(t, err, syscall.EINVAL)
}

// A session starts from the tree that its options name.
func TestSessionFrom(t *testing.T) {
	store := newStore(t)
	s := openSession(t, store, "base", nil)
	writes(t, s, "/a", "1")
	pinned, err := s.Snapshot(t.Context(), "v1", "")
	require.NoError(t, err)
	writes(t, s, "/a", "2")
	for from, want := range map[string]string{"base": "2", "v1": "1", "base@{-1}": "1", pinned.String(): "1", refOf(t, s).String(): "2"} {
		o := openSession(t, store, "", &agent.SessionOptions{From: from})
		require.Equal(t, want, holds(t, o, "a"), from)
		writes(t, o, "/a", "other")
	}
	require.Equal(t, "2", holds(t, s, "a"))
	forked, err := s.Branch(t.Context(), "forked")
	require.NoError(t, err)
	require.Equal(t, "forked", forked.Branch)
	now, undo, err := s.Restore(t.Context(), pinned.String())
	require.NoError(t, err)
	require.Equal(t, refOf(t, s), now)
	require.Equal(t, "1", holds(t, s, "a"))
	_, _, err = s.Restore(t.Context(), undo.String())
	require.NoError(t, err)
	require.Equal(t, "2", holds(t, s, "a"))
}

// A ref may pin a moment; one of another database is refused unless that is allowed.
func TestResume(t *testing.T) {
	store := newStore(t)
	s, err := agent.Open(store, "one", nil)
	require.NoError(t, err)
	writes(t, s, "/a", "1")
	pinned, err := s.Snapshot(t.Context(), "v1", "")
	require.NoError(t, err)
	writes(t, s, "/a", "2")
	require.NoError(t, s.Close(t.Context()))

	for range 2 { // the second time there is nothing to bring back
		s, err = agent.Resume(store, pinned.String(), nil)
		require.NoError(t, err)
		require.Equal(t, "1", holds(t, s, "a"))
		require.NoError(t, s.Close(t.Context()))
	}

	foreign := pinned
	foreign.DB = strings.Repeat("0", 32)
	s, err = agent.Resume(store, foreign.String(), nil)
	require.NoError(t, err)
	var refused *tool.ForeignRefError
	require.ErrorAs(t, runs(t, s, "ls", nil).Err, &refused)
	require.ErrorIs(t, runs(t, s, "ls", nil).Err, syscall.EXDEV)
	require.Equal(t, agent.Failed, s.Health().State)
	require.NotEmpty(t, s.Health().LastError)
	require.NoError(t, s.Close(t.Context()))
	s, err = agent.Resume(store, foreign.String(), &agent.SessionOptions{AllowForeign: true})
	require.NoError(t, err)
	require.Equal(t, "1", holds(t, s, "a"))
	require.NoError(t, s.Close(t.Context()))

	gone := pinned
	gone.Branch, gone.Snapshot = "gone", ""
	s, err = agent.Resume(store, gone.String(), nil)
	require.NoError(t, err)
	closes(t, s)
	require.ErrorIs(t, runs(t, s, "ls", nil).Err, fs.ErrNotExist)
}

// A session that failed for good stays failed until it is reset.
func TestReset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	store := agent.NewStore(path, &vfs.Options{MustExist: true})
	s := openSession(t, store, "one", nil)
	var failed *tool.FailedError
	require.ErrorAs(t, runs(t, s, "ls", nil).Err, &failed)
	require.False(t, failed.Transient)
	fsys := vfstest.Open(t, path, nil)
	require.ErrorIs(t, runs(t, s, "ls", nil).Err, fs.ErrNotExist)
	s.Reset()
	require.Equal(t, agent.Configured, s.Health().State)
	require.NoError(t, runs(t, s, "ls", nil).Err)
	_, err := fsys.Branch(t.Context(), "one")
	require.NoError(t, err)
}

// For metrics and hooks, a session that was never open is neither opened nor closed, and its health has no success.
// Closing one that could not be opened leaves the reason there.
func TestCloseUnopened(t *testing.T) {
	metrics := &agentkit.Counts{}
	var kinds []string
	hooks := hooks.New(func(e hooks.Event) { kinds = append(kinds, e.Kind) }, nil)
	options := &agent.SessionOptions{Config: tool.Config{Metrics: metrics, Hooks: hooks}}
	unused, err := agent.Open(newStore(t), "unused", options)
	require.NoError(t, err)
	require.NoError(t, unused.Close(t.Context()))
	require.Equal(t, agent.Closed, unused.Health().State)
	require.Zero(t, unused.Health().LastSuccessAt)

	nowhere := agent.NewStore(filepath.Join(t.TempDir(), "agent.db"), &vfs.Options{MustExist: true})
	failing, err := agent.Open(nowhere, "failing", options)
	require.NoError(t, err)
	require.Error(t, runs(t, failing, "ls", nil).Err)
	reason := failing.Health().LastError
	require.NotEmpty(t, reason)
	require.NoError(t, failing.Close(t.Context()))
	require.Equal(t, reason, failing.Health().LastError)

	require.NoError(t, hooks.Close(t.Context()))
	require.Equal(t, []string{"open", "call"}, kinds, "of the one that failed")
	require.Zero(t, metrics.Of("open workspace"))
	require.Zero(t, metrics.Of("close workspace success"))
}

// Closing waits for a call that runs, but not for ever.
func TestCloseTimeout(t *testing.T) {
	metrics := &agentkit.Counts{N: map[string]int{}}
	inside, release := make(chan struct{}), make(chan struct{})
	s, err := agent.Open(newStore(t), "one", &agent.SessionOptions{
		CloseTimeout: 10 * time.Millisecond,
		Config: tool.Config{Metrics: metrics, OnResult: func(context.Context, tool.Call, *tool.Result) {
			close(inside)
			<-release
		}},
	})
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Call(context.Background(), "workspace_ls", nil)
	}()
	<-inside
	require.ErrorIs(t, s.Close(t.Context()), syscall.ETIMEDOUT)
	require.Equal(t, 1, metrics.Of("close workspace timeout"))
	close(release)
	<-ended
}

// A session that was closed while it was being opened stays closed, whenever the opening ends.
func TestCloseWhileOpening(t *testing.T) {
	store, metrics := newStore(t), &agentkit.Counts{}
	lock := vfstest.Open(t, store.Path(), nil)
	s, err := agent.Open(store, "one", &agent.SessionOptions{
		CloseTimeout: time.Millisecond, Config: tool.Config{Metrics: metrics},
	})
	require.NoError(t, err)
	ended := make(chan error, 1)
	require.NoError(t, lock.Update(t.Context(), func(tx *vfs.Tx) error {
		if err := tx.WriteFile("a", nil, 0o644); err != nil { // from here on a new branch waits
			return err
		}
		go func() { ended <- s.Call(context.Background(), "workspace_ls", nil).Err }()
		for s.Health().State != agent.Opening {
			runtime.Gosched()
		}
		require.ErrorIs(t, s.Close(t.Context()), syscall.ETIMEDOUT)
		return nil
	}))
	require.NoError(t, <-ended)
	require.Equal(t, agent.Closed, s.Health().State)
	require.Zero(t, metrics.Of("open workspace")+metrics.Of("close workspace timeout"))
}
