package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/profile"
	"vfsdb/internal/mcpclients"
	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// binary is the program as a client starts it.
func binary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "vfsctl") // TestMain looks at the name
	require.NoError(t, os.Symlink(self, path))
	return path
}

// aCall is one call of a tool, and what the model has to read then.
type aCall struct {
	tool, args, want string
}

// everyTool calls each tool of the profile helix once, over a database with nothing but the file undecided, which is in
// conflict with the branch rival.
var everyTool = []aCall{
	{"conflicts", `{}`, `(?s)1 conflict.*/undecided.*theirs: rival.*>>>>>>> rival`},
	{"resolve", `{"path":"/undecided","take":"theirs"}`, `no conflict is left`},
	{"undo", `{"call":1025}`, `(?s)Took back call 1025.*modified /undecided`},
	{"redo", `{"call":1026}`, `(?s)Took back call 1026.*modified /undecided`},
	{"write_file", `{"path":"/notes/a.md","content":"one\ntwo\n"}`, `created, 8 bytes`},
	{"append_file", `{"path":"/notes/a.md","content":"three\n"}`, `replaced, 14 bytes`},
	{"read_file", `{"path":"/notes/a.md"}`, `(?s)untrusted="true".*one\ntwo\nthree\n`},
	{"edit_file", `{"path":"/notes/a.md","oldText":"two","newText":"2"}`, `/notes/a.md`},
	{"insert_lines", `{"path":"/notes/a.md","line":1,"content":"zero\n"}`, `/notes/a.md`},
	{"write_many", `{"files":[{"path":"/src/x.go","content":"package x\n"},{"path":"/src/y.go","content":"package y\n"}]}`, `2: created`},
	{"read_many", `{"paths":["/src/x.go","/none"]}`, `(?s)package x.*/none`},
	{"ls", `{"path":"/"}`, `notes`},
	{"tree", `{}`, `(?s)notes.*x.go`},
	{"glob", `{"pattern":"**/*.go"}`, `/src/x.go`},
	{"find", `{"pattern":"y.go"}`, `/src/y.go`},
	{"grep", `{"pattern":"package"}`, `/src/x.go`},
	{"stat", `{"path":"/notes/a.md"}`, `(?i)file`},
	{"mkdir", `{"path":"/empty"}`, `done`},
	{"cp", `{"source":"/src/x.go","destination":"/src/z.go"}`, `done; sum`},
	{"mv", `{"source":"/src/z.go","destination":"/src/w.go"}`, `done; sum`},
	{"snapshot", `{"name":"before"}`, `before`},
	{"rm", `{"path":"/src","recursive":true}`, `done`},
	{"diff", `{"from":"before"}`, `/src/x.go`},
	{"list_snapshots", `{}`, `before`},
	{"merge", `{"ref":"before"}`, `has all of`},
	{"restore", `{"ref":"before"}`, `"undo":`},
	{"branch", `{"name":"try"}`, `try`},
	{"delete_snapshot", `{"ref":"before"}`, `done`},
	{"list_branches", `{}`, `main`},
	{"log", `{"path":"/notes"}`, `write.*a.md`},
	{"blame", `{"path":"/notes/a.md"}`, `zero`},
	{"apply", `{"operations":[{"tool":"mkdir","args":{"path":"/d"}},{"tool":"write_file","args":{"path":"/d/f","content":"f"}}]}`, `2: created`},
}

// quarrel makes a database whose file undecided is in conflict with the branch rival.
func quarrel(t *testing.T, db string) {
	t.Helper()
	main, err := vfs.Open(t.Context(), db, nil)
	require.NoError(t, err)
	defer main.Close()
	require.NoError(t, main.WriteFile(t.Context(), "undecided", []byte("base\n"), 0o644))
	rival, err := snapshot.Branch(t.Context(), main, main, "rival")
	require.NoError(t, err)
	require.NoError(t, main.WriteFile(t.Context(), "undecided", []byte("ours\n"), 0o644))
	require.NoError(t, rival.WriteFile(t.Context(), "undecided", []byte("theirs\n"), 0o644))
	_, err = merge.Into(t.Context(), main, rival, nil)
	require.NoError(t, err)
}

