package agent_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/vfs"
)

// What the methods of dofs give, one by one, and the codes of their errors.
func TestDofsGolden(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Dofs, Caps: agent.Caps{ResultBytes: 300}})
	plant(t, fsys, map[string]string{
		"workspace/notes/todo.md":          "- [ ] ship it\nWISH: eat\n",
		"workspace/notes/deep/a.md":        "wish again\r\n",
		"workspace/notes-archive/x":        "WISH old\n",
		"workspace/src/a.ts":               "a\n",
		"workspace/src/a/b.ts":             "b\n",
		"workspace/src/a/b.tsx":            "c\n",
		"workspace/src/[x]{y}?.ts":         "d\n",
		"workspace/src/q.ts/in":            "e\n",
		"workspace/bin":                    "\x00\x01\x02",
		"workspace/latin":                  "caf\xe9\n",
		"workspace/empty/":                 "",
		"workspace/link":                   "->notes",
		"workspace/file":                   "->notes/todo.md",
		"workspace/nowhere":                "->none",
		"workspace/loop":                   "->loop",
		"workspace/wide":                   strings.Repeat("0123456789\n", 40),
		"workspace/many/a":                 "",
		"workspace/many/b":                 "",
		"workspace/many/c":                 "",
		"workspace/many/d":                 "",
		"workspace/glob/*literal*/in.txt":  "x\n",
		"workspace/glob/xliteralx/out.txt": "x\n",
	})
	require.NoError(t, fsys.Chmod(t.Context(), "workspace/src/a.ts", 0o755))
	still(t, fsys)
	script := play(t, b,
		turn{"a file", "stat", args{"path": "/workspace/src/a.ts"}},
		turn{"dir", "stat", args{"path": "/workspace/src"}},
		turn{"root", "stat", args{"path": "/"}},
		turn{"symlink", "stat", args{"path": "/workspace/file"}},
		turn{"under a file", "stat", args{"path": "/workspace/src/a.ts/under"}},
		turn{"ENOENT", "stat", args{"path": "/workspace/none"}},
		turn{"ELOOP", "stat", args{"path": "/workspace/loop"}},
		turn{"a whole file", "readFile", args{"path": "/workspace/notes/todo.md"}},
		turn{"utf8", "readFile", args{"path": "/workspace/notes/todo.md", "encoding": "utf8"}},
		turn{"encoding", "readFile", args{"path": "/workspace/notes/todo.md", "encoding": "latin1"}},
		turn{"bytes", "readFile", args{"path": "/workspace/bin"}},
		turn{"bytes as utf8", "readFile", args{"path": "/workspace/bin", "encoding": "utf8"}},
		turn{"not utf8", "readFile", args{"path": "/workspace/latin"}},
		turn{"by lines", "readFile", args{"path": "/workspace/wide", "offset": 2, "limit": 1}},
		turn{"past the end", "readFile", args{"path": "/workspace/wide", "offset": 41}},
		turn{"cut at the cap", "readFile", args{"path": "/workspace/wide"}},
		turn{"EISDIR", "readFile", args{"path": "/workspace/src"}},
		turn{"ENOENT", "readFile", args{"path": "/workspace/none"}},
		turn{"under a file", "readFile", args{"path": "/workspace/src/a.ts/under"}},
		turn{"a new file", "writeFile", args{"path": "/workspace/new.sh", "content": "#!/bin/sh\n", "mode": 0o755}},
		turn{"kept", "writeFile", args{"path": "/workspace/new.sh", "content": "#!/bin/sh\necho\n"}},
		turn{"bytes", "writeFile", args{"path": "/workspace/data.bin", "content": base64.StdEncoding.EncodeToString([]byte{1, 2, 3}), "encoding": "base64"}},
		turn{"no base64", "writeFile", args{"path": "/workspace/data.bin", "content": "%", "encoding": "base64"}},
		turn{"directories above", "writeFile", args{"path": "/workspace/no/dir", "content": ""}},
		turn{"ENOTDIR", "writeFile", args{"path": "/workspace/src/a.ts/under", "content": ""}},
		turn{"the root", "writeFile", args{"path": "/", "content": ""}},
		turn{"EISDIR", "writeFile", args{"path": "/workspace/src", "content": ""}},
		turn{"with types", "readdir", args{"path": "/workspace/src"}},
		turn{"symlinks", "readdir", args{"path": "/workspace"}},
		turn{"empty", "readdir", args{"path": "/workspace/empty"}},
		turn{"a page", "readdir", args{"path": "/workspace/many", "limit": 2, "offset": 1}},
		turn{"last page", "readdir", args{"path": "/workspace/many", "limit": 2, "offset": 2}},
		turn{"past the end", "readdir", args{"path": "/workspace/many", "offset": 9}},
		turn{"ENOTDIR", "readdir", args{"path": "/workspace/src/a.ts"}},
		turn{"under a file", "readdir", args{"path": "/workspace/src/a.ts/under"}},
		turn{"ENOENT", "readdir", args{"path": "/workspace/none"}},
		turn{"all files below", "ls", args{"prefix": "/workspace/notes"}},
		turn{"file", "ls", args{"prefix": "/workspace/src/a.ts"}},
		turn{"missing", "ls", args{"prefix": "/workspace/none"}},
		turn{"under a file", "ls", args{"prefix": "/workspace/src/a.ts/under"}},
		turn{"literal", "ls", args{"prefix": "/workspace/glob/*literal*"}},
		turn{"a page", "ls", args{"prefix": "/workspace/many", "limit": 3}},
		turn{"relative to the directory", "find", args{"directory": "/workspace/src", "pattern": "**/*.ts"}},
		turn{"within a name", "find", args{"directory": "/workspace/src", "pattern": "*.ts"}},
		turn{"everything", "find", args{"directory": "/workspace/notes"}},
		turn{"literal", "find", args{"directory": "/workspace/src", "pattern": "[x]{y}?.ts"}},
		turn{"no class", "find", args{"directory": "/workspace/src", "pattern": "[a].ts"}},
		turn{"**", "find", args{"directory": "/workspace/src", "pattern": "a**"}},
		turn{"a page", "find", args{"directory": "/workspace/many", "limit": 3}},
		turn{"a page", "find", args{"directory": "/workspace/many", "limit": 3, "offset": 3}},
		turn{"ENOTDIR", "find", args{"directory": "/workspace/src/a.ts"}},
		turn{"ENOENT", "find", args{"directory": "/workspace/none"}},
		turn{"lines", "grep", args{"pattern": "WISH", "path": "/workspace/notes"}},
		turn{"whatever the case", "grep", args{"pattern": "WISH", "path": "/workspace/notes", "ignoreCase": true}},
		turn{"no regex", "grep", args{"pattern": "[ ]", "path": "/workspace"}},
		turn{"file", "grep", args{"pattern": "it", "path": "/workspace/notes/todo.md"}},
		turn{"a page", "grep", args{"pattern": "0", "path": "/workspace/wide", "limit": 2, "offset": 1}},
		turn{"stopped early", "grep", args{"pattern": "0", "path": "/workspace/wide"}},
		turn{"ENOENT", "grep", args{"pattern": "0", "path": "/workspace/none"}},
		turn{"EINVAL", "grep", args{"pattern": "", "path": "/workspace"}},
		turn{"a new directory", "mkdir", args{"path": "/workspace/d", "mode": 0o700}},
		turn{"EEXIST", "mkdir", args{"path": "/workspace/d"}},
		turn{"recursive", "mkdir", args{"path": "/workspace/d", "recursive": true}},
		turn{"recursive", "mkdir", args{"path": "/workspace/p/a/b", "recursive": true}},
		turn{"ENOENT", "mkdir", args{"path": "/workspace/x/y"}},
		turn{"ENOTDIR", "mkdir", args{"path": "/workspace/src/a.ts/d"}},
		turn{"EEXIST a file", "mkdir", args{"path": "/workspace/src/a.ts", "recursive": true}},
		turn{"literal true", "mkdir", args{"path": "/workspace/z", "recursive": false}},
		turn{"ENOTEMPTY", "rm", args{"path": "/workspace/p"}},
		turn{"recursive", "rm", args{"path": "/workspace/p", "recursive": true}},
		turn{"an empty directory", "rm", args{"path": "/workspace/d"}},
		turn{"a file", "rm", args{"path": "/workspace/new.sh"}},
		turn{"ENOENT", "rm", args{"path": "/workspace/new.sh"}},
		turn{"not there", "rm", args{"path": "/workspace/new.sh", "force": true}},
		turn{"under a file", "rm", args{"path": "/workspace/src/a.ts/under", "force": true}},
		turn{"literal true", "rm", args{"path": "/workspace/new.sh", "force": false}},
		turn{"EPERM", "rm", args{"path": "/", "recursive": true, "force": true}},
		turn{"no such tool", "unlink", args{"path": "/"}},
		turn{"EINVAL", "rm", args{"path": ""}},
		turn{"EINVAL", "rm", args{"path": "/a\x00"}},
	)
	golden(t, "dofs", map[string]any{"told": describe(b), "script": script})
}

