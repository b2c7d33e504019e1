package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
)

// A read returns what was written, with the sum that the next write takes.
func TestWriteReadEdit(t *testing.T) {
	b, fsys := agentkit.Box(t, nil)
	wrote := agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "/notes/a.md", "content": "one\ntwo\nthree\n"})
	require.Equal(t, true, wrote["ok"])
	require.Equal(t, true, wrote["created"])

	read := agentkit.Call(t, b, "workspace_read_file", agentkit.Args{"path": "/notes/a.md", "offset": 2, "limit": 1})
	require.Equal(t, wrote["sum"], read["sum"])
	require.Equal(t, "two\n", read["text"])
	require.Equal(t, true, read["untrusted"])
	shown := agentkit.Try(t, b, "workspace_read_file", agentkit.Args{"path": "/notes/a.md", "offset": 2, "limit": 1}).Text
	require.Equal(t, fmt.Sprintf("lines 2-2 of 3; sum %s\n", wrote["sum"])+
		"<workspace_tool_result untrusted=\"true\" workspace=\"workspace\" op=\"read_file\" ref=\"/notes/a.md\">\ntwo\n\n</workspace_tool_result>", shown)

	edited := agentkit.Call(t, b, "workspace_edit_file", agentkit.Args{"path": "/notes/a.md", "oldText": "two", "newText": "2", "ifSum": read["sum"]})
	require.Equal(t, "     1\tone\n     2\t2\n     3\tthree", edited["preview"])

	stale := agentkit.Try(t, b, "workspace_edit_file", agentkit.Args{"path": "/notes/a.md", "oldText": "one", "newText": "1", "ifSum": read["sum"]})
	require.ErrorIs(t, stale.Err, syscall.ESTALE)
	require.Contains(t, stale.Text, edited["sum"])
	require.Contains(t, stale.Text, "Read it again")
	require.Equal(t, "one\n2\nthree\n", vfstest.Read(t, fsys, "notes/a.md"))

	twice := agentkit.Try(t, b, "workspace_edit_file", agentkit.Args{"path": "/notes/a.md", "oldText": "e", "newText": "E"})
	var failed *tool.EditError
	require.ErrorAs(t, twice.Err, &failed)
	require.Equal(t, 3, failed.Found)
	require.Contains(t, twice.Text, "lines 1, 3, 3")
}

// A long text is cut on a rune, with a note about the missing bytes.
func TestCut(t *testing.T) {
	b, _ := agentkit.Box(t, &tool.Config{Caps: policy.Caps{ResultBytes: 10}})
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "a", "content": strings.Repeat("é", 20)})
	read := agentkit.Call(t, b, "workspace_read_file", agentkit.Args{"path": "a"})
	require.Equal(t, "ééééé\n[... truncated, 30 bytes omitted; refine your search/path]", read["text"])
	require.Equal(t, true, read["truncated"])
	require.EqualValues(t, 30, read["omittedBytes"])
}

// Every path is judged by where it leads.
func TestPolicyPaths(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{Paths: []string{"/ok"}, ReadOnly: []string{"/ok/ro"}}},
		"ok/a", "ok/ro/b", "secret/s", "ok-not/c")
	require.NoError(t, fsys.Symlink(t.Context(), "/secret", "ok/out"))
	for _, tt := range []struct {
		name, tool string
		args       agentkit.Args
	}{
		{"read outside", "workspace_read_file", agentkit.Args{"path": "/secret/s"}},
		{"read beside", "workspace_read_file", agentkit.Args{"path": "/ok-not/c"}},
		{"read through a symlink", "workspace_read_file", agentkit.Args{"path": "/ok/out/s"}},
		{"read up", "workspace_read_file", agentkit.Args{"path": "/ok/../secret/s"}},
		{"list through a symlink", "workspace_ls", agentkit.Args{"path": "/ok/out"}},
		{"list the root", "workspace_ls", agentkit.Args{"path": "/"}},
		{"grep through a symlink", "workspace_grep", agentkit.Args{"path": "/ok/out", "pattern": "x"}},
		{"write through a symlink", "workspace_write_file", agentkit.Args{"path": "/ok/out/new", "content": ""}},
		{"write read-only", "workspace_write_file", agentkit.Args{"path": "/ok/ro/b", "content": ""}},
		{"remove what holds read-only", "workspace_rm", agentkit.Args{"path": "/ok", "recursive": true}},
		{"move out", "workspace_mv", agentkit.Args{"source": "/ok/a", "destination": "/secret/a"}},
		{"copy in", "workspace_cp", agentkit.Args{"source": "/secret/s", "destination": "/ok/s"}},
		{"nothing there, outside", "workspace_read_file", agentkit.Args{"path": "/secret/none"}},
		{"no directory, outside", "workspace_read_file", agentkit.Args{"path": "/secret/s/none"}},
		{"apply", "workspace_apply", agentkit.Args{"operations": []agentkit.Args{{"tool": "rm", "args": agentkit.Args{"path": "/secret/s"}}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := agentkit.Try(t, b, tt.tool, tt.args)
			var refused *policy.Error
			require.ErrorAs(t, r.Err, &refused, r.Text)
			require.ErrorIs(t, r.Err, syscall.EACCES)
		})
	}
	agentkit.Call(t, b, "workspace_rm", agentkit.Args{"path": "/ok/out"}) // the symlink itself is inside
	require.Equal(t, "/ok/a", agentkit.Call(t, b, "workspace_glob", agentkit.Args{"pattern": "*", "path": "/ok"})["matches"].([]any)[0])
}

