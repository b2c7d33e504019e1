//lint:file-ignore SA1019 roots and logging are deprecated, and what clients of the versions before 2026-07-28 use

package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/internal/vfstest"
	"vfsdb/mcp"
)

// withRoots is a client that works in some roots.
func withRoots(t *testing.T, s *mcp.Server, version string, uris ...string) (*sdk.Client, *sdk.ClientSession) {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{ListChanged: true}},
	})
	for _, uri := range uris {
		client.AddRoots(&sdk.Root{URI: uri})
	}
	here, there := sdk.NewInMemoryTransports()
	_, err := mcp.SDK(s).Connect(t.Context(), there, nil)
	require.NoError(t, err)
	c, err := client.Connect(t.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return client, c
}

// Roots of ours limit what a client reaches, within the policy; roots of the host mean nothing.
func TestRoots(t *testing.T) {
	fsys := vfstest.New(t, "a/in", "a/deep/x", "b/out", "secret/key")
	at := base(t, fsys)
	policy := &agent.Policy{Deny: []string{"/secret"}}
	for _, tt := range []struct {
		name   string
		roots  []string
		ok, no []string
	}{
		{"none", nil, []string{"/a/in", "/b/out"}, []string{"/secret/key"}},
		{"of the host", []string{"file:///home/me/project"}, []string{"/a/in", "/b/out"}, []string{"/secret/key"}},
		{"of another database", []string{"vfs://00/main/a"}, []string{"/a/in", "/b/out"}, []string{"/secret/key"}},
		{"a directory", []string{at + "a"}, []string{"/a/in", "/a/deep/x"}, []string{"/b/out", "/secret/key", "/a/../b/out"}},
		{"two", []string{at + "a/deep", at + "b/", "file:///x"}, []string{"/a/deep/x", "/b/out"}, []string{"/a/in"}},
		{"all", []string{at}, []string{"/a/in", "/b/out"}, []string{"/secret/key"}},
		{"one that the policy denies", []string{at + "secret"}, nil, []string{"/a/in", "/secret/key"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, version string) {
				s := serveAll(t, nil, mcp.Workspace{FS: fsys, Config: &agent.Config{Policy: policy}})
				_, c := withRoots(t, s, version, tt.roots...)
				for _, path := range tt.ok {
					require.False(t, try(t, c, "workspace_read_file", args{"path": path}).IsError, path)
				}
				for _, path := range tt.no {
					require.True(t, try(t, c, "workspace_read_file", args{"path": path}).IsError, path)
					_, err := read(t, c, at+path[1:])
					require.Error(t, err, path)
				}
				var listed []string
				for r, err := range c.Resources(t.Context(), nil) {
					require.NoError(t, err)
					listed = append(listed, r.Name)
				}
				require.Subset(t, listed, tt.ok)
				for _, path := range tt.no {
					require.NotContains(t, listed, path)
				}
			})
		})
	}
}

// A client that changes its roots is asked again.
func TestRootsChange(t *testing.T) {
	s, fsys := serve(t, nil, "a/x", "b/y")
	client, c := withRoots(t, s, stateful, base(t, fsys)+"a")
	reads := func(path string) bool { return !try(t, c, "workspace_read_file", args{"path": path}).IsError }
	require.True(t, reads("/a/x"))
	require.False(t, reads("/b/y"))
	client.RemoveRoots(base(t, fsys) + "a")
	client.AddRoots(&sdk.Root{URI: base(t, fsys) + "b"})
	require.Eventually(t, func() bool { return reads("/b/y") }, 5*time.Second, 5*time.Millisecond)
	require.False(t, reads("/a/x"))
}

// What the policy wants approved is put to the person at the client, once for each use, and refused where nobody
// can be asked.
func TestApproval(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		fsys := vfstest.New(t, "a", "b", "keep")
		s := serveAll(t, nil, mcp.Workspace{FS: fsys, Config: &agent.Config{Policy: &agent.Policy{Ask: []agent.Rule{{Permissions: []agent.Permission{agent.PermDelete}}}}}})
		var asked []string
		answer := func(yes bool) *sdk.ClientOptions {
			asked = nil
			return &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				asked = append(asked, r.Params.Message)
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"approve": yes}}, nil
			}}
		}
		two := args{"operations": []args{{"tool": "rm", "args": args{"path": "/a"}}, {"tool": "rm", "args": args{"path": "/b"}}}}

		c := connect(t, s, version, answer(false))
		r := try(t, c, "workspace_rm", args{"path": "/a"})
		require.True(t, r.IsError)
		require.Contains(t, text(r), "not approved")
		require.Len(t, asked, 1)
		require.Equal(t, `May the agent remove "/a"?`, asked[0])
		require.Equal(t, []string{"a", "b", "keep"}, vfstest.Names(t, fsys))

		c = connect(t, s, version, nil)
		require.True(t, try(t, c, "workspace_rm", args{"path": "/a"}).IsError)
		require.True(t, try(t, c, "workspace_apply", two).IsError)

		c = connect(t, s, version, answer(true))
		call(t, c, "workspace_apply", two)
		require.Len(t, asked, 2)
		require.Equal(t, []string{"keep"}, vfstest.Names(t, fsys))
		call(t, c, "workspace_write_file", args{"path": "/c", "content": "nobody has to be asked"})
		require.Len(t, asked, 2)
	})
}