// The inspector, a client of others, lists the tools, finds their schemas portable, and calls each of them; so it does
// with either way to speak, and over HTTP. Each of its runs is a process of its own that starts a server.
func TestInspector(t *testing.T) {
	clients := mcpclients.Find(t)
	vfsctl, db := binary(t), filepath.Join(t.TempDir(), "agent.db")
	server := []string{vfsctl, "--db", db, "mcp", "--create"}
	quarrel(t, db)
	inspect := func(args ...string) map[string]any { return clients.Inspect(t, append(args, server...)...) }

	var names, called []string
	structured := map[string]bool{} // the tools that promise a structured result
	listed := dig[[]any](t, inspect("--method", "tools/list", "--strict"), "result", "tools")
	for _, op := range listed {
		names = append(names, dig[string](t, op, "name"))
		structured[names[len(names)-1]] = dig[any](t, op, "outputSchema") != nil
	}
	for _, c := range everyTool {
		name := "workspace_" + c.tool
		called = append(called, name)
		out := inspect("--method", "tools/call", "--tool-name", name, "--tool-args-json", c.args)
		text := dig[string](t, dig[[]any](t, out, "result", "content")[0], "text")
		require.Nil(t, dig[any](t, out, "result", "isError"), "%s: %s", name, text)
		require.Regexp(t, c.want, text, name)
		require.Equal(t, structured[name], dig[any](t, out, "result", "structuredContent") != nil, name)
	}
	slices.Sort(called)
	slices.Sort(names)
	require.Equal(t, names, called, "each tool is called once")

	failed := inspect("--method", "tools/call", "--tool-name", "workspace_read_file", "--tool-args-json", `{"path":"/none"}`)
	require.Equal(t, true, dig[any](t, failed, "result", "isError"))

	resources := dig[[]any](t, inspect("--method", "resources/list"), "result", "resources")
	require.Len(t, resources, 6)
	uri := dig[string](t, resources[0], "uri")
	require.Regexp(t, `^vfs://[0-9a-f]{32}/main/d/f$`, uri)
	read := dig[[]any](t, inspect("--method", "resources/read", "--uri", uri), "result", "contents")
	require.Equal(t, "f", dig[string](t, read[0], "text"))
	templates := dig[[]any](t, inspect("--method", "resources/templates/list"), "result", "resourceTemplates")
	require.Equal(t, strings.TrimSuffix(uri, "d/f")+"{+path}", dig[string](t, templates[0], "uriTemplate"))

	for _, p := range profile.All() {
		profile := p.Name
		out := clients.Inspect(t, append([]string{"--method", "tools/list", "--strict"}, append(server, "--profile", profile)...)...)
		require.NotEmpty(t, dig[[]any](t, out, "result", "tools"), profile)
	}

	for _, era := range []string{"legacy", "modern"} {
		out := inspect("--protocol-era", era, "--method", "tools/call", "--tool-name", "workspace_list_snapshots")
		require.NotNil(t, dig[any](t, out, "result", "structuredContent"), era)
	}

	web, token := serveHTTP(t, vfsctl, db)
	for _, era := range []string{"legacy", "modern"} {
		out := clients.Inspect(t, "--transport", "http", "--server-url", web, "--header", "Authorization: Bearer "+token,
			"--protocol-era", era, "--method", "tools/call", "--tool-name", "workspace_list_snapshots")
		require.NotNil(t, dig[any](t, out, "result", "structuredContent"), era)
	}
}

// conforming are the scenarios of the conformance suite that look for nothing of a certain name. The others run in room
// mcp, against fixtures.
var conforming = []string{
	"completion-complete", "dns-rebinding-protection", "logging-set-level", "ping", "prompts-list", "resources-list",
	"server-initialize", "server-sse-multiple-streams", "tools-list",
}

func TestConformance(t *testing.T) {
	clients := mcpclients.Find(t)
	web, token := serveHTTP(t, binary(t), filepath.Join(t.TempDir(), "agent.db"))
	found := clients.Conformance(t, forward(t, web, token), conforming...)
	for _, name := range conforming {
		require.NotEmpty(t, found[name], name)
		require.Empty(t, mcpclients.Failed(found[name]), name)
		require.Empty(t, mcpclients.Warned(found[name]), name)
	}
}

// forward starts a proxy that adds a token to each request, because the suite cannot send one. It returns the URL to call.
func forward(t *testing.T, web, token string) string {
	t.Helper()
	target, err := url.Parse(web)
	require.NoError(t, err)

	pass := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}}

	// Unless a request is full duplex, net/http closes its body when the answer begins. The proxy may not have seen the
	// end of the body by then. It would take that for a failure, and break off the answer.
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.CloseClientConnections)
	return proxy.URL + target.Path
}

// An answer that begins before its request has ended arrives whole.
func TestForward(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream := http.NewResponseController(w)
		require.NoError(t, stream.EnableFullDuplex())
		require.NoError(t, stream.Flush()) // the head alone
		body, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %v", r.Header.Get("Authorization"), body, err)
	}))
	t.Cleanup(web.Close)

	body, rest := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, forward(t, web.URL, "secret"), body)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer answer.Body.Close()

	_, err = io.WriteString(rest, "late")
	require.NoError(t, err)
	require.NoError(t, rest.Close())
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, "Bearer secret late <nil>", string(text))
}

// serveHTTP starts vfsctl mcp --http, and ends it with the test: by an interrupt, which it takes for a good reason.
func serveHTTP(t *testing.T, vfsctl, db string) (web, token string) {
	t.Helper()
	cmd := exec.Command(vfsctl, "--db", db, "mcp", "--create", "--http", "127.0.0.1:0")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "VFS_MCP_TOKEN=") })
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait())
	})
	lines := bufio.NewScanner(said)
	for _, line := range []struct {
		pattern string
		value   *string
	}{{`serving (http://127\.0\.0\.1:\d+/mcp)$`, &web}, {`token was made for this run: (\S+)$`, &token}} {
		for *line.value == "" {
			require.True(t, lines.Scan(), "the server said no more")
			if m := regexp.MustCompile(line.pattern).FindStringSubmatch(lines.Text()); m != nil {
				*line.value = m[1]
			}
		}
	}
	return web, token
}

// dig finds a value in decoded JSON, by its keys.
func dig[T any](t *testing.T, v any, keys ...string) T {
	t.Helper()
	for _, key := range keys {
		object, ok := v.(map[string]any)
		require.True(t, ok, "%q of %v", key, v)
		v = object[key]
	}
	if v == nil {
		var zero T
		return zero
	}
	out, ok := v.(T)
	if !ok {
		text, _ := json.Marshal(v)
		require.Fail(t, "not of the type", "%v: %s", keys, text)
	}
	return out
}
