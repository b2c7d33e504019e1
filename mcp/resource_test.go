package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/mcp"
	"vfsdb/vfs"
)

// base is what the URIs of a tree's files begin with.
func base(t *testing.T, fsys *vfs.FS) string {
	t.Helper()
	ref, err := tool.RefOf(t.Context(), fsys)
	require.NoError(t, err)
	return ref.String() + "/"
}

func read(t *testing.T, c *sdk.ClientSession, uri string) (*sdk.ResourceContents, error) {
	t.Helper()
	r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, err
	}
	require.Len(t, r.Contents, 1)
	return r.Contents[0], nil
}

// code is the protocol's code of an error.
func code(err error) int64 {
	var refused *jsonrpc.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return 0
}

// Every file that the policy shows is listed, page by page, with a URI by which it is read.
func TestResources(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		fsys := vfstest.New(t, "dir/sub/", "secret/key")
		want := map[string]string{
			"/a.md": "# a\n", "/dir/b c?#%&.txt": "odd\n", "/dir/sub/ü": "umlaut", "/dir/x.json": "{}", "/empty": "", "/z": "\x00\x01binary",
		}
		for name, data := range want {
			require.NoError(t, fsys.WriteFile(t.Context(), name, []byte(data), 0o644))
		}
		s := serveAll(t, &mcp.Options{PageSize: 2}, mcp.Workspace{FS: fsys, Config: &tool.Config{Policy: &policy.Policy{Deny: []string{"/secret"}}}})
		c := connect(t, s, version, nil)
		got := map[string]string{}
		for r, err := range c.Resources(t.Context(), nil) {
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(r.URI, base(t, fsys)), r.URI)
			require.EqualValues(t, len(want[r.Name]), r.Size)
			require.NotEmpty(t, r.Annotations.LastModified)
			contents, err := read(t, c, r.URI)
			require.NoError(t, err)
			require.Equal(t, r.URI, contents.URI)
			require.NotEmpty(t, contents.MIMEType)
			got[r.Name] = contents.Text + string(contents.Blob)
			require.Equal(t, r.Name == "/z", contents.Blob != nil)
		}
		require.Equal(t, want, got)

		_, err := c.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: "made up"})
		require.EqualValues(t, jsonrpc.CodeInvalidParams, code(err))
	})
}

func TestReadResource(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		fsys := vfstest.New(t, "a", "dir/", "secret/key")
		require.NoError(t, fsys.Symlink(t.Context(), "secret/key", "way-in"))
		require.NoError(t, fsys.Symlink(t.Context(), "a", "other-name"))
		require.NoError(t, fsys.WriteFile(t.Context(), "large", nil, 0o644))
		require.NoError(t, fsys.Truncate(t.Context(), "large", 9<<20))
		s := serveAll(t, nil, mcp.Workspace{FS: fsys, Config: &tool.Config{Policy: &policy.Policy{Deny: []string{"/secret"}}}})
		c := connect(t, s, version, nil)
		at := base(t, fsys)
		for _, tt := range []struct {
			uri, says string // "" is that it can be read
		}{
			{at + "a", ""},
			{at + "other-name", ""},
			{at + "none", "not found"},
			{at + "secret/key", "not found"}, // as if it were not there
			{at + "way-in", "not found"},
			{at + "dir/../secret/key", "not found"},
			{at + "..%2Fsecret%2Fkey", "not found"},
			{at + "%2e%2e/a", "not found"},
			{at + "a%00", "not found"},
			{at + "%zz", "not found"},
			{at + "dir", "directory"},
			{at, "directory"},
			{at + "large", "limit"},
			{strings.Replace(at, "/main/", "/other/", 1) + "a", "not found"},
			{"vfs://0123/main/a", "not found"},
			{"file:///etc/passwd", "not found"},
		} {
			_, err := read(t, c, tt.uri)
			if tt.says == "" {
				require.NoError(t, err, tt.uri)
				continue
			}
			require.ErrorContains(t, err, tt.says, tt.uri)
			require.EqualValues(t, jsonrpc.CodeInvalidParams, code(err), tt.uri)
		}
	})
}

