package dofs_test

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

	"vfsdb/agent/policy"
	"vfsdb/agent/profile/dofs"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/vfs"
)

// What the methods of dofs give, one by one, and the codes of their errors.
func TestDofsGolden(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: dofs.Profile, Caps: policy.Caps{ResultBytes: 300}})
	agentkit.Plant(t, fsys, map[string]string{
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
	agentkit.Still(t, fsys)
	script := agentkit.Play(t, b,
		agentkit.Turn{Row: "a file", Tool: "stat", Args: agentkit.Args{"path": "/workspace/src/a.ts"}},
		agentkit.Turn{Row: "dir", Tool: "stat", Args: agentkit.Args{"path": "/workspace/src"}},
		agentkit.Turn{Row: "root", Tool: "stat", Args: agentkit.Args{"path": "/"}},
		agentkit.Turn{Row: "symlink", Tool: "stat", Args: agentkit.Args{"path": "/workspace/file"}},
		agentkit.Turn{Row: "under a file", Tool: "stat", Args: agentkit.Args{"path": "/workspace/src/a.ts/under"}},
		agentkit.Turn{Row: "ENOENT", Tool: "stat", Args: agentkit.Args{"path": "/workspace/none"}},
		agentkit.Turn{Row: "ELOOP", Tool: "stat", Args: agentkit.Args{"path": "/workspace/loop"}},
		agentkit.Turn{Row: "a whole file", Tool: "readFile", Args: agentkit.Args{"path": "/workspace/notes/todo.md"}},
		agentkit.Turn{Row: "utf8", Tool: "readFile", Args: agentkit.Args{"path": "/workspace/notes/todo.md", "encoding": "utf8"}},
		agentkit.Turn{Row: "encoding", Tool: "readFile", Args: agentkit.Args{"path": "/workspace/notes/todo.md", "encoding": "latin1"}},
		agentkit.Turn{Row: "bytes", Tool: "readFile", Args: agentkit.Args{"path": "/workspace/bin"}},
		agentkit.Turn{Row: "bytes as utf8", Tool: "readFile", Args: agentkit.Args{"path": "/workspace/bin", "encoding": "utf8"}},
		agentkit.Turn{Row: "not utf8", Tool: "readFile", Args: agentkit.Args{"path": "/workspace/latin"}},
		agentkit.Turn{Row: "by lines", Tool: "readFile", Args: agentkit.Args{"path": "/workspace/wide", "offset": 2, "limit": 1}},
		agentkit.Turn{Row: "past the end", Tool: "readFile", Args: agentkit.Args{"path": "/workspace/wide", "offset": 41}},
		agentkit.Turn{Row: "cut at the cap", Tool: "readFile", Args: agentkit.Args{"path": "/workspace/wide"}},
		agentkit.Turn{Row: "EISDIR", Tool: "readFile", Args: agentkit.Args{"path": "/workspace/src"}},
		agentkit.Turn{Row: "ENOENT", Tool: "readFile", Args: agentkit.Args{"path": "/workspace/none"}},
		agentkit.Turn{Row: "under a file", Tool: "readFile", Args: agentkit.Args{"path": "/workspace/src/a.ts/under"}},
		agentkit.Turn{Row: "a new file", Tool: "writeFile", Args: agentkit.Args{"path": "/workspace/new.sh", "content": "#!/bin/sh\n", "mode": 0o755}},
		agentkit.Turn{Row: "kept", Tool: "writeFile", Args: agentkit.Args{"path": "/workspace/new.sh", "content": "#!/bin/sh\necho\n"}},
		agentkit.Turn{Row: "bytes", Tool: "writeFile", Args: agentkit.Args{"path": "/workspace/data.bin", "content": base64.StdEncoding.EncodeToString([]byte{1, 2, 3}), "encoding": "base64"}},
		agentkit.Turn{Row: "no base64", Tool: "writeFile", Args: agentkit.Args{"path": "/workspace/data.bin", "content": "%", "encoding": "base64"}},
		agentkit.Turn{Row: "directories above", Tool: "writeFile", Args: agentkit.Args{"path": "/workspace/no/dir", "content": ""}},
		agentkit.Turn{Row: "ENOTDIR", Tool: "writeFile", Args: agentkit.Args{"path": "/workspace/src/a.ts/under", "content": ""}},
		agentkit.Turn{Row: "the root", Tool: "writeFile", Args: agentkit.Args{"path": "/", "content": ""}},
		agentkit.Turn{Row: "EISDIR", Tool: "writeFile", Args: agentkit.Args{"path": "/workspace/src", "content": ""}},
		agentkit.Turn{Row: "with types", Tool: "readdir", Args: agentkit.Args{"path": "/workspace/src"}},
		agentkit.Turn{Row: "symlinks", Tool: "readdir", Args: agentkit.Args{"path": "/workspace"}},
		agentkit.Turn{Row: "empty", Tool: "readdir", Args: agentkit.Args{"path": "/workspace/empty"}},
		agentkit.Turn{Row: "a page", Tool: "readdir", Args: agentkit.Args{"path": "/workspace/many", "limit": 2, "offset": 1}},
		agentkit.Turn{Row: "last page", Tool: "readdir", Args: agentkit.Args{"path": "/workspace/many", "limit": 2, "offset": 2}},
		agentkit.Turn{Row: "past the end", Tool: "readdir", Args: agentkit.Args{"path": "/workspace/many", "offset": 9}},
		agentkit.Turn{Row: "ENOTDIR", Tool: "readdir", Args: agentkit.Args{"path": "/workspace/src/a.ts"}},
		agentkit.Turn{Row: "under a file", Tool: "readdir", Args: agentkit.Args{"path": "/workspace/src/a.ts/under"}},
		agentkit.Turn{Row: "ENOENT", Tool: "readdir", Args: agentkit.Args{"path": "/workspace/none"}},
		agentkit.Turn{Row: "all files below", Tool: "ls", Args: agentkit.Args{"prefix": "/workspace/notes"}},
		agentkit.Turn{Row: "file", Tool: "ls", Args: agentkit.Args{"prefix": "/workspace/src/a.ts"}},
		agentkit.Turn{Row: "missing", Tool: "ls", Args: agentkit.Args{"prefix": "/workspace/none"}},
		agentkit.Turn{Row: "under a file", Tool: "ls", Args: agentkit.Args{"prefix": "/workspace/src/a.ts/under"}},
		agentkit.Turn{Row: "literal", Tool: "ls", Args: agentkit.Args{"prefix": "/workspace/glob/*literal*"}},
		agentkit.Turn{Row: "a page", Tool: "ls", Args: agentkit.Args{"prefix": "/workspace/many", "limit": 3}},
		agentkit.Turn{Row: "relative to the directory", Tool: "find", Args: agentkit.Args{"directory": "/workspace/src", "pattern": "**/*.ts"}},
		agentkit.Turn{Row: "within a name", Tool: "find", Args: agentkit.Args{"directory": "/workspace/src", "pattern": "*.ts"}},
		agentkit.Turn{Row: "everything", Tool: "find", Args: agentkit.Args{"directory": "/workspace/notes"}},
		agentkit.Turn{Row: "literal", Tool: "find", Args: agentkit.Args{"directory": "/workspace/src", "pattern": "[x]{y}?.ts"}},
		agentkit.Turn{Row: "no class", Tool: "find", Args: agentkit.Args{"directory": "/workspace/src", "pattern": "[a].ts"}},
		agentkit.Turn{Row: "**", Tool: "find", Args: agentkit.Args{"directory": "/workspace/src", "pattern": "a**"}},
		agentkit.Turn{Row: "a page", Tool: "find", Args: agentkit.Args{"directory": "/workspace/many", "limit": 3}},
		agentkit.Turn{Row: "a page", Tool: "find", Args: agentkit.Args{"directory": "/workspace/many", "limit": 3, "offset": 3}},
		agentkit.Turn{Row: "ENOTDIR", Tool: "find", Args: agentkit.Args{"directory": "/workspace/src/a.ts"}},
		agentkit.Turn{Row: "ENOENT", Tool: "find", Args: agentkit.Args{"directory": "/workspace/none"}},
		agentkit.Turn{Row: "lines", Tool: "grep", Args: agentkit.Args{"pattern": "WISH", "path": "/workspace/notes"}},
		agentkit.Turn{Row: "whatever the case", Tool: "grep", Args: agentkit.Args{"pattern": "WISH", "path": "/workspace/notes", "ignoreCase": true}},
		agentkit.Turn{Row: "no regex", Tool: "grep", Args: agentkit.Args{"pattern": "[ ]", "path": "/workspace"}},
		agentkit.Turn{Row: "file", Tool: "grep", Args: agentkit.Args{"pattern": "it", "path": "/workspace/notes/todo.md"}},
		agentkit.Turn{Row: "a page", Tool: "grep", Args: agentkit.Args{"pattern": "0", "path": "/workspace/wide", "limit": 2, "offset": 1}},
		agentkit.Turn{Row: "stopped early", Tool: "grep", Args: agentkit.Args{"pattern": "0", "path": "/workspace/wide"}},
		agentkit.Turn{Row: "ENOENT", Tool: "grep", Args: agentkit.Args{"pattern": "0", "path": "/workspace/none"}},
		agentkit.Turn{Row: "EINVAL", Tool: "grep", Args: agentkit.Args{"pattern": "", "path": "/workspace"}},
		agentkit.Turn{Row: "a new directory", Tool: "mkdir", Args: agentkit.Args{"path": "/workspace/d", "mode": 0o700}},
		agentkit.Turn{Row: "EEXIST", Tool: "mkdir", Args: agentkit.Args{"path": "/workspace/d"}},
		agentkit.Turn{Row: "recursive", Tool: "mkdir", Args: agentkit.Args{"path": "/workspace/d", "recursive": true}},
		agentkit.Turn{Row: "recursive", Tool: "mkdir", Args: agentkit.Args{"path": "/workspace/p/a/b", "recursive": true}},
		agentkit.Turn{Row: "ENOENT", Tool: "mkdir", Args: agentkit.Args{"path": "/workspace/x/y"}},
		agentkit.Turn{Row: "ENOTDIR", Tool: "mkdir", Args: agentkit.Args{"path": "/workspace/src/a.ts/d"}},
		agentkit.Turn{Row: "EEXIST a file", Tool: "mkdir", Args: agentkit.Args{"path": "/workspace/src/a.ts", "recursive": true}},
		agentkit.Turn{Row: "literal true", Tool: "mkdir", Args: agentkit.Args{"path": "/workspace/z", "recursive": false}},
		agentkit.Turn{Row: "ENOTEMPTY", Tool: "rm", Args: agentkit.Args{"path": "/workspace/p"}},
		agentkit.Turn{Row: "recursive", Tool: "rm", Args: agentkit.Args{"path": "/workspace/p", "recursive": true}},
		agentkit.Turn{Row: "an empty directory", Tool: "rm", Args: agentkit.Args{"path": "/workspace/d"}},
		agentkit.Turn{Row: "a file", Tool: "rm", Args: agentkit.Args{"path": "/workspace/new.sh"}},
		agentkit.Turn{Row: "ENOENT", Tool: "rm", Args: agentkit.Args{"path": "/workspace/new.sh"}},
		agentkit.Turn{Row: "not there", Tool: "rm", Args: agentkit.Args{"path": "/workspace/new.sh", "force": true}},
		agentkit.Turn{Row: "under a file", Tool: "rm", Args: agentkit.Args{"path": "/workspace/src/a.ts/under", "force": true}},
		agentkit.Turn{Row: "literal true", Tool: "rm", Args: agentkit.Args{"path": "/workspace/new.sh", "force": false}},
		agentkit.Turn{Row: "EPERM", Tool: "rm", Args: agentkit.Args{"path": "/", "recursive": true, "force": true}},
		agentkit.Turn{Row: "no such tool", Tool: "unlink", Args: agentkit.Args{"path": "/"}},
		agentkit.Turn{Row: "EINVAL", Tool: "rm", Args: agentkit.Args{"path": ""}},
		agentkit.Turn{Row: "EINVAL", Tool: "rm", Args: agentkit.Args{"path": "/a\x00"}},
	)
	agentkit.Golden(t, "dofs", map[string]any{"told": agentkit.Describe(b), "script": script})
}

// An overwritten file keeps its mode, unless it is given one.
func TestDofsMode(t *testing.T) {
	b, _ := agentkit.Box(t, &tool.Config{Profile: dofs.Profile})
	for _, tt := range []struct {
		in   agentkit.Args
		want int
	}{
		{agentkit.Args{"path": "/a", "content": ""}, 0o644},
		{agentkit.Args{"path": "/a", "content": "1", "mode": 0o4755}, 0o4755},
		{agentkit.Args{"path": "/a", "content": "2"}, 0o4755},
		{agentkit.Args{"path": "/a", "content": "3", "mode": 0}, 0},
	} {
		agentkit.Call(t, b, "writeFile", tt.in)
		require.EqualValues(t, tt.want, agentkit.Call(t, b, "stat", agentkit.Args{"path": "/a"})["mode"])
	}
}

// WriteFile takes 2 MiB and no byte more, unless the policy has another bound.
func TestDofsWriteLimit(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: dofs.Profile})
	agentkit.Call(t, b, "writeFile", agentkit.Args{"path": "/a", "content": strings.Repeat("x", 2<<20)})
	require.JSONEq(t, `{"code":"EFBIG","path":"/b","message":"EFBIG: '/b' is 2097153 bytes, above the limit of 2097152, open '/b'"}`,
		agentkit.Try(t, b, "writeFile", agentkit.Args{"path": "/b", "content": strings.Repeat("x", 2<<20+1)}).Text)
	_, err := fsys.Stat(t.Context(), "b")
	require.Error(t, err)
	require.Contains(t, b.Tool("writeFile").Description, "At most 2097152 bytes")

	free, err := tool.New(fsys, &tool.Config{Profile: dofs.Profile, Policy: &policy.Policy{MaxWriteSize: -1}})
	require.NoError(t, err)
	agentkit.Call(t, free, "writeFile", agentkit.Args{"path": "/b", "content": strings.Repeat("x", 2<<20+1)})
	require.NotContains(t, free.Tool("writeFile").Description, "At most")

	tight, err := tool.New(fsys, &tool.Config{Profile: dofs.Profile, Policy: &policy.Policy{MaxWriteSize: 3}})
	require.NoError(t, err)
	agentkit.Call(t, tight, "writeFile", agentkit.Args{"path": "/c", "content": "AQID", "encoding": "base64"})
	require.ErrorIs(t, agentkit.Try(t, tight, "writeFile", agentkit.Args{"path": "/c", "content": "four"}).Err, syscall.EFBIG)
}

