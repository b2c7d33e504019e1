//lint:file-ignore SA1019 the conformance suite wants what clients of the versions before 2026-07-28 use

package mcp_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/mcpclients"
	"vfsdb/internal/vfstest"
	"vfsdb/mcp"
)

// notOurs are the scenarios of the conformance suite that this server has nothing for, and why.
var notOurs = map[string]string{
	"tools-call-embedded-resource":  "no tool embeds a resource",
	"tools-call-mixed-content":      "no tool embeds a resource; text with an image is TestCallImage",
	"tools-call-sampling":           "no tool asks the client's model",
	"elicitation-sep1034-defaults":  "the one question there is has no defaults",
	"elicitation-sep1330-enums":     "the one question there is has no enums",
	"prompts-get-simple":            "there are no prompts",
	"prompts-get-with-args":         "there are no prompts",
	"prompts-get-embedded-resource": "there are no prompts",
	"prompts-get-with-image":        "there are no prompts",
}

// warned are scenarios that pass with warnings, and why.
var warned = map[string]string{
	"server-sse-polling": "it calls with the version 2025-03-26, and the events it looks for came with 2025-11-25",
}

// The conformance suite finds nothing wrong. Scenarios that need nothing of a certain name run against vfsctl mcp too,
// see cmd/vfsctl; the others find files of that name, and fixtures that take the way of our tools to the client.
func TestConformance(t *testing.T) {
	clients := mcpclients.Find(t)
	s := fixture(t)
	handler, err := s.Handler(&mcp.HTTPOptions{Token: "0123456789abcdef"})
	require.NoError(t, err)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer 0123456789abcdef") // the suite has no way to send one
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	t.Cleanup(func() { require.NoError(t, s.Close()) }) // before web: its streams end with the sessions
	found := clients.Conformance(t, web.URL+mcp.Endpoint)
	for name := range notOurs {
		require.Contains(t, found, name, "is listed here, and not in the suite")
	}
	passed := 0
	for name, checks := range found {
		if notOurs[name] != "" {
			continue
		}
		require.NotEmpty(t, checks, name)
		require.Empty(t, mcpclients.Failed(checks), name)
		if warned[name] == "" {
			require.Empty(t, mcpclients.Warned(checks), name)
		}
		passed++
	}
	t.Logf("%d of %d scenarios apply, and passed", passed, len(found))
	require.GreaterOrEqual(t, passed, 23)
}

// fixture is a server with what the scenarios look for.
func fixture(t *testing.T) *mcp.Server {
	fsys := vfstest.New(t)
	var picture bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1, 1))))
	for name, data := range map[string]string{
		"static-text":       "This is the content of the static text resource.",
		"static-binary":     picture.String(),
		"template/123/data": `{"id":"123","templateTest":true}`,
		"watched-resource":  "watch me",
	} {
		require.NoError(t, fsys.MkdirAll(t.Context(), "template/123", 0o755))
		require.NoError(t, fsys.WriteFile(t.Context(), name, []byte(data), 0o644))
	}
	s, err := mcp.NewAt(t.Context(), "test://", mcp.Workspace{FS: fsys}, nil)
	require.NoError(t, err)
	mcp.SetBeat(s, time.Millisecond)
	empty := &jsonschema.Schema{Type: "object"}
	said := func(text string) *tool.Result { return &tool.Result{Text: text} }
	for name, run := range map[string]func(context.Context) *tool.Result{
		"test_simple_text": func(context.Context) *tool.Result { return said("This is a simple text response for testing.") },
		"test_image_content": func(context.Context) *tool.Result {
			return &tool.Result{Text: "an image", Media: []tool.Media{{MIMEType: "image/png", Data: picture.Bytes()}}}
		},
		"test_audio_content": func(context.Context) *tool.Result {
			return &tool.Result{Text: "a sound", Media: []tool.Media{{MIMEType: "audio/wav", Data: []byte("RIFF")}}}
		},
		"test_error_handling": func(context.Context) *tool.Result { return &tool.Result{Text: "it failed", Err: syscall.EIO} },
		"test_tool_with_logging": func(ctx context.Context) *tool.Result {
			for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
				mcp.ClientLog(s).InfoContext(ctx, line)
			}
			return said("logged")
		},
		"test_tool_with_progress": func(ctx context.Context) *tool.Result {
			<-time.After(100 * time.Millisecond)
			return said("took a while")
		},
		"test_elicitation": func(ctx context.Context) *tool.Result {
			yes, err := mcp.Approve(ctx, tool.Approval{Permission: policy.Write, Path: "/a"})
			return &tool.Result{Text: map[bool]string{true: "approved", false: "not approved"}[yes], Err: err}
		},
		"json_schema_2020_12_tool": func(context.Context) *tool.Result { return said("ok") },
	} {
		input := empty
		if name == "json_schema_2020_12_tool" {
			input = &jsonschema.Schema{
				Schema: "https://json-schema.org/draft/2020-12/schema", Type: "object",
				Defs: map[string]*jsonschema.Schema{"address": {Type: "object", Properties: map[string]*jsonschema.Schema{
					"street": {Type: "string"}, "city": {Type: "string"},
				}}},
				Properties:           map[string]*jsonschema.Schema{"name": {Type: "string"}, "address": {Ref: "#/$defs/address"}},
				AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
			}
		}
		mcp.Offer(s, &sdk.Tool{Name: name, Description: "A fixture.", InputSchema: input}, run)
	}
	// Closing the stream of a call is for the transport alone.
	mcp.SDK(s).AddTool(&sdk.Tool{Name: "test_reconnection", Description: "A fixture.", InputSchema: empty},
		func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			r.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "reconnected"}}}, nil
		})
	return s
}