// Only a form with a yes in it approves, and the model hears why another answer does not.
func TestApprovalAnswers(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		for _, tt := range []struct {
			name   string
			answer *sdk.ElicitResult // nil: the client cannot ask
			says   string
		}{
			{"an empty form", &sdk.ElicitResult{Action: "accept", Content: map[string]any{}}, "without an answer in its field \"approve\", which counts as no"},
			{"no form", &sdk.ElicitResult{Action: "accept"}, "without an answer in its field"},
			{"no", &sdk.ElicitResult{Action: "accept", Content: map[string]any{"approve": false}}, "said no"},
			{"declined", &sdk.ElicitResult{Action: "decline"}, "said no"},
			{"closed", &sdk.ElicitResult{Action: "cancel"}, "closed the question"},
			{"nobody", nil, "nobody was asked, because this client cannot ask"},
			{"yes", &sdk.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, ""},
		} {
			t.Run(tt.name, func(t *testing.T) {
				s, _ := serve(t, &agent.Config{Policy: &agent.Policy{Ask: []agent.Rule{{Permissions: []agent.Permission{agent.PermDelete}}}}}, "a")
				var o *sdk.ClientOptions
				if tt.answer != nil {
					o = &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) { return tt.answer, nil }}
				}
				r := try(t, connect(t, s, version, o), "workspace_rm", args{"path": "/a"})
				require.Equal(t, tt.says != "", r.IsError, text(r))
				require.Contains(t, text(r), tt.says)
				require.NotContains(t, text(r), "schema")
			})
		}
	})
}

// Nobody approves by making up the state of an earlier round, or by using that of another call.
func TestApprovalCannotBeForged(t *testing.T) {
	fsys := vfstest.New(t, "a", "b")
	s := serveAll(t, nil, mcp.Workspace{FS: fsys, Config: &agent.Config{Policy: &agent.Policy{Ask: []agent.Rule{{}}}}})
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, &sdk.ClientOptions{
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		Capabilities:   &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{}},
	})
	here, there := sdk.NewInMemoryTransports()
	_, err := mcp.SDK(s).Connect(t.Context(), there, nil)
	require.NoError(t, err)
	c, err := client.Connect(t.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: stateless})
	require.NoError(t, err)
	defer c.Close()
	rm := func(path, state string, answers sdk.InputResponseMap) (*sdk.CallToolResult, error) {
		return c.CallTool(t.Context(), &sdk.CallToolParams{
			Name: "workspace_rm", Arguments: args{"path": path}, RequestState: state, InputResponses: answers,
		})
	}
	first, err := rm("/a", "", nil)
	require.NoError(t, err)
	require.True(t, first.NeedsInput())
	require.Len(t, first.InputRequests, 1)
	for _, state := range []string{"made up", "eyJhcHByb3ZlZCI6eyJhcHByb3ZlIGZzLmRlbGV0ZSAvYSI6dHJ1ZX19.AAAA", first.RequestState + "A"} {
		_, err := rm("/a", state, nil)
		require.ErrorContains(t, err, "requestState")
	}
	_, err = rm("/b", first.RequestState, nil)
	require.ErrorContains(t, err, "requestState")
	again, err := rm("/a", first.RequestState, nil) // nobody answered
	require.NoError(t, err)
	require.True(t, again.NeedsInput())
	for id := range first.InputRequests {
		done, err := rm("/a", first.RequestState, sdk.InputResponseMap{id: &sdk.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}})
		require.NoError(t, err)
		require.False(t, done.NeedsInput())
		require.False(t, done.IsError, text(done))
	}
	require.Equal(t, []string{"b"}, vfstest.Names(t, fsys))
}

// A client that asks for a log hears of its calls, and of no others'.
func TestLogging(t *testing.T) {
	s, _ := serve(t, nil)
	heard := make(chan *sdk.LoggingMessageParams, 10)
	options := &sdk.ClientOptions{LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) { heard <- r.Params }}
	c, other := connect(t, s, stateful, options), connect(t, s, stateful, nil)
	call(t, c, "workspace_ls", nil) // no level is set, so nothing is told
	require.NoError(t, c.SetLoggingLevel(t.Context(), &sdk.SetLoggingLevelParams{Level: "debug"}))
	call(t, other, "workspace_tree", nil)
	try(t, c, "workspace_read_file", args{"path": "/none"})
	line := <-heard
	require.Equal(t, "vfsdb", line.Logger)
	data, err := json.Marshal(line.Data)
	require.NoError(t, err)
	require.Contains(t, string(data), "workspace_read_file")
	require.Empty(t, heard)
}

