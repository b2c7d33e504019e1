package agent_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/vfs"
)

// settled replaces the times of creation, which nobody can set.
func settled(t *testing.T, list []played, field string) []played {
	t.Helper()
	data, err := json.Marshal(list)
	require.NoError(t, err)
	data = regexp.MustCompile(`(\\?"`+field+`\\?":)[0-9.]+`).ReplaceAll(data, []byte("${1}0.0"))
	var out []played
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

// What the actions of the module give: numbered lines, previews, constraints, sizes and rights.
func TestModule2Golden(t *testing.T) {
	b, fsys := box(t, &agent.Config{
		Profile: agent.Module2, Dir: "/workspace",
		Policy: &agent.Policy{Paths: []string{"/workspace"}, MaxFileSize: 300},
		Caps:   agent.Caps{Entries: 6, ResultBytes: 200},
	})
	plant(t, fsys, map[string]string{
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
	script := play(t, b,
		turn{"a file", "read", args{"path": "/workspace/main.py"}},
		turn{"lines", "read", args{"path": "main.py", "start_line": 1, "end_line": 2}},
		turn{"beyond", "read", args{"path": "main.py", "start_line": 4, "end_line": 99}},
		turn{"past the end", "read", args{"path": "main.py", "start_line": 6}},
		turn{"no such range", "read", args{"path": "main.py", "start_line": 3, "end_line": 2}},
		turn{"line 0", "read", args{"path": "main.py", "start_line": 0}},
		turn{"no line break", "read", args{"path": "last"}},
		turn{"empty", "read", args{"path": "empty"}},
		turn{"cut at the cap", "read", args{"path": "wide", "start_line": 2}},
		turn{"odd", "read", args{"path": "odd/<a> & \"b"}},
		turn{"encoding", "read", args{"path": "latin"}},
		turn{"encoding", "read", args{"path": "latin", "encoding": "latin-1"}},
		turn{"encoding", "read", args{"path": "latin", "encoding": "ascii"}},
		turn{"encoding", "read", args{"path": "latin", "encoding": "utf-16"}},
		turn{"a binary file", "read", args{"path": "bin"}},
		turn{"too large", "read", args{"path": "big"}},
		turn{"outside", "read", args{"path": "/workspace/../etc/passwd"}},
		turn{"symlink", "read", args{"path": "/workspace/out/passwd"}},
		turn{"ENOENT", "read", args{"path": "none"}},
		turn{"EISDIR", "read", args{"path": "src"}},
		turn{"a new file", "write", args{"path": "new.py", "content": "x = 1\n"}},
		turn{"again", "write", args{"path": "new.py", "content": "x = 2\n"}},
		turn{"directories above", "write", args{"path": "no/dir.py", "content": ""}},
		turn{"create_dirs", "write", args{"path": "no/dir.py", "content": "", "create_dirs": true}},
		turn{"too large", "write", args{"path": "new.py", "content": strings.Repeat("x", 301)}},
		turn{"encoding", "write", args{"path": "l1", "content": "é", "encoding": "latin-1"}},
		turn{"encoding", "write", args{"path": "l1", "content": "é", "encoding": "ascii"}},
		turn{"outside", "write", args{"path": "/etc/passwd", "content": ""}},
		turn{"an edit", "edit", args{"path": "main.py", "old_string": "sys", "new_string": "re"}},
		turn{"first", "edit", args{"path": "main.py", "old_string": "print(1)", "new_string": "print(2)"}},
		turn{"all", "edit", args{"path": "main.py", "old_string": "import", "new_string": "from", "count": 0}},
		turn{"fewer than count", "edit", args{"path": "main.py", "old_string": "from", "new_string": "import", "count": 5}},
		turn{"none", "edit", args{"path": "main.py", "old_string": "absent", "new_string": ""}},
		turn{"empty", "edit", args{"path": "main.py", "old_string": "", "new_string": "x"}},
		turn{"too large", "edit", args{"path": "pre/long", "old_string": "y", "new_string": "yy"}},
		turn{"before a line", "insert", args{"path": "main.py", "line": 2, "content": "import json"}},
		turn{"end", "insert", args{"path": "last", "line": 2, "content": "more\n"}},
		turn{"beyond", "insert", args{"path": "last", "line": 9, "content": "more\n"}},
		turn{"line 0", "insert", args{"path": "last", "line": 0, "content": "more\n"}},
		turn{"a directory", "ls", args{"path": "src"}},
		turn{"hidden", "ls", args{"path": "src", "include_hidden": true}},
		turn{"recursive", "ls", args{"path": "src", "recursive": true}},
		turn{"pattern", "ls", args{"path": "src", "pattern": "*.py"}},
		turn{"recursive pattern", "ls", args{"path": "src", "pattern": "*.py", "recursive": true, "include_hidden": true}},
		turn{"more than the cap", "ls", args{"path": "many"}},
		turn{"ENOENT", "ls", args{"path": "none"}},
		turn{"ENOTDIR", "ls", args{"path": "main.py"}},
		turn{"default", "ls", args{"pattern": "m*"}},
		turn{"lines", "grep", args{"pattern": `^import\s`}},
		turn{"whatever the case", "grep", args{"pattern": `^import`, "path": "src", "case_sensitive": false, "include": "*.py"}},
		turn{"not recursive", "grep", args{"pattern": `import`, "recursive": false}},
		turn{"stopped early", "grep", args{"pattern": `import`, "path": "many", "max_results": 1}},
		turn{"bad", "grep", args{"pattern": `(`}},
		turn{"outside", "grep", args{"pattern": `root`, "path": "/etc"}},
		turn{"by name", "find", args{"pattern": "*.py"}},
		turn{"dir", "find", args{"pattern": "*", "path": "full", "type": "dir"}},
		turn{"few", "find", args{"pattern": "*", "path": "many", "max_results": 2}},
		turn{"type", "find", args{"pattern": "*", "type": "link"}},
		turn{"a rename", "mv", args{"source": "new.py", "destination": "newer.py"}},
		turn{"onto what is there", "mv", args{"source": "newer.py", "destination": "empty"}},
		turn{"overwrite", "mv", args{"source": "newer.py", "destination": "empty", "overwrite": true}},
		turn{"no directory", "mv", args{"source": "empty", "destination": "x/y"}},
		turn{"both", "mv", args{"source": "empty", "destination": "/etc/empty"}},
		turn{"both", "cp", args{"source": "/etc/passwd", "destination": "passwd"}},
		turn{"a copy", "cp", args{"source": "full", "destination": "copy"}},
		turn{"there", "cp", args{"source": "main.py", "destination": "copy"}},
		turn{"too large", "cp", args{"source": "big", "destination": "big2"}},
		turn{"an empty directory", "rm", args{"path": "void"}},
		turn{"recursive", "rm", args{"path": "void", "recursive": true}},
		turn{"a file", "rm", args{"path": "empty"}},
		turn{"not there", "rm", args{"path": "empty"}},
		turn{"outside", "rm", args{"path": "/etc/passwd"}},
		turn{"with directories above", "mkdir", args{"path": "p/q/r"}},
		turn{"there", "mkdir", args{"path": "p/q/r"}},
		turn{"a file", "mkdir", args{"path": "main.py"}},
		turn{"outside", "mkdir", args{"path": "/etc/x"}},
		turn{"no such tool", "workspace_ls", nil},
		turn{"an argument missing", "edit", args{"path": "main.py"}},
		turn{"of a wrong type", "read", args{"path": "main.py", "start_line": "1"}},
		turn{"an argument too many", "ls", args{"dir": "src"}},
	)
	still(t, fsys)
	script = append(script, settled(t, play(t, b,
		turn{"a file", "file_stat", args{"path": "main.py"}},
		turn{"dir", "file_stat", args{"path": "/workspace"}},
		turn{"symlink", "file_stat", args{"path": "to"}},
		turn{"symlink to nothing", "file_stat", args{"path": "nowhere"}},
		turn{"symlink out", "file_stat", args{"path": "out"}},
		turn{"ENOENT", "file_stat", args{"path": "none"}},
	), "created")...)
	golden(t, "module2", map[string]any{"told": describe(b), "script": script})
}

// The text of a constraint error is exact, whatever the action.
func TestModule2Outside(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Module2, Policy: &agent.Policy{Paths: []string{"/workspace"}}}, "workspace/a", "etc/passwd")
	for tool, in := range map[string]args{
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
		require.Equal(t, `{"success":false,"error":"Path '/etc/passwd' is outside allowed paths"}`, try(t, b, tool, in).Text, tool)
	}
	require.Len(t, b.Tools(), 12)
	_, err := fsys.Stat(t.Context(), "etc/passwd")
	require.NoError(t, err)
}

// Without a bound in the policy, a file may have 100 MB.
func TestModule2DefaultSize(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Module2})
	f, err := fsys.Create(t.Context(), "big")
	require.NoError(t, err)
	require.NoError(t, f.Truncate(100<<20+1))
	require.NoError(t, f.Close())
	require.Equal(t, `{"success":false,"error":"'/big' is 104857601 bytes, above the limit of 104857600"}`, try(t, b, "read", args{"path": "/big"}).Text)
	require.Equal(t, []any{"/big"}, call(t, b, "grep", args{"pattern": "x"})["skipped_large"])
}

