//lint:file-ignore SA1019 roots and logging are deprecated, and what clients of the versions before 2026-07-28 use

package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/profile"
	"vfsdb/agent/profile/mcpfs"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/mcp"
	"vfsdb/vfs"
)

// A server introduces itself with its name, its capabilities, and the instructions for the model.
func TestInitialize(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		s := serveAll(t, &mcp.Options{Name: "files", Version: "v1"}, mcp.Workspace{FS: vfstest.New(t)})
		c := connect(t, s, version, nil)
		got := c.InitializeResult()
		require.Equal(t, version, got.ProtocolVersion)
		require.Equal(t, "files", got.ServerInfo.Name)
		require.Equal(t, "v1", got.ServerInfo.Version)
		require.Contains(t, got.Instructions, "untrusted")
		require.NotNil(t, got.Capabilities.Tools)
		require.True(t, got.Capabilities.Resources.Subscribe)
		require.True(t, got.Capabilities.Resources.ListChanged)
		require.NotNil(t, got.Capabilities.Completions)
		require.NotNil(t, got.Capabilities.Logging)
		require.Nil(t, got.Capabilities.Prompts)
	})
}

// Tools are offered with schemas and hints as the agent room has them, page by page.
func TestToolsList(t *testing.T) {
	fsys := vfstest.New(t)
	box, err := agent.New(fsys, nil)
	require.NoError(t, err)
	s := serveAll(t, &mcp.Options{PageSize: 3}, mcp.Workspace{FS: fsys})
	c := connect(t, s, stateful, nil)
	listed := map[string]*sdk.Tool{}
	for op, err := range c.Tools(t.Context(), nil) {
		require.NoError(t, err)
		listed[op.Name] = op
	}
	require.Len(t, listed, len(box.Tools()))
	for _, want := range box.Tools() {
		got := listed[want.Name]
		require.NotNil(t, got, want.Name)
		require.Equal(t, want.Description, got.Description)
		require.NotEmpty(t, got.Description)
		require.Equal(t, asJSON(t, want.Input), got.InputSchema)
		require.Equal(t, "object", got.InputSchema.(map[string]any)["type"])
		if want.Structured {
			require.Equal(t, asJSON(t, want.Output), got.OutputSchema)
		} else {
			require.Nil(t, got.OutputSchema, want.Name)
		}
		require.Equal(t, want.Hints, tool.Hints{
			ReadOnly: got.Annotations.ReadOnlyHint, Idempotent: got.Annotations.IdempotentHint,
			Destructive: *got.Annotations.DestructiveHint, OpenWorld: *got.Annotations.OpenWorldHint,
		})
		require.False(t, *got.Annotations.OpenWorldHint)
		require.Equal(t, string(want.Risk), got.Meta["vfsdb/risk"])
		require.Equal(t, want.Sequential, got.Meta["vfsdb/sequential"])
	}
}

// With Structured a call returns text for the model and the same as data that matches the output schema of the tool.
func TestCallStructured(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		s, fsys := serve(t, &tool.Config{Structured: true})
		c := connect(t, s, version, nil)
		outputs := map[string]*jsonschema.Resolved{}
		for op, err := range c.Tools(t.Context(), nil) {
			require.NoError(t, err)
			var schema jsonschema.Schema
			data, err := json.Marshal(op.OutputSchema)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(data, &schema))
			outputs[op.Name], err = schema.Resolve(nil)
			require.NoError(t, err)
		}
		for _, step := range []struct {
			tool string
			args args
		}{
			{"workspace_write_file", args{"path": "/a.md", "content": "one\ntwo\n"}},
			{"workspace_read_file", args{"path": "/a.md"}},
			{"workspace_edit_file", args{"path": "/a.md", "oldText": "one", "newText": "1"}},
			{"workspace_ls", args{"path": "/"}},
			{"workspace_grep", args{"pattern": "two"}},
			{"workspace_rm", args{"path": "/a.md"}},
		} {
			out := call(t, c, step.tool, step.args)
			require.NotNil(t, out, step.tool)
			require.NoError(t, outputs[step.tool].Validate(out), step.tool)
		}
		require.Equal(t, []string{}, append([]string{}, vfstest.Names(t, fsys)...))
	})
}

