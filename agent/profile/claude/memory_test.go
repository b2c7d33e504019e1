package claude_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/profile/claude"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
)

// The memory of Claude models: each command, in the words of the reference.
func TestClaudeMemory(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: claude.Memory})
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "view", "path": "/memories"}, // before there is any
		"Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories")
	require.Empty(t, vfstest.Names(t, fsys))
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "create", "path": "/memories/notes.md", "file_text": "one\ntwo\nthree\nfour\nfive\nsix\n"},
		"File created successfully at: /memories/notes.md")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "create", "path": "/memories/p/q/deep.md", "file_text": strings.Repeat("x", 2048)},
		"File created successfully at: /memories/p/q/deep.md")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "create", "path": "/memories/p/.hidden", "file_text": "h"}, "File created successfully at: /memories/p/.hidden")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "create", "path": "/memories/node_modules/x", "file_text": ""}, "File created successfully at: /memories/node_modules/x")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "view", "path": "/memories"},
		"Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n"+
			"2.0K\t/memories\n28B\t/memories/notes.md\n2.0K\t/memories/p/\n2K\t/memories/p/q/")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "view", "path": "/memories/notes.md"},
		"Here's the content of /memories/notes.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n     5\tfive\n     6\tsix\n     7\t")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "view", "path": "/memories/notes.md", "view_range": []int{0, 2}},
		"Here's the content of /memories/notes.md with line numbers:\n     1\tone\n     2\ttwo")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "view", "path": "/memories/notes.md", "view_range": []int{6, 99}},
		"Here's the content of /memories/notes.md with line numbers:\n     6\tsix\n     7\t")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "str_replace", "path": "/memories/notes.md", "old_str": "three", "new_str": "3"},
		"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"+
			"     1\tone\n     2\ttwo\n     3\t3\n     4\tfour\n     5\tfive")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "insert", "path": "/memories/notes.md", "insert_line": 6, "insert_text": "seven"},
		"The file /memories/notes.md has been edited.")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "insert", "path": "/memories/notes.md", "insert_line": 0, "new_str": "zero\n"},
		"The file /memories/notes.md has been edited.")
	require.Equal(t, "zero\none\ntwo\n3\nfour\nfive\nsix\nseven\n", vfstest.Read(t, fsys, "memories/notes.md"))
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/old/notes.md"},
		"Successfully renamed /memories/notes.md to /memories/old/notes.md")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "rename", "old_path": "/memories/p", "new_path": "/memories/r"}, "Successfully renamed /memories/p to /memories/r")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "delete", "path": "/memories/r"}, "Successfully deleted /memories/r")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "delete", "path": "/memories/old/notes.md"}, "Successfully deleted /memories/old/notes.md")
	require.Equal(t, []string{"memories/", "memories/node_modules/", "memories/node_modules/x", "memories/old/"}, vfstest.Names(t, fsys))
}

