package agent_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// dated sets when a file was changed, in days.
func dated(t *testing.T, fsys *vfs.FS, name string, day int) {
	t.Helper()
	at := time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
	require.NoError(t, fsys.Chtimes(t.Context(), name, at, at))
}

func TestClaudeCodeRead(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.ClaudeCode}, "dir/")
	put(t, fsys, "a.go", "one\r\ntwo\r\n")
	put(t, fsys, "open", "one\ntwo")
	put(t, fsys, "empty", "")
	put(t, fsys, "bin", "\x00\x01")
	put(t, fsys, "dot.png", "\x89PNG\r\n\x1a\n\x00")
	put(t, fsys, "wide", strings.Repeat("x", 2001)+"\ny\n")
	put(t, fsys, "long", strings.Repeat("l\n", 5000))
	says(t, b, "Read", args{"file_path": "/a.go"}, "     1\tone\n     2\ttwo\n     3\t")
	says(t, b, "Read", args{"file_path": "/open"}, "     1\tone\n     2\ttwo")
	says(t, b, "Read", args{"file_path": "/open", "offset": 2, "limit": 5}, "     2\ttwo")
	says(t, b, "Read", args{"file_path": "/open", "limit": 1}, "     1\tone\n[lines 1-1 of 2; read on with offset 2]")
	says(t, b, "Read", args{"file_path": "/open", "offset": 3},
		"<system-reminder>Warning: the file exists but is shorter than the provided offset (3). The file has 2 lines.</system-reminder>")
	says(t, b, "Read", args{"file_path": "/empty"}, "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>")
	says(t, b, "Read", args{"file_path": "/wide", "limit": 2}, "     1\t"+strings.Repeat("x", 2000)+"... [truncated]\n     2\ty\n[lines 1-2 of 3; read on with offset 3]")
	r := try(t, b, "Read", args{"file_path": "/long"})
	require.NoError(t, r.Err)
	require.True(t, strings.HasSuffix(r.Text, "\n  2000\tl\n[lines 1-2000 of 5001; read on with offset 2001]"), r.Text[len(r.Text)-100:])
	r = try(t, b, "Read", args{"file_path": "/dot.png"})
	require.Equal(t, "[image: image/png, 9 bytes]", r.Text)
	require.Equal(t, []agent.Media{{MIMEType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n\x00"), Path: "/dot.png"}}, r.Media)

	refuses(t, b, "Read", args{"file_path": "/none"}, syscall.ENOENT, "File does not exist.")
	refuses(t, b, "Read", args{"file_path": "/open/below"}, syscall.ENOENT, "File does not exist.")
	refuses(t, b, "Read", args{"file_path": "/dir"}, syscall.EISDIR, "EISDIR: illegal operation on a directory, read '/dir'")
	refuses(t, b, "Read", args{"file_path": "/bin"}, syscall.EINVAL,
		"This tool cannot read binary files. The file appears to be a binary application/octet-stream file.")
	refuses(t, b, "Read", args{}, syscall.EINVAL, `arguments of Read: "file_path" is missing; they are: file_path, limit, offset`)
	refuses(t, b, "Read", args{"file_path": "/open", "limit": 0}, syscall.EINVAL, `arguments of Read: "limit" has to be 1 or more`)
}

func TestClaudeCodeChange(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.ClaudeCode}, "dir/")
	const unread = "File has not been read yet. Read it first before writing to it."
	const modified = "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it."
	says(t, b, "Write", args{"file_path": "/src/a.go", "content": "a b a\n"}, "File created successfully at: /src/a.go")
	says(t, b, "Write", args{"file_path": "/src/a.go", "content": "a b\na\n"}, "The file /src/a.go has been updated successfully.")
	says(t, b, "Edit", args{"file_path": "/src/a.go", "old_string": "b", "new_string": "c"}, "The file /src/a.go has been updated successfully.")
	refuses(t, b, "Edit", args{"file_path": "/src/a.go", "old_string": "a", "new_string": "d"}, syscall.EINVAL,
		"Found 2 matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. "+
			"To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: a")
	says(t, b, "Edit", args{"file_path": "/src/a.go", "old_string": "a", "new_string": "d", "replace_all": true},
		"The file /src/a.go has been updated. All occurrences were successfully replaced.")
	require.Equal(t, "d c\nd\n", vfstest.Read(t, fsys, "src/a.go"))
	refuses(t, b, "Edit", args{"file_path": "/src/a.go", "old_string": "x", "new_string": "d"}, syscall.EINVAL, "String to replace not found in file.\nString: x")
	refuses(t, b, "Edit", args{"file_path": "/src/a.go", "old_string": "x", "new_string": "x"}, syscall.EINVAL,
		"No changes to make: old_string and new_string are exactly the same.")
	refuses(t, b, "Edit", args{"file_path": "/src/a.go", "old_string": "", "new_string": "x"}, syscall.EEXIST, "Cannot create new file - file already exists.")
	refuses(t, b, "Edit", args{"file_path": "/none", "old_string": "x", "new_string": "y"}, syscall.ENOENT, "File does not exist.")
	refuses(t, b, "Edit", args{"file_path": "/dir", "old_string": "x", "new_string": "y"}, syscall.EISDIR, "EISDIR: illegal operation on a directory, read '/dir'")
	refuses(t, b, "Write", args{"file_path": "/dir", "content": ""}, syscall.EISDIR, "'/dir': is a directory")
	says(t, b, "Edit", args{"file_path": "/new", "old_string": "", "new_string": "n"}, "File created successfully at: /new")

	put(t, fsys, "theirs", "one\r\ntwo\r\n")
	refuses(t, b, "Edit", args{"file_path": "/theirs", "old_string": "one", "new_string": "1"}, syscall.ESTALE, unread)
	refuses(t, b, "Write", args{"file_path": "/theirs", "content": ""}, syscall.ESTALE, unread)
	require.NoError(t, try(t, b, "Read", args{"file_path": "/theirs", "limit": 1}).Err)
	put(t, fsys, "theirs", "one\r\ntwo\r\nthree\r\n")
	refuses(t, b, "Write", args{"file_path": "/theirs", "content": ""}, syscall.ESTALE, modified)
	refuses(t, b, "Edit", args{"file_path": "/theirs", "old_string": "one", "new_string": "1"}, syscall.ESTALE, modified)
	require.NoError(t, try(t, b, "Read", args{"file_path": "/theirs"}).Err)
	says(t, b, "Edit", args{"file_path": "/theirs", "old_string": "one\ntwo\n", "new_string": "1\n2\n"}, "The file /theirs has been updated successfully.")
	require.Equal(t, "1\r\n2\r\nthree\r\n", vfstest.Read(t, fsys, "theirs"))

	// What is read under one name is known under another.
	require.NoError(t, fsys.Symlink(t.Context(), "theirs", "link"))
	says(t, b, "Edit", args{"file_path": "/link", "old_string": "three", "new_string": "3"}, "The file /link has been updated successfully.")
}

