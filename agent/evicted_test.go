package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/tool"
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
