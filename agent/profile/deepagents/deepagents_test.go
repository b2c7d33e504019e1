package deepagents_test

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/profile/deepagents"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/vfs"
)

// What the tools of deepagents give, call by call: texts as the reference has them, and many files at once.
func TestDeepagentsGolden(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: deepagents.Profile, Policy: &policy.Policy{Deny: []string{"/secret"}, ReadOnly: []string{"/ro"}, MaxFileSize: 30000}})
	var lines strings.Builder
	for i := range 150 {
		fmt.Fprintf(&lines, "line %d\n", i+1)
	}
	agentkit.Plant(t, fsys, map[string]string{
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
	script := agentkit.Play(t, b,
		agentkit.Turn{Row: "a directory", Tool: "ls", Args: agentkit.Args{"path": "/"}},
		agentkit.Turn{Row: "empty", Tool: "ls", Args: agentkit.Args{"path": "/void"}},
		agentkit.Turn{Row: "Python's quotes", Tool: "ls", Args: agentkit.Args{"path": "/odd"}},
		agentkit.Turn{Row: "missing", Tool: "ls", Args: agentkit.Args{"path": "/none"}},
		agentkit.Turn{Row: "a file", Tool: "ls", Args: agentkit.Args{"path": "/last"}},
		agentkit.Turn{Row: "a path that leads outside", Tool: "ls", Args: agentkit.Args{"path": "/src/../secret"}},
		agentkit.Turn{Row: "a path that leads outside", Tool: "ls", Args: agentkit.Args{"path": "~/x"}},
		agentkit.Turn{Row: "a path that leads outside", Tool: "ls", Args: agentkit.Args{"path": `C:\x`}},
		agentkit.Turn{Row: "read", Tool: "read_file", Args: agentkit.Args{"file_path": "/src/app/main.py"}},
		agentkit.Turn{Row: "read, offset 0-based", Tool: "read_file", Args: agentkit.Args{"file_path": "/src/app/main.py", "offset": 1, "limit": 2}},
		agentkit.Turn{Row: "read, the gutter is as wide as its widest mark", Tool: "read_file", Args: agentkit.Args{"file_path": "/many", "offset": 98, "limit": 3}},
		agentkit.Turn{Row: "read, no line break at the end", Tool: "read_file", Args: agentkit.Args{"file_path": "/last"}},
		agentkit.Turn{Row: "read, CRLF", Tool: "read_file", Args: agentkit.Args{"file_path": "/docs/a.md"}},
		agentkit.Turn{Row: "read, long lines", Tool: "read_file", Args: agentkit.Args{"file_path": "/long", "offset": 1, "limit": 3}},
		agentkit.Turn{Row: "read, empty", Tool: "read_file", Args: agentkit.Args{"file_path": "/empty"}},
		agentkit.Turn{Row: "read, blank", Tool: "read_file", Args: agentkit.Args{"file_path": "/blank"}},
		agentkit.Turn{Row: "read, past the end", Tool: "read_file", Args: agentkit.Args{"file_path": "/many", "offset": 150}},
		agentkit.Turn{Row: "read, image", Tool: "read_file", Args: agentkit.Args{"file_path": "/dot.png"}},
		agentkit.Turn{Row: "read, bytes", Tool: "read_file", Args: agentkit.Args{"file_path": "/bin"}},
		agentkit.Turn{Row: "ENOENT", Tool: "read_file", Args: agentkit.Args{"file_path": "/none"}},
		agentkit.Turn{Row: "EISDIR", Tool: "read_file", Args: agentkit.Args{"file_path": "/src"}},
		agentkit.Turn{Row: "denied", Tool: "read_file", Args: agentkit.Args{"file_path": "/secret/s"}},
		agentkit.Turn{Row: "directories above", Tool: "write_file", Args: agentkit.Args{"file_path": "/new/dir/a", "content": "x\n"}},
		agentkit.Turn{Row: "over a file", Tool: "write_file", Args: agentkit.Args{"file_path": "/new/dir/a", "content": "a a b\n"}},
		agentkit.Turn{Row: "read-only", Tool: "write_file", Args: agentkit.Args{"file_path": "/ro/r", "content": ""}},
		agentkit.Turn{Row: "EISDIR", Tool: "write_file", Args: agentkit.Args{"file_path": "/src", "content": ""}},
		agentkit.Turn{Row: "edit", Tool: "edit_file", Args: agentkit.Args{"file_path": "/new/dir/a", "old_string": "b", "new_string": "c"}},
		agentkit.Turn{Row: "edit, none", Tool: "edit_file", Args: agentkit.Args{"file_path": "/new/dir/a", "old_string": "zz", "new_string": ""}},
		agentkit.Turn{Row: "edit, several", Tool: "edit_file", Args: agentkit.Args{"file_path": "/new/dir/a", "old_string": "a", "new_string": "z"}},
		agentkit.Turn{Row: "edit, all", Tool: "edit_file", Args: agentkit.Args{"file_path": "/new/dir/a", "old_string": "a", "new_string": "z", "replace_all": true}},
		agentkit.Turn{Row: "edit, ENOENT", Tool: "edit_file", Args: agentkit.Args{"file_path": "/none", "old_string": "a", "new_string": "z"}},
		agentkit.Turn{Row: "edit, empty", Tool: "edit_file", Args: agentkit.Args{"file_path": "/new/dir/a", "old_string": "", "new_string": "z"}},
		agentkit.Turn{Row: "base name", Tool: "glob", Args: agentkit.Args{"pattern": "*.py"}},
		agentkit.Turn{Row: "relative", Tool: "glob", Args: agentkit.Args{"pattern": "app/*.py", "path": "/src"}},
		agentkit.Turn{Row: "anchored", Tool: "glob", Args: agentkit.Args{"pattern": "/*.py"}},
		agentkit.Turn{Row: "braces", Tool: "glob", Args: agentkit.Args{"pattern": "**/*.{md,png}"}},
		agentkit.Turn{Row: "glob, none", Tool: "glob", Args: agentkit.Args{"pattern": "*.go"}},
		agentkit.Turn{Row: "glob, ENOENT", Tool: "glob", Args: agentkit.Args{"pattern": "*", "path": "/none"}},
		agentkit.Turn{Row: "glob, bad", Tool: "glob", Args: agentkit.Args{"pattern": "[a"}},
		agentkit.Turn{Row: "files", Tool: "grep", Args: agentkit.Args{"pattern": "WISH", "path": "/src"}},
		agentkit.Turn{Row: "content", Tool: "grep", Args: agentkit.Args{"pattern": "WISH", "path": "/src", "output_mode": "content"}},
		agentkit.Turn{Row: "count", Tool: "grep", Args: agentkit.Args{"pattern": "WISH", "path": "/src", "output_mode": "count"}},
		agentkit.Turn{Row: "literal", Tool: "grep", Args: agentkit.Args{"pattern": "[two]", "output_mode": "content"}},
		agentkit.Turn{Row: "only some files", Tool: "grep", Args: agentkit.Args{"pattern": "o", "glob": "*.md"}},
		agentkit.Turn{Row: "file", Tool: "grep", Args: agentkit.Args{"pattern": "print", "path": "/top.py", "output_mode": "content"}},
		agentkit.Turn{Row: "none", Tool: "grep", Args: agentkit.Args{"pattern": "absent", "path": "/src"}},
		agentkit.Turn{Row: "missing", Tool: "grep", Args: agentkit.Args{"pattern": "x", "path": "/none"}},
		agentkit.Turn{Row: "many files", Tool: "upload_files", Args: agentkit.Args{"files": []agentkit.Args{
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
		agentkit.Turn{Row: "bad base64", Tool: "upload_files", Args: agentkit.Args{"files": []agentkit.Args{{"path": "/up/z", "content": "a\n"}, {"path": "/up/y", "content": "%", "encoding": "base64"}}}},
		agentkit.Turn{Row: "many files", Tool: "download_files", Args: agentkit.Args{"paths": []string{"/up/a", "/up/b", "/empty", "/none", "/src", "/secret/s", "~", "/top.py/x", "/up/dir", "/up/z", "/huge"}}},
	)
	agentkit.Golden(t, "deepagents", map[string]any{"told": agentkit.Describe(b), "script": script})
}

// A result above 80000 characters is cut, with a note. Nothing is kept in the tree, where later searches would find
// it.
func TestDeepagentsCuts(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: deepagents.Profile})
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for i := range 1000 {
			if err := tx.WriteFile(fmt.Sprintf("many/%04d%s", i, strings.Repeat("é", 100)), nil, 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return tx.WriteFile("big", []byte(strings.Repeat("WISH "+strings.Repeat("x", 100)+"\n", 1000)), 0o644)
	}))
	const guidance = "... [results truncated, try being more specific with your parameters]"
	found := agentkit.Try(t, b, "grep", agentkit.Args{"pattern": "WISH", "output_mode": "content"}).Text
	require.Len(t, found, 80000+len("\n"+guidance))
	require.True(t, strings.HasSuffix(found, "\n"+guidance))
	for op, in := range map[string]agentkit.Args{"ls": {"path": "/many"}, "glob": {"pattern": "*", "path": "/many"}} {
		list := agentkit.Try(t, b, op, in).Text
		require.True(t, strings.HasSuffix(list, ", '"+guidance+"']"), op)
		require.Equal(t, 80000/110+1, strings.Count(list, "', '")+1, op)
	}
	require.Equal(t, []string{"big", "many/"}, slices.DeleteFunc(vfstest.Names(t, fsys), func(name string) bool {
		return strings.HasPrefix(name, "many/0")
	}))
}

// A search returns 1000 matches, or as many as max_count, and reports when there are more.
func TestDeepagentsMaxCount(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: deepagents.Profile})
	agentkit.Plant(t, fsys, map[string]string{"many": strings.Repeat("x\n", 1500)})
	const more = "\n\n[These are the first %d matches, and there are more. Narrow the pattern or the path, or raise max_count.]"
	for _, tt := range []struct{ max, found int }{{0, 1000}, {1499, 1499}, {1500, 1500}, {2000, 1500}} {
		in, want := agentkit.Args{"pattern": "x", "output_mode": "count"}, fmt.Sprintf("/many: %d", tt.found)
		if tt.max > 0 {
			in["max_count"] = tt.max
		}
		if tt.found < 1500 {
			want += fmt.Sprintf(more, tt.found)
		}
		require.Equal(t, want, agentkit.Try(t, b, "grep", in).Text)
	}
	require.ErrorIs(t, agentkit.Try(t, b, "grep", agentkit.Args{"pattern": "x", "max_count": 0}).Err, syscall.EINVAL)
}

