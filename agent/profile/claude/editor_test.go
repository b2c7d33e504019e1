package claude_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/profile/claude"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
)

const editTool = "str_replace_based_edit_tool"

// The text editor of Claude models: each command, in the words of the reference.
func TestClaudeEditor(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: claude.Editor})
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "create", "path": "/src/a.py", "file_text": "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"},
		"File created successfully at: /src/a.py")
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "view", "path": "/src/a.py", "view_range": []int{2, 3}},
		"Here's the result of running `cat -n` on /src/a.py:\n     2\ttwo\n     3\tthree\n")
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "view", "path": "/src/a.py", "view_range": []int{6, -1}},
		"Here's the result of running `cat -n` on /src/a.py:\n     6\tsix\n     7\tseven\n     8\t\n")
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "str_replace", "path": "/src/a.py", "old_str": "six", "new_str": "6\n6b"},
		"The file /src/a.py has been edited. Here's the result of running `cat -n` on a snippet of /src/a.py:\n"+
			"     2\ttwo\n     3\tthree\n     4\tfour\n     5\tfive\n     6\t6\n     7\t6b\n     8\tseven\n     9\t\n"+
			"Review the changes and make sure they are as expected. Edit the file again if necessary.")
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "insert", "path": "/src/a.py", "insert_line": 0, "insert_text": "zero"},
		"The file /src/a.py has been edited. Here's the result of running `cat -n` on a snippet of the edited file:\n"+
			"     1\tzero\n     2\tone\n     3\ttwo\n     4\tthree\n     5\tfour\n"+
			"Review the changes and make sure they are as expected (correct indentation, no duplicate lines, etc). Edit the file again if necessary.")
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "insert", "path": "/src/a.py", "insert_line": 9, "new_str": "end\n"}, // after a line; new_str for insert_text
		"The file /src/a.py has been edited. Here's the result of running `cat -n` on a snippet of the edited file:\n"+
			"     6\tfive\n     7\t6\n     8\t6b\n     9\tseven\n    10\tend\n    11\t\n"+
			"Review the changes and make sure they are as expected (correct indentation, no duplicate lines, etc). Edit the file again if necessary.")
	require.Equal(t, "zero\none\ntwo\nthree\nfour\nfive\n6\n6b\nseven\nend\n", vfstest.Read(t, fsys, "src/a.py"))
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "str_replace", "path": "/src/a.py", "old_str": "three\nfour\n"},
		"The file /src/a.py has been edited. Here's the result of running `cat -n` on a snippet of /src/a.py:\n"+
			"     1\tzero\n     2\tone\n     3\ttwo\n     4\tfive\n     5\t6\n     6\t6b\n     7\tseven\n     8\tend\n"+
			"Review the changes and make sure they are as expected. Edit the file again if necessary.")
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "create", "path": "/src/a.py", "file_text": "new"},
		"File overwritten successfully at: /src/a.py")
	agentkit.Put(t, fsys, "src/.git/x", "hidden")
	agentkit.Put(t, fsys, "src/node_modules/y", "left out")
	agentkit.Put(t, fsys, "src/deep/er/z", strings.Repeat("z", 1536))
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "view", "path": "/src/"},
		"Here're the files and directories up to 2 levels deep in /src, excluding hidden items and node_modules:\n"+
			"1.5K\t/src\n3B\t/src/a.py\n1.5K\t/src/deep/\n1.5K\t/src/deep/er/")
}

