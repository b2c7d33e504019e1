package agent_test

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

	"vfsdb/agent"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// box makes the tools of a config over a fresh store with some files.
func box(t *testing.T, config *agent.Config, files ...string) (*agent.Toolbox, *vfs.FS) {
	t.Helper()
	fsys := vfstest.New(t, files...)
	b, err := agent.New(fsys, config)
	require.NoError(t, err)
	return b, fsys
}

// call runs a tool of helix that has to succeed, and returns its structured result as JSON has it.
func call(t *testing.T, b *agent.Toolbox, tool string, args map[string]any) map[string]any {
	t.Helper()
	r := try(t, b, tool, args)
	require.NoError(t, r.Err, r.Text)
	data, err := json.Marshal(r.Data)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

// named finds a profile.
func named(t *testing.T, profile string) *agent.Profile {
	t.Helper()
	p, err := agent.FindProfile(profile)
	require.NoError(t, err)
	return p
}

func try(t *testing.T, b *agent.Toolbox, tool string, args map[string]any) *agent.Result {
	t.Helper()
	input, err := json.Marshal(args)
	require.NoError(t, err)
	return b.Call(t.Context(), tool, input)
}

type args = map[string]any

// What is written is read, with the sum that the next write takes.
func TestWriteReadEdit(t *testing.T) {
	b, fsys := box(t, nil)
	wrote := call(t, b, "workspace_write_file", args{"path": "/notes/a.md", "content": "one\ntwo\nthree\n"})
	require.Equal(t, true, wrote["ok"])
	require.Equal(t, true, wrote["created"])

	read := call(t, b, "workspace_read_file", args{"path": "/notes/a.md", "offset": 2, "limit": 1})
	require.Equal(t, wrote["sum"], read["sum"])
	require.Equal(t, "two\n", read["text"])
	require.Equal(t, true, read["untrusted"])
	shown := try(t, b, "workspace_read_file", args{"path": "/notes/a.md", "offset": 2, "limit": 1}).Text
	require.Equal(t, fmt.Sprintf("lines 2-2 of 3; sum %s\n", wrote["sum"])+
		"<workspace_tool_result untrusted=\"true\" workspace=\"workspace\" op=\"read_file\" ref=\"/notes/a.md\">\ntwo\n\n</workspace_tool_result>", shown)

	edited := call(t, b, "workspace_edit_file", args{"path": "/notes/a.md", "oldText": "two", "newText": "2", "ifSum": read["sum"]})
	require.Equal(t, "     1\tone\n     2\t2\n     3\tthree", edited["preview"])

	stale := try(t, b, "workspace_edit_file", args{"path": "/notes/a.md", "oldText": "one", "newText": "1", "ifSum": read["sum"]})
	require.ErrorIs(t, stale.Err, syscall.ESTALE)
	require.Contains(t, stale.Text, edited["sum"])
	require.Contains(t, stale.Text, "Read it again")
	require.Equal(t, "one\n2\nthree\n", vfstest.Read(t, fsys, "notes/a.md"))

	twice := try(t, b, "workspace_edit_file", args{"path": "/notes/a.md", "oldText": "e", "newText": "E"})
	var failed *agent.EditError
	require.ErrorAs(t, twice.Err, &failed)
	require.Equal(t, 3, failed.Found)
	require.Contains(t, twice.Text, "lines 1, 3, 3")
}

// A long text is cut on a rune and says how much is missing.
func TestCut(t *testing.T) {
	b, _ := box(t, &agent.Config{Caps: agent.Caps{ResultBytes: 10}})
	call(t, b, "workspace_write_file", args{"path": "a", "content": strings.Repeat("é", 20)})
	read := call(t, b, "workspace_read_file", args{"path": "a"})
	require.Equal(t, "ééééé\n[... truncated, 30 bytes omitted; refine your search/path]", read["text"])
	require.Equal(t, true, read["truncated"])
	require.EqualValues(t, 30, read["omittedBytes"])
}

// Every path is judged by where it leads.
func TestPolicyPaths(t *testing.T) {
	b, fsys := box(t, &agent.Config{Policy: &agent.Policy{Paths: []string{"/ok"}, ReadOnly: []string{"/ok/ro"}}},
		"ok/a", "ok/ro/b", "secret/s", "ok-not/c")
	require.NoError(t, fsys.Symlink(t.Context(), "/secret", "ok/out"))
	for _, tt := range []struct {
		name, tool string
		args       args
	}{
		{"read outside", "workspace_read_file", args{"path": "/secret/s"}},
		{"read beside", "workspace_read_file", args{"path": "/ok-not/c"}},
		{"read through a symlink", "workspace_read_file", args{"path": "/ok/out/s"}},
		{"read up", "workspace_read_file", args{"path": "/ok/../secret/s"}},
		{"list through a symlink", "workspace_ls", args{"path": "/ok/out"}},
		{"list the root", "workspace_ls", args{"path": "/"}},
		{"grep through a symlink", "workspace_grep", args{"path": "/ok/out", "pattern": "x"}},
		{"write through a symlink", "workspace_write_file", args{"path": "/ok/out/new", "content": ""}},
		{"write read-only", "workspace_write_file", args{"path": "/ok/ro/b", "content": ""}},
		{"remove what holds read-only", "workspace_rm", args{"path": "/ok", "recursive": true}},
		{"move out", "workspace_mv", args{"source": "/ok/a", "destination": "/secret/a"}},
		{"copy in", "workspace_cp", args{"source": "/secret/s", "destination": "/ok/s"}},
		{"nothing there, outside", "workspace_read_file", args{"path": "/secret/none"}},
		{"no directory, outside", "workspace_read_file", args{"path": "/secret/s/none"}},
		{"apply", "workspace_apply", args{"operations": []args{{"tool": "rm", "args": args{"path": "/secret/s"}}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := try(t, b, tt.tool, tt.args)
			var refused *agent.PolicyError
			require.ErrorAs(t, r.Err, &refused, r.Text)
			require.ErrorIs(t, r.Err, syscall.EACCES)
		})
	}
	call(t, b, "workspace_rm", args{"path": "/ok/out"}) // the symlink itself is inside
	require.Equal(t, "/ok/a", call(t, b, "workspace_glob", args{"pattern": "*", "path": "/ok"})["matches"].([]any)[0])
}

func TestAsk(t *testing.T) {
	var asked []agent.Approval
	answer := false
	b, fsys := box(t, &agent.Config{
		Policy: &agent.Policy{Ask: []agent.Rule{{Permissions: []agent.Permission{agent.PermDelete}}}},
		Ask: func(_ context.Context, use agent.Approval) (bool, error) {
			asked = append(asked, use)
			return answer, nil
		},
	}, "a")
	require.ErrorIs(t, try(t, b, "workspace_rm", args{"path": "a"}).Err, syscall.EACCES)
	answer = true
	call(t, b, "workspace_rm", args{"path": "a"})
	require.Equal(t, []agent.Approval{{agent.PermDelete, "/a"}, {agent.PermDelete, "/a"}}, asked)
	_, err := fsys.Stat(t.Context(), "a")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestQuota(t *testing.T) {
	b, _ := box(t, &agent.Config{Policy: &agent.Policy{MaxBytes: 10, MaxEntries: 3}})
	call(t, b, "workspace_write_file", args{"path": "d/a", "content": "12345"})
	require.ErrorIs(t, try(t, b, "workspace_write_file", args{"path": "d/b", "content": "123456"}).Err, syscall.EDQUOT)
	call(t, b, "workspace_write_file", args{"path": "d/b", "content": "12345"})
	require.ErrorIs(t, try(t, b, "workspace_mkdir", args{"path": "e"}).Err, syscall.EDQUOT)
	call(t, b, "workspace_rm", args{"path": "d/a"})
	call(t, b, "workspace_mkdir", args{"path": "e"})
}

// A snapshot, a restore that can be taken back, a branch.
func TestHistoryTools(t *testing.T) {
	b, fsys := box(t, nil)
	call(t, b, "workspace_write_file", args{"path": "a", "content": "1"})
	snap := call(t, b, "workspace_snapshot", args{"name": "before"})
	call(t, b, "workspace_write_file", args{"path": "a", "content": "2"})
	require.Len(t, call(t, b, "workspace_diff", args{"from": "before"})["changes"], 1)
	restored := call(t, b, "workspace_restore", args{"ref": snap["ref"]})
	require.Equal(t, "1", vfstest.Read(t, fsys, "a"))
	call(t, b, "workspace_restore", args{"ref": restored["undo"]})
	require.Equal(t, "2", vfstest.Read(t, fsys, "a"))
	forked := call(t, b, "workspace_branch", args{"ref": "before", "name": "try", "stay": true})
	require.True(t, strings.HasSuffix(forked["ref"].(string), "/try"))
	require.Len(t, call(t, b, "workspace_list_snapshots", nil)["snapshots"], 3)
	call(t, b, "workspace_restore", args{"ref": "try"})
	require.Equal(t, "1", vfstest.Read(t, fsys, "a"))
	call(t, b, "workspace_delete_snapshot", args{"ref": "before"})
}

// Bad input of any kind is an error that a model can read, and never a panic.
func TestBadInput(t *testing.T) {
	b, _ := box(t, nil, "a")
	for _, input := range []string{`[]`, `{`, `null`, `"x"`, `{}`, `{"path":1}`, `{"path":"a","x":1}`, `{"path":null}`, `{"path":""}`, `{"path":"\u0000"}`} {
		for _, tool := range b.Tools() {
			r := b.Call(t.Context(), tool.Name, json.RawMessage(input))
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