// A model that reads a file page by page, each from the offset that the one before names, reads every line once,
// however long the lines are.
func TestDeepagentsPages(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: deepagents.Profile})
	for _, tt := range []struct {
		name  string
		lines int
		wide  int
		limit int
		pages int
	}{
		{"as many as were asked for", 250, 10, 100, 3},
		{"fewer than were asked for", 3000, 100, 1000, 5},
		{"of wide letters", 1000, 1000, 1000, 13},
		{"continued rows", 40, 12000, 100, 7},
		{"one above the limit each", 3, 81000, 100, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			line := strings.Repeat("é", tt.wide)
			agentkit.Plant(t, fsys, map[string]string{"f": strings.Repeat(line+"\n", tt.lines)})
			offset, pages := 0, 0
			for more := true; more; pages++ {
				text := agentkit.Try(t, b, "read_file", agentkit.Args{"file_path": "/f", "offset": offset, "limit": tt.limit}).Text
				require.LessOrEqual(t, len([]rune(text)), 80000)
				require.Regexp(t, fmt.Sprintf(`^ *%d  é`, offset+1), text)
				more = false
				if m := regexp.MustCompile(`\[Read \d+ lines? \(lines (\d+)-(\d+) of (\d+) total\)\. \d+ lines? remaining from offset (\d+)\.\]$`).FindStringSubmatch(text); m != nil {
					require.Equal(t, []string{strconv.Itoa(offset + 1), m[4], strconv.Itoa(tt.lines)}, m[1:4])
					offset, _ = strconv.Atoi(m[4])
					more = true
					require.Regexp(t, fmt.Sprintf(`(?m)^ *%d  `, offset), text[max(0, len(text)-170000):])
				}
			}
			require.Equal(t, tt.pages, pages)
		})
	}
	text := agentkit.Try(t, b, "read_file", agentkit.Args{"file_path": "/f", "limit": 1}).Text
	require.Contains(t, text, "\n\n[Output was truncated due to size limits: line 1 goes on.]\n\n[Read 1 line (lines 1-1 of 3 total). 2 lines remaining from offset 1.]")
}