// An overwritten file keeps its mode, unless it is given one.
func TestDofsMode(t *testing.T) {
	b, _ := box(t, &agent.Config{Profile: agent.Dofs})
	for _, tt := range []struct {
		in   args
		want int
	}{
		{args{"path": "/a", "content": ""}, 0o644},
		{args{"path": "/a", "content": "1", "mode": 0o4755}, 0o4755},
		{args{"path": "/a", "content": "2"}, 0o4755},
		{args{"path": "/a", "content": "3", "mode": 0}, 0},
	} {
		call(t, b, "writeFile", tt.in)
		require.EqualValues(t, tt.want, call(t, b, "stat", args{"path": "/a"})["mode"])
	}
}

// WriteFile takes 2 MiB and no byte more, unless the policy has another bound.
func TestDofsWriteLimit(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Dofs})
	call(t, b, "writeFile", args{"path": "/a", "content": strings.Repeat("x", 2<<20)})
	require.JSONEq(t, `{"code":"EFBIG","path":"/b","message":"EFBIG: '/b' is 2097153 bytes, above the limit of 2097152, open '/b'"}`,
		try(t, b, "writeFile", args{"path": "/b", "content": strings.Repeat("x", 2<<20+1)}).Text)
	_, err := fsys.Stat(t.Context(), "b")
	require.Error(t, err)
	require.Contains(t, b.Tool("writeFile").Description, "At most 2097152 bytes")

	free, err := agent.Make(fsys, &agent.Config{Profile: agent.Dofs, Policy: &agent.Policy{MaxWriteSize: -1}})
	require.NoError(t, err)
	call(t, free, "writeFile", args{"path": "/b", "content": strings.Repeat("x", 2<<20+1)})
	require.NotContains(t, free.Tool("writeFile").Description, "At most")

	tight, err := agent.Make(fsys, &agent.Config{Profile: agent.Dofs, Policy: &agent.Policy{MaxWriteSize: 3}})
	require.NoError(t, err)
	call(t, tight, "writeFile", args{"path": "/c", "content": "AQID", "encoding": "base64"})
	require.ErrorIs(t, try(t, tight, "writeFile", args{"path": "/c", "content": "four"}).Err, syscall.EFBIG)
}