// The module bounds files, and results by max_results alone: a long read, a large directory and many matches are whole.
func TestModule2Unbounded(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Module2})
	long := strings.Repeat("needle\n", 60000)
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for i := range 1500 {
			if err := tx.WriteFile(fmt.Sprintf("many/%04d", i), []byte("x\n"), 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return tx.WriteFile("long", []byte(long), 0o644)
	}))
	read := call(t, b, "read", args{"path": "/long"})
	require.Equal(t, 60000.0, read["end_line"])
	require.NotContains(t, read, "truncated")
	require.True(t, strings.HasSuffix(read["content"].(string), " 60000\tneedle\n"))
	require.Len(t, call(t, b, "ls", args{"path": "/many"})["entries"], 1500)
	require.Len(t, call(t, b, "find", args{"pattern": "*", "path": "/many", "max_results": 1400})["matches"], 1400)
	require.Len(t, call(t, b, "grep", args{"pattern": "needle", "max_results": 1400})["matches"], 1400)
	require.Len(t, call(t, b, "grep", args{"pattern": "needle"})["matches"], 100)

	bounded, err := agent.Make(fsys, &agent.Config{Profile: agent.Module2, Caps: agent.Caps{ResultBytes: 1000, Entries: 10, Matches: 10}})
	require.NoError(t, err)
	require.Equal(t, true, call(t, bounded, "read", args{"path": "/long"})["truncated"])
	require.Len(t, call(t, bounded, "ls", args{"path": "/many"})["entries"], 10)
	require.Len(t, call(t, bounded, "find", args{"pattern": "*", "max_results": 1400})["matches"], 10)
}

