package module2_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/profile/module2"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/vfs"
)

// settled replaces the times of creation, which nobody can set.
func settled(t *testing.T, list []agentkit.Outcome, field string) []agentkit.Outcome {
	t.Helper()
	data, err := json.Marshal(list)
	require.NoError(t, err)
	data = regexp.MustCompile(`(\\?"`+field+`\\?":)[0-9.]+`).ReplaceAll(data, []byte("${1}0.0"))
	var out []agentkit.Outcome
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

// What the actions of the module give: numbered lines, previews, constraints, sizes and rights.
func TestModule2Golden(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{
		Profile: module2.Profile, Dir: "/workspace",
		Policy: &policy.Policy{Paths: []string{"/workspace"}, MaxFileSize: 300},
		Caps:   policy.Caps{Entries: 6, ResultBytes: 200},
	})
	agentkit.Plant(t, fsys, map[string]string{
		"etc/passwd":              "root\n",
		"workspace/main.py":       "import os\nimport sys\n\nprint(1)\nprint(1)\n",
		"workspace/last":          "no break",
		"workspace/empty":         "",
		"workspace/.hidden":       "import h\n",
		"workspace/src/a.py":      "IMPORT a\n",
		"workspace/src/sub/b.py":  "import b\n",
		"workspace/src/.x/c.py":   "import c\n",
		"workspace/bin":           "\x00\x01",
		"workspace/latin":         "caf\xe9\n",
		"workspace/big":           strings.Repeat("x", 301),
		"workspace/wide":          strings.Repeat("wide line\n", 25),
		"workspace/out":           "->/etc",
		"workspace/to":            "->main.py",
		"workspace/nowhere":       "->none",
		"workspace/full/a/b":      "1\n",
		"workspace/void/":         "",
		"workspace/pre/long":      strings.Repeat("y", 300),
		"workspace/many/1":        "import\n",
		"workspace/many/2":        "import\n",
		"workspace/many/3/":       "",
		"workspace/many/4/":       "",
		"workspace/many/5/":       "",
		"workspace/many/6/":       "",
		"workspace/many/7/":       "",
		"workspace/odd/<a> & \"b": "é\n",
	})
	script := agentkit.Play(t, b,
		agentkit.Turn{Row: "a file", Tool: "read", Args: agentkit.Args{"path": "/workspace/main.py"}},
		agentkit.Turn{Row: "lines", Tool: "read", Args: agentkit.Args{"path": "main.py", "start_line": 1, "end_line": 2}},
		agentkit.Turn{Row: "beyond", Tool: "read", Args: agentkit.Args{"path": "main.py", "start_line": 4, "end_line": 99}},
		agentkit.Turn{Row: "past the end", Tool: "read", Args: agentkit.Args{"path": "main.py", "start_line": 6}},
		agentkit.Turn{Row: "no such range", Tool: "read", Args: agentkit.Args{"path": "main.py", "start_line": 3, "end_line": 2}},
		agentkit.Turn{Row: "line 0", Tool: "read", Args: agentkit.Args{"path": "main.py", "start_line": 0}},
		agentkit.Turn{Row: "no line break", Tool: "read", Args: agentkit.Args{"path": "last"}},
		agentkit.Turn{Row: "empty", Tool: "read", Args: agentkit.Args{"path": "empty"}},
		agentkit.Turn{Row: "cut at the cap", Tool: "read", Args: agentkit.Args{"path": "wide", "start_line": 2}},
		agentkit.Turn{Row: "odd", Tool: "read", Args: agentkit.Args{"path": "odd/<a> & \"b"}},
		agentkit.Turn{Row: "encoding", Tool: "read", Args: agentkit.Args{"path": "latin"}},
		agentkit.Turn{Row: "encoding", Tool: "read", Args: agentkit.Args{"path": "latin", "encoding": "latin-1"}},
		agentkit.Turn{Row: "encoding", Tool: "read", Args: agentkit.Args{"path": "latin", "encoding": "ascii"}},
		agentkit.Turn{Row: "encoding", Tool: "read", Args: agentkit.Args{"path": "latin", "encoding": "utf-16"}},
		agentkit.Turn{Row: "a binary file", Tool: "read", Args: agentkit.Args{"path": "bin"}},
		agentkit.Turn{Row: "too large", Tool: "read", Args: agentkit.Args{"path": "big"}},
		agentkit.Turn{Row: "outside", Tool: "read", Args: agentkit.Args{"path": "/workspace/../etc/passwd"}},
		agentkit.Turn{Row: "symlink", Tool: "read", Args: agentkit.Args{"path": "/workspace/out/passwd"}},
		agentkit.Turn{Row: "ENOENT", Tool: "read", Args: agentkit.Args{"path": "none"}},
		agentkit.Turn{Row: "EISDIR", Tool: "read", Args: agentkit.Args{"path": "src"}},
		agentkit.Turn{Row: "a new file", Tool: "write", Args: agentkit.Args{"path": "new.py", "content": "x = 1\n"}},
		agentkit.Turn{Row: "again", Tool: "write", Args: agentkit.Args{"path": "new.py", "content": "x = 2\n"}},
		agentkit.Turn{Row: "directories above", Tool: "write", Args: agentkit.Args{"path": "no/dir.py", "content": ""}},
		agentkit.Turn{Row: "create_dirs", Tool: "write", Args: agentkit.Args{"path": "no/dir.py", "content": "", "create_dirs": true}},
		agentkit.Turn{Row: "too large", Tool: "write", Args: agentkit.Args{"path": "new.py", "content": strings.Repeat("x", 301)}},
		agentkit.Turn{Row: "encoding", Tool: "write", Args: agentkit.Args{"path": "l1", "content": "é", "encoding": "latin-1"}},
		agentkit.Turn{Row: "encoding", Tool: "write", Args: agentkit.Args{"path": "l1", "content": "é", "encoding": "ascii"}},
		agentkit.Turn{Row: "outside", Tool: "write", Args: agentkit.Args{"path": "/etc/passwd", "content": ""}},
		agentkit.Turn{Row: "an edit", Tool: "edit", Args: agentkit.Args{"path": "main.py", "old_string": "sys", "new_string": "re"}},
		agentkit.Turn{Row: "first", Tool: "edit", Args: agentkit.Args{"path": "main.py", "old_string": "print(1)", "new_string": "print(2)"}},
		agentkit.Turn{Row: "all", Tool: "edit", Args: agentkit.Args{"path": "main.py", "old_string": "import", "new_string": "from", "count": 0}},
		agentkit.Turn{Row: "fewer than count", Tool: "edit", Args: agentkit.Args{"path": "main.py", "old_string": "from", "new_string": "import", "count": 5}},
		agentkit.Turn{Row: "none", Tool: "edit", Args: agentkit.Args{"path": "main.py", "old_string": "absent", "new_string": ""}},
		agentkit.Turn{Row: "empty", Tool: "edit", Args: agentkit.Args{"path": "main.py", "old_string": "", "new_string": "x"}},
		agentkit.Turn{Row: "too large", Tool: "edit", Args: agentkit.Args{"path": "pre/long", "old_string": "y", "new_string": "yy"}},
		agentkit.Turn{Row: "before a line", Tool: "insert", Args: agentkit.Args{"path": "main.py", "line": 2, "content": "import json"}},
		agentkit.Turn{Row: "end", Tool: "insert", Args: agentkit.Args{"path": "last", "line": 2, "content": "more\n"}},
		agentkit.Turn{Row: "beyond", Tool: "insert", Args: agentkit.Args{"path": "last", "line": 9, "content": "more\n"}},
		agentkit.Turn{Row: "line 0", Tool: "insert", Args: agentkit.Args{"path": "last", "line": 0, "content": "more\n"}},
		agentkit.Turn{Row: "a directory", Tool: "ls", Args: agentkit.Args{"path": "src"}},
		agentkit.Turn{Row: "hidden", Tool: "ls", Args: agentkit.Args{"path": "src", "include_hidden": true}},
		agentkit.Turn{Row: "recursive", Tool: "ls", Args: agentkit.Args{"path": "src", "recursive": true}},
		agentkit.Turn{Row: "pattern", Tool: "ls", Args: agentkit.Args{"path": "src", "pattern": "*.py"}},
		agentkit.Turn{Row: "recursive pattern", Tool: "ls", Args: agentkit.Args{"path": "src", "pattern": "*.py", "recursive": true, "include_hidden": true}},
		agentkit.Turn{Row: "more than the cap", Tool: "ls", Args: agentkit.Args{"path": "many"}},
		agentkit.Turn{Row: "ENOENT", Tool: "ls", Args: agentkit.Args{"path": "none"}},
		agentkit.Turn{Row: "ENOTDIR", Tool: "ls", Args: agentkit.Args{"path": "main.py"}},
		agentkit.Turn{Row: "default", Tool: "ls", Args: agentkit.Args{"pattern": "m*"}},
		agentkit.Turn{Row: "lines", Tool: "grep", Args: agentkit.Args{"pattern": `^import\s`}},
		agentkit.Turn{Row: "whatever the case", Tool: "grep", Args: agentkit.Args{"pattern": `^import`, "path": "src", "case_sensitive": false, "include": "*.py"}},
		agentkit.Turn{Row: "not recursive", Tool: "grep", Args: agentkit.Args{"pattern": `import`, "recursive": false}},
		agentkit.Turn{Row: "stopped early", Tool: "grep", Args: agentkit.Args{"pattern": `import`, "path": "many", "max_results": 1}},
		agentkit.Turn{Row: "bad", Tool: "grep", Args: agentkit.Args{"pattern": `(`}},
		agentkit.Turn{Row: "outside", Tool: "grep", Args: agentkit.Args{"pattern": `root`, "path": "/etc"}},
		agentkit.Turn{Row: "by name", Tool: "find", Args: agentkit.Args{"pattern": "*.py"}},
		agentkit.Turn{Row: "dir", Tool: "find", Args: agentkit.Args{"pattern": "*", "path": "full", "type": "dir"}},
		agentkit.Turn{Row: "few", Tool: "find", Args: agentkit.Args{"pattern": "*", "path": "many", "max_results": 2}},
		agentkit.Turn{Row: "type", Tool: "find", Args: agentkit.Args{"pattern": "*", "type": "link"}},
		agentkit.Turn{Row: "a rename", Tool: "mv", Args: agentkit.Args{"source": "new.py", "destination": "newer.py"}},
		agentkit.Turn{Row: "onto what is there", Tool: "mv", Args: agentkit.Args{"source": "newer.py", "destination": "empty"}},
		agentkit.Turn{Row: "overwrite", Tool: "mv", Args: agentkit.Args{"source": "newer.py", "destination": "empty", "overwrite": true}},
		agentkit.Turn{Row: "no directory", Tool: "mv", Args: agentkit.Args{"source": "empty", "destination": "x/y"}},
		agentkit.Turn{Row: "both", Tool: "mv", Args: agentkit.Args{"source": "empty", "destination": "/etc/empty"}},
		agentkit.Turn{Row: "both", Tool: "cp", Args: agentkit.Args{"source": "/etc/passwd", "destination": "passwd"}},
		agentkit.Turn{Row: "a copy", Tool: "cp", Args: agentkit.Args{"source": "full", "destination": "copy"}},
		agentkit.Turn{Row: "there", Tool: "cp", Args: agentkit.Args{"source": "main.py", "destination": "copy"}},
		agentkit.Turn{Row: "too large", Tool: "cp", Args: agentkit.Args{"source": "big", "destination": "big2"}},
		agentkit.Turn{Row: "an empty directory", Tool: "rm", Args: agentkit.Args{"path": "void"}},
		agentkit.Turn{Row: "recursive", Tool: "rm", Args: agentkit.Args{"path": "void", "recursive": true}},
		agentkit.Turn{Row: "a file", Tool: "rm", Args: agentkit.Args{"path": "empty"}},
		agentkit.Turn{Row: "not there", Tool: "rm", Args: agentkit.Args{"path": "empty"}},
		agentkit.Turn{Row: "outside", Tool: "rm", Args: agentkit.Args{"path": "/etc/passwd"}},
		agentkit.Turn{Row: "with directories above", Tool: "mkdir", Args: agentkit.Args{"path": "p/q/r"}},
		agentkit.Turn{Row: "there", Tool: "mkdir", Args: agentkit.Args{"path": "p/q/r"}},
		agentkit.Turn{Row: "a file", Tool: "mkdir", Args: agentkit.Args{"path": "main.py"}},
		agentkit.Turn{Row: "outside", Tool: "mkdir", Args: agentkit.Args{"path": "/etc/x"}},
		agentkit.Turn{Row: "no such tool", Tool: "workspace_ls", Args: nil},
		agentkit.Turn{Row: "an argument missing", Tool: "edit", Args: agentkit.Args{"path": "main.py"}},
		agentkit.Turn{Row: "of a wrong type", Tool: "read", Args: agentkit.Args{"path": "main.py", "start_line": "1"}},
		agentkit.Turn{Row: "an argument too many", Tool: "ls", Args: agentkit.Args{"dir": "src"}},
	)
	agentkit.Still(t, fsys)
	script = append(script, settled(t, agentkit.Play(t, b,
		agentkit.Turn{Row: "a file", Tool: "file_stat", Args: agentkit.Args{"path": "main.py"}},
		agentkit.Turn{Row: "dir", Tool: "file_stat", Args: agentkit.Args{"path": "/workspace"}},
		agentkit.Turn{Row: "symlink", Tool: "file_stat", Args: agentkit.Args{"path": "to"}},
		agentkit.Turn{Row: "symlink to nothing", Tool: "file_stat", Args: agentkit.Args{"path": "nowhere"}},
		agentkit.Turn{Row: "symlink out", Tool: "file_stat", Args: agentkit.Args{"path": "out"}},
		agentkit.Turn{Row: "ENOENT", Tool: "file_stat", Args: agentkit.Args{"path": "none"}},
	), "created")...)
	agentkit.Golden(t, "module2", map[string]any{"told": agentkit.Describe(b), "script": script})
}

