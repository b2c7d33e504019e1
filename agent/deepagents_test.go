package agent_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Section 2 (deepagents), C26, C31, G01, K01, K04, K07, K08, K12.
func TestDeepagentsGolden(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: "deepagents", Policy: &agent.Policy{Deny: []string{"/secret"}, ReadOnly: []string{"/ro"}, MaxFileSize: 30000}})
	var lines strings.Builder
	for i := range 150 {
		fmt.Fprintf(&lines, "line %d\n", i+1)
	}
	plant(t, fsys, map[string]string{
		"src/app/main.py":    "import os\n\tif x:\nWISH (one)\nWISH [two]\n",
		"src/.env.py":        "WISH\n",
		"top.py":             "print('a')\nprint('b')\n",
		"docs/a.md":          "dos\r\nlines\r\n",
		"long":               "short\n" + strings.Repeat("é", 5001) + "\nshort\n" + strings.Repeat("x", 10000) + "\n",
		"many":               lines.String(),
		"empty":              "",
		"blank":              " \n\n",
		"last":               "no break",
		"bin":                "\x00\x01",
		"dot.png":            "\x89PNG\r\n\x1a\n\x00",
		"odd/it's \"x\"\n\t": "",
		"odd/it's":           "",
		"odd/é\u200b":        "",
		"void/":              "",
		"secret/s":           "",
		"ro/r":               "r\n",
		"link":               "->src",
		"huge":               strings.Repeat("WISH\n", 6001),
	})
	script := play(t, b,
		turn{"C14", "ls", args{"path": "/"}},
		turn{"C14 empty", "ls", args{"path": "/void"}},
		turn{"C14 Python's quotes", "ls", args{"path": "/odd"}},
		turn{"C14 missing", "ls", args{"path": "/none"}},
		turn{"C14 a file", "ls", args{"path": "/last"}},
		turn{"C31", "ls", args{"path": "/src/../secret"}},
		turn{"C31", "ls", args{"path": "~/x"}},
		turn{"C31", "ls", args{"path": `C:\x`}},
		turn{"read", "read_file", args{"file_path": "/src/app/main.py"}},
		turn{"read, offset 0-based", "read_file", args{"file_path": "/src/app/main.py", "offset": 1, "limit": 2}},
		turn{"read, the gutter is as wide as its widest mark", "read_file", args{"file_path": "/many", "offset": 98, "limit": 3}},
		turn{"read, no line break at the end", "read_file", args{"file_path": "/last"}},
		turn{"read, CRLF", "read_file", args{"file_path": "/docs/a.md"}},
		turn{"read, long lines", "read_file", args{"file_path": "/long", "offset": 1, "limit": 3}},
		turn{"read, empty", "read_file", args{"file_path": "/empty"}},
		turn{"read, blank", "read_file", args{"file_path": "/blank"}},
		turn{"read, past the end", "read_file", args{"file_path": "/many", "offset": 150}},
		turn{"read, image", "read_file", args{"file_path": "/dot.png"}},
		turn{"read, bytes", "read_file", args{"file_path": "/bin"}},
		turn{"ENOENT", "read_file", args{"file_path": "/none"}},
		turn{"EISDIR", "read_file", args{"file_path": "/src"}},
		turn{"denied", "read_file", args{"file_path": "/secret/s"}},
		turn{"K07", "write_file", args{"file_path": "/new/dir/a", "content": "x\n"}},
		turn{"K08", "write_file", args{"file_path": "/new/dir/a", "content": "a a b\n"}},
		turn{"read-only", "write_file", args{"file_path": "/ro/r", "content": ""}},
		turn{"EISDIR", "write_file", args{"file_path": "/src", "content": ""}},
		turn{"edit", "edit_file", args{"file_path": "/new/dir/a", "old_string": "b", "new_string": "c"}},
		turn{"edit, none", "edit_file", args{"file_path": "/new/dir/a", "old_string": "zz", "new_string": ""}},
		turn{"edit, several", "edit_file", args{"file_path": "/new/dir/a", "old_string": "a", "new_string": "z"}},
		turn{"edit, all", "edit_file", args{"file_path": "/new/dir/a", "old_string": "a", "new_string": "z", "replace_all": true}},
		turn{"edit, ENOENT", "edit_file", args{"file_path": "/none", "old_string": "a", "new_string": "z"}},
		turn{"edit, empty", "edit_file", args{"file_path": "/new/dir/a", "old_string": "", "new_string": "z"}},
		turn{"K13 base name", "glob", args{"pattern": "*.py"}},
		turn{"K13 relative", "glob", args{"pattern": "app/*.py", "path": "/src"}},
		turn{"K13 anchored", "glob", args{"pattern": "/*.py"}},
		turn{"K13 braces", "glob", args{"pattern": "**/*.{md,png}"}},
		turn{"glob, none", "glob", args{"pattern": "*.go"}},
		turn{"glob, ENOENT", "glob", args{"pattern": "*", "path": "/none"}},
		turn{"glob, bad", "glob", args{"pattern": "[a"}},
		turn{"G01 files", "grep", args{"pattern": "WISH", "path": "/src"}},
		turn{"G01 content", "grep", args{"pattern": "WISH", "path": "/src", "output_mode": "content"}},
		turn{"G01 count", "grep", args{"pattern": "WISH", "path": "/src", "output_mode": "count"}},
		turn{"K01 literal", "grep", args{"pattern": "[two]", "output_mode": "content"}},
		turn{"G04", "grep", args{"pattern": "o", "glob": "*.md"}},
		turn{"G03 file", "grep", args{"pattern": "print", "path": "/top.py", "output_mode": "content"}},
		turn{"G08 none", "grep", args{"pattern": "absent", "path": "/src"}},
		turn{"G03 missing", "grep", args{"pattern": "x", "path": "/none"}},
		turn{"C26", "upload_files", args{"files": []args{
			{"path": "/up/a", "content": "a\n"},
			{"path": "/up/b", "content": base64.StdEncoding.EncodeToString([]byte{0, 1}), "encoding": "base64"},
			{"path": "/src", "content": ""},
			{"path": "/secret/x", "content": ""},
			{"path": "/ro/x", "content": ""},
			{"path": "/top.py/x", "content": ""},
			{"path": "/../x", "content": ""},
			{"path": "", "content": ""},
			{"path": "/up/dir/c", "content": strings.Repeat("x", 30001)},
		}}},
		turn{"C26 bad base64", "upload_files", args{"files": []args{{"path": "/up/z", "content": "a\n"}, {"path": "/up/y", "content": "%", "encoding": "base64"}}}},
		turn{"C26", "download_files", args{"paths": []string{"/up/a", "/up/b", "/empty", "/none", "/src", "/secret/s", "~", "/top.py/x", "/up/dir", "/up/z", "/huge"}}},
	)
	golden(t, "deepagents", map[string]any{"told": describe(b), "script": script})
}

