package tool_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
)

// One workspace has workspace_<op>, several have workspace__<name>__<op>. The prefix is all there is to
// strip for display.
func TestNames(t *testing.T) {
	b, _ := agentkit.Box(t, nil)
	require.NotNil(t, b.Tool("workspace_read_file"))
	n, _ := agentkit.Box(t, &tool.Config{Name: "notes"})
	require.NotNil(t, n.Tool("workspace__notes__read_file"))
	require.Len(t, n.Tools(), len(b.Tools()))
	for _, bad := range []string{"a__b", "_a", "a b", "ä", "a/b"} {
		_, err := agent.New(vfstest.New(t), &tool.Config{Name: bad})
		require.ErrorIs(t, err, syscall.EINVAL, bad)
	}
}

// Prefixes that are ours are reserved, whether or not there is such a tool.
func TestReservedNames(t *testing.T) {
	b, _ := agentkit.Box(t, nil)
	require.ErrorIs(t, b.CheckToolName("workspace_deploy"), syscall.EEXIST)
	require.ErrorIs(t, b.CheckToolName("companion__x"), syscall.EEXIST)
	require.NoError(t, b.CheckToolName("deploy"))
}

// Writers ask to be called one after the other. No tool runs code; a sandbox is somebody else's work.
func TestSequentialAndNoCode(t *testing.T) {
	b, _ := agentkit.Box(t, nil)
	require.True(t, b.Tool("workspace_write_file").Sequential)
	require.True(t, b.Tool("workspace_edit_file").Sequential)
	require.False(t, b.Tool("workspace_read_file").Sequential)
	for _, name := range []string{"run", "run_code", "create_code_context", "run_in_code_context", "delete_code_context", "script"} {
		require.Nil(t, b.Tool("workspace_"+name))
	}
}