// The type of a resource is that of our own table, in the list and when it is read.
func TestResourceTypes(t *testing.T) {
	require.NoError(t, mime.AddExtensionType(".mod", "audio/x-mod")) // as a table of the host may say
	require.NoError(t, mime.AddExtensionType(".ts", "text/vnd.trolltech.linguist"))
	want := map[string]string{"go.mod": "text/plain", "app.ts": "text/plain", "Makefile": "text/plain", "notes.md": "text/markdown"}
	s, fsys := serve(t, nil)
	for name := range want {
		vfstest.Write(t, fsys, name, "text\n")
	}
	c := connect(t, s, stateful, nil)
	for r, err := range c.Resources(t.Context(), nil) {
		require.NoError(t, err)
		if r.MIMEType != "" { // else its name has none
			require.Equal(t, want[r.Name[1:]], r.MIMEType, r.Name)
		}
		got, err := read(t, c, r.URI)
		require.NoError(t, err)
		require.Equal(t, want[r.Name[1:]], got.MIMEType, r.Name)
	}
}

// The template names any file, and its path is completed.
func TestTemplateAndCompletion(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		s, fsys := serve(t, nil, "src/main.go", "src/main_test.go", "src/deep/x", "README.md")
		c := connect(t, s, version, nil)
		templates, err := c.ListResourceTemplates(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, templates.ResourceTemplates, 1)
		template := templates.ResourceTemplates[0].URITemplate
		require.Equal(t, base(t, fsys)+"{+path}", template)
		for typed, want := range map[string][]string{
			"":        {"README.md", "src/"},
			"src/m":   {"src/main.go", "src/main_test.go"},
			"src/de":  {"src/deep/"},
			"nothing": {},
		} {
			r, err := c.Complete(t.Context(), &sdk.CompleteParams{
				Ref: &sdk.CompleteReference{Type: "ref/resource", URI: template}, Argument: sdk.CompleteParamsArgument{Name: "path", Value: typed},
			})
			require.NoError(t, err)
			require.Equal(t, want, r.Completion.Values, typed)
		}
		for i := range 150 {
			require.NoError(t, fsys.WriteFile(t.Context(), fmt.Sprintf("many-%d", i), nil, 0o644))
		}
		r, err := c.Complete(t.Context(), &sdk.CompleteParams{
			Ref: &sdk.CompleteReference{Type: "ref/resource", URI: template}, Argument: sdk.CompleteParamsArgument{Name: "path", Value: "many"},
		})
		require.NoError(t, err)
		require.Len(t, r.Completion.Values, 100)
		require.True(t, r.Completion.HasMore)
	})
}

// A list over several workspaces has the files of all, however the pages fall.
func TestResourcesOfSeveral(t *testing.T) {
	for page := 1; page <= 5; page++ {
		s := serveAll(t, &mcp.Options{PageSize: page},
			mcp.Workspace{FS: vfstest.New(t, "a", "b"), Config: &tool.Config{Name: "one"}},
			mcp.Workspace{FS: vfstest.New(t), Config: &tool.Config{Name: "none"}},
			mcp.Workspace{FS: vfstest.New(t, "c", "d/e"), Config: &tool.Config{Name: "two"}})
		c := connect(t, s, stateful, nil)
		var names []string
		for r, err := range c.Resources(t.Context(), nil) {
			require.NoError(t, err)
			names = append(names, r.Name)
		}
		require.Equal(t, []string{"/a", "/b", "/c", "/d/e"}, names)
	}
}

// No list may be kept in a shared cache.
func TestResourcesArePrivate(t *testing.T) {
	s, _ := serve(t, nil, "a")
	c := connect(t, s, stateless, nil)
	list, err := c.ListResources(t.Context(), nil)
	require.NoError(t, err)
	data, err := json.Marshal(list)
	require.NoError(t, err)
	require.Contains(t, string(data), `"cacheScope":"private"`)
}