func TestClaudeMemoryRefuses(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: claude.Memory}, "etc/passwd", "memories/d/x")
	agentkit.Put(t, fsys, "memories/f", "a\nb\na\n")
	agentkit.Put(t, fsys, "memories/bin", "\x00\x01")
	agentkit.Put(t, fsys, "memories/long", strings.Repeat("\n", 999_999))
	require.NoError(t, fsys.Symlink(t.Context(), "../etc", "memories/out"))
	require.NoError(t, fsys.Symlink(t.Context(), "../etc/new", "memories/dangling"))
	const link = "Path would escape /memories directory via symlink"
	for _, tt := range []struct {
		in    agentkit.Args
		errno error
		want  string
	}{
		{agentkit.Args{"command": "view", "path": "/etc/passwd"}, syscall.EACCES, "Path must start with /memories, got: /etc/passwd"},
		{agentkit.Args{"command": "view", "path": "memories/f"}, syscall.EACCES, "Path must start with /memories, got: memories/f"},
		{agentkit.Args{"command": "view", "path": "/memoriesX"}, syscall.EACCES, "Path must start with /memories, got: /memoriesX"},
		{agentkit.Args{"command": "view", "path": "/memories/../etc/passwd"}, syscall.EACCES, "Path /memories/../etc/passwd would escape /memories directory"},
		{agentkit.Args{"command": "view", "path": "/memories/out/passwd"}, syscall.EACCES, link},
		{agentkit.Args{"command": "view", "path": "/memories/out/none/none"}, syscall.EACCES, link},
		{agentkit.Args{"command": "view", "path": "/memories/out/passwd/none"}, syscall.EACCES, link},
		{agentkit.Args{"command": "view", "path": "/memories/out"}, syscall.EACCES, link},
		{agentkit.Args{"command": "create", "path": "/memories/out/new", "file_text": ""}, syscall.EACCES, link},
		{agentkit.Args{"command": "create", "path": "/memories/dangling", "file_text": ""}, syscall.EEXIST, "File /memories/dangling already exists"},
		{agentkit.Args{"command": "str_replace", "path": "/memories/out/passwd", "old_str": "e", "new_str": ""}, syscall.EACCES, link},
		{agentkit.Args{"command": "insert", "path": "/memories/out/passwd", "insert_line": 0, "insert_text": ""}, syscall.EACCES, link},
		{agentkit.Args{"command": "delete", "path": "/memories/out/passwd"}, syscall.EACCES, link},
		{agentkit.Args{"command": "rename", "old_path": "/memories/f", "new_path": "/memories/out/f"}, syscall.EACCES, link},
		{agentkit.Args{"command": "rename", "old_path": "/memories/out/passwd", "new_path": "/memories/g"}, syscall.EACCES, link},
		{agentkit.Args{"command": "rename", "old_path": "/memories/f", "new_path": "/etc/f"}, syscall.EACCES, "Path must start with /memories, got: /etc/f"},
		{agentkit.Args{"command": "view", "path": "/memories/%2e%2e/etc"}, syscall.ENOENT, "The path /memories/%2e%2e/etc does not exist. Please provide a valid path."},
		{agentkit.Args{"command": "view", "path": "/memories/none"}, syscall.ENOENT, "The path /memories/none does not exist. Please provide a valid path."},
		{agentkit.Args{"command": "view", "path": "/memories/f/none"}, syscall.ENOENT, "The path /memories/f/none does not exist. Please provide a valid path."},
		{agentkit.Args{"command": "view", "path": "/memories/long"}, syscall.EFBIG, "File /memories/long exceeds maximum line limit of 999,999 lines."},
		{agentkit.Args{"command": "view", "path": "/memories/f", "view_range": []int{5, -1}}, syscall.EINVAL, "Invalid `view_range`: [5, -1]. The file has 4 lines."},
		{agentkit.Args{"command": "view", "path": "/memories/f", "view_range": []int{3, 2}}, syscall.EINVAL, "Invalid `view_range`: [3, 2]. The file has 4 lines."},
		{agentkit.Args{"command": "view", "path": "/memories/f", "view_range": []int{}}, syscall.EINVAL, "Invalid `view_range`. It should be a list of two integers."},
		{agentkit.Args{"command": "view", "path": "/memories/bin"}, syscall.EINVAL, "'/memories/bin' is a binary file of 2 bytes, not text"},
		{agentkit.Args{"command": "view"}, syscall.EINVAL, "Parameter `path` is required for command: view"},
		{agentkit.Args{"command": "create", "path": "/memories/f", "file_text": ""}, syscall.EEXIST, "File /memories/f already exists"},
		{agentkit.Args{"command": "create", "path": "/memories/d", "file_text": ""}, syscall.EEXIST, "File /memories/d already exists"},
		{agentkit.Args{"command": "create", "path": "/memories", "file_text": ""}, syscall.EEXIST, "File /memories already exists"},
		{agentkit.Args{"command": "create", "path": "/memories/n"}, syscall.EINVAL, "Parameter `file_text` is required for command: create"},
		{agentkit.Args{"command": "str_replace", "path": "/memories/none", "old_str": "a"}, syscall.ENOENT, "The path /memories/none does not exist. Please provide a valid path."},
		{agentkit.Args{"command": "str_replace", "path": "/memories/d", "old_str": "a"}, syscall.EISDIR, "The path /memories/d is not a file."},
		{agentkit.Args{"command": "str_replace", "path": "/memories/f", "old_str": "x"}, syscall.EINVAL, "No replacement was performed, old_str `x` did not appear verbatim in /memories/f."},
		{agentkit.Args{"command": "str_replace", "path": "/memories/f", "old_str": "a"}, syscall.EINVAL, "No replacement was performed. Multiple occurrences of old_str `a` in lines: 1, 3. Please ensure it is unique"},
		{agentkit.Args{"command": "str_replace", "path": "/memories/f"}, syscall.EINVAL, "Parameter `old_str` is required for command: str_replace"},
		{agentkit.Args{"command": "insert", "path": "/memories/f", "insert_line": 4, "insert_text": "x"}, syscall.EINVAL, "Invalid `insert_line` parameter: 4. It should be within the range [0, 3]."},
		{agentkit.Args{"command": "insert", "path": "/memories/f", "insert_line": 1}, syscall.EINVAL, "Parameter `insert_text` is required for command: insert"},
		{agentkit.Args{"command": "insert", "path": "/memories/f", "insert_text": ""}, syscall.EINVAL, "Parameter `insert_line` is required for command: insert"},
		{agentkit.Args{"command": "delete", "path": "/memories/none"}, syscall.ENOENT, "The path /memories/none does not exist"},
		{agentkit.Args{"command": "delete", "path": "/memories"}, syscall.EPERM, "Cannot delete the /memories directory itself"},
		{agentkit.Args{"command": "delete", "path": "/memories/d/.."}, syscall.EPERM, "Cannot delete the /memories directory itself"},
		{agentkit.Args{"command": "rename", "old_path": "/memories/none", "new_path": "/memories/g"}, syscall.ENOENT, "The path /memories/none does not exist"},
		{agentkit.Args{"command": "rename", "old_path": "/memories/f", "new_path": "/memories/d"}, syscall.EEXIST, "The destination /memories/d already exists"},
		{agentkit.Args{"command": "rename", "old_path": "/memories/d", "new_path": "/memories/d/e/f"}, syscall.EINVAL, "'/memories/d/e/f' is inside '/memories/d': invalid argument"},
		{agentkit.Args{"command": "rename", "old_path": "/memories", "new_path": "/memories/d/e"}, syscall.EPERM, "Cannot rename the /memories directory itself"},
		{agentkit.Args{"command": "rename", "old_path": "/memories/f"}, syscall.EINVAL, "Parameter `new_path` is required for command: rename"},
		{agentkit.Args{"command": "rename", "new_path": "/memories/f"}, syscall.EINVAL, "Parameter `old_path` is required for command: rename"},
		{agentkit.Args{"command": "undo_edit", "path": "/memories/f"}, syscall.EINVAL, "Unrecognized command undo_edit. The allowed commands for the memory tool are: view, create, str_replace, insert, delete, rename"},
	} {
		before := vfstest.Names(t, fsys)
		agentkit.Refuses(t, b, "memory", tt.in, tt.errno, tt.want)
		require.Equal(t, before, vfstest.Names(t, fsys))
	}
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "delete", "path": "/memories/out"}, "Successfully deleted /memories/out") // the symlink is inside
	require.Equal(t, "etc/passwd", vfstest.Read(t, fsys, "etc/passwd"))
}

