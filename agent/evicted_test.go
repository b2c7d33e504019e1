package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/hooks"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/vfs"
)

// The file is replaced again and again while several sessions write. A call that meets one replacement does not notice,
// and what was acknowledged is in one of the files, each of which is sound.
func TestEvictionUnderLoad(t *testing.T) {
	const writers, swaps, least = 4, 5, 30
	store := newStore(t)
	dir := t.TempDir()
	warm := openSession(t, store, "warm", nil)
	sessions := make([]*agent.Session, writers)
	for i := range sessions {
		sessions[i] = openSession(t, store, fmt.Sprintf("s%d", i), nil)
		require.NoError(t, runs(t, sessions[i], "ls", nil).Err)
	}
	require.NoError(t, runs(t, warm, "ls", nil).Err)
	box, err := warm.Toolbox(t.Context())
	require.NoError(t, err)
	spare := func(i int) string { return filepath.Join(dir, fmt.Sprintf("spare%d.db", i)) }
	for i := range swaps {
		require.NoError(t, box.FS().Store().Backup(t.Context(), spare(i)))
	}

	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	acknowledged := make([][]string, writers)
	progress := make(chan struct{}, 1024)
	for i, s := range sessions {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				name := fmt.Sprintf("f%d", n)
				input, _ := json.Marshal(agentkit.Args{"path": name, "content": name})
				r := s.Call(context.WithoutCancel(ctx), "workspace_write_file", input)
				if evicted := (*tool.EvictedError)(nil); errors.As(r.Err, &evicted) {
					continue // a call that met two replacements has used up its one reopening
				}
				if r.Err != nil {
					t.Errorf("session %d: %v", i, r.Err)
					return
				}
				acknowledged[i] = append(acknowledged[i], name)
				select {
				case progress <- struct{}{}:
				default:
				}
			}
		})
	}
	files := []string{store.Path()}
	for i := range swaps {
		for range least {
			<-progress
		}
		away := filepath.Join(dir, fmt.Sprintf("away%d.db", i))
		// A replacement in one step: a moment without a file at the path would be an eviction that cannot be recovered.
		require.NoError(t, os.Link(store.Path(), away))
		require.NoError(t, os.Rename(spare(i), store.Path()))
		files = append(files, away)
	}
	for range least {
		<-progress
	}
	stop()
	wg.Wait()
	for _, s := range append(sessions, warm) {
		require.NoError(t, s.Close(t.Context()))
	}

	found := make([]map[string]bool, writers)
	for i := range found {
		found[i] = map[string]bool{}
	}
	for _, path := range files {
		fsys, err := vfs.Open(t.Context(), path, &vfs.Options{MustExist: true})
		require.NoError(t, err)
		vfstest.Check(t, fsys)
		for i := range writers {
			branch, err := fsys.Branch(t.Context(), fmt.Sprintf("s%d", i))
			require.NoError(t, err)
			for _, name := range vfstest.Names(t, branch) {
				found[i][strings.TrimSuffix(name, "/")] = true
			}
		}
		require.NoError(t, fsys.Close())
	}
	for i, names := range acknowledged {
		for _, name := range names {
			require.True(t, found[i][name], "session %d: %s is lost", i, name)
		}
	}
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