// A client that gave a token hears, while a call takes long, that it still runs.
func TestProgress(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		s, _ := serve(t, nil)
		mcp.SetBeat(s, time.Millisecond)
		var mu sync.Mutex
		var heard []*sdk.ProgressNotificationParams
		enough, once := make(chan struct{}), sync.Once{}
		mcp.Offer(s, &sdk.Tool{Name: "slow", Description: "A fixture.", InputSchema: &jsonschema.Schema{Type: "object"}}, func(ctx context.Context) *agent.Result {
			select {
			case <-enough:
			case <-ctx.Done():
			}
			return &agent.Result{Text: "done", Err: ctx.Err()}
		})
		c := connect(t, s, version, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			if heard = append(heard, r.Params); len(heard) == 3 {
				once.Do(func() { close(enough) })
			}
		}})
		params := &sdk.CallToolParams{Name: "slow"}
		params.SetProgressToken("mine")
		r, err := c.CallTool(t.Context(), params)
		require.NoError(t, err)
		require.False(t, r.IsError)
		mu.Lock()
		defer mu.Unlock()
		for i, p := range heard {
			require.Equal(t, "mine", p.ProgressToken)
			require.Contains(t, p.Message, "slow")
			require.True(t, i == 0 || p.Progress > heard[i-1].Progress, "it increases")
		}
	})
}

const (
	hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` +
		"\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	write = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workspace_write_file","arguments":{"path":"/a","content":"a"}}}` + "\n"
)

// A client that closes its end gets the answers to what it has asked.
func TestStdio(t *testing.T) {
	s, fsys := serve(t, nil)
	var out bytes.Buffer
	require.NoError(t, s.ServeStdio(t.Context(), strings.NewReader(hello+write), &out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	for _, line := range lines {
		require.Regexp(t, `^\{"jsonrpc":"2.0","id":[12],"result":`, line)
	}
	require.Equal(t, []string{"a"}, vfstest.Names(t, fsys))
}

// An interrupt ends the server though the client is still there, and ends what runs.
func TestStdioInterrupt(t *testing.T) {
	s, _ := serve(t, nil)
	running := make(chan struct{})
	mcp.Offer(s, &sdk.Tool{Name: "slow", Description: "A fixture.", InputSchema: &jsonschema.Schema{Type: "object"}}, func(ctx context.Context) *agent.Result {
		close(running)
		<-ctx.Done()
		return &agent.Result{Text: "ended", Err: ctx.Err()}
	})
	in, client := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.ServeStdio(ctx, in, io.Discard) }()
	_, err := io.WriteString(client, hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow"}}`+"\n")
	require.NoError(t, err)
	<-running
	cancel()
	require.NoError(t, <-served)
}

// A message that is too long is refused by its id, wherever that stands in it, and the session goes on. One above what
// HTTP takes is read.
func TestStdioLongMessage(t *testing.T) {
	s, fsys := serve(t, nil)
	mcp.SetLine(s, 20<<20)
	write := func(before, after string, size int) string {
		return `{"jsonrpc":"2.0",` + before + `"method":"tools/call","params":{"id":7,"name":"workspace_write_file","arguments":{"path":"/a","content":"` +
			strings.Repeat("\\\"x", size/3) + `"}}` + after + "}\n"
	}
	input := hello + write(`"id":2,`, "", 17<<20) + write(`"id":3,`, "", 21<<20) + write("", `,"id":"four"`, 21<<20) + write("", "", 21<<20) +
		`{"jsonrpc":"2.0","id":5,"method":"ping"}` + "\n"
	var out bytes.Buffer
	require.NoError(t, s.ServeStdio(t.Context(), strings.NewReader(input), &out))
	answers := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID    json.RawMessage
			Error struct{ Message string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		answers[string(m.ID)] = m.Error.Message
	}
	long := "the request is longer than 20971520 bytes, and was not read"
	require.Equal(t, map[string]string{"1": "", "2": "", "3": long, `"four"`: long, "5": ""}, answers)
	info, err := fsys.Stat(t.Context(), "a")
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(11<<20))
}

func TestStdioNonsense(t *testing.T) {
	for _, text := range []string{"hello\n", "{}\n", `{"jsonrpc":"1.0"}` + "\n", strings.Repeat("[", 1<<16), "\x00\xff"} {
		s, _ := serve(t, nil)
		_ = s.ServeStdio(t.Context(), strings.NewReader(text), io.Discard) // an error or not, it ends
	}
}