// A text that is cut says where to go on, in what the model reads too; with each offset followed, nothing is left out.
func TestDofsReadOn(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Dofs, Caps: agent.Caps{ResultBytes: 100}})
	var lines strings.Builder
	for i := range 50 {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	plant(t, fsys, map[string]string{"f": lines.String()})
	var seen []string
	for next := 1; next > 0; {
		r := try(t, b, "readFile", args{"path": "/f", "offset": next})
		require.NoError(t, r.Err)
		text, rest, cut := strings.Cut(r.Text, "\n[... truncated, ")
		seen = append(seen[:next-1], strings.Split(text, "\n")...)
		next = 0
		if cut {
			_, at, ok := strings.Cut(rest, "\n[... there is more; go on with offset ")
			require.True(t, ok, rest)
			_, err := fmt.Sscanf(at, "%d]", &next)
			require.NoError(t, err)
		}
	}
	require.Equal(t, lines.String(), strings.Join(seen, "\n"))
}

// EACCES is what the policy says; ls, which tells nothing of what is missing, says it too.
func TestDofsPolicy(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Dofs, Policy: &agent.Policy{Paths: []string{"/ok"}}}, "ok/a", "no/b")
	require.NoError(t, fsys.Symlink(t.Context(), "/no/b", "ok/link"))
	for tool, in := range map[string]args{
		"readFile": {"path": "/ok/link"}, "writeFile": {"path": "/ok/link", "content": ""}, "ls": {"prefix": "/no/b"},
		"find": {"directory": "/no/b"}, "stat": {"path": "/ok/link"}, "rm": {"path": "/no/b"},
	} {
		r := try(t, b, tool, in)
		require.Contains(t, r.Text, `"code":"EACCES"`, tool)
		require.Contains(t, r.Text, "Path '/no/b' is outside allowed paths", tool)
	}
	require.Equal(t, `[{"path":"/ok/a","type":"file"}]`, try(t, b, "find", args{"directory": "/ok"}).Text)
}

