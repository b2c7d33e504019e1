package agent_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Section 2 (MCP filesystem): fourteen tools, their hints, and their texts.
func TestMCPFilesystemGolden(t *testing.T) {
	b, fsys := box(t, &agent.Config{
		Profile: agent.MCPFilesystem, Policy: &agent.Policy{Paths: []string{"/work", "/more"}, ReadOnly: []string{"/work/ro"}},
		Caps: agent.Caps{ResultBytes: 600, Entries: 5, Matches: 4},
	})
	plant(t, fsys, map[string]string{
		"work/a.txt":           "one\ntwo\nthree\n",
		"work/last":            "no\nbreak",
		"work/empty":           "",
		"work/wide":            strings.Repeat("0123456789\n", 60),
		"work/bin":             "\x00\x01",
		"work/dot.PNG":         "\x89PNG\r\n\x1a\n\x00",
		"work/s.mp3":           "ID3",
		"work/code.go":         "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n",
		"work/dos.txt":         "a\r\nb\r\n",
		"work/fence.md":        "```\nx\n```\n",
		"work/src/main.go":     "package main\n",
		"work/src/.env":        "",
		"work/src/x/deep.go":   "package x\n",
		"work/node_modules/m":  "",
		"work/sizes/small":     "1",
		"work/sizes/large":     strings.Repeat("x", 1536),
		"work/sizes/dir/":      "",
		"work/sizes/a-link":    "->large",
		"work/many/1":          "",
		"work/many/2":          "",
		"work/many/3":          "",
		"work/many/4":          "",
		"work/many/5":          "",
		"work/many/6":          "",
		"work/ro/f":            "",
		"work/void/":           "",
		"work/out":             "->/else",
		"else/secret":          "",
		"more/":                "",
		"work/src/x/y/end.txt": "",
	})
	script := play(t, b,
		turn{"read", "read_text_file", args{"path": "/work/a.txt"}},
		turn{"read, deprecated", "read_file", args{"path": "a.txt"}},
		turn{"read, head", "read_text_file", args{"path": "/work/a.txt", "head": 2}},
		turn{"read, tail", "read_text_file", args{"path": "/work/a.txt", "tail": 2}},
		turn{"read, tail without a line break", "read_text_file", args{"path": "/work/last", "tail": 1}},
		turn{"read, head beyond", "read_text_file", args{"path": "/work/last", "head": 9}},
		turn{"read, both", "read_text_file", args{"path": "/work/a.txt", "head": 1, "tail": 1}},
		turn{"read, empty", "read_text_file", args{"path": "/work/empty"}},
		turn{"cut at the cap", "read_text_file", args{"path": "/work/wide"}},
		turn{"a binary file", "read_text_file", args{"path": "/work/bin"}},
		turn{"ENOENT", "read_text_file", args{"path": "/work/none"}},
		turn{"EISDIR", "read_text_file", args{"path": "/work/src"}},
		turn{"outside", "read_text_file", args{"path": "/else/secret"}},
		turn{"symlink", "read_text_file", args{"path": "/work/out/secret"}},
		turn{"media, image", "read_media_file", args{"path": "/work/dot.PNG"}},
		turn{"media, audio", "read_media_file", args{"path": "/work/s.mp3"}},
		turn{"media, blob", "read_media_file", args{"path": "/work/bin"}},
		turn{"several", "read_multiple_files", args{"paths": []string{"/work/a.txt", "/work/none", "/else/secret", "/work/empty"}}},
		turn{"several, none", "read_multiple_files", args{"paths": []string{}}},
		turn{"write", "write_file", args{"path": "/work/new", "content": "x\n"}},
		turn{"write, over", "write_file", args{"path": "/work/new", "content": "y\n"}},
		turn{"directories above", "write_file", args{"path": "/work/no/dir", "content": ""}},
		turn{"write, read-only", "write_file", args{"path": "/work/ro/f", "content": ""}},
		turn{"EISDIR", "write_file", args{"path": "/work/src", "content": ""}},
		turn{"edit, dry", "edit_file", args{"path": "/work/a.txt", "edits": []args{{"oldText": "two", "newText": "2"}}, "dryRun": true}},
		turn{"edit", "edit_file", args{"path": "/work/a.txt", "edits": []args{{"oldText": "two", "newText": "2"}, {"oldText": "2\nthree", "newText": "2\n3"}}}},
		turn{"edit, none", "edit_file", args{"path": "/work/a.txt", "edits": []args{{"oldText": "one", "newText": "1"}, {"oldText": "absent\nlines", "newText": ""}}}},
		turn{"edit, spaces", "edit_file", args{"path": "/work/code.go", "edits": []args{{"oldText": "if x {\n  y()\n}", "newText": "if x {\n  y()\n  z()\n}"}}}},
		turn{"edit, CRLF", "edit_file", args{"path": "/work/dos.txt", "edits": []args{{"oldText": "a\nb", "newText": "c\nb"}}}},
		turn{"edit, backticks", "edit_file", args{"path": "/work/fence.md", "edits": []args{{"oldText": "x", "newText": "y"}}}},
		turn{"edit, nothing", "edit_file", args{"path": "/work/a.txt", "edits": []args{}}},
		turn{"edit, no line break at the end", "edit_file", args{"path": "/work/last", "edits": []args{{"oldText": "no", "newText": "yes"}}}},
		turn{"ENOENT", "edit_file", args{"path": "/work/none", "edits": []args{}}},
		turn{"with directories above", "create_directory", args{"path": "/work/p/q"}},
		turn{"there", "create_directory", args{"path": "/work/p/q"}},
		turn{"a file", "create_directory", args{"path": "/work/a.txt"}},
		turn{"list", "list_directory", args{"path": "/work/src"}},
		turn{"list, empty", "list_directory", args{"path": "/work/void"}},
		turn{"more than the cap", "list_directory", args{"path": "/work/many"}},
		turn{"ENOENT", "list_directory", args{"path": "/work/none"}},
		turn{"ENOTDIR", "list_directory", args{"path": "/work/a.txt"}},
		turn{"sizes", "list_directory_with_sizes", args{"path": "/work/sizes"}},
		turn{"sizes, sorted", "list_directory_with_sizes", args{"path": "/work/sizes", "sortBy": "size"}},
		turn{"sizes, of many", "list_directory_with_sizes", args{"path": "/work/many"}},
		turn{"tree", "directory_tree", args{"path": "/work/src"}},
		turn{"tree, excluded", "directory_tree", args{"path": "/work/src", "excludePatterns": []string{"y", "*.go"}}},
		turn{"tree, cut", "directory_tree", args{"path": "/work/many"}},
		turn{"tree, empty", "directory_tree", args{"path": "/work/void"}},
		turn{"ENOTDIR", "directory_tree", args{"path": "/work/a.txt"}},
		turn{"move", "move_file", args{"source": "/work/new", "destination": "/more/new"}},
		turn{"onto what is there", "move_file", args{"source": "/more/new", "destination": "/work/a.txt"}},
		turn{"ENOENT", "move_file", args{"source": "/work/none", "destination": "/work/x"}},
		turn{"move, no directory", "move_file", args{"source": "/work/a.txt", "destination": "/work/x/y"}},
		turn{"both", "move_file", args{"source": "/work/a.txt", "destination": "/else/a"}},
		turn{"search, here", "search_files", args{"path": "/work/src", "pattern": "*.go"}},
		turn{"search, at any depth", "search_files", args{"path": "/work/src", "pattern": "**/*.go"}},
		turn{"search, excluded", "search_files", args{"path": "/work/src", "pattern": "**", "excludePatterns": []string{"x"}}},
		turn{"search, cut", "search_files", args{"path": "/work/many", "pattern": "*"}},
		turn{"search, none", "search_files", args{"path": "/work", "pattern": "*.rs"}},
		turn{"search, bad", "search_files", args{"path": "/work", "pattern": "[a"}},
		turn{"allowed", "list_allowed_directories", nil},
	)
	still(t, fsys)
	info := play(t, b,
		turn{"info", "get_file_info", args{"path": "/work/a.txt"}},
		turn{"info, directory", "get_file_info", args{"path": "/work"}},
		turn{"info, symlink", "get_file_info", args{"path": "/work/sizes/a-link"}},
		turn{"ENOENT", "get_file_info", args{"path": "/work/none"}},
	)
	data, err := json.Marshal(info)
	require.NoError(t, err)
	data = regexp.MustCompile(`created: [^\\]*`).ReplaceAll(data, []byte("created: <time>"))
	var stilled []played
	require.NoError(t, json.Unmarshal(data, &stilled))
	golden(t, "mcp-filesystem", map[string]any{"told": describe(b), "script": append(script, stilled...)})
	require.Len(t, b.Tools(), 14)
	require.Equal(t, "func f() {\n\tif x {\n\t\ty()\n\t\tz()\n\t}\n}\n", vfstest.Read(t, fsys, "work/code.go"))
	require.Equal(t, "c\r\nb\r\n", vfstest.Read(t, fsys, "work/dos.txt"))
}