func TestClaudeCodeSearch(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.ClaudeCode}, "none/")
	put(t, fsys, "src/old.go", "func A\nx\ny\nz\nfunc B\n")
	put(t, fsys, "src/new.go", "Func C\nfunc D\n")
	put(t, fsys, "src/x.ts", "func E\r\n")
	put(t, fsys, ".hidden/h.go", "nothing\n")
	for i, name := range []string{".hidden/h.go", "src/old.go", "src/x.ts", "src/new.go"} {
		dated(t, fsys, name, i+1)
	}
	says(t, b, "Glob", args{"pattern": "*.go"}, "/src/new.go\n/src/old.go\n/.hidden/h.go") // newest first
	says(t, b, "Glob", args{"pattern": "**/*.{ts,go}", "path": "/src"}, "/src/new.go\n/src/x.ts\n/src/old.go")
	says(t, b, "Glob", args{"pattern": "*.md"}, "No files found")
	refuses(t, b, "Glob", args{"pattern": "*", "path": "/nothing"}, syscall.ENOENT, "Directory does not exist: /nothing")
	refuses(t, b, "Glob", args{"pattern": "*", "path": "/src/x.ts"}, syscall.ENOENT, "Directory does not exist: /src/x.ts")

	says(t, b, "Grep", args{"pattern": "^func"}, "Found 3 files\n/src/new.go\n/src/x.ts\n/src/old.go")
	says(t, b, "Grep", args{"pattern": "^func", "head_limit": 1}, "Found 1 file\n/src/new.go")
	says(t, b, "Grep", args{"pattern": "none"}, "No files found")
	says(t, b, "Grep", args{"pattern": "^func", "type": "go", "output_mode": "count"},
		"/src/new.go:1\n/src/old.go:2\n\nFound 3 total occurrences across 2 files.")
	says(t, b, "Grep", args{"pattern": "func E$", "output_mode": "count"}, "/src/x.ts:1\n\nFound 1 total occurrence across 1 file.")
	says(t, b, "Grep", args{"pattern": "none", "output_mode": "count"}, "No matches found")
	says(t, b, "Grep", args{"pattern": "none", "output_mode": "content"}, "No matches found")
	says(t, b, "Grep", args{"pattern": "^FUNC", "-i": true, "output_mode": "content", "glob": "*.go !old*"}, "/src/new.go:1:Func C\n/src/new.go:2:func D")
	says(t, b, "Grep", args{"pattern": "func", "output_mode": "content", "-n": false, "glob": "*.ts,*.md"}, "/src/x.ts:func E")
	says(t, b, "Grep", args{"pattern": "func [AB]", "output_mode": "content", "-C": 1, "path": "/src/old.go"},
		"/src/old.go:1:func A\n/src/old.go-2-x\n--\n/src/old.go-4-z\n/src/old.go:5:func B")
	says(t, b, "Grep", args{"pattern": "func [AB]", "output_mode": "content", "-A": 2, "-B": 1},
		"/src/old.go:1:func A\n/src/old.go-2-x\n/src/old.go-3-y\n/src/old.go-4-z\n/src/old.go:5:func B")
	says(t, b, "Grep", args{"pattern": "func", "output_mode": "content", "-C": 4, "head_limit": 3, "path": "src", "glob": "old.go"},
		"/src/old.go:1:func A\n/src/old.go-2-x\n/src/old.go-3-y")
	refuses(t, b, "Grep", args{"pattern": "a", "multiline": true}, syscall.EINVAL,
		"multiline is not supported here: a pattern matches within one line. Search for one of the lines with output_mode content, and show those around it with -A or -B.")
	refuses(t, b, "Grep", args{"pattern": "a", "path": "/nothing"}, syscall.ENOENT, "Path does not exist: /nothing")
	refuses(t, b, "Grep", args{"pattern": "a", "type": "go", "glob": "*"}, syscall.EINVAL, "give glob or type, not both")
	require.ErrorIs(t, try(t, b, "Grep", args{"pattern": "a", "type": "cobol"}).Err, syscall.EINVAL)
	require.ErrorIs(t, try(t, b, "Grep", args{"pattern": "("}).Err, syscall.EINVAL)

	// Glob shows a hundred files.
	for i := range 101 {
		put(t, fsys, fmt.Sprintf("many/%03d", i), "x")
	}
	r := try(t, b, "Glob", args{"pattern": "many/*"})
	require.NoError(t, r.Err)
	lines := strings.Split(r.Text, "\n")
	require.Len(t, lines, 101)
	require.Equal(t, "(Results are truncated. Consider using a more specific path or pattern.)", lines[100])
}