// The text of a constraint error is exact, whatever the action.
func TestModule2Outside(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: module2.Profile, Policy: &policy.Policy{Paths: []string{"/workspace"}}}, "workspace/a", "etc/passwd")
	for op, in := range map[string]agentkit.Args{
		"read":      {"path": "/workspace/../etc/passwd"},
		"write":     {"path": "/etc/passwd", "content": ""},
		"edit":      {"path": "/etc/passwd", "old_string": "e", "new_string": ""},
		"insert":    {"path": "/etc/passwd", "line": 1, "content": ""},
		"ls":        {"path": "/etc/passwd"},
		"grep":      {"path": "/etc/passwd", "pattern": "e"},
		"find":      {"path": "/etc/passwd", "pattern": "*"},
		"mv":        {"source": "/workspace/a", "destination": "/etc/passwd", "overwrite": true},
		"cp":        {"source": "/etc/passwd", "destination": "/workspace/b"},
		"rm":        {"path": "/etc/passwd"},
		"mkdir":     {"path": "/etc/passwd"},
		"file_stat": {"path": "/etc/passwd"},
	} {
		require.Equal(t, `{"success":false,"error":"Path '/etc/passwd' is outside allowed paths"}`, agentkit.Try(t, b, op, in).Text, op)
	}
	require.Len(t, b.Tools(), 12)
	_, err := fsys.Stat(t.Context(), "etc/passwd")
	require.NoError(t, err)
}

