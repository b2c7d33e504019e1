package mcp_test

import (
	"context"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/mcp"
)

// A use that needs approval is put to the person at the client, once for each use. It is refused if the client cannot
// ask.
func TestApproval(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		fsys := vfstest.New(t, "a", "b", "keep")
		s := serveAll(t, nil, mcp.Workspace{FS: fsys, Config: &tool.Config{Policy: &policy.Policy{Ask: []policy.Rule{{Permissions: []policy.Permission{policy.Delete}}}}}})
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

// Only a form with a yes in it approves. The model reads the reason why another answer does not.
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
				s, _ := serve(t, &tool.Config{Policy: &policy.Policy{Ask: []policy.Rule{{Permissions: []policy.Permission{policy.Delete}}}}}, "a")
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
	s := serveAll(t, nil, mcp.Workspace{FS: fsys, Config: &tool.Config{Policy: &policy.Policy{Ask: []policy.Rule{{}}}}})
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
