package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/profile"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/hooks"
	"vfsdb/agent/tool/record"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// newStore names a database in a directory of the test. At its end the file is checked, if there is one.
func newStore(t *testing.T) *agent.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.db")
	t.Cleanup(func() {
		if _, err := os.Stat(path); err == nil {
			checkFile(t, path)
		}
	})
	return agent.NewStore(path, &vfs.Options{Relaxed: true})
}

func checkFile(t *testing.T, path string) {
	t.Helper()
	fsys, err := vfs.Open(context.WithoutCancel(t.Context()), path, &vfs.Options{MustExist: true})
	require.NoError(t, err)
	vfstest.Check(t, fsys)
	require.NoError(t, fsys.Close())
}

// openSession begins a session that is closed at the end of the test.
func openSession(t *testing.T, store *agent.Store, name string, o *agent.SessionOptions) *agent.Session {
	t.Helper()
	s, err := agent.Open(store, name, o)
	require.NoError(t, err)
	closes(t, s)
	return s
}

func closes(t *testing.T, s *agent.Session) {
	t.Cleanup(func() { require.NoError(t, s.Close(context.WithoutCancel(t.Context()))) })
}

func runs(t *testing.T, s *agent.Session, op string, args map[string]any) *tool.Result {
	t.Helper()
	input, err := json.Marshal(args)
	require.NoError(t, err)
	return s.Call(t.Context(), "workspace_"+op, input)
}

func writes(t *testing.T, s *agent.Session, path, content string) {
	t.Helper()
	r := runs(t, s, "write_file", agentkit.Args{"path": path, "content": content})
	require.NoError(t, r.Err, r.Text)
}

func holds(t *testing.T, s *agent.Session, path string) string {
	t.Helper()
	box, err := s.Toolbox(t.Context())
	require.NoError(t, err)
	return vfstest.Read(t, box.FS(), strings.TrimPrefix(path, "/"))
}

func refOf(t *testing.T, s *agent.Session) tool.Ref {
	t.Helper()
	r, err := s.Ref(t.Context())
	require.NoError(t, err)
	return r
}

