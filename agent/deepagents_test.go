package agent_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// What the tools of deepagents give, call by call: texts as the reference has them, and many files at once.
func TestDeepagentsGolden(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Deepagents, Policy: &agent.Policy{Deny: []string{"/secret"}, ReadOnly: []string{"/ro"}, MaxFileSize: 30000}})
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
		turn{"a directory", "ls", args{"path": "/"}},
		turn{"empty", "ls", args{"path": "/void"}},
		turn{"Python's quotes", "ls", args{"path": "/odd"}},
		turn{"missing", "ls", args{"path": "/none"}},
		turn{"a file", "ls", args{"path": "/last"}},
		turn{"a path that leads outside", "ls", args{"path": "/src/../secret"}},
		turn{"a path that leads outside", "ls", args{"path": "~/x"}},
		turn{"a path that leads outside", "ls", args{"path": `C:\x`}},
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
		turn{"directories above", "write_file", args{"file_path": "/new/dir/a", "content": "x\n"}},
		turn{"over a file", "write_file", args{"file_path": "/new/dir/a", "content": "a a b\n"}},
		turn{"read-only", "write_file", args{"file_path": "/ro/r", "content": ""}},
		turn{"EISDIR", "write_file", args{"file_path": "/src", "content": ""}},
		turn{"edit", "edit_file", args{"file_path": "/new/dir/a", "old_string": "b", "new_string": "c"}},
		turn{"edit, none", "edit_file", args{"file_path": "/new/dir/a", "old_string": "zz", "new_string": ""}},
		turn{"edit, several", "edit_file", args{"file_path": "/new/dir/a", "old_string": "a", "new_string": "z"}},
		turn{"edit, all", "edit_file", args{"file_path": "/new/dir/a", "old_string": "a", "new_string": "z", "replace_all": true}},
		turn{"edit, ENOENT", "edit_file", args{"file_path": "/none", "old_string": "a", "new_string": "z"}},
		turn{"edit, empty", "edit_file", args{"file_path": "/new/dir/a", "old_string": "", "new_string": "z"}},
		turn{"base name", "glob", args{"pattern": "*.py"}},
		turn{"relative", "glob", args{"pattern": "app/*.py", "path": "/src"}},
		turn{"anchored", "glob", args{"pattern": "/*.py"}},
		turn{"braces", "glob", args{"pattern": "**/*.{md,png}"}},
		turn{"glob, none", "glob", args{"pattern": "*.go"}},
		turn{"glob, ENOENT", "glob", args{"pattern": "*", "path": "/none"}},
		turn{"glob, bad", "glob", args{"pattern": "[a"}},
		turn{"files", "grep", args{"pattern": "WISH", "path": "/src"}},
		turn{"content", "grep", args{"pattern": "WISH", "path": "/src", "output_mode": "content"}},
		turn{"count", "grep", args{"pattern": "WISH", "path": "/src", "output_mode": "count"}},
		turn{"literal", "grep", args{"pattern": "[two]", "output_mode": "content"}},
		turn{"only some files", "grep", args{"pattern": "o", "glob": "*.md"}},
		turn{"file", "grep", args{"pattern": "print", "path": "/top.py", "output_mode": "content"}},
		turn{"none", "grep", args{"pattern": "absent", "path": "/src"}},
		turn{"missing", "grep", args{"pattern": "x", "path": "/none"}},
		turn{"many files", "upload_files", args{"files": []args{
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
		turn{"bad base64", "upload_files", args{"files": []args{{"path": "/up/z", "content": "a\n"}, {"path": "/up/y", "content": "%", "encoding": "base64"}}}},
		turn{"many files", "download_files", args{"paths": []string{"/up/a", "/up/b", "/empty", "/none", "/src", "/secret/s", "~", "/top.py/x", "/up/dir", "/up/z", "/huge"}}},
	)
	golden(t, "deepagents", map[string]any{"told": describe(b), "script": script})
}

// A result above 80000 characters is cut, and says so. Nothing is kept in the tree, where later searches would find it.
func TestDeepagentsCuts(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Deepagents})
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for i := range 1000 {
			if err := tx.WriteFile(fmt.Sprintf("many/%04d%s", i, strings.Repeat("é", 100)), nil, 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return tx.WriteFile("big", []byte(strings.Repeat("WISH "+strings.Repeat("x", 100)+"\n", 1000)), 0o644)
	}))
	const guidance = "... [results truncated, try being more specific with your parameters]"
	found := try(t, b, "grep", args{"pattern": "WISH", "output_mode": "content"}).Text
	require.Len(t, found, 80000+len("\n"+guidance))
	require.True(t, strings.HasSuffix(found, "\n"+guidance))
	for tool, in := range map[string]args{"ls": {"path": "/many"}, "glob": {"pattern": "*", "path": "/many"}} {
		list := try(t, b, tool, in).Text
		require.True(t, strings.HasSuffix(list, ", '"+guidance+"']"), tool)
		require.Equal(t, 80000/110+1, strings.Count(list, "', '")+1, tool)
	}
	require.Equal(t, []string{"big", "many/"}, slices.DeleteFunc(vfstest.Names(t, fsys), func(name string) bool {
		return strings.HasPrefix(name, "many/0")
	}))
}

