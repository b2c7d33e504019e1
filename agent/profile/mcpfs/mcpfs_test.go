package mcpfs_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/profile/mcpfs"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/vfs"
)

// Section 2 (MCP filesystem): fourteen tools, their hints, and their texts.
func TestMCPFilesystemGolden(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{
		Profile: mcpfs.Profile, Policy: &policy.Policy{Paths: []string{"/work", "/more"}, ReadOnly: []string{"/work/ro"}},
		Caps: policy.Caps{ResultBytes: 600, Entries: 5, Matches: 4},
	})
	agentkit.Plant(t, fsys, map[string]string{
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
	script := agentkit.Play(t, b,
		agentkit.Turn{Row: "read", Tool: "read_text_file", Args: agentkit.Args{"path": "/work/a.txt"}},
		agentkit.Turn{Row: "read, deprecated", Tool: "read_file", Args: agentkit.Args{"path": "a.txt"}},
		agentkit.Turn{Row: "read, head", Tool: "read_text_file", Args: agentkit.Args{"path": "/work/a.txt", "head": 2}},
		agentkit.Turn{Row: "read, tail", Tool: "read_text_file", Args: agentkit.Args{"path": "/work/a.txt", "tail": 2}},
		agentkit.Turn{Row: "read, tail without a line break", Tool: "read_text_file", Args: agentkit.Args{"path": "/work/last", "tail": 1}},
		agentkit.Turn{Row: "read, head beyond", Tool: "read_text_file", Args: agentkit.Args{"path": "/work/last", "head": 9}},
		agentkit.Turn{Row: "read, both", Tool: "read_text_file", Args: agentkit.Args{"path": "/work/a.txt", "head": 1, "tail": 1}},
		agentkit.Turn{Row: "read, empty", Tool: "read_text_file", Args: agentkit.Args{"path": "/work/empty"}},
		agentkit.Turn{Row: "cut at the cap", Tool: "read_text_file", Args: agentkit.Args{"path": "/work/wide"}},
		agentkit.Turn{Row: "a binary file", Tool: "read_text_file", Args: agentkit.Args{"path": "/work/bin"}},
		agentkit.Turn{Row: "ENOENT", Tool: "read_text_file", Args: agentkit.Args{"path": "/work/none"}},
		agentkit.Turn{Row: "EISDIR", Tool: "read_text_file", Args: agentkit.Args{"path": "/work/src"}},
		agentkit.Turn{Row: "outside", Tool: "read_text_file", Args: agentkit.Args{"path": "/else/secret"}},
		agentkit.Turn{Row: "symlink", Tool: "read_text_file", Args: agentkit.Args{"path": "/work/out/secret"}},
		agentkit.Turn{Row: "media, image", Tool: "read_media_file", Args: agentkit.Args{"path": "/work/dot.PNG"}},
		agentkit.Turn{Row: "media, audio", Tool: "read_media_file", Args: agentkit.Args{"path": "/work/s.mp3"}},
		agentkit.Turn{Row: "media, blob", Tool: "read_media_file", Args: agentkit.Args{"path": "/work/bin"}},
		agentkit.Turn{Row: "several", Tool: "read_multiple_files", Args: agentkit.Args{"paths": []string{"/work/a.txt", "/work/none", "/else/secret", "/work/empty"}}},
		agentkit.Turn{Row: "several, none", Tool: "read_multiple_files", Args: agentkit.Args{"paths": []string{}}},
		agentkit.Turn{Row: "write", Tool: "write_file", Args: agentkit.Args{"path": "/work/new", "content": "x\n"}},
		agentkit.Turn{Row: "write, over", Tool: "write_file", Args: agentkit.Args{"path": "/work/new", "content": "y\n"}},
		agentkit.Turn{Row: "directories above", Tool: "write_file", Args: agentkit.Args{"path": "/work/no/dir", "content": ""}},
		agentkit.Turn{Row: "write, read-only", Tool: "write_file", Args: agentkit.Args{"path": "/work/ro/f", "content": ""}},
		agentkit.Turn{Row: "EISDIR", Tool: "write_file", Args: agentkit.Args{"path": "/work/src", "content": ""}},
		agentkit.Turn{Row: "edit, dry", Tool: "edit_file", Args: agentkit.Args{"path": "/work/a.txt", "edits": []agentkit.Args{{"oldText": "two", "newText": "2"}}, "dryRun": true}},
		agentkit.Turn{Row: "edit", Tool: "edit_file", Args: agentkit.Args{"path": "/work/a.txt", "edits": []agentkit.Args{{"oldText": "two", "newText": "2"}, {"oldText": "2\nthree", "newText": "2\n3"}}}},
		agentkit.Turn{Row: "edit, none", Tool: "edit_file", Args: agentkit.Args{"path": "/work/a.txt", "edits": []agentkit.Args{{"oldText": "one", "newText": "1"}, {"oldText": "absent\nlines", "newText": ""}}}},
		agentkit.Turn{Row: "edit, spaces", Tool: "edit_file", Args: agentkit.Args{"path": "/work/code.go", "edits": []agentkit.Args{{"oldText": "if x {\n  y()\n}", "newText": "if x {\n  y()\n  z()\n}"}}}},
		agentkit.Turn{Row: "edit, CRLF", Tool: "edit_file", Args: agentkit.Args{"path": "/work/dos.txt", "edits": []agentkit.Args{{"oldText": "a\nb", "newText": "c\nb"}}}},
		agentkit.Turn{Row: "edit, backticks", Tool: "edit_file", Args: agentkit.Args{"path": "/work/fence.md", "edits": []agentkit.Args{{"oldText": "x", "newText": "y"}}}},
		agentkit.Turn{Row: "edit, nothing", Tool: "edit_file", Args: agentkit.Args{"path": "/work/a.txt", "edits": []agentkit.Args{}}},
		agentkit.Turn{Row: "edit, no line break at the end", Tool: "edit_file", Args: agentkit.Args{"path": "/work/last", "edits": []agentkit.Args{{"oldText": "no", "newText": "yes"}}}},
		agentkit.Turn{Row: "ENOENT", Tool: "edit_file", Args: agentkit.Args{"path": "/work/none", "edits": []agentkit.Args{}}},
		agentkit.Turn{Row: "with directories above", Tool: "create_directory", Args: agentkit.Args{"path": "/work/p/q"}},
		agentkit.Turn{Row: "there", Tool: "create_directory", Args: agentkit.Args{"path": "/work/p/q"}},
		agentkit.Turn{Row: "a file", Tool: "create_directory", Args: agentkit.Args{"path": "/work/a.txt"}},
		agentkit.Turn{Row: "list", Tool: "list_directory", Args: agentkit.Args{"path": "/work/src"}},
		agentkit.Turn{Row: "list, empty", Tool: "list_directory", Args: agentkit.Args{"path": "/work/void"}},
		agentkit.Turn{Row: "more than the cap", Tool: "list_directory", Args: agentkit.Args{"path": "/work/many"}},
		agentkit.Turn{Row: "ENOENT", Tool: "list_directory", Args: agentkit.Args{"path": "/work/none"}},
		agentkit.Turn{Row: "ENOTDIR", Tool: "list_directory", Args: agentkit.Args{"path": "/work/a.txt"}},
		agentkit.Turn{Row: "sizes", Tool: "list_directory_with_sizes", Args: agentkit.Args{"path": "/work/sizes"}},
		agentkit.Turn{Row: "sizes, sorted", Tool: "list_directory_with_sizes", Args: agentkit.Args{"path": "/work/sizes", "sortBy": "size"}},
		agentkit.Turn{Row: "sizes, of many", Tool: "list_directory_with_sizes", Args: agentkit.Args{"path": "/work/many"}},
		agentkit.Turn{Row: "tree", Tool: "directory_tree", Args: agentkit.Args{"path": "/work/src"}},
		agentkit.Turn{Row: "tree, excluded", Tool: "directory_tree", Args: agentkit.Args{"path": "/work/src", "excludePatterns": []string{"y", "*.go"}}},
		agentkit.Turn{Row: "tree, cut", Tool: "directory_tree", Args: agentkit.Args{"path": "/work/many"}},
		agentkit.Turn{Row: "tree, empty", Tool: "directory_tree", Args: agentkit.Args{"path": "/work/void"}},
		agentkit.Turn{Row: "ENOTDIR", Tool: "directory_tree", Args: agentkit.Args{"path": "/work/a.txt"}},
		agentkit.Turn{Row: "move", Tool: "move_file", Args: agentkit.Args{"source": "/work/new", "destination": "/more/new"}},
		agentkit.Turn{Row: "onto what is there", Tool: "move_file", Args: agentkit.Args{"source": "/more/new", "destination": "/work/a.txt"}},
		agentkit.Turn{Row: "ENOENT", Tool: "move_file", Args: agentkit.Args{"source": "/work/none", "destination": "/work/x"}},
		agentkit.Turn{Row: "move, no directory", Tool: "move_file", Args: agentkit.Args{"source": "/work/a.txt", "destination": "/work/x/y"}},
		agentkit.Turn{Row: "both", Tool: "move_file", Args: agentkit.Args{"source": "/work/a.txt", "destination": "/else/a"}},
		agentkit.Turn{Row: "search, here", Tool: "search_files", Args: agentkit.Args{"path": "/work/src", "pattern": "*.go"}},
		agentkit.Turn{Row: "search, at any depth", Tool: "search_files", Args: agentkit.Args{"path": "/work/src", "pattern": "**/*.go"}},
		agentkit.Turn{Row: "search, excluded", Tool: "search_files", Args: agentkit.Args{"path": "/work/src", "pattern": "**", "excludePatterns": []string{"x"}}},
		agentkit.Turn{Row: "search, cut", Tool: "search_files", Args: agentkit.Args{"path": "/work/many", "pattern": "*"}},
		agentkit.Turn{Row: "search, none", Tool: "search_files", Args: agentkit.Args{"path": "/work", "pattern": "*.rs"}},
		agentkit.Turn{Row: "search, bad", Tool: "search_files", Args: agentkit.Args{"path": "/work", "pattern": "[a"}},
		agentkit.Turn{Row: "allowed", Tool: "list_allowed_directories", Args: nil},
	)
	agentkit.Still(t, fsys)
	info := agentkit.Play(t, b,
		agentkit.Turn{Row: "info", Tool: "get_file_info", Args: agentkit.Args{"path": "/work/a.txt"}},
		agentkit.Turn{Row: "info, directory", Tool: "get_file_info", Args: agentkit.Args{"path": "/work"}},
		agentkit.Turn{Row: "info, symlink", Tool: "get_file_info", Args: agentkit.Args{"path": "/work/sizes/a-link"}},
		agentkit.Turn{Row: "ENOENT", Tool: "get_file_info", Args: agentkit.Args{"path": "/work/none"}},
	)
	data, err := json.Marshal(info)
	require.NoError(t, err)
	data = regexp.MustCompile(`created: [^\\]*`).ReplaceAll(data, []byte("created: <time>"))
	var stilled []agentkit.Outcome
	require.NoError(t, json.Unmarshal(data, &stilled))
	agentkit.Golden(t, "mcp-filesystem", map[string]any{"told": agentkit.Describe(b), "script": append(script, stilled...)})
	require.Len(t, b.Tools(), 14)
	require.Equal(t, "func f() {\n\tif x {\n\t\ty()\n\t\tz()\n\t}\n}\n", vfstest.Read(t, fsys, "work/code.go"))
	require.Equal(t, "c\r\nb\r\n", vfstest.Read(t, fsys, "work/dos.txt"))
}

// Hints are those of the table in the server's documentation; they count only where a tool writes.
func TestMCPFilesystemHints(t *testing.T) {
	b, _ := agentkit.Box(t, &tool.Config{Profile: mcpfs.Profile})
	writing := map[string]tool.Hints{
		"create_directory": {Idempotent: true}, "write_file": {Idempotent: true, Destructive: true},
		"edit_file": {Destructive: true}, "move_file": {Destructive: true},
	}
	for _, op := range b.Tools() {
		if want, ok := writing[op.Name]; ok {
			require.Equal(t, want, op.Hints, op.Name)
		} else {
			require.True(t, op.Hints.ReadOnly, op.Name)
		}
	}
	require.Equal(t, "Allowed directories:\n/", agentkit.Try(t, b, "list_allowed_directories", nil).Text)
}

// A model may write back a text that it read, and a tree is JSON: neither is ever cut. They are whole, or above a
// bound that somebody has set they are refused.
func TestMCPFilesystemWholeOrRefused(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: mcpfs.Profile})
	long := strings.Repeat("0123456789\n", 40000)
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for i := range 1500 {
			if err := tx.WriteFile(fmt.Sprintf("many/%d", i), nil, 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return tx.WriteFile("long", []byte(long), 0o644)
	}))
	require.Equal(t, long, agentkit.Try(t, b, "read_text_file", agentkit.Args{"path": "/long"}).Text)
	require.Equal(t, "/long:\n"+long+"\n\n---\n/long:\n"+long+"\n", agentkit.Try(t, b, "read_multiple_files", agentkit.Args{"paths": []string{"/long", "/long"}}).Text)
	require.Len(t, strings.Split(agentkit.Try(t, b, "list_directory", agentkit.Args{"path": "/many"}).Text, "\n"), 1500)
	require.Len(t, strings.Split(agentkit.Try(t, b, "search_files", agentkit.Args{"path": "/many", "pattern": "*"}).Text, "\n"), 1500)
	var tree []any
	require.NoError(t, json.Unmarshal([]byte(agentkit.Try(t, b, "directory_tree", agentkit.Args{"path": "/many"}).Text), &tree))
	require.Len(t, tree, 1500)

	bounded, err := tool.New(fsys, &tool.Config{Profile: mcpfs.Profile, Caps: policy.Caps{ResultBytes: 1000, Entries: 1000}})
	require.NoError(t, err)
	for _, c := range []agentkit.Turn{
		{Row: "", Tool: "read_text_file", Args: agentkit.Args{"path": "/long"}},
		{Row: "", Tool: "read_text_file", Args: agentkit.Args{"path": "/long", "tail": 100}},
		{Row: "", Tool: "directory_tree", Args: agentkit.Args{"path": "/"}},
	} {
		require.ErrorIs(t, agentkit.Try(t, bounded, c.Tool, c.Args).Err, syscall.EFBIG, c.Tool)
	}
	require.Contains(t, agentkit.Try(t, bounded, "read_multiple_files", agentkit.Args{"paths": []string{"/long"}}).Text, "/long: Error - ")
	require.Equal(t, "0123456789", agentkit.Try(t, bounded, "read_text_file", agentkit.Args{"path": "/long", "head": 1}).Text)
}

// A pattern means what it means to the reference, though its dialect of globs is another.
func TestMCPFilesystemPatterns(t *testing.T) {
	b, _ := agentkit.Box(t, &tool.Config{Profile: mcpfs.Profile}, "d/a", "d/e/b", "[x", "c.go")
	for pattern, want := range map[string]string{
		"d/**":    "/d/a\n/d/e\n/d/e/b",
		"**/e/**": "/d/e/b",
		"!d/**":   "/[x\n/c.go\n/d",
		"[x":      "/[x",
		"":        "No matches found",
	} {
		require.Equal(t, want, agentkit.Try(t, b, "search_files", agentkit.Args{"path": "/", "pattern": pattern}).Text, pattern)
	}
	require.Equal(t, "/[x\n/c.go\n/d", agentkit.Try(t, b, "search_files", agentkit.Args{"path": "/", "pattern": "**", "excludePatterns": []string{"d/**"}}).Text)
}