func TestAsk(t *testing.T) {
	var asked []tool.Approval
	answer := false
	b, fsys := agentkit.Box(t, &tool.Config{
		Policy: &policy.Policy{Ask: []policy.Rule{{Permissions: []policy.Permission{policy.Delete}}}},
		Ask: func(_ context.Context, use tool.Approval) (bool, error) {
			asked = append(asked, use)
			return answer, nil
		},
	}, "a")
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_rm", agentkit.Args{"path": "a"}).Err, syscall.EACCES)
	answer = true
	agentkit.Call(t, b, "workspace_rm", agentkit.Args{"path": "a"})
	require.Equal(t, []tool.Approval{{policy.Delete, "/a"}, {policy.Delete, "/a"}}, asked)
	_, err := fsys.Stat(t.Context(), "a")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestQuota(t *testing.T) {
	b, _ := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{MaxBytes: 10, MaxEntries: 3}})
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "d/a", "content": "12345"})
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_write_file", agentkit.Args{"path": "d/b", "content": "123456"}).Err, syscall.EDQUOT)
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "d/b", "content": "12345"})
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_mkdir", agentkit.Args{"path": "e"}).Err, syscall.EDQUOT)
	agentkit.Call(t, b, "workspace_rm", agentkit.Args{"path": "d/a"})
	agentkit.Call(t, b, "workspace_mkdir", agentkit.Args{"path": "e"})
}

// A snapshot, a restore that can be taken back, a branch.
func TestHistoryTools(t *testing.T) {
	b, fsys := agentkit.Box(t, nil)
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "a", "content": "1"})
	snap := agentkit.Call(t, b, "workspace_snapshot", agentkit.Args{"name": "before"})
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "a", "content": "2"})
	require.Len(t, agentkit.Call(t, b, "workspace_diff", agentkit.Args{"from": "before"})["changes"], 1)
	restored := agentkit.Call(t, b, "workspace_restore", agentkit.Args{"ref": snap["ref"]})
	require.Equal(t, "1", vfstest.Read(t, fsys, "a"))
	agentkit.Call(t, b, "workspace_restore", agentkit.Args{"ref": restored["undo"]})
	require.Equal(t, "2", vfstest.Read(t, fsys, "a"))
	forked := agentkit.Call(t, b, "workspace_branch", agentkit.Args{"ref": "before", "name": "try", "stay": true})
	require.True(t, strings.HasSuffix(forked["ref"].(string), "/try"))
	require.Len(t, agentkit.Call(t, b, "workspace_list_snapshots", nil)["snapshots"], 3)
	agentkit.Call(t, b, "workspace_restore", agentkit.Args{"ref": "try"})
	require.Equal(t, "1", vfstest.Read(t, fsys, "a"))
	agentkit.Call(t, b, "workspace_delete_snapshot", agentkit.Args{"ref": "before"})
}

// Bad input of any kind is an error that a model can read, and never a panic.
func TestBadInput(t *testing.T) {
	b, _ := agentkit.Box(t, nil, "a")
	for _, input := range []string{`[]`, `{`, `null`, `"x"`, `{}`, `{"path":1}`, `{"path":"a","x":1}`, `{"path":null}`, `{"path":""}`, `{"path":"\u0000"}`} {
		for _, op := range b.Tools() {
			r := b.Call(t.Context(), op.Name, json.RawMessage(input))
			require.NotNil(t, r)
			if r.Err != nil {
				require.NotEmpty(t, r.Text)
			}
		}
	}
	r := b.Call(t.Context(), "nothing", nil)
	require.ErrorIs(t, r.Err, fs.ErrNotExist)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.True(t, errors.Is(b.Call(ctx, "workspace_ls", nil).Err, context.Canceled))
}