// A text that is cut names the offset to go on with, also in the text for the model. Reads at each of these offsets
// leave nothing out.
func TestDofsReadOn(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: dofs.Profile, Caps: policy.Caps{ResultBytes: 100}})
	var lines strings.Builder
	for i := range 50 {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	agentkit.Plant(t, fsys, map[string]string{"f": lines.String()})
	var seen []string
	for next := 1; next > 0; {
		r := agentkit.Try(t, b, "readFile", agentkit.Args{"path": "/f", "offset": next})
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

// A path that the policy refuses is EACCES, for ls too, which returns an empty list for a path that is missing.
func TestDofsPolicy(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: dofs.Profile, Policy: &policy.Policy{Paths: []string{"/ok"}}}, "ok/a", "no/b")
	require.NoError(t, fsys.Symlink(t.Context(), "/no/b", "ok/link"))
	for op, in := range map[string]agentkit.Args{
		"readFile": {"path": "/ok/link"}, "writeFile": {"path": "/ok/link", "content": ""}, "ls": {"prefix": "/no/b"},
		"find": {"directory": "/no/b"}, "stat": {"path": "/ok/link"}, "rm": {"path": "/no/b"},
	} {
		r := agentkit.Try(t, b, op, in)
		require.Contains(t, r.Text, `"code":"EACCES"`, op)
		require.Contains(t, r.Text, "Path '/no/b' is outside allowed paths", op)
	}
	require.Equal(t, `[{"path":"/ok/a","type":"file"}]`, agentkit.Try(t, b, "find", agentkit.Args{"directory": "/ok"}).Text)
}