// Without a bound in the policy, a file may have 100 MB.
func TestModule2DefaultSize(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: module2.Profile})
	f, err := fsys.Create(t.Context(), "big")
	require.NoError(t, err)
	require.NoError(t, f.Truncate(100<<20+1))
	require.NoError(t, f.Close())
	require.Equal(t, `{"success":false,"error":"'/big' is 104857601 bytes, above the limit of 104857600"}`, agentkit.Try(t, b, "read", agentkit.Args{"path": "/big"}).Text)
	require.Equal(t, []any{"/big"}, agentkit.Call(t, b, "grep", agentkit.Args{"pattern": "x"})["skipped_large"])
}

// The module bounds files, and results by max_results alone: a long read, a large directory and many matches are whole.
func TestModule2Unbounded(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: module2.Profile})
	long := strings.Repeat("needle\n", 60000)
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for i := range 1500 {
			if err := tx.WriteFile(fmt.Sprintf("many/%04d", i), []byte("x\n"), 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return tx.WriteFile("long", []byte(long), 0o644)
	}))
	read := agentkit.Call(t, b, "read", agentkit.Args{"path": "/long"})
	require.Equal(t, 60000.0, read["end_line"])
	require.NotContains(t, read, "truncated")
	require.True(t, strings.HasSuffix(read["content"].(string), " 60000\tneedle\n"))
	require.Len(t, agentkit.Call(t, b, "ls", agentkit.Args{"path": "/many"})["entries"], 1500)
	require.Len(t, agentkit.Call(t, b, "find", agentkit.Args{"pattern": "*", "path": "/many", "max_results": 1400})["matches"], 1400)
	require.Len(t, agentkit.Call(t, b, "grep", agentkit.Args{"pattern": "needle", "max_results": 1400})["matches"], 1400)
	require.Len(t, agentkit.Call(t, b, "grep", agentkit.Args{"pattern": "needle"})["matches"], 100)

	bounded, err := tool.New(fsys, &tool.Config{Profile: module2.Profile, Caps: policy.Caps{ResultBytes: 1000, Entries: 10, Matches: 10}})
	require.NoError(t, err)
	require.Equal(t, true, agentkit.Call(t, bounded, "read", agentkit.Args{"path": "/long"})["truncated"])
	require.Len(t, agentkit.Call(t, bounded, "ls", agentkit.Args{"path": "/many"})["entries"], 10)
	require.Len(t, agentkit.Call(t, bounded, "find", agentkit.Args{"pattern": "*", "max_results": 1400})["matches"], 10)
}