// An edit of several lines finds them in a file with CRLF, which keeps its line breaks.
func TestDeepagentsLineBreaks(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: deepagents.Profile})
	agentkit.Plant(t, fsys, map[string]string{"dos": "a\r\nb\r\nc\r\n", "unix": "a\nb\n", "open": "one\ntwo", "twice": "x-x"})
	for _, tt := range []struct{ file, old, new, want string }{
		{"dos", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"},
		{"dos", "z\r\nc", "w", "x\r\ny\r\nw\r\n"},
		{"unix", "a\nb\n", "c\n", "c\n"},
		{"open", "two", "2", "one\n2"},
	} {
		r := agentkit.Try(t, b, "edit_file", agentkit.Args{"file_path": "/" + tt.file, "old_string": tt.old, "new_string": tt.new})
		require.NoError(t, r.Err, r.Text)
		require.Equal(t, tt.want, vfstest.Read(t, fsys, tt.file))
	}
	for _, tt := range []struct{ file, old, want string }{
		{"open", "one\n2\n", "Error: old_string ends with a newline, but the file does not end with a newline. Remove it from old_string, and from new_string if that ends with one too"},
		{"twice", "x\n", "Error: old_string ends with a newline, but the file does not end with a newline. Without it, old_string would appear 2 times in the file: remove it, and add surrounding context"},
		{"open", "\n\n", "Error: String not found in file: '\n\n'"},
		{"unix", "d\n", "Error: String not found in file: 'd\n'"},
	} {
		r := agentkit.Try(t, b, "edit_file", agentkit.Args{"file_path": "/" + tt.file, "old_string": tt.old, "new_string": ""})
		require.ErrorIs(t, r.Err, syscall.EINVAL)
		require.Equal(t, tt.want, r.Text)
	}
}

