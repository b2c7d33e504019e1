package claude_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/profile/claude"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/vfs"
)

// dated sets when a file was changed, in days.
func dated(t *testing.T, fsys *vfs.FS, name string, day int) {
	t.Helper()
	at := time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
	require.NoError(t, fsys.Chtimes(t.Context(), name, at, at))
}

func TestClaudeCodeRead(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: claude.Code}, "dir/")
	agentkit.Put(t, fsys, "a.go", "one\r\ntwo\r\n")
	agentkit.Put(t, fsys, "open", "one\ntwo")
	agentkit.Put(t, fsys, "empty", "")
	agentkit.Put(t, fsys, "bin", "\x00\x01")
	agentkit.Put(t, fsys, "dot.png", "\x89PNG\r\n\x1a\n\x00")
	agentkit.Put(t, fsys, "wide", strings.Repeat("x", 2001)+"\ny\n")
	agentkit.Put(t, fsys, "long", strings.Repeat("l\n", 5000))
	agentkit.Says(t, b, "Read", agentkit.Args{"file_path": "/a.go"}, "     1\tone\n     2\ttwo\n     3\t")
	agentkit.Says(t, b, "Read", agentkit.Args{"file_path": "/open"}, "     1\tone\n     2\ttwo")
	agentkit.Says(t, b, "Read", agentkit.Args{"file_path": "/open", "offset": 2, "limit": 5}, "     2\ttwo")
	agentkit.Says(t, b, "Read", agentkit.Args{"file_path": "/open", "limit": 1}, "     1\tone\n[lines 1-1 of 2; read on with offset 2]")
	agentkit.Says(t, b, "Read", agentkit.Args{"file_path": "/open", "offset": 3},
		"<system-reminder>Warning: the file exists but is shorter than the provided offset (3). The file has 2 lines.</system-reminder>")
	agentkit.Says(t, b, "Read", agentkit.Args{"file_path": "/empty"}, "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>")
	agentkit.Says(t, b, "Read", agentkit.Args{"file_path": "/wide", "limit": 2}, "     1\t"+strings.Repeat("x", 2000)+"... [truncated]\n     2\ty\n[lines 1-2 of 3; read on with offset 3]")
	r := agentkit.Try(t, b, "Read", agentkit.Args{"file_path": "/long"})
	require.NoError(t, r.Err)
	require.True(t, strings.HasSuffix(r.Text, "\n  2000\tl\n[lines 1-2000 of 5001; read on with offset 2001]"), r.Text[len(r.Text)-100:])
	r = agentkit.Try(t, b, "Read", agentkit.Args{"file_path": "/dot.png"})
	require.Equal(t, "[image: image/png, 9 bytes]", r.Text)
	require.Equal(t, []tool.Media{{MIMEType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n\x00"), Path: "/dot.png"}}, r.Media)

	agentkit.Refuses(t, b, "Read", agentkit.Args{"file_path": "/none"}, syscall.ENOENT, "File does not exist.")
	agentkit.Refuses(t, b, "Read", agentkit.Args{"file_path": "/open/below"}, syscall.ENOENT, "File does not exist.")
	agentkit.Refuses(t, b, "Read", agentkit.Args{"file_path": "/dir"}, syscall.EISDIR, "EISDIR: illegal operation on a directory, read '/dir'")
	agentkit.Refuses(t, b, "Read", agentkit.Args{"file_path": "/bin"}, syscall.EINVAL,
		"This tool cannot read binary files. The file appears to be a binary application/octet-stream file.")
	agentkit.Refuses(t, b, "Read", agentkit.Args{}, syscall.EINVAL, `arguments of Read: "file_path" is missing; they are: file_path, limit, offset`)
	agentkit.Refuses(t, b, "Read", agentkit.Args{"file_path": "/open", "limit": 0}, syscall.EINVAL, `arguments of Read: "limit" has to be 1 or more`)
}

func TestClaudeCodeChange(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: claude.Code}, "dir/")
	const unread = "File has not been read yet. Read it first before writing to it."
	const modified = "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it."
	agentkit.Says(t, b, "Write", agentkit.Args{"file_path": "/src/a.go", "content": "a b a\n"}, "File created successfully at: /src/a.go")
	agentkit.Says(t, b, "Write", agentkit.Args{"file_path": "/src/a.go", "content": "a b\na\n"}, "The file /src/a.go has been updated successfully.")
	agentkit.Says(t, b, "Edit", agentkit.Args{"file_path": "/src/a.go", "old_string": "b", "new_string": "c"}, "The file /src/a.go has been updated successfully.")
	agentkit.Refuses(t, b, "Edit", agentkit.Args{"file_path": "/src/a.go", "old_string": "a", "new_string": "d"}, syscall.EINVAL,
		"Found 2 matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. "+
			"To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: a")
	agentkit.Says(t, b, "Edit", agentkit.Args{"file_path": "/src/a.go", "old_string": "a", "new_string": "d", "replace_all": true},
		"The file /src/a.go has been updated. All occurrences were successfully replaced.")
	require.Equal(t, "d c\nd\n", vfstest.Read(t, fsys, "src/a.go"))
	agentkit.Refuses(t, b, "Edit", agentkit.Args{"file_path": "/src/a.go", "old_string": "x", "new_string": "d"}, syscall.EINVAL, "String to replace not found in file.\nString: x")
	agentkit.Refuses(t, b, "Edit", agentkit.Args{"file_path": "/src/a.go", "old_string": "x", "new_string": "x"}, syscall.EINVAL,
		"No changes to make: old_string and new_string are exactly the same.")
	agentkit.Refuses(t, b, "Edit", agentkit.Args{"file_path": "/src/a.go", "old_string": "", "new_string": "x"}, syscall.EEXIST, "Cannot create new file - file already exists.")
	agentkit.Refuses(t, b, "Edit", agentkit.Args{"file_path": "/none", "old_string": "x", "new_string": "y"}, syscall.ENOENT, "File does not exist.")
	agentkit.Refuses(t, b, "Edit", agentkit.Args{"file_path": "/dir", "old_string": "x", "new_string": "y"}, syscall.EISDIR, "EISDIR: illegal operation on a directory, read '/dir'")
	agentkit.Refuses(t, b, "Write", agentkit.Args{"file_path": "/dir", "content": ""}, syscall.EISDIR, "'/dir': is a directory")
	agentkit.Says(t, b, "Edit", agentkit.Args{"file_path": "/new", "old_string": "", "new_string": "n"}, "File created successfully at: /new")

	agentkit.Put(t, fsys, "theirs", "one\r\ntwo\r\n")
	agentkit.Refuses(t, b, "Edit", agentkit.Args{"file_path": "/theirs", "old_string": "one", "new_string": "1"}, syscall.ESTALE, unread)
	agentkit.Refuses(t, b, "Write", agentkit.Args{"file_path": "/theirs", "content": ""}, syscall.ESTALE, unread)
	require.NoError(t, agentkit.Try(t, b, "Read", agentkit.Args{"file_path": "/theirs", "limit": 1}).Err)
	agentkit.Put(t, fsys, "theirs", "one\r\ntwo\r\nthree\r\n")
	agentkit.Refuses(t, b, "Write", agentkit.Args{"file_path": "/theirs", "content": ""}, syscall.ESTALE, modified)
	agentkit.Refuses(t, b, "Edit", agentkit.Args{"file_path": "/theirs", "old_string": "one", "new_string": "1"}, syscall.ESTALE, modified)
	require.NoError(t, agentkit.Try(t, b, "Read", agentkit.Args{"file_path": "/theirs"}).Err)
	agentkit.Says(t, b, "Edit", agentkit.Args{"file_path": "/theirs", "old_string": "one\ntwo\n", "new_string": "1\n2\n"}, "The file /theirs has been updated successfully.")
	require.Equal(t, "1\r\n2\r\nthree\r\n", vfstest.Read(t, fsys, "theirs"))

	// A file that was read under one name counts as read under another.
	require.NoError(t, fsys.Symlink(t.Context(), "theirs", "link"))
	agentkit.Says(t, b, "Edit", agentkit.Args{"file_path": "/link", "old_string": "three", "new_string": "3"}, "The file /link has been updated successfully.")
}