// The preview of an edit is the changed places with a line around each, and ten of them at most.
func TestModule2Preview(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: module2.Profile})
	var lines strings.Builder
	for i := range 200 {
		fmt.Fprintf(&lines, "line %d of %d\n", i%10, i)
	}
	agentkit.Plant(t, fsys, map[string]string{"f": lines.String(), "end": "a\nb"})
	for _, tt := range []struct {
		tool string
		in   agentkit.Args
		want string
	}{
		{"edit", agentkit.Args{"path": "f", "old_string": "line 3", "new_string": "line 3"}, ""},
		{"edit", agentkit.Args{"path": "f", "old_string": "line 3", "new_string": "x", "count": 2}, "3 line 2 of 2\n4 x of 3\n5 line 4 of 4\n...\n13 line 2 of 12\n14 x of 13\n15 line 4 of 14\n"},
		{"edit", agentkit.Args{"path": "f", "old_string": "x of 3\n", "new_string": "", "count": 1}, "3 line 2 of 2\n4 line 4 of 4\n"},
		{"edit", agentkit.Args{"path": "f", "old_string": "line 0 of 0\n", "new_string": "new\nline 0 of 0\n", "count": 1}, "1 new\n2 line 0 of 0\n"},
		{"edit", agentkit.Args{"path": "end", "old_string": "b", "new_string": "c"}, "1 a\n2 c\n"},
		{"insert", agentkit.Args{"path": "end", "line": 3, "content": "d"}, "1 a\n2 c\n3 d\n"},
	} {
		require.Equal(t, tt.want, agentkit.Call(t, b, tt.tool, tt.in)["preview"], "%s %v", tt.tool, tt.in)
	}
	all := agentkit.Call(t, b, "edit", agentkit.Args{"path": "f", "old_string": "line 7", "new_string": "seven", "count": 0})
	require.EqualValues(t, 20, all["replacements"])
	require.Equal(t, 10, strings.Count(all["preview"].(string), "seven"))
	require.True(t, strings.HasSuffix(all["preview"].(string), "\n... 10 more changed places\n"))
}