func TestClaudeEditorRefuses(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: claude.Editor}, "dir/")
	agentkit.Put(t, fsys, "f", "a\nb\na\n")
	agentkit.Put(t, fsys, "bin", "\x00\x01")
	for _, tt := range []struct {
		in    agentkit.Args
		errno error
		want  string
	}{
		{agentkit.Args{"command": "view", "path": "/none"}, syscall.ENOENT, "The path /none does not exist. Please provide a valid path."},
		{agentkit.Args{"command": "view", "path": "/f/below"}, syscall.ENOENT, "The path /f/below does not exist. Please provide a valid path."},
		{agentkit.Args{"command": "view", "path": "/dir", "view_range": []int{1, 2}}, syscall.EINVAL, "The `view_range` parameter is not allowed when `path` points to a directory."},
		{agentkit.Args{"command": "view", "path": "/f", "view_range": []int{1}}, syscall.EINVAL, "Invalid `view_range`. It should be a list of two integers."},
		{agentkit.Args{"command": "view", "path": "/f", "view_range": []int{0, 2}}, syscall.EINVAL, "Invalid `view_range`: [0, 2]. Its first element `0` should be within the range of lines of the file: [1, 4]"},
		{agentkit.Args{"command": "view", "path": "/f", "view_range": []int{5, -1}}, syscall.EINVAL, "Invalid `view_range`: [5, -1]. Its first element `5` should be within the range of lines of the file: [1, 4]"},
		{agentkit.Args{"command": "view", "path": "/f", "view_range": []int{1, 9}}, syscall.EINVAL, "Invalid `view_range`: [1, 9]. Its second element `9` should be smaller than the number of lines in the file: `4`"},
		{agentkit.Args{"command": "view", "path": "/f", "view_range": []int{3, 2}}, syscall.EINVAL, "Invalid `view_range`: [3, 2]. Its second element `2` should be larger or equal than its first `3`"},
		{agentkit.Args{"command": "view", "path": "/bin"}, syscall.EINVAL, "'/bin' is a binary file of 2 bytes, not text"},
		{agentkit.Args{"command": "view", "path": ""}, syscall.EINVAL, "the path is empty"},
		{agentkit.Args{"command": "create", "path": "/new"}, syscall.EINVAL, "Parameter `file_text` is required for command: create"},
		{agentkit.Args{"command": "create", "path": "/dir", "file_text": ""}, syscall.EISDIR, "The path /dir is a directory and only the `view` command can be used on directories"},
		{agentkit.Args{"command": "str_replace", "path": "/f"}, syscall.EINVAL, "Parameter `old_str` is required for command: str_replace"},
		{agentkit.Args{"command": "str_replace", "path": "/f", "old_str": ""}, syscall.EINVAL, "No replacement was performed, old_str is empty. To add text use `insert`."},
		{agentkit.Args{"command": "str_replace", "path": "/f", "old_str": "x"}, syscall.EINVAL, "No replacement was performed, old_str `x` did not appear verbatim in /f."},
		{agentkit.Args{"command": "str_replace", "path": "/f", "old_str": "a", "new_str": "c"}, syscall.EINVAL, "No replacement was performed. Multiple occurrences of old_str `a` in lines [1, 3]. Please ensure it is unique"},
		{agentkit.Args{"command": "str_replace", "path": "/dir", "old_str": "a"}, syscall.EISDIR, "The path /dir is a directory and only the `view` command can be used on directories"},
		{agentkit.Args{"command": "str_replace", "path": "/none", "old_str": "a"}, syscall.ENOENT, "The path /none does not exist. Please provide a valid path."},
		{agentkit.Args{"command": "str_replace", "path": "/bin", "old_str": "a"}, syscall.EINVAL, "'/bin' is a binary file of 2 bytes, not text"},
		{agentkit.Args{"command": "insert", "path": "/f", "insert_text": "x"}, syscall.EINVAL, "Parameter `insert_line` is required for command: insert"},
		{agentkit.Args{"command": "insert", "path": "/f", "insert_line": 1}, syscall.EINVAL, "Parameter `insert_text` is required for command: insert"},
		{agentkit.Args{"command": "insert", "path": "/f", "insert_line": 4, "insert_text": "x"}, syscall.EINVAL, "Invalid `insert_line` parameter: 4. It should be within the range of lines of the file: [0, 3]"},
		{agentkit.Args{"command": "insert", "path": "/f", "insert_line": -1, "insert_text": "x"}, syscall.EINVAL, "Invalid `insert_line` parameter: -1. It should be within the range of lines of the file: [0, 3]"},
		{agentkit.Args{"command": "undo_edit", "path": "/f"}, syscall.ENOENT, "No edit history found for /f."},
		{agentkit.Args{"command": "rename", "path": "/f"}, syscall.EINVAL, "Unrecognized command rename. The allowed commands for the str_replace_based_edit_tool tool are: view, create, str_replace, insert, undo_edit"},
		{agentkit.Args{"command": "view"}, syscall.EINVAL, `arguments of str_replace_based_edit_tool: "path" is missing; they are: command, file_text, insert_line, insert_text, new_str, old_str, path, view_range`},
		{agentkit.Args{"path": "/f"}, syscall.EINVAL, `arguments of str_replace_based_edit_tool: "command" is missing; they are: command, file_text, insert_line, insert_text, new_str, old_str, path, view_range`},
	} {
		agentkit.Refuses(t, b, editTool, tt.in, tt.errno, tt.want)
	}
	require.Equal(t, "a\nb\na\n", vfstest.Read(t, fsys, "f"))
}