// What is told of the tools, and what a policy leaves of them.
func TestClaudeCodeGranted(t *testing.T) {
	whole, _ := box(t, &agent.Config{Profile: agent.ClaudeCode})
	golden(t, "claude-code", describe(whole))
	b, fsys := box(t, &agent.Config{Profile: agent.ClaudeCode, Policy: &agent.Policy{Paths: []string{"/ok"}}}, "ok/a", "secret/s")
	require.NoError(t, fsys.Symlink(t.Context(), "/secret", "ok/out"))
	for _, tt := range []turn{
		{"", "Read", args{"file_path": "/ok/out/s"}},
		{"", "Write", args{"file_path": "/secret/new", "content": ""}},
		{"", "Edit", args{"file_path": "/ok/../secret/s", "old_string": "s", "new_string": "t"}},
		{"", "Glob", args{"pattern": "*", "path": "/secret"}},
		{"", "Grep", args{"pattern": "s", "path": "/ok/out"}},
	} {
		var refused *agent.PolicyError
		require.ErrorAs(t, try(t, b, tt.tool, tt.args).Err, &refused, tt.tool)
	}
	reader, _ := box(t, &agent.Config{Profile: agent.ClaudeCode, Policy: &agent.Policy{Permissions: []agent.Permission{agent.PermRead}}})
	names := []string{}
	for _, tool := range reader.Tools() {
		names = append(names, tool.Name)
	}
	require.Equal(t, []string{"Read", "Grep"}, names)
}
