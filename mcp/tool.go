package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vfsdb/agent/tool"
)

// addTool offers a tool of a workspace to clients.
func (s *Server) addTool(w *workspace, t *tool.Tool) {
	offered := &sdk.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.Input,
		Annotations: &sdk.ToolAnnotations{
			Title: t.Title, ReadOnlyHint: t.Hints.ReadOnly, IdempotentHint: t.Hints.Idempotent,
			DestructiveHint: &t.Hints.Destructive, OpenWorldHint: &t.Hints.OpenWorld,
		},
		Meta: sdk.Meta{"vfsdb/risk": t.Risk, "vfsdb/permissions": t.Permissions, "vfsdb/sequential": t.Sequential},
	}

	// A tool with an output schema must return structured content, and clients may then ignore the text.
	if t.Output != nil && (t.Structured || w.config.Structured) {
		offered.OutputSchema = t.Output
	}

	s.offer(w, offered, func(q *request, call tool.Call) (*tool.Result, error) {
		box, err := q.box(w)
		if err != nil {
			return nil, err
		}

		before := box.FS()
		result := box.Do(q.ctx, call)
		if box.FS() != before {
			q.moveTo(w, box)
		}
		return result, nil
	})
}

// offer adds a tool whose calls run answers. An error of run is one of the server; an error of the tool is in the
// result.
func (s *Server) offer(w *workspace, t *sdk.Tool, run func(*request, tool.Call) (*tool.Result, error)) {
	s.sdk.AddTool(t, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		q, done := newRequest(s, ctx, r)
		defer done()

		if err := q.resume(r.Params.InputResponses, r.Params.RequestState, "tools/call", t.Name, string(r.Params.Arguments)); err != nil {
			return nil, err
		}
		if known, err := q.bounded(); !known {
			return q.asking(err)
		}

		stop := q.progress(t.Name, r.Params.GetProgressToken())
		result, err := run(q, tool.Call{ID: callID(r.Params.Meta), Tool: t.Name, Input: arguments(r.Params.Arguments)})
		stop()

		switch {
		case err != nil:
			return nil, err
		case len(q.asks) > 0:
			return q.asking(nil)
		}

		here, err := q.here(w)
		if err != nil {
			return nil, err
		}
		return here.result(result, t.OutputSchema != nil), nil
	})
}

// missing returns the answer to a call of a tool that the profile has and the workspace lacks: it names the missing
// permission or feature. For any other tool it returns nil.
func (s *Server) missing(name string) *sdk.CallToolResult {
	var refused *sdk.CallToolResult
	for _, w := range s.workspaces {
		_, err := w.box.Find(name)
		var none *tool.NoToolError
		if err == nil || !errors.As(err, &none) {
			return nil // another workspace has it
		}
		if none.Why != "" {
			refused = &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: none.Error()}}, IsError: true}
		}
	}
	return refused
}

// asking returns a result that asks the client, unless asking failed.
func (q *request) asking(err error) (*sdk.CallToolResult, error) {
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{InputRequests: q.asks, RequestState: q.sealed()}, nil
}

// arguments returns the arguments of a call. No arguments are an empty object.
func arguments(input json.RawMessage) json.RawMessage {
	if len(input) == 0 || string(input) == "null" {
		return json.RawMessage("{}")
	}
	return input
}

// callID returns the id that the model gave to a call, if the client passes it on.
func callID(meta sdk.Meta) string {
	for key, value := range meta {
		if id, ok := value.(string); ok && (key == "toolUseId" || strings.HasSuffix(key, "/toolUseId")) {
			return id
		}
	}
	return ""
}

// result turns the result of a tool into one of the protocol. A failure is text alone, because structured content has
// to match the output schema of the tool.
func (of files) result(r *tool.Result, structured bool) *sdk.CallToolResult {
	out := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: r.Text}}, IsError: r.Err != nil}
	if r.Err != nil {
		return out
	}
	if structured {
		out.StructuredContent = r.Data
	}
	for _, m := range r.Media {
		out.Content = append(out.Content, of.block(m))
	}
	return out
}

// block returns content that is not text: an image, a sound, or else the file as a resource.
func (of files) block(m tool.Media) sdk.Content {
	switch kind, _, _ := strings.Cut(m.MIMEType, "/"); kind {
	case "image":
		return &sdk.ImageContent{Data: m.Data, MIMEType: m.MIMEType}
	case "audio":
		return &sdk.AudioContent{Data: m.Data, MIMEType: m.MIMEType}
	}
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: of.uri(m.Path), MIMEType: m.MIMEType, Blob: m.Data}}
}
