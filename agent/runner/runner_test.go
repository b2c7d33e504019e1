package runner_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/runner"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/record"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/vfs"
)

func box(t *testing.T, text string) (*tool.Toolbox, *vfs.FS) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	p, err := policy.Parse([]byte(text), nil)
	require.NoError(t, err)
	fsys := vfstest.New(t, "in")
	b, err := agent.New(fsys, &tool.Config{Policy: p, Programs: runner.Run, Session: "s"})
	require.NoError(t, err)
	return b, fsys
}

// A command changes the branch in one commit, which the log connects with the call and its command.
func TestRun(t *testing.T) {
	b, fsys := box(t, `programs: {commands: [cat]}`)
	out := agentkit.Call(t, b, "workspace_run", agentkit.Args{"command": "cat in; echo new >made; echo oops >&2; exit 3"})
	require.EqualValues(t, 3, out["exit_code"])
	require.Equal(t, "inoops\n", out["output"])

	data, err := fsys.ReadFile(t.Context(), "made")
	require.NoError(t, err)
	require.Equal(t, "new\n", string(data))
	log, err := fsys.Log(t.Context(), &vfs.LogOptions{Path: "made"})
	require.NoError(t, err)
	require.Len(t, log, 1)

	require.NoError(t, record.Flush(t.Context(), fsys))
	calls, err := fsys.Store().Calls(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, calls, 1)
	require.Equal(t, log[0].Call, calls[0].ID)
	require.Equal(t, "workspace_run", calls[0].Tool)
	require.Equal(t, "s", calls[0].Session)
}

// Only a few variables and those that the policy names reach a program: there are secrets in the others.
func TestRunEnvironment(t *testing.T) {
	t.Setenv("API_KEY", "secret")
	t.Setenv("WANTED", "yes")
	b, _ := box(t, `programs: {commands: ["*"], env: [WANTED, MISSING]}`)
	out := agentkit.Call(t, b, "workspace_run", agentkit.Args{"command": `echo "$API_KEY,$WANTED,${MISSING-none},$VFS_DB,${PATH:+path}"`})
	require.Equal(t, ",yes,none,,path\n", out["output"])
}

func TestRunBounds(t *testing.T) {
	b, _ := box(t, `programs: {commands: ["*"], output: 1KB}`)
	out := agentkit.Call(t, b, "workspace_run", agentkit.Args{"command": "i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); done"})
	require.Equal(t, true, out["truncated"])
	require.Contains(t, out["output"], "line 0\n")
	require.Contains(t, out["output"], "line 999\n")
	require.Less(t, len(out["output"].(string)), 1100)

	out = agentkit.Call(t, b, "workspace_run", agentkit.Args{"command": "echo begun >begun; exec sleep 100", "timeout": 1})
	require.Equal(t, true, out["timed_out"])
	require.EqualValues(t, 124, out["exit_code"])
	agentkit.Call(t, b, "workspace_stat", agentkit.Args{"path": "/begun"})
}

// What the command does outside of the branch is not brought back, and what it finds there is the host's.
func TestRunSeesTheHost(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/f", []byte("host"), 0o600))
	b, _ := box(t, `programs: {commands: ["*"]}`)
	out := agentkit.Call(t, b, "workspace_run", agentkit.Args{"command": "cat " + dir + "/f"})
	require.Equal(t, "host", out["output"])
}