// 200 at once, and 1000 at most.
func TestDofsPages(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Dofs})
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for i := range 1001 {
			if err := tx.WriteFile("/d/"+string(rune('0'+i/100))+string(rune('0'+i/10%10))+string(rune('0'+i%10)), nil, 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return nil
	}))
	for tool, in := range map[string]struct{ path, list string }{"readdir": {"path", "entries"}, "ls": {"prefix", "paths"}, "find": {"directory", "matches"}} {
		got := call(t, b, tool, args{in.path: "/d"})
		require.Len(t, got[in.list], 200, tool)
		require.EqualValues(t, 200, got["nextOffset"], tool)
		got = call(t, b, tool, args{in.path: "/d", "limit": 1000, "offset": 1})
		require.Len(t, got[in.list], 1000, tool)
		require.NotContains(t, got, "nextOffset", tool)
		require.Contains(t, try(t, b, tool, args{in.path: "/d", "limit": 1001}).Text, `"limit\" has to be 1000 or less`, tool)
	}
}

// Paths are absolute: a relative one is EINVAL, whatever is there.
func TestDofsRelative(t *testing.T) {
	b, _ := box(t, &agent.Config{Profile: agent.Dofs}, "d/f")
	for tool, in := range map[string]args{
		"readFile": {"path": "d/f"}, "writeFile": {"path": "new", "content": ""}, "readdir": {"path": "d"}, "ls": {"prefix": "d"},
		"find": {"directory": "."}, "grep": {"pattern": "x", "path": "d"}, "stat": {"path": "d"}, "mkdir": {"path": "e"}, "rm": {"path": "d/f", "force": true},
	} {
		r := try(t, b, tool, in)
		require.ErrorIs(t, r.Err, syscall.EINVAL, tool)
		require.Contains(t, r.Text, `"code":"EINVAL"`, tool)
		require.Contains(t, r.Text, "invalid path", tool)
	}
}

