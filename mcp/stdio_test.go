package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/mcp"
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
	mcp.Offer(s, &sdk.Tool{Name: "slow", Description: "A fixture.", InputSchema: &jsonschema.Schema{Type: "object"}}, func(ctx context.Context) *tool.Result {
		close(running)
		<-ctx.Done()
		return &tool.Result{Text: "ended", Err: ctx.Err()}
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
	mcp.SetGrace(s, time.Minute) // a write of many megabytes takes its time on a busy machine
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