func TestDeepagentsDelete(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: deepagents.Profile, Policy: &policy.Policy{Deny: []string{"/keep/secret"}}}, "a", "d/e/f", "keep/secret", "keep/x")
	require.NoError(t, fsys.Symlink(t.Context(), "keep", "link"))
	for _, tt := range []struct {
		path, want string
		err        error
	}{
		{"/a", "Deleted /a", nil},
		{"/d", "Deleted /d", nil},
		{"/link", "Deleted /link", nil},
		{"/a", "Error: File '/a' not found", fs.ErrNotExist},
		{"/keep", "Error: permission denied for write on /keep: '/keep' holds what this workspace does not grant", fs.ErrPermission},
		{"/", "Error: permission denied for write on /: '/' holds what this workspace does not grant", fs.ErrPermission},
		{"/keep/../keep", "Error: Path traversal not allowed: /keep/../keep", syscall.EINVAL},
	} {
		r := agentkit.Try(t, b, "delete", agentkit.Args{"file_path": tt.path})
		require.ErrorIs(t, r.Err, tt.err)
		require.Equal(t, tt.want, r.Text)
	}
	require.Equal(t, []string{"keep/", "keep/secret", "keep/x"}, vfstest.Names(t, fsys))
}

// glob finds files, by a symlink too; a symlink that leads to a directory or nowhere is none.
func TestDeepagentsGlobFiles(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: deepagents.Profile, Policy: &policy.Policy{Deny: []string{"/secret"}}})
	agentkit.Plant(t, fsys, map[string]string{"docs/a": "", "secret/s": ""})
	for name, target := range map[string]string{"file": "docs/a", "dir": "docs", "nowhere": "none", "loop": "loop", "denied": "secret/s"} {
		require.NoError(t, fsys.Symlink(t.Context(), target, name))
	}
	for _, pattern := range []string{"*", "**"} {
		require.Equal(t, "['/docs/a', '/file']", agentkit.Try(t, b, "glob", agentkit.Args{"pattern": pattern}).Text)
	}
}