// Symlinks are not visible: ls and find list regular files and directories, and what is reached through a symlink has
// the path that was asked for.
func TestDofsSymlinks(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Dofs})
	plant(t, fsys, map[string]string{
		"d/a": "WISH\n", "d/e/b": "WISH\n", "d/bin": "\x00", "ld": "->d", "lf": "->d/a", "dang": "->nowhere", "d/up": "->..", "x/l": "->../d",
	})
	for _, tt := range []struct {
		tool string
		in   args
		want string
	}{
		{"ls", args{"prefix": "/"}, `["/d/a","/d/bin","/d/e/b"]`},
		{"ls", args{"prefix": "/ld"}, `["/ld/a","/ld/bin","/ld/e/b"]`},
		{"ls", args{"prefix": "/ld/e/"}, `["/ld/e/b"]`},
		{"ls", args{"prefix": "/lf"}, `["/lf"]`},
		{"ls", args{"prefix": "/dang"}, `[]`},
		{"ls", args{"prefix": "/x/l/../d/e"}, `["/d/e/b"]`},
		{"find", args{"directory": "/"}, `[{"path":"/d","type":"dir"},{"path":"/d/a","type":"file"},{"path":"/d/bin","type":"file"},{"path":"/d/e","type":"dir"},{"path":"/d/e/b","type":"file"},{"path":"/x","type":"dir"}]`},
		{"find", args{"directory": "/ld", "pattern": "**/b"}, `[{"path":"/ld/e/b","type":"file"}]`},
		{"grep", args{"pattern": "WISH", "path": "/ld"}, `[{"path":"/ld/a","line":1,"text":"WISH"},{"path":"/ld/e/b","line":1,"text":"WISH"}]` + "\n[1 file that is no text, or too large, was not searched]"},
		{"grep", args{"pattern": "WISH", "path": "/lf"}, `[{"path":"/lf","line":1,"text":"WISH"}]`},
		{"readdir", args{"path": "/x/l/e"}, `[{"name":"b","parentPath":"/x/l/e","isFile":true,"isDirectory":false}]`},
	} {
		r := try(t, b, tt.tool, tt.in)
		require.NoError(t, r.Err, r.Text)
		require.Equal(t, tt.want, r.Text, "%s %v", tt.tool, tt.in)
	}
	require.Equal(t, []any{"/ld/bin"}, call(t, b, "grep", args{"pattern": "WISH", "path": "/ld"})["skippedPaths"])
}

// Errors name the path wherever a call failed: before its transaction began, in it, and at its end.
func TestDofsStorageErrors(t *testing.T) {
	b, fsys := box(t, &agent.Config{Profile: agent.Dofs}, "a")
	full, err := agent.Make(fsys, &agent.Config{Profile: agent.Dofs, Policy: &agent.Policy{MaxEntries: 2}})
	require.NoError(t, err)
	require.JSONEq(t, `{"code":"EDQUOT","path":"/d/e","message":"EDQUOT: the workspace would hold 3 entries, above its quota of 2, mkdir '/d/e'"}`,
		try(t, full, "mkdir", args{"path": "/d/e", "recursive": true}).Text)

	fsys.SetReadOnly(true)
	for tool, in := range map[string]args{"writeFile": {"path": "/a", "content": "x"}, "mkdir": {"path": "/d"}, "rm": {"path": "/a"}} {
		r := try(t, b, tool, in)
		require.ErrorIs(t, r.Err, syscall.EROFS, tool)
		require.Contains(t, r.Text, `{"code":"EROFS","path":"`+in["path"].(string), tool)
	}
	call(t, b, "readFile", args{"path": "/a"})
}

// Content that does not match its sum is EIO.
func TestDofsDamage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	fsys, err := vfs.Open(t.Context(), file, nil)
	require.NoError(t, err)
	require.NoError(t, fsys.WriteFile(t.Context(), "a", []byte("what was written"), 0o644))
	require.NoError(t, fsys.Close())
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 1, bytes.Count(data, []byte("what was written")))
	require.NoError(t, os.WriteFile(file, bytes.Replace(data, []byte("what was written"), []byte("what was wroteth"), 1), 0o600))

	fsys, err = vfs.Open(t.Context(), file, nil)
	require.NoError(t, err)
	defer fsys.Close()
	b, err := agent.Make(fsys, &agent.Config{Profile: agent.Dofs})
	require.NoError(t, err)
	r := try(t, b, "readFile", args{"path": "/a"})
	require.ErrorIs(t, r.Err, syscall.EIO)
	require.Contains(t, r.Text, `{"code":"EIO","path":"/a","message":"EIO: `)
}