// 200 at once, and 1000 at most.
func TestDofsPages(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: dofs.Profile})
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for i := range 1001 {
			if err := tx.WriteFile("/d/"+string(rune('0'+i/100))+string(rune('0'+i/10%10))+string(rune('0'+i%10)), nil, 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return nil
	}))
	for op, in := range map[string]struct{ path, list string }{"readdir": {"path", "entries"}, "ls": {"prefix", "paths"}, "find": {"directory", "matches"}} {
		got := agentkit.Call(t, b, op, agentkit.Args{in.path: "/d"})
		require.Len(t, got[in.list], 200, op)
		require.EqualValues(t, 200, got["nextOffset"], op)
		got = agentkit.Call(t, b, op, agentkit.Args{in.path: "/d", "limit": 1000, "offset": 1})
		require.Len(t, got[in.list], 1000, op)
		require.NotContains(t, got, "nextOffset", op)
		require.Contains(t, agentkit.Try(t, b, op, agentkit.Args{in.path: "/d", "limit": 1001}).Text, `"limit\" has to be 1000 or less`, op)
	}
}

// Paths are absolute: a relative one is EINVAL, whatever is there.
func TestDofsRelative(t *testing.T) {
	b, _ := agentkit.Box(t, &tool.Config{Profile: dofs.Profile}, "d/f")
	for op, in := range map[string]agentkit.Args{
		"readFile": {"path": "d/f"}, "writeFile": {"path": "new", "content": ""}, "readdir": {"path": "d"}, "ls": {"prefix": "d"},
		"find": {"directory": "."}, "grep": {"pattern": "x", "path": "d"}, "stat": {"path": "d"}, "mkdir": {"path": "e"}, "rm": {"path": "d/f", "force": true},
	} {
		r := agentkit.Try(t, b, op, in)
		require.ErrorIs(t, r.Err, syscall.EINVAL, op)
		require.Contains(t, r.Text, `"code":"EINVAL"`, op)
		require.Contains(t, r.Text, "invalid path", op)
	}
}