// Without it each tool answers in one way: in text that the model reads, or, where a program wants the result, with
// what is structured and the same JSON as text.
func TestOneChannel(t *testing.T) {
	fsys := vfstest.New(t)
	box, err := agent.New(fsys, nil)
	require.NoError(t, err)
	s := serveAll(t, nil, mcp.Workspace{FS: fsys})
	c := connect(t, s, stateful, nil)
	vfstest.Write(t, fsys, "a", "x\n")
	structured := 0
	for op, a := range map[string]args{
		"workspace_read_file": {"path": "/a"}, "workspace_read_many": {"paths": []string{"/a"}}, "workspace_ls": {}, "workspace_tree": {},
		"workspace_glob": {"pattern": "*"}, "workspace_find": {}, "workspace_grep": {"pattern": "x"}, "workspace_stat": {"path": "/a"},
		"workspace_write_file": {"path": "/b", "content": ""}, "workspace_edit_file": {"path": "/a", "oldText": "x", "newText": "y"},
		"workspace_mkdir": {"path": "/d"}, "workspace_snapshot": {"name": "s"}, "workspace_list_snapshots": {}, "workspace_diff": {"from": "main"},
	} {
		r := try(t, c, op, a)
		require.False(t, r.IsError, text(r))
		require.Len(t, r.Content, 1, op)
		if !box.Tool(op).Structured {
			require.Nil(t, r.StructuredContent, op)
			continue
		}
		structured++
		_, inside, _ := strings.Cut(text(r), "\n")
		inside, _, _ = strings.Cut(inside, "\n</workspace_tool_result>")
		data, err := json.Marshal(r.StructuredContent)
		require.NoError(t, err)
		require.JSONEq(t, string(data), inside, op)
		require.Contains(t, string(data), `"untrusted":true`)
	}
	require.Equal(t, 4, structured)
}

// A failure has a text with the reason for the model, and no data, which would have to match the schema. A call of an
// unknown tool is an error of the client, not of the model.
func TestCallFails(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		s, _ := serve(t, nil)
		c := connect(t, s, version, nil)
		r := try(t, c, "workspace_read_file", args{"path": "/none"})
		require.True(t, r.IsError)
		require.Nil(t, r.StructuredContent)
		require.Contains(t, text(r), "/none")

		r = try(t, c, "workspace_read_file", args{"path": 7})
		require.True(t, r.IsError)
		require.Contains(t, text(r), "path")

		_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "workspace_dance"})
		var refused *jsonrpc.Error
		require.ErrorAs(t, err, &refused)
		require.EqualValues(t, jsonrpc.CodeInvalidParams, refused.Code)
	})
}

// An image is returned as an image, and other binary files are described.
func TestCallImage(t *testing.T) {
	s, fsys := serve(t, nil)
	var picture bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 2))))
	require.NoError(t, fsys.WriteFile(t.Context(), "a.png", picture.Bytes(), 0o644))
	require.NoError(t, fsys.WriteFile(t.Context(), "b.bin", []byte{0, 1, 2, 3}, 0o644))
	c := connect(t, s, stateful, nil)

	r := try(t, c, "workspace_read_file", args{"path": "/a.png"})
	require.False(t, r.IsError)
	require.Len(t, r.Content, 2)
	shown, ok := r.Content[1].(*sdk.ImageContent)
	require.True(t, ok)
	require.Equal(t, "image/png", shown.MIMEType)
	require.Equal(t, picture.Bytes(), shown.Data)
	require.Nil(t, r.StructuredContent) // a client that shows only this would not show the image

	r = try(t, c, "workspace_read_file", args{"path": "/b.bin"})
	require.False(t, r.IsError)
	require.Len(t, r.Content, 1)
	require.Contains(t, text(r), "binary")
}

// What is neither text, image nor sound goes to the client as a resource, under the URI of its file.
func TestCallOtherMedia(t *testing.T) {
	s, fsys := serve(t, &tool.Config{Profile: mcpfs.Profile})
	require.NoError(t, fsys.WriteFile(t.Context(), "b.bin", []byte{0, 1, 2, 3}, 0o644))
	r := try(t, connect(t, s, stateful, nil), "read_media_file", args{"path": "/b.bin"})
	require.False(t, r.IsError)
	shown, ok := r.Content[1].(*sdk.EmbeddedResource)
	require.True(t, ok)
	require.Equal(t, base(t, fsys)+"b.bin", shown.Resource.URI)
	require.Equal(t, "application/octet-stream", shown.Resource.MIMEType)
	require.Equal(t, []byte{0, 1, 2, 3}, shown.Resource.Blob)
}