// Texts of every kind keep what was not edited.
func TestClaudeEditorTexts(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: claude.Editor, Caps: policy.Caps{ResultBytes: 100}})
	for name, content := range map[string]string{"crlf": "a\r\nb\r\nc\r\n", "mixed": "a\r\nb\nc", "open": "a\nb", "empty": "", "long": strings.Repeat("é", 1000)} {
		agentkit.Put(t, fsys, name, content)
	}
	head := "Here's the result of running `cat -n` on "
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "view", "path": "crlf"}, head+"crlf:\n     1\ta\n     2\tb\n     3\tc\n     4\t\n")
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "view", "path": "open"}, head+"open:\n     1\ta\n     2\tb\n")
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "view", "path": "open", "view_range": []int{1, 1}}, head+"open:\n     1\ta\n")
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "view", "path": "empty"}, head+"empty:\n     1\t\n")
	agentkit.Says(t, b, editTool, agentkit.Args{"command": "view", "path": "long"}, // the number takes 7 bytes, and its cut 1 more
		head+"long:\n     1\t"+strings.Repeat("é", 46)+"\n[... truncated, 1908 bytes omitted; refine your search/path]\n")

	edit := func(name string, in agentkit.Args) string {
		in["path"] = name
		r := agentkit.Try(t, b, editTool, in)
		require.NoError(t, r.Err, r.Text)
		return vfstest.Read(t, fsys, name)
	}
	require.Equal(t, "a\r\nB\r\nB\r\nc\r\n", edit("crlf", agentkit.Args{"command": "str_replace", "old_str": "a\nb\n", "new_str": "a\nB\nB\n"}))
	require.Equal(t, "x\r\na\r\nB\r\nB\r\nc\r\n", edit("crlf", agentkit.Args{"command": "insert", "insert_line": 0, "insert_text": "x"}))
	require.Equal(t, "a\r\nb\nd\r\n", edit("mixed", agentkit.Args{"command": "str_replace", "old_str": "c", "new_str": "d\n"}))
	require.Equal(t, "A\r\nB\r\nd\r\n", edit("mixed", agentkit.Args{"command": "str_replace", "old_str": "a\nb\n", "new_str": "A\nB\n"}))
	require.Equal(t, "a\nb\nc\n", edit("open", agentkit.Args{"command": "insert", "insert_line": 2, "insert_text": "c"}))
	require.Equal(t, "x\n", edit("empty", agentkit.Args{"command": "insert", "insert_line": 0, "insert_text": "x"}))
}

// undo_edit takes back edits of this toolbox, newest first, and nothing that somebody else wrote.
func TestClaudeEditorUndo(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: claude.Editor})
	create := agentkit.Args{"command": "create", "path": "/a", "file_text": "one\n"}
	undo := agentkit.Args{"command": "undo_edit", "path": "/a"}
	for _, in := range []agentkit.Args{
		create,
		{"command": "str_replace", "path": "/a", "old_str": "one", "new_str": "two"},
		{"command": "create", "path": "/a", "file_text": "three\nmore\n"},
		{"command": "insert", "path": "/a", "insert_line": 1, "insert_text": "x"},
	} {
		require.NoError(t, agentkit.Try(t, b, editTool, in).Err)
	}
	agentkit.Says(t, b, editTool, undo, "Last edit to /a undone successfully. Here's the result of running `cat -n` on /a:\n     1\tthree\n     2\tmore\n     3\t\n")
	agentkit.Says(t, b, editTool, undo, "Last edit to /a undone successfully. Here's the result of running `cat -n` on /a:\n     1\ttwo\n     2\t\n")
	agentkit.Says(t, b, editTool, undo, "Last edit to /a undone successfully. Here's the result of running `cat -n` on /a:\n     1\tone\n     2\t\n")
	agentkit.Says(t, b, editTool, undo, "Last edit to /a undone successfully. There was no file before it, so it has been removed.")
	require.Empty(t, vfstest.Names(t, fsys))
	agentkit.Refuses(t, b, editTool, undo, syscall.ENOENT, "The path /a does not exist. Please provide a valid path.")

	require.NoError(t, agentkit.Try(t, b, editTool, create).Err)
	agentkit.Put(t, fsys, "a", "somebody else's")
	agentkit.Refuses(t, b, editTool, undo, syscall.ESTALE,
		"The file /a has changed since its last edit here, so that edit is not undone. View it, and edit what is there now.")
	agentkit.Put(t, fsys, "a", "one\n")
	agentkit.Says(t, b, editTool, undo, "Last edit to /a undone successfully. There was no file before it, so it has been removed.")

	// An edit that is not committed leaves no step behind.
	agentkit.Put(t, fsys, "a", "one\n")
	fsys.Store().SetReadOnly(true)
	require.ErrorIs(t, agentkit.Try(t, b, editTool, agentkit.Args{"command": "str_replace", "path": "/a", "old_str": "one", "new_str": "two"}).Err, syscall.EROFS)
	fsys.Store().SetReadOnly(false)
	agentkit.Refuses(t, b, editTool, undo, syscall.ENOENT, "No edit history found for /a.")
}