func TestClaudeCodeSearch(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: claude.Code}, "none/")
	agentkit.Put(t, fsys, "src/old.go", "func A\nx\ny\nz\nfunc B\n")
	agentkit.Put(t, fsys, "src/new.go", "Func C\nfunc D\n")
	agentkit.Put(t, fsys, "src/x.ts", "func E\r\n")
	agentkit.Put(t, fsys, ".hidden/h.go", "nothing\n")
	for i, name := range []string{".hidden/h.go", "src/old.go", "src/x.ts", "src/new.go"} {
		dated(t, fsys, name, i+1)
	}
	agentkit.Says(t, b, "Glob", agentkit.Args{"pattern": "*.go"}, "/src/new.go\n/src/old.go\n/.hidden/h.go") // newest first
	agentkit.Says(t, b, "Glob", agentkit.Args{"pattern": "**/*.{ts,go}", "path": "/src"}, "/src/new.go\n/src/x.ts\n/src/old.go")
	agentkit.Says(t, b, "Glob", agentkit.Args{"pattern": "*.md"}, "No files found")
	agentkit.Refuses(t, b, "Glob", agentkit.Args{"pattern": "*", "path": "/nothing"}, syscall.ENOENT, "Directory does not exist: /nothing")
	agentkit.Refuses(t, b, "Glob", agentkit.Args{"pattern": "*", "path": "/src/x.ts"}, syscall.ENOENT, "Directory does not exist: /src/x.ts")

	agentkit.Says(t, b, "Grep", agentkit.Args{"pattern": "^func"}, "Found 3 files\n/src/new.go\n/src/x.ts\n/src/old.go")
	agentkit.Says(t, b, "Grep", agentkit.Args{"pattern": "^func", "head_limit": 1}, "Found 1 file\n/src/new.go")
	agentkit.Says(t, b, "Grep", agentkit.Args{"pattern": "none"}, "No files found")
	agentkit.Says(t, b, "Grep", agentkit.Args{"pattern": "^func", "type": "go", "output_mode": "count"},
		"/src/new.go:1\n/src/old.go:2\n\nFound 3 total occurrences across 2 files.")
	agentkit.Says(t, b, "Grep", agentkit.Args{"pattern": "func E$", "output_mode": "count"}, "/src/x.ts:1\n\nFound 1 total occurrence across 1 file.")
	agentkit.Says(t, b, "Grep", agentkit.Args{"pattern": "none", "output_mode": "count"}, "No matches found")
	agentkit.Says(t, b, "Grep", agentkit.Args{"pattern": "none", "output_mode": "content"}, "No matches found")
	agentkit.Says(t, b, "Grep", agentkit.Args{"pattern": "^FUNC", "-i": true, "output_mode": "content", "glob": "*.go !old*"}, "/src/new.go:1:Func C\n/src/new.go:2:func D")
	agentkit.Says(t, b, "Grep", agentkit.Args{"pattern": "func", "output_mode": "content", "-n": false, "glob": "*.ts,*.md"}, "/src/x.ts:func E")
	agentkit.Says(t, b, "Grep", agentkit.Args{"pattern": "func [AB]", "output_mode": "content", "-C": 1, "path": "/src/old.go"},
		"/src/old.go:1:func A\n/src/old.go-2-x\n--\n/src/old.go-4-z\n/src/old.go:5:func B")
	agentkit.Says(t, b, "Grep", agentkit.Args{"pattern": "func [AB]", "output_mode": "content", "-A": 2, "-B": 1},
		"/src/old.go:1:func A\n/src/old.go-2-x\n/src/old.go-3-y\n/src/old.go-4-z\n/src/old.go:5:func B")
	agentkit.Says(t, b, "Grep", agentkit.Args{"pattern": "func", "output_mode": "content", "-C": 4, "head_limit": 3, "path": "src", "glob": "old.go"},
		"/src/old.go:1:func A\n/src/old.go-2-x\n/src/old.go-3-y")
	agentkit.Refuses(t, b, "Grep", agentkit.Args{"pattern": "a", "multiline": true}, syscall.EINVAL,
		"multiline is not supported here: a pattern matches within one line. Search for one of the lines with output_mode content, and show those around it with -A or -B.")
	agentkit.Refuses(t, b, "Grep", agentkit.Args{"pattern": "a", "path": "/nothing"}, syscall.ENOENT, "Path does not exist: /nothing")
	agentkit.Refuses(t, b, "Grep", agentkit.Args{"pattern": "a", "type": "go", "glob": "*"}, syscall.EINVAL, "give glob or type, not both")
	require.ErrorIs(t, agentkit.Try(t, b, "Grep", agentkit.Args{"pattern": "a", "type": "cobol"}).Err, syscall.EINVAL)
	require.ErrorIs(t, agentkit.Try(t, b, "Grep", agentkit.Args{"pattern": "("}).Err, syscall.EINVAL)

	// Glob shows a hundred files.
	for i := range 101 {
		agentkit.Put(t, fsys, fmt.Sprintf("many/%03d", i), "x")
	}
	r := agentkit.Try(t, b, "Glob", agentkit.Args{"pattern": "many/*"})
	require.NoError(t, r.Err)
	lines := strings.Split(r.Text, "\n")
	require.Len(t, lines, 101)
	require.Equal(t, "(Results are truncated. Consider using a more specific path or pattern.)", lines[100])
}

