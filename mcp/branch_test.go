//lint:file-ignore SA1019 roots and logging are deprecated, and what clients of the versions before 2026-07-28 use

package mcp_test

import (
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/mcp"
	"vfsdb/snapshot"
)

// A session that forks goes on at the new branch: its calls, its list of files and what it may read. Others stay where
// they are, and so does what was served.
func TestSessionMoves(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		for _, session := range []string{"", "one for all"} {
			fsys := vfstest.New(t, "a")
			s := serveAll(t, nil, mcp.Workspace{FS: fsys, Config: &tool.Config{Session: session}})
			mcp.SetGather(s, time.Millisecond, 10*time.Millisecond)
			c, other := connect(t, s, version, nil), connect(t, s, version, nil)
			require.Contains(t, text(try(t, c, "workspace_branch", args{"name": "try"})), "You left "+base(t, fsys)[:len(base(t, fsys))-1])
			call(t, c, "workspace_write_file", args{"path": "/b", "content": "x"})
			call(t, other, "workspace_write_file", args{"path": "/c", "content": "y"})

			tree, err := fsys.Branch(t.Context(), "try")
			require.NoError(t, err)
			require.Equal(t, []string{"a", "b"}, vfstest.Names(t, tree))
			require.Equal(t, []string{"a", "c"}, vfstest.Names(t, fsys))

			there, here := base(t, tree), base(t, fsys)
			require.Equal(t, []string{there + "a", there + "b"}, listed(t, c))
			require.Equal(t, []string{here + "a", here + "c"}, listed(t, other))
			for uri, want := range map[string]string{there + "b": "x", here + "c": "y"} { // the branch it left, too
				got, err := read(t, c, uri)
				require.NoError(t, err, uri)
				require.Equal(t, uri, got.URI)
				require.Equal(t, want, got.Text)
			}
			_, err = read(t, other, there+"b")
			require.Error(t, err, "it is not granted to others")
			_, err = read(t, c, here+"b")
			require.Error(t, err)
		}
	})
}

func listed(t *testing.T, c *sdk.ClientSession) (uris []string) {
	t.Helper()
	list, err := c.ListResources(t.Context(), nil)
	require.NoError(t, err)
	for _, r := range list.Resources {
		uris = append(uris, r.URI)
	}
	return uris
}

// A client that moved can subscribe to files where it is, and still hears of those that it left.
func TestSubscribeWhereItMoved(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		fsys := vfstest.New(t, "a")
		s := serveAll(t, nil, mcp.Workspace{FS: fsys})
		h := listening()
		c := connect(t, s, version, h.options())
		require.NoError(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: base(t, fsys) + "a"}))
		subscribed(t, s, 1)
		try(t, c, "workspace_branch", args{"name": "first"})
		try(t, c, "workspace_branch", args{"name": "try"})
		next(t, h.lists)
		tree, err := fsys.Branch(t.Context(), "try")
		require.NoError(t, err)
		require.NoError(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: base(t, tree) + "a"}))
		subscribed(t, s, 2)
		vfstest.Write(t, tree, "a", "new")
		require.Equal(t, base(t, tree)+"a", next(t, h.uris))
		vfstest.Write(t, fsys, "a", "new too")
		require.Equal(t, base(t, fsys)+"a", next(t, h.uris))
		if version == stateful { // else a client does not wait for an answer
			require.Error(t, c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "vfs://other/try/a"}))
		}

		require.NoError(t, snapshot.DeleteBranch(t.Context(), fsys, "try"))
		r := try(t, c, "workspace_ls", args{})
		require.True(t, r.IsError)
		require.Contains(t, text(r), "the branch 'try' that this workspace stands on is gone")
	})
}

// Over HTTP a session moves as on any connection. Without sessions nothing would know of it in the next request, so a
// fork has to stay.
func TestMovesOverHTTP(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		fsys := vfstest.New(t, "a")
		s := serveAll(t, nil, mcp.Workspace{FS: fsys})
		url, _ := listen(t, s, &mcp.HTTPOptions{Token: token})
		c, err := connectHTTP(t, url, version, nil)
		require.NoError(t, err)
		defer c.Close()
		r := try(t, c, "workspace_branch", args{"name": "try"})
		if version == stateless {
			require.True(t, r.IsError)
			require.Contains(t, text(r), "set stay")
			_, err := fsys.Branch(t.Context(), "try")
			require.Error(t, err, "nothing was forked")
			require.False(t, try(t, c, "workspace_branch", args{"name": "try", "stay": true}).IsError)
			call(t, c, "workspace_write_file", args{"path": "/b", "content": "x"})
			require.Equal(t, "x", vfstest.Read(t, fsys, "b"))
			return
		}
		require.False(t, r.IsError, text(r))
		call(t, c, "workspace_write_file", args{"path": "/b", "content": "x"})
		require.Equal(t, []string{"a"}, vfstest.Names(t, fsys))
	})
}

// The roots of a client are paths: they hold on each branch that it moves to.
func TestRootsWhereItMoved(t *testing.T) {
	fsys := vfstest.New(t, "in/a", "out/b")
	s := serveAll(t, nil, mcp.Workspace{FS: fsys})
	here, there := sdk.NewInMemoryTransports()
	_, err := mcp.SDK(s).Connect(t.Context(), there, nil)
	require.NoError(t, err)
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil)
	client.AddRoots(&sdk.Root{URI: base(t, fsys) + "in"})
	c, err := client.Connect(t.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: stateful})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.False(t, try(t, c, "workspace_branch", args{"name": "try"}).IsError)
	require.False(t, try(t, c, "workspace_read_file", args{"path": "/in/a"}).IsError)
	require.True(t, try(t, c, "workspace_read_file", args{"path": "/out/b"}).IsError)

	tree, err := fsys.Branch(t.Context(), "try")
	require.NoError(t, err)
	client.RemoveRoots(base(t, fsys) + "in")
	client.AddRoots(&sdk.Root{URI: base(t, tree) + "out"}) // named by the branch that it moved to
	require.Eventually(t, func() bool { return !try(t, c, "workspace_read_file", args{"path": "/out/b"}).IsError }, time.Minute, time.Millisecond)
	require.True(t, try(t, c, "workspace_read_file", args{"path": "/in/a"}).IsError)
	require.Equal(t, []string{base(t, tree) + "out/b"}, listed(t, c))
}