// A session takes back its edits after a restart too, from the history of the store.
func TestClaudeEditorUndoLater(t *testing.T) {
	config := &tool.Config{Profile: claude.Editor, Session: "s"}
	b, fsys := agentkit.Box(t, config)
	restart := func(session string) *tool.Toolbox {
		t.Helper()
		config.Session = session
		b, err := agent.New(fsys, config)
		require.NoError(t, err)
		return b
	}
	undo := agentkit.Args{"command": "undo_edit", "path": "/a"}
	for _, in := range []agentkit.Args{
		{"command": "create", "path": "/a", "file_text": "one\n"},
		{"command": "str_replace", "path": "/a", "old_str": "one", "new_str": "two"},
		{"command": "str_replace", "path": "/a", "old_str": "two", "new_str": "three"},
	} {
		require.NoError(t, agentkit.Try(t, b, editTool, in).Err)
	}
	agentkit.Refuses(t, restart("other"), editTool, undo, syscall.ENOENT, "No edit history found for /a.")
	b = restart("s")
	agentkit.Says(t, b, editTool, undo, "Last edit to /a undone successfully. Here's the result of running `cat -n` on /a:\n     1\ttwo\n     2\t\n")
	agentkit.Says(t, restart("s"), editTool, undo, "Last edit to /a undone successfully. Here's the result of running `cat -n` on /a:\n     1\tone\n     2\t\n")
	agentkit.Put(t, fsys, "a", "somebody else's")
	agentkit.Refuses(t, b, editTool, undo, syscall.ESTALE,
		"The file /a has changed since its last edit here, so that edit is not undone. View it, and edit what is there now.")
	agentkit.Put(t, fsys, "a", "one\n")
	agentkit.Says(t, b, editTool, undo, "Last edit to /a undone successfully. There was no file before it, so it has been removed.")
	require.Empty(t, vfstest.Names(t, fsys))
}

// A tool has the commands that are granted, and the hints of the worst of them.
func TestClaudeEditorGranted(t *testing.T) {
	whole, _ := agentkit.Box(t, &tool.Config{Profile: claude.Editor})
	agentkit.Golden(t, "claude-editor", agentkit.Describe(whole))
	op := whole.Tool(editTool)
	require.Equal(t, tool.Hints{Destructive: true}, op.Hints)
	require.Equal(t, tool.Medium, op.Risk)
	require.Equal(t, []policy.Permission{policy.List, policy.Read, policy.Write}, op.Permissions)
	require.Equal(t, []any{"view", "create", "str_replace", "insert", "undo_edit"}, op.Input.Properties["command"].Enum)

	reader, _ := agentkit.Box(t, &tool.Config{Profile: claude.Editor, Policy: &policy.Policy{Permissions: []policy.Permission{policy.List, policy.Read}}}, "a")
	op = reader.Tool(editTool)
	require.Equal(t, tool.Hints{ReadOnly: true, Idempotent: true}, op.Hints)
	require.Equal(t, []any{"view"}, op.Input.Properties["command"].Enum)
	agentkit.Refuses(t, reader, editTool, agentkit.Args{"command": "create", "path": "/a", "file_text": ""}, syscall.EINVAL,
		"Unrecognized command create. The allowed commands for the str_replace_based_edit_tool tool are: view")

	none, _ := agentkit.Box(t, &tool.Config{Profile: claude.Editor, Policy: &policy.Policy{Permissions: []policy.Permission{}}})
	require.Empty(t, none.Tools())
	require.Empty(t, none.Prompt())
}