// Several workspaces stand beside each other, each with its own tools, policy and files.
func TestWorkspaces(t *testing.T) {
	one, two := vfstest.New(t, "in-one"), vfstest.New(t, "in-two")
	s := serveAll(t, nil,
		mcp.Workspace{FS: one, Config: &tool.Config{Name: "one"}},
		mcp.Workspace{FS: two, Config: &tool.Config{Name: "two", Policy: &policy.Policy{Permissions: []policy.Permission{policy.List}}}})
	c := connect(t, s, stateful, nil)
	require.Contains(t, text(try(t, c, "workspace__one__ls", nil)), "in-one")
	require.Contains(t, text(try(t, c, "workspace__two__ls", nil)), "in-two")
	call(t, c, "workspace__one__write_file", args{"path": "/x", "content": "x"})
	require.Equal(t, []string{"in-one", "x"}, vfstest.Names(t, one))
	refused := try(t, c, "workspace__two__write_file", nil)
	require.True(t, refused.IsError)
	require.Contains(t, text(refused), "it needs the permission fs.write")
	require.Contains(t, c.InitializeResult().Instructions, "'one'")
	require.Contains(t, c.InitializeResult().Instructions, "'two'")

	_, err := mcp.New(t.Context(), []mcp.Workspace{{FS: one}, {FS: two}}, nil)
	require.ErrorContains(t, err, "give each a name")
	_, err = mcp.New(t.Context(), nil, nil)
	require.ErrorContains(t, err, "no workspace")
	_, err = mcp.New(t.Context(), []mcp.Workspace{{FS: one, Config: &tool.Config{Name: "a"}}, {FS: one, Config: &tool.Config{Name: "b"}}}, nil)
	require.ErrorContains(t, err, "given twice")
}

// A client that gives up a call ends what runs for it.
func TestCancel(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error, 1)
	s, _ := serve(t, &tool.Config{
		Policy:   &policy.Policy{Ask: []policy.Rule{{}}},
		OnResult: func(_ context.Context, _ tool.Call, r *tool.Result) { ended <- r.Err },
	})
	c := connect(t, s, stateful, &sdk.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "workspace_read_file", Arguments: args{"path": "/a"}})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, <-ended, context.Canceled)
}

// The log has the calls of clients: the client, the session, the tool, and the id that the model gave.
func TestCallsAreLogged(t *testing.T) {
	fsys := vfstest.New(t)
	s, err := mcp.New(t.Context(), []mcp.Workspace{{FS: fsys}}, nil)
	require.NoError(t, err)
	c := connect(t, s, stateful, nil)
	_, err = c.CallTool(t.Context(), &sdk.CallToolParams{
		Meta: sdk.Meta{"client/toolUseId": "toolu_1"}, Name: "workspace_write_file", Arguments: args{"path": "/a", "content": "a"},
	})
	require.NoError(t, err)
	try(t, c, "workspace_read_file", args{"path": "/none"})
	_, err = read(t, c, base(t, fsys)+"a")
	require.NoError(t, err)
	require.NoError(t, s.Close())

	calls, err := fsys.Store().Calls(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, calls, 3)
	for _, call := range calls {
		require.Equal(t, "tester", call.Actor)
		require.Regexp(t, "^mcp-[A-Z0-9]{10}$", call.Session)
		require.Equal(t, calls[0].Session, call.Session)
	}
	events, err := fsys.Log(t.Context(), &vfs.LogOptions{Path: "a"})
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Equal(t, "workspace_write_file", events[0].Tool)
	require.Equal(t, "tester", events[0].Actor)
	byTool := map[string]vfs.CallRecord{}
	for _, call := range calls {
		byTool[call.Tool] = call
	}
	require.Equal(t, "toolu_1", byTool["workspace_write_file"].Ref)
	require.Contains(t, byTool["workspace_read_file"].Error, "no such file")
	require.Contains(t, byTool, "resources/read")
}

// Every profile can be served.
func TestEveryProfile(t *testing.T) {
	require.Greater(t, len(profile.All()), 1)
	for _, p := range profile.All() {
		t.Run(p.Name, func(t *testing.T) {
			fsys := vfstest.New(t)
			box, err := tool.New(fsys, &tool.Config{Profile: p})
			require.NoError(t, err)
			s := serveAll(t, nil, mcp.Workspace{FS: fsys, Config: &tool.Config{Profile: p}})
			c := connect(t, s, stateful, nil)
			list, err := c.ListTools(t.Context(), nil)
			require.NoError(t, err)
			require.Len(t, list.Tools, len(box.Tools()))
			for _, op := range list.Tools {
				require.Regexp(t, "^[A-Za-z0-9_.-]{1,64}$", op.Name)
				require.NotEmpty(t, op.Description, op.Name)
				require.Equal(t, "object", op.InputSchema.(map[string]any)["type"], op.Name)
				if op.OutputSchema != nil {
					require.Equal(t, "object", op.OutputSchema.(map[string]any)["type"], op.Name)
				}
				r := try(t, c, op.Name, args{"no such argument": 1}) // whatever it is, it is answered
				require.NotEmpty(t, r.Content, op.Name)
			}
		})
	}
}

// The result of a missing tool names the permission or feature that it needs. An unknown name is an error of the
// protocol.
func TestCallMissing(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		s, _ := serve(t, &tool.Config{NoFS: true})
		c := connect(t, s, version, nil)
		r := try(t, c, "workspace_read_file", args{"path": "/a"})
		require.True(t, r.IsError)
		require.Contains(t, text(r), "it needs the capability fs")
		_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "fly"})
		require.Error(t, err)
	})
}