// Section 2: a result above 80000 characters is kept in a file, and its ends are shown.
func TestDeepagentsEvicts(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "WISH %d %s\n", i, strings.Repeat("x", 100))
	}
	grep := args{"pattern": "WISH", "output_mode": "content"}
	b, fsys := box(t, &agent.Config{Profile: "deepagents"})
	require.NoError(t, fsys.WriteFile(t.Context(), "big", []byte(text.String()), 0o644))

	r := b.Do(t.Context(), agent.Call{ID: "call/1.2", Tool: "grep", Input: []byte(`{"pattern":"WISH","output_mode":"content"}`)})
	require.NoError(t, r.Err)
	kept := vfstest.Read(t, fsys, "large_tool_results/call_1_2")
	require.Len(t, strings.Split(kept, "\n"), 1001)
	x := strings.Repeat("x", 100)
	require.Equal(t, `Tool result too large: it was saved in the filesystem at this path: /large_tool_results/call_1_2

Read it with read_file, a part at a time: offset=0 and limit=100 are its first 100 lines.

These are its first and last lines; a line such as `+"`... [N lines truncated] ...`"+` stands for what is between them:

1  /big:
2    1: WISH 0 `+x+`
3    2: WISH 1 `+x+`
4    3: WISH 2 `+x+`
5    4: WISH 3 `+x+`
... [991 lines truncated] ...
 997    996: WISH 995 `+x+`
 998    997: WISH 996 `+x+`
 999    998: WISH 997 `+x+`
1000    999: WISH 998 `+x+`
1001    1000: WISH 999 `+x+`
`, r.Text)
	require.Contains(t, try(t, b, "read_file", args{"file_path": "/large_tool_results/call_1_2", "limit": 1}).Text, "1  /big:")

	// Without an id, the same result has the same file.
	first, again := try(t, b, "grep", args{"pattern": "WISH", "path": "/big", "output_mode": "content"}), try(t, b, "grep", args{"pattern": "WISH", "path": "/big", "output_mode": "content"})
	require.Equal(t, first.Text, again.Text)

	// Where nothing may be written, the result is cut.
	frozen, err := agent.New(fsys, &agent.Config{Profile: "deepagents", Policy: &agent.Policy{ReadOnly: []string{"/"}}})
	require.NoError(t, err)
	cut := try(t, frozen, "grep", grep)
	require.NoError(t, cut.Err)
	require.Len(t, cut.Text, 80000+len("\n... [results truncated, try being more specific with your parameters]"))
	require.True(t, strings.HasSuffix(cut.Text, "\n... [results truncated, try being more specific with your parameters]"))
}

// Section 2, K12: 1000 matches at most, and a read of no more than 80000 characters.
func TestDeepagentsLimits(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: "deepagents"})
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		if err := tx.WriteFile("many", []byte(strings.Repeat("x\n", 1001)), 0o644); err != nil {
			return err
		}
		return tx.WriteFile("wide", []byte(strings.Repeat(strings.Repeat("é", 999)+"\n", 100)), 0o644)
	}))
	require.Equal(t, "/many: 1000\n... [results truncated, try being more specific with your parameters]",
		try(t, b, "grep", args{"pattern": "x", "output_mode": "count"}).Text)
	read := try(t, b, "read_file", args{"file_path": "/wide"}).Text
	require.Len(t, []rune(read), 80000)
	require.Contains(t, read, "[Output was truncated due to size limits.")
	_, err := fsys.Stat(t.Context(), "large_tool_results")
	require.Error(t, err)
}