// The preview of an edit is the changed places with a line around each, and ten of them at most.
func TestModule2Preview(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Module2})
	var lines strings.Builder
	for i := range 200 {
		fmt.Fprintf(&lines, "line %d of %d\n", i%10, i)
	}
	plant(t, fsys, map[string]string{"f": lines.String(), "end": "a\nb"})
	for _, tt := range []struct {
		tool string
		in   args
		want string
	}{
		{"edit", args{"path": "f", "old_string": "line 3", "new_string": "line 3"}, ""},
		{"edit", args{"path": "f", "old_string": "line 3", "new_string": "x", "count": 2}, "3 line 2 of 2\n4 x of 3\n5 line 4 of 4\n...\n13 line 2 of 12\n14 x of 13\n15 line 4 of 14\n"},
		{"edit", args{"path": "f", "old_string": "x of 3\n", "new_string": "", "count": 1}, "3 line 2 of 2\n4 line 4 of 4\n"},
		{"edit", args{"path": "f", "old_string": "line 0 of 0\n", "new_string": "new\nline 0 of 0\n", "count": 1}, "1 new\n2 line 0 of 0\n"},
		{"edit", args{"path": "end", "old_string": "b", "new_string": "c"}, "1 a\n2 c\n"},
		{"insert", args{"path": "end", "line": 3, "content": "d"}, "1 a\n2 c\n3 d\n"},
	} {
		require.Equal(t, tt.want, call(t, b, tt.tool, tt.in)["preview"], "%s %v", tt.tool, tt.in)
	}
	all := call(t, b, "edit", args{"path": "f", "old_string": "line 7", "new_string": "seven", "count": 0})
	require.EqualValues(t, 20, all["replacements"])
	require.Equal(t, 10, strings.Count(all["preview"].(string), "seven"))
	require.True(t, strings.HasSuffix(all["preview"].(string), "\n... 10 more changed places\n"))
}