// Nothing is opened before it is used, and the session is resumed from its ref.
func TestSessionLife(t *testing.T) {
	store := newStore(t)
	s, err := agent.Open(store, "one", nil)
	require.NoError(t, err)
	require.Len(t, s.Tools(), 27)
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
	for from, want := range map[string]string{"base": "2", "v1": "1", pinned.String(): "1", refOf(t, s).String(): "2"} {
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

// The cost of calls to the store is counted too.
func TestStoreMetrics(t *testing.T) {
	metrics := &agentkit.Counts{N: map[string]int{}}
	b, _ := agentkit.Box(t, &tool.Config{Metrics: metrics})
	for range 3 {
		for _, path := range []string{"a", "b"} {
			agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": path, "content": path})
		}
	}
	require.Equal(t, 2, metrics.Of("stored"))
	require.Equal(t, 4, metrics.Of("found"))
	require.Equal(t, 6, metrics.Of("tx workspace write"))
	require.Equal(t, 6, metrics.Of("bytes workspace in"))
}

// A file that is replaced is opened once more; one that is gone is an error, until it is back.
func TestEviction(t *testing.T) {
	var log bytes.Buffer
	metrics := &agentkit.Counts{N: map[string]int{}}
	var mu sync.Mutex
	var kinds []string
	hooks := hooks.New(func(e hooks.Event) {
		mu.Lock()
		defer mu.Unlock()
		kinds = append(kinds, e.Kind)
	}, nil)
	store := newStore(t)
	away := filepath.Join(t.TempDir(), "away.db")
	s, err := agent.Open(store, "one", &agent.SessionOptions{Config: tool.Config{
		Name: "ws", Metrics: metrics, Hooks: hooks, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}})
	require.NoError(t, err)
	other := openSession(t, store, "two", nil)
	put := func(path, content string) *tool.Result {
		input, _ := json.Marshal(agentkit.Args{"path": path, "content": content})
		return s.Call(t.Context(), "workspace__ws__write_file", input)
	}
	require.NoError(t, put("a", "1").Err)
	require.NoError(t, runs(t, other, "ls", nil).Err)
	box, err := s.Toolbox(t.Context())
	require.NoError(t, err)
	spare := filepath.Join(t.TempDir(), "spare.db")
	require.NoError(t, box.FS().Store().Backup(t.Context(), spare))
	require.NoError(t, put("b", "after the backup").Err)

	// Replaced by a backup: the session goes on there, and what came after the backup is in the file that was moved.
	require.NoError(t, os.Rename(store.Path(), away))
	require.NoError(t, os.Rename(spare, store.Path()))
	require.NoError(t, put("c", "3").Err)
	require.Equal(t, "1", holds(t, s, "a"))
	box, err = s.Toolbox(t.Context())
	require.NoError(t, err)
	_, err = box.FS().Stat(t.Context(), "b")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, 1, metrics.Of("evicted ws"))
	require.Equal(t, 1, metrics.Of("retry ws recovered"))
	require.NotContains(t, log.String(), "exhausted")
	require.NoError(t, runs(t, other, "ls", nil).Err, "sessions beside it follow")
	old, err := vfs.Open(t.Context(), away, &vfs.Options{Branch: "one"})
	require.NoError(t, err)
	require.Equal(t, "after the backup", vfstest.Read(t, old, "b"))
	vfstest.Check(t, old)
	require.NoError(t, old.Close())

	// Gone: an error with that reason, and no new file in its place.
	back := store.Path() + ".back"
	require.NoError(t, os.Rename(store.Path(), back))
	var evicted *tool.EvictedError
	r := put("d", "4")
	require.ErrorAs(t, r.Err, &evicted)
	require.ErrorIs(t, r.Err, syscall.ESTALE)
	require.Contains(t, r.Text, "the workspace is gone")
	require.Equal(t, agent.Evicted, s.Health().State)
	require.Contains(t, log.String(), "level=ERROR msg=\"workspace tool: eviction retry exhausted\"")
	require.NoFileExists(t, store.Path())
	require.Equal(t, 1, metrics.Of("retry ws exhausted"))

	// Another database in its place does not answer for it.
	stranger, err := vfs.Open(t.Context(), store.Path(), nil)
	require.NoError(t, err)
	require.NoError(t, stranger.Close())
	var foreign *tool.ForeignRefError
	require.ErrorAs(t, put("d", "4").Err, &foreign)
	require.NoError(t, os.Remove(store.Path()))

	// Back again: the next call finds it.
	require.NoError(t, os.Rename(back, store.Path()))
	require.NoError(t, put("d", "4").Err)
	require.Equal(t, agent.Opened, s.Health().State)
	require.Equal(t, 2, metrics.Of("evicted ws"))

	require.NoError(t, s.Close(t.Context()))
	require.NoError(t, hooks.Close(t.Context()))
	require.Equal(t, 1, metrics.Of("open ws"))
	require.Equal(t, 1, metrics.Of("close ws success"))
	require.Positive(t, metrics.Of("bytes ws in"))
	require.Positive(t, metrics.Of("tx ws write"))
	for _, kind := range []string{"open", "evicted", "eviction-retry", "branch", "call", "close"} {
		require.Contains(t, kinds, kind)
	}
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

// A tree that somebody else opened is not closed by its sessions.
func TestStoreOf(t *testing.T) {
	fsys := vfstest.New(t, "a")
	s := openSession(t, agent.StoreOf(fsys), "main", nil)
	require.Equal(t, "a", holds(t, s, "a"))
	require.NoError(t, s.Close(t.Context()))
	_, err := fsys.Stat(t.Context(), "a")
	require.NoError(t, err)
}

// Many sessions at once, on one store.
func TestSessionsAtOnce(t *testing.T) {
	store := newStore(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := agent.Open(store, "", &agent.SessionOptions{Auto: agent.EachCall})
			if err != nil {
				t.Error(err)
				return
			}
			for range 20 {
				if r := s.Call(t.Context(), "workspace_append_file", json.RawMessage(`{"path":"log","content":"x"}`)); r.Err != nil {
					t.Error(r.Err)
				}
			}
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