// A star never stands for a leading dot. A pattern without a slash is about the name alone, so it finds files in
// directories that begin with a dot; ** does not go into these.
func TestDeepagentsDots(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: deepagents.Profile})
	agentkit.Plant(t, fsys, map[string]string{
		"a.yml": "WISH\n", ".env": "WISH\n", ".x.yml": "WISH\n", "src/b.yml": "WISH\n", "src/.c.yml": "WISH\n",
		".github/ci.yml": "WISH\n", ".github/w/d.yml": "WISH\n", ".github/.e.yml": "WISH\n", "src/.hidden/f.yml": "WISH\n",
	})
	for _, tt := range []struct{ pattern, path, want string }{
		{"*.yml", "", "/.github/ci.yml /.github/w/d.yml /a.yml /src/.hidden/f.yml /src/b.yml"},
		{"**/*.yml", "", "/a.yml /src/b.yml"},
		{"/*.yml", "", "/a.yml"},
		{"/*", "", "/a.yml"},
		{"*", "", "/.github/ci.yml /.github/w/d.yml /a.yml /src/.hidden/f.yml /src/b.yml"},
		{"**", "", "/a.yml /src/b.yml"},
		{".*", "", "/.env /.github/.e.yml /.x.yml /src/.c.yml"},
		{".env", "", "/.env"},
		{".*.yml", "", "/.github/.e.yml /.x.yml /src/.c.yml"},
		{"/.*", "", "/.env /.x.yml"},
		{"**/.*", "", "/.env /.x.yml /src/.c.yml"},
		{".github/*.yml", "", "/.github/ci.yml"},
		{".github/**", "", "/.github/ci.yml /.github/w/d.yml"},
		{".github/**/*.yml", "", "/.github/ci.yml /.github/w/d.yml"},
		{".github/.*", "", "/.github/.e.yml"},
		{".*/*.yml", "", "/.github/ci.yml"},
		{"*/*.yml", "", "/src/b.yml"},
		{"*/.hidden/*", "", "/src/.hidden/f.yml"},
		{"{.github,src}/*.yml", "", "/.github/ci.yml /src/b.yml"},
		{"{.e,}*.yml", "", "/.github/.e.yml /.github/ci.yml /.github/w/d.yml /a.yml /src/.hidden/f.yml /src/b.yml"},
		{"{*,.{env,x*}}", "", "/.env /.github/ci.yml /.github/w/d.yml /.x.yml /a.yml /src/.hidden/f.yml /src/b.yml"},
		{"*.yml", "/.github", "/.github/ci.yml /.github/w/d.yml"},
		{"**/*.yml", "/.github", "/.github/ci.yml /.github/w/d.yml"},
	} {
		got := strings.NewReplacer("', '", " ", "['", "", "']", "").Replace(agentkit.Try(t, b, "glob", agentkit.Args{"pattern": tt.pattern, "path": tt.path}).Text)
		require.Equal(t, tt.want, got, tt.pattern)
	}
	for _, tt := range []struct{ glob, path, want string }{
		{"", "", "/a.yml\n/src/b.yml"},
		{"*.yml", "", "/a.yml\n/src/b.yml"},
		{".env", "", "/.env"},
		{".*", "", "/.env\n/.x.yml\n/src/.c.yml"},
		{".github/**", "", "/.github/.e.yml\n/.github/ci.yml\n/.github/w/d.yml"},
		{"", "/.github", "/.github/ci.yml\n/.github/w/d.yml"},
		{"", "/.env", "/.env"},
	} {
		require.Equal(t, tt.want, agentkit.Try(t, b, "grep", agentkit.Args{"pattern": "WISH", "glob": tt.glob, "path": tt.path}).Text, "%s in %s", tt.glob, tt.path)
	}
	r := agentkit.Try(t, b, "glob", agentkit.Args{"pattern": strings.Repeat("{a,b}", 12)})
	require.ErrorIs(t, r.Err, syscall.EINVAL)
}

// A search that finds nothing notes that its pattern is literal, if it looks like a regular expression. No line has a
// line break, so a pattern with one is refused at once.
func TestDeepagentsHints(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: deepagents.Profile})
	agentkit.Plant(t, fsys, map[string]string{"f": "def run():\n\tfoo|bar\n"})
	for pattern, hint := range map[string]string{
		`def \w+`: "regular expression", "run.*foo": "regular expression", "bar|baz": "regular expression", "^def": "regular expression", "[a-z]+x": "regular expression",
		"foo|bar": "", "absent": "", "def missing(self):": "", "a[0]": "", "x == y": "", "$19.99": "",
	} {
		text := agentkit.Try(t, b, "grep", agentkit.Args{"pattern": pattern}).Text
		if hint == "" {
			require.NotContains(t, text, "[", pattern)
			continue
		}
		require.Contains(t, text, "No matches found\n\n[The pattern was taken literally, and it looks like a "+hint, pattern)
	}
	r := agentkit.Try(t, b, "grep", agentkit.Args{"pattern": "run():\n"})
	require.ErrorIs(t, r.Err, syscall.EINVAL)
	require.Contains(t, r.Text, "the pattern has a line break in it, which no line has")
}
