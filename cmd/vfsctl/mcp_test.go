package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Several clients, each with a process of its own, work on one database at once, and are notified of the changes of the
// others.
func TestMCPProcesses(t *testing.T) {
	vfsctl, db := binary(t), filepath.Join(t.TempDir(), "agent.db")
	const clients, files = 3, 20
	var sessions []*mcp.ClientSession
	var wait sync.WaitGroup
	heard := make(chan string, 1000)
	for i := range clients {
		client := mcp.NewClient(&mcp.Implementation{Name: fmt.Sprintf("client-%d", i)}, &mcp.ClientOptions{
			ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { heard <- r.Params.URI },
		})
		c, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: exec.Command(vfsctl, "--db", db, "mcp", "--create")}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		require.NoError(t, err)
		sessions = append(sessions, c)
	}
	templates, err := sessions[0].ListResourceTemplates(t.Context(), nil)
	require.NoError(t, err)
	watched := strings.TrimSuffix(templates.ResourceTemplates[0].URITemplate, "{+path}") + "client-1"
	require.NoError(t, sessions[0].Subscribe(t.Context(), &mcp.SubscribeParams{URI: watched}))
	for i, c := range sessions {
		wait.Go(func() {
			for n := range files {
				r, err := c.CallTool(context.WithoutCancel(t.Context()), &mcp.CallToolParams{
					Name: "workspace_write_file", Arguments: map[string]any{"path": fmt.Sprintf("/client-%d/%d", i, n), "content": "x"},
				})
				if err != nil || r.IsError {
					t.Errorf("client %d, file %d: %v %v", i, n, err, r)
				}
			}
		})
	}
	wait.Wait()
	require.Equal(t, watched, <-heard)
	for _, c := range sessions {
		require.NoError(t, c.Close()) // the server ends when its input does
	}
	fsys, err := vfs.Open(t.Context(), db, nil)
	require.NoError(t, err)
	defer fsys.Close()
	require.Len(t, vfstest.Names(t, fsys), clients*(files+1))
	calls, err := fsys.Store().Calls(t.Context(), &vfs.CallOptions{Max: 1000})
	require.NoError(t, err)
	by := map[string]int{}
	for _, call := range calls {
		by[call.Actor]++
	}
	require.Equal(t, map[string]int{"client-0": files, "client-1": files, "client-2": files}, by)
}

// A signal ends a server at once and in order, without output: over stdio while its input is still open, and over HTTP
// while a client is connected.
func TestMCPSignals(t *testing.T) {
	vfsctl, db := binary(t), filepath.Join(t.TempDir(), "agent.db")
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd := exec.Command(vfsctl, "--db", db, "mcp", "--create")
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		var said strings.Builder
		cmd.Stderr = &said
		require.NoError(t, cmd.Start())
		_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`+"\n")
		require.NoError(t, err)
		_, err = out.Read(make([]byte, 1))
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(signal))
		_, err = io.Copy(io.Discard, out)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait(), said.String())
		require.NotContains(t, strings.TrimPrefix(said.String(), "vfsctl: created "+db+"\n"), "vfsctl")
	}

	web, token := serveHTTP(t, vfsctl, db) // which ends it with the test
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for header, want := range map[string]int{"": http.StatusUnauthorized, "Bearer " + token: http.StatusOK} {
		r.Header.Set("Authorization", header)
		r.Body, err = r.GetBody()
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.Equal(t, want, answer.StatusCode)
		require.NoError(t, answer.Body.Close())
	}
}