// Symlinks are not visible: ls and find list regular files and directories, and what is reached through a symlink has
// the path that was asked for.
func TestDofsSymlinks(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: dofs.Profile})
	agentkit.Plant(t, fsys, map[string]string{
		"d/a": "WISH\n", "d/e/b": "WISH\n", "d/bin": "\x00", "ld": "->d", "lf": "->d/a", "dang": "->nowhere", "d/up": "->..", "x/l": "->../d",
	})
	for _, tt := range []struct {
		tool string
		in   agentkit.Args
		want string
	}{
		{"ls", agentkit.Args{"prefix": "/"}, `["/d/a","/d/bin","/d/e/b"]`},
		{"ls", agentkit.Args{"prefix": "/ld"}, `["/ld/a","/ld/bin","/ld/e/b"]`},
		{"ls", agentkit.Args{"prefix": "/ld/e/"}, `["/ld/e/b"]`},
		{"ls", agentkit.Args{"prefix": "/lf"}, `["/lf"]`},
		{"ls", agentkit.Args{"prefix": "/dang"}, `[]`},
		{"ls", agentkit.Args{"prefix": "/x/l/../d/e"}, `["/d/e/b"]`},
		{"find", agentkit.Args{"directory": "/"}, `[{"path":"/d","type":"dir"},{"path":"/d/a","type":"file"},{"path":"/d/bin","type":"file"},{"path":"/d/e","type":"dir"},{"path":"/d/e/b","type":"file"},{"path":"/x","type":"dir"}]`},
		{"find", agentkit.Args{"directory": "/ld", "pattern": "**/b"}, `[{"path":"/ld/e/b","type":"file"}]`},
		{"grep", agentkit.Args{"pattern": "WISH", "path": "/ld"}, `[{"path":"/ld/a","line":1,"text":"WISH"},{"path":"/ld/e/b","line":1,"text":"WISH"}]` + "\n[1 file that is no text, or too large, was not searched]"},
		{"grep", agentkit.Args{"pattern": "WISH", "path": "/lf"}, `[{"path":"/lf","line":1,"text":"WISH"}]`},
		{"readdir", agentkit.Args{"path": "/x/l/e"}, `[{"name":"b","parentPath":"/x/l/e","isFile":true,"isDirectory":false}]`},
	} {
		r := agentkit.Try(t, b, tt.tool, tt.in)
		require.NoError(t, r.Err, r.Text)
		require.Equal(t, tt.want, r.Text, "%s %v", tt.tool, tt.in)
	}
	require.Equal(t, []any{"/ld/bin"}, agentkit.Call(t, b, "grep", agentkit.Args{"pattern": "WISH", "path": "/ld"})["skippedPaths"])
}