// The tools that a model is offered, and those that a policy leaves.
func TestClaudeCodeGranted(t *testing.T) {
	whole, _ := agentkit.Box(t, &tool.Config{Profile: claude.Code})
	agentkit.Golden(t, "claude-code", agentkit.Describe(whole))
	b, fsys := agentkit.Box(t, &tool.Config{Profile: claude.Code, Policy: &policy.Policy{Paths: []string{"/ok"}}}, "ok/a", "secret/s")
	require.NoError(t, fsys.Symlink(t.Context(), "/secret", "ok/out"))
	for _, tt := range []agentkit.Turn{
		{Row: "", Tool: "Read", Args: agentkit.Args{"file_path": "/ok/out/s"}},
		{Row: "", Tool: "Write", Args: agentkit.Args{"file_path": "/secret/new", "content": ""}},
		{Row: "", Tool: "Edit", Args: agentkit.Args{"file_path": "/ok/../secret/s", "old_string": "s", "new_string": "t"}},
		{Row: "", Tool: "Glob", Args: agentkit.Args{"pattern": "*", "path": "/secret"}},
		{Row: "", Tool: "Grep", Args: agentkit.Args{"pattern": "s", "path": "/ok/out"}},
	} {
		var refused *policy.Error
		require.ErrorAs(t, agentkit.Try(t, b, tt.Tool, tt.Args).Err, &refused, tt.Tool)
	}
	reader, _ := agentkit.Box(t, &tool.Config{Profile: claude.Code, Policy: &policy.Policy{Permissions: []policy.Permission{policy.Read}}})
	names := []string{}
	for _, op := range reader.Tools() {
		names = append(names, op.Name)
	}
	require.Equal(t, []string{"Read", "Grep"}, names)
}