// A search gives 1000 matches unless max_count says how many, and says when there are more.
func TestDeepagentsMaxCount(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Deepagents})
	plant(t, fsys, map[string]string{"many": strings.Repeat("x\n", 1500)})
	const more = "\n\n[These are the first %d matches, and there are more. Narrow the pattern or the path, or raise max_count.]"
	for _, tt := range []struct{ max, found int }{{0, 1000}, {1499, 1499}, {1500, 1500}, {2000, 1500}} {
		in, want := args{"pattern": "x", "output_mode": "count"}, fmt.Sprintf("/many: %d", tt.found)
		if tt.max > 0 {
			in["max_count"] = tt.max
		}
		if tt.found < 1500 {
			want += fmt.Sprintf(more, tt.found)
		}
		require.Equal(t, want, try(t, b, "grep", in).Text)
	}
	require.ErrorIs(t, try(t, b, "grep", args{"pattern": "x", "max_count": 0}).Err, syscall.EINVAL)
}

// Whoever reads a file page by page, each from where the one before says, reads every line once, however long they are.
func TestDeepagentsPages(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Deepagents})
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
			plant(t, fsys, map[string]string{"f": strings.Repeat(line+"\n", tt.lines)})
			offset, pages := 0, 0
			for more := true; more; pages++ {
				text := try(t, b, "read_file", args{"file_path": "/f", "offset": offset, "limit": tt.limit}).Text
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
	text := try(t, b, "read_file", args{"file_path": "/f", "limit": 1}).Text
	require.Contains(t, text, "\n\n[Output was truncated due to size limits: line 1 goes on.]\n\n[Read 1 line (lines 1-1 of 3 total). 2 lines remaining from offset 1.]")
}

// An edit of several lines finds them in a file with CRLF, which keeps its line breaks.
func TestDeepagentsLineBreaks(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Deepagents})
	plant(t, fsys, map[string]string{"dos": "a\r\nb\r\nc\r\n", "unix": "a\nb\n", "open": "one\ntwo", "twice": "x-x"})
	for _, tt := range []struct{ file, old, new, want string }{
		{"dos", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"},
		{"dos", "z\r\nc", "w", "x\r\ny\r\nw\r\n"},
		{"unix", "a\nb\n", "c\n", "c\n"},
		{"open", "two", "2", "one\n2"},
	} {
		r := try(t, b, "edit_file", args{"file_path": "/" + tt.file, "old_string": tt.old, "new_string": tt.new})
		require.NoError(t, r.Err, r.Text)
		require.Equal(t, tt.want, vfstest.Read(t, fsys, tt.file))
	}
	for _, tt := range []struct{ file, old, want string }{
		{"open", "one\n2\n", "Error: old_string ends with a newline, but the file does not end with a newline. Remove it from old_string, and from new_string if that ends with one too"},
		{"twice", "x\n", "Error: old_string ends with a newline, but the file does not end with a newline. Without it, old_string would appear 2 times in the file: remove it, and add surrounding context"},
		{"open", "\n\n", "Error: String not found in file: '\n\n'"},
		{"unix", "d\n", "Error: String not found in file: 'd\n'"},
	} {
		r := try(t, b, "edit_file", args{"file_path": "/" + tt.file, "old_string": tt.old, "new_string": ""})
		require.ErrorIs(t, r.Err, syscall.EINVAL)
		require.Equal(t, tt.want, r.Text)
	}
}