// Errors name the path wherever a call failed: before its transaction began, in it, and at its end.
func TestDofsStorageErrors(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: dofs.Profile}, "a")
	full, err := tool.New(fsys, &tool.Config{Profile: dofs.Profile, Policy: &policy.Policy{MaxEntries: 2}})
	require.NoError(t, err)
	require.JSONEq(t, `{"code":"EDQUOT","path":"/d/e","message":"EDQUOT: the workspace would hold 3 entries, above its quota of 2, mkdir '/d/e'"}`,
		agentkit.Try(t, full, "mkdir", agentkit.Args{"path": "/d/e", "recursive": true}).Text)

	fsys.Store().SetReadOnly(true)
	for op, in := range map[string]agentkit.Args{"writeFile": {"path": "/a", "content": "x"}, "mkdir": {"path": "/d"}, "rm": {"path": "/a"}} {
		r := agentkit.Try(t, b, op, in)
		require.ErrorIs(t, r.Err, syscall.EROFS, op)
		require.Contains(t, r.Text, `{"code":"EROFS","path":"`+in["path"].(string), op)
	}
	agentkit.Call(t, b, "readFile", agentkit.Args{"path": "/a"})
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
	b, err := tool.New(fsys, &tool.Config{Profile: dofs.Profile})
	require.NoError(t, err)
	r := agentkit.Try(t, b, "readFile", agentkit.Args{"path": "/a"})
	require.ErrorIs(t, r.Err, syscall.EIO)
	require.Contains(t, r.Text, `{"code":"EIO","path":"/a","message":"EIO: `)
}