// Hints are those of the table in the server's documentation; they count only where a tool writes.
func TestMCPFilesystemHints(t *testing.T) {
	b, _ := box(t, &agent.Config{Profile: agent.MCPFilesystem})
	writing := map[string]agent.Hints{
		"create_directory": {Idempotent: true}, "write_file": {Idempotent: true, Destructive: true},
		"edit_file": {Destructive: true}, "move_file": {Destructive: true},
	}
	for _, tool := range b.Tools() {
		if want, ok := writing[tool.Name]; ok {
			require.Equal(t, want, tool.Hints, tool.Name)
		} else {
			require.True(t, tool.Hints.ReadOnly, tool.Name)
		}
	}
	require.Equal(t, "Allowed directories:\n/", try(t, b, "list_allowed_directories", nil).Text)
}

// What a model reads it may write back, and a tree is JSON: neither is ever cut. They are whole, or above a bound that
// somebody has set they are refused.
func TestMCPFilesystemWholeOrRefused(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.MCPFilesystem})
	long := strings.Repeat("0123456789\n", 40000)
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for i := range 1500 {
			if err := tx.WriteFile(fmt.Sprintf("many/%d", i), nil, 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return tx.WriteFile("long", []byte(long), 0o644)
	}))
	require.Equal(t, long, try(t, b, "read_text_file", args{"path": "/long"}).Text)
	require.Equal(t, "/long:\n"+long+"\n\n---\n/long:\n"+long+"\n", try(t, b, "read_multiple_files", args{"paths": []string{"/long", "/long"}}).Text)
	require.Len(t, strings.Split(try(t, b, "list_directory", args{"path": "/many"}).Text, "\n"), 1500)
	require.Len(t, strings.Split(try(t, b, "search_files", args{"path": "/many", "pattern": "*"}).Text, "\n"), 1500)
	var tree []any
	require.NoError(t, json.Unmarshal([]byte(try(t, b, "directory_tree", args{"path": "/many"}).Text), &tree))
	require.Len(t, tree, 1500)

	bounded, err := agent.Make(fsys, &agent.Config{Profile: agent.MCPFilesystem, Caps: agent.Caps{ResultBytes: 1000, Entries: 1000}})
	require.NoError(t, err)
	for _, c := range []turn{
		{"", "read_text_file", args{"path": "/long"}},
		{"", "read_text_file", args{"path": "/long", "tail": 100}},
		{"", "directory_tree", args{"path": "/"}},
	} {
		require.ErrorIs(t, try(t, bounded, c.tool, c.args).Err, syscall.EFBIG, c.tool)
	}
	require.Contains(t, try(t, bounded, "read_multiple_files", args{"paths": []string{"/long"}}).Text, "/long: Error - ")
	require.Equal(t, "0123456789", try(t, bounded, "read_text_file", args{"path": "/long", "head": 1}).Text)
}

// A pattern means what it means to the reference, though its dialect of globs is another.
func TestMCPFilesystemPatterns(t *testing.T) {
	b, _ := box(t, &agent.Config{Profile: agent.MCPFilesystem}, "d/a", "d/e/b", "[x", "c.go")
	for pattern, want := range map[string]string{
		"d/**":    "/d/a\n/d/e\n/d/e/b",
		"**/e/**": "/d/e/b",
		"!d/**":   "/[x\n/c.go\n/d",
		"[x":      "/[x",
		"":        "No matches found",
	} {
		require.Equal(t, want, try(t, b, "search_files", args{"path": "/", "pattern": pattern}).Text, pattern)
	}
	require.Equal(t, "/[x\n/c.go\n/d", try(t, b, "search_files", args{"path": "/", "pattern": "**", "excludePatterns": []string{"d/**"}}).Text)
}
