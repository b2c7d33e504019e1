package mcp_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/mcp"
	"vfsdb/vfs"
)

// notifications are those that a client gets, in order.
type notifications struct{ uris, lists chan string }

func (h notifications) options() *sdk.ClientOptions {
	return &sdk.ClientOptions{
		ResourceUpdatedHandler:     func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { h.uris <- r.Params.URI },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { h.lists <- "list" },
	}
}

func listening() notifications {
	return notifications{make(chan string, 1000), make(chan string, 1000)}
}

// next waits for the next notification.
func next(t *testing.T, from chan string) string {
	t.Helper()
	select {
	case s := <-from:
		return s
	case <-time.After(time.Minute):
		require.FailNow(t, "nothing was told")
		return ""
	}
}

// subscribed waits until the server knows of n subscriptions: without sessions a client does not wait for that.
func subscribed(t *testing.T, s *mcp.Server, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return mcp.Watched(s) == n }, time.Minute, time.Millisecond)
}

// A client that subscribes to a file or a directory is notified of each change there, by any process, and of no others.
func TestSubscribe(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		fsys := vfstest.New(t, "notes/a", "notes/b", "other")
		s := serveAll(t, nil, mcp.Workspace{FS: fsys})
		h := listening()
		c := connect(t, s, version, h.options())
		at := base(t, fsys)
		require.NoError(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: at + "notes/a"}))
		require.NoError(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: at + "notes"}))
		subscribed(t, s, 2)
		change := func(run func(ctx context.Context) error, want ...string) {
			t.Helper()
			require.NoError(t, run(t.Context()))
			var got []string
			for range want {
				got = append(got, next(t, h.uris))
			}
			require.ElementsMatch(t, want, got)
		}
		a, dir := at+"notes/a", at+"notes"
		change(func(ctx context.Context) error { return fsys.WriteFile(ctx, "other", []byte("unseen"), 0o644) })
		change(func(ctx context.Context) error { return fsys.WriteFile(ctx, "notes/a", []byte("1"), 0o644) }, a, dir)
		change(func(ctx context.Context) error { return fsys.WriteFile(ctx, "notes/b", []byte("2"), 0o644) }, dir)
		change(func(context.Context) error {
			call(t, c, "workspace_edit_file", args{"path": "/notes/a", "oldText": "1", "newText": "2"})
			return nil
		}, a, dir)
		change(func(ctx context.Context) error { return fsys.Rename(ctx, "notes/b", "notes/a") }, a, dir)
		change(func(ctx context.Context) error { return fsys.Rename(ctx, "notes", "papers") }, a, dir)
		change(func(ctx context.Context) error { return fsys.Rename(ctx, "papers", "notes") }, a, dir)
		require.NoError(t, c.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: a}))
		subscribed(t, s, 1)
		change(func(ctx context.Context) error { return fsys.RemoveAll(ctx, "notes") }, dir)
		require.Empty(t, h.uris)
	})
}

// A client cannot subscribe to a hidden file, and a URI has one form.
func TestSubscribeRefuses(t *testing.T) {
	fsys := vfstest.New(t, "a", "secret/key")
	s := serveAll(t, nil, mcp.Workspace{FS: fsys, Config: &tool.Config{Policy: &policy.Policy{Deny: []string{"/secret"}}}})
	c := connect(t, s, stateful, nil)
	at := base(t, fsys)
	for _, uri := range []string{at + "secret/key", at + "secret", "file:///a", at + "%61", at + "x/../a", "vfs://00/main/a"} {
		require.ErrorContains(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}), "not found", uri)
	}
	for i := range 1000 {
		require.NoError(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: fmt.Sprintf("%snot-yet-%d", at, i)}))
	}
	require.ErrorContains(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: at + "a"}), "too many")
}

// Clients are notified that files were added or removed, once for many of them, and not of hidden files.
func TestListChanged(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		fsys := vfstest.New(t, "a", "secret/key")
		s := serveAll(t, nil, mcp.Workspace{FS: fsys, Config: &tool.Config{Policy: &policy.Policy{Deny: []string{"/secret"}}}})
		mcp.SetGather(s, time.Millisecond, time.Millisecond)
		h := listening()
		c := connect(t, s, version, h.options())
		require.NoError(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: base(t, fsys) + "a"}))
		subscribed(t, s, 1)
		for _, run := range []func(ctx context.Context) error{
			func(ctx context.Context) error { return fsys.WriteFile(ctx, "new", nil, 0o644) },
			func(ctx context.Context) error { return fsys.Rename(ctx, "new", "old") },
			func(ctx context.Context) error { return fsys.Remove(ctx, "old") },
		} {
			require.NoError(t, run(t.Context()))
			next(t, h.lists)
		}
		require.NoError(t, fsys.WriteFile(t.Context(), "secret/other", nil, 0o644))
		require.NoError(t, fsys.WriteFile(t.Context(), "a", []byte("changed"), 0o644))
		next(t, h.uris)
		require.Empty(t, h.lists)
	})
}

// Many changes are few notifications.
func TestChangesAreGathered(t *testing.T) {
	fsys := vfstest.New(t, "a")
	s := serveAll(t, nil, mcp.Workspace{FS: fsys})
	h := listening()
	c := connect(t, s, stateful, h.options())
	require.NoError(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: base(t, fsys) + "a"}))
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for range 500 {
			if err := tx.Append("a", []byte("x"), 0o644); err != nil {
				return err
			}
		}
		return nil
	}))
	next(t, h.uris)
	require.LessOrEqual(t, len(h.uris), 5)
}

// A change that somebody else made to the file of the database is heard of.
func TestSubscribeAcrossStores(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	here, err := vfs.Open(t.Context(), path, nil)
	require.NoError(t, err)
	defer here.Close()
	s, err := mcp.New(t.Context(), []mcp.Workspace{{FS: here}}, nil)
	require.NoError(t, err)
	defer s.Close()
	h := listening()
	c := connect(t, s, stateful, h.options())
	require.NoError(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: base(t, here) + "a"}))
	there, err := vfs.Open(t.Context(), path, nil)
	require.NoError(t, err)
	require.NoError(t, there.WriteFile(t.Context(), "a", []byte("1"), 0o644))
	require.NoError(t, there.Close())
	require.Equal(t, base(t, here)+"a", next(t, h.uris))
}