// The jail may stand in a directory, and may itself be a symlink.
func TestClaudeMemoryPlace(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: claude.Memory, Dir: "/agents/7"}, "agents/7/")
	agentkit.Says(t, b, "memory", agentkit.Args{"command": "create", "path": "/memories/a", "file_text": "a"}, "File created successfully at: /memories/a")
	require.Equal(t, "a", vfstest.Read(t, fsys, "agents/7/memories/a"))
	agentkit.Refuses(t, b, "memory", agentkit.Args{"command": "view", "path": "/memories/../../x"}, syscall.EACCES, "Path /memories/../../x would escape /memories directory")

	linked, fsys := agentkit.Box(t, &tool.Config{Profile: claude.Memory}, "store/")
	require.NoError(t, fsys.Symlink(t.Context(), "store", "memories"))
	agentkit.Says(t, linked, "memory", agentkit.Args{"command": "create", "path": "/memories/a", "file_text": "a"}, "File created successfully at: /memories/a")
	require.Equal(t, "a", vfstest.Read(t, fsys, "store/a"))
	agentkit.Refuses(t, linked, "memory", agentkit.Args{"command": "delete", "path": "/memories"}, syscall.EPERM, "Cannot delete the /memories directory itself")
	agentkit.Refuses(t, linked, "memory", agentkit.Args{"command": "delete", "path": "/memories/../memories"}, syscall.EPERM, "Cannot delete the /memories directory itself")

	whole, _ := agentkit.Box(t, &tool.Config{Profile: claude.Memory})
	agentkit.Golden(t, "claude-memory", agentkit.Describe(whole))
	op := whole.Tool("memory")
	require.Equal(t, tool.Hints{Destructive: true}, op.Hints)
	require.Equal(t, tool.High, op.Risk)
	require.Equal(t, []string{"filesystem_write", "filesystem_delete"}, op.SideEffects)
}