func TestDeepagentsDelete(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Deepagents, Policy: &agent.Policy{Deny: []string{"/keep/secret"}}}, "a", "d/e/f", "keep/secret", "keep/x")
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
		r := try(t, b, "delete", args{"file_path": tt.path})
		require.ErrorIs(t, r.Err, tt.err)
		require.Equal(t, tt.want, r.Text)
	}
	require.Equal(t, []string{"keep/", "keep/secret", "keep/x"}, vfstest.Names(t, fsys))
}

// glob finds files, by a symlink too; a symlink that leads to a directory or nowhere is none.
func TestDeepagentsGlobFiles(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Deepagents, Policy: &agent.Policy{Deny: []string{"/secret"}}})
	plant(t, fsys, map[string]string{"docs/a": "", "secret/s": ""})
	for name, target := range map[string]string{"file": "docs/a", "dir": "docs", "nowhere": "none", "loop": "loop", "denied": "secret/s"} {
		require.NoError(t, fsys.Symlink(t.Context(), target, name))
	}
	for _, pattern := range []string{"*", "**"} {
		require.Equal(t, "['/docs/a', '/file']", try(t, b, "glob", args{"pattern": pattern}).Text)
	}
}

// A star never stands for a leading dot. A pattern without a slash is about the name alone, so it finds files in
// directories that begin with a dot; ** does not go into these.
func TestDeepagentsDots(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Deepagents})
	plant(t, fsys, map[string]string{
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
		got := strings.NewReplacer("', '", " ", "['", "", "']", "").Replace(try(t, b, "glob", args{"pattern": tt.pattern, "path": tt.path}).Text)
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
		require.Equal(t, tt.want, try(t, b, "grep", args{"pattern": "WISH", "glob": tt.glob, "path": tt.path}).Text, "%s in %s", tt.glob, tt.path)
	}
	r := try(t, b, "glob", args{"pattern": strings.Repeat("{a,b}", 12)})
	require.ErrorIs(t, r.Err, syscall.EINVAL)
}

// A search that finds nothing says that its pattern is literal, if it looks like a regular expression. A line break is in
// no line, and that is said at once.
func TestDeepagentsHints(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Deepagents})
	plant(t, fsys, map[string]string{"f": "def run():\n\tfoo|bar\n"})
	for pattern, hint := range map[string]string{
		`def \w+`: "regular expression", "run.*foo": "regular expression", "bar|baz": "regular expression", "^def": "regular expression", "[a-z]+x": "regular expression",
		"foo|bar": "", "absent": "", "def missing(self):": "", "a[0]": "", "x == y": "", "$19.99": "",
	} {
		text := try(t, b, "grep", args{"pattern": pattern}).Text
		if hint == "" {
			require.NotContains(t, text, "[", pattern)
			continue
		}
		require.Contains(t, text, "No matches found\n\n[The pattern was taken literally, and it looks like a "+hint, pattern)
	}
	r := try(t, b, "grep", args{"pattern": "run():\n"})
	require.ErrorIs(t, r.Err, syscall.EINVAL)
	require.Contains(t, r.Text, "the pattern has a line break in it, which no line has")
}

// glob ends after ten seconds and grep after fifteen, in words that say what to do. A call that was cancelled is just
// that.
func TestDeepagentsPatience(t *testing.T) {
	b, _ := box(t, &agent.Config{Profile: agent.Deepagents}, "a")
	for tool, want := range map[string]time.Duration{"glob": 10 * time.Second, "grep": 15 * time.Second, "ls": 0, "read_file": 0} {
		require.Equal(t, want, agent.Patience(b.Tool(tool)), tool)
	}
	for tool, patience := range map[string]time.Duration{"glob": -1, "grep": -1} {
		agent.SetPatience(b.Tool(tool), patience)
		r := try(t, b, tool, args{"pattern": "a"})
		require.ErrorIs(t, r.Err, syscall.ETIMEDOUT)
		require.Equal(t, "Error: "+tool+" timed out after -1ns. Try a more specific pattern or a narrower path", r.Text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, b.Call(ctx, "grep", []byte(`{"pattern":"a"}`)).Err, context.Canceled)
}
