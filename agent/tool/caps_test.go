package tool_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/profile/applypatch"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
)

// A bound is positive, 0 for the default, or -1 for none; another one is refused before there is a tool.
func TestNegativeBounds(t *testing.T) {
	for _, text := range []string{
		"caps: {max_tool_result_bytes: -5}",
		"caps: {max_dir_entries: -2}",
		"caps: {max_glob_matches: -2}",
		"caps: {max_grep_file_size: -2}",
		"capabilities: {fs: {maxFileSizeMb: -2}}",
		"capabilities: {fs: {maxToolResultBytes: -5}}",
		"capabilities: {fs: {maxDirEntries: -5}}",
		"capabilities: {fs: {maxGlobMatches: -5}}",
		"policy: {max_entries: -2}",
		"policy: {max_bytes: -2}",
	} {
		_, err := agent.ParseConfig([]byte(text), nil)
		require.ErrorIs(t, err, syscall.EINVAL, text)
	}
	for _, c := range []tool.Config{
		{Caps: policy.Caps{ResultBytes: -5}},
		{Policy: &policy.Policy{MaxWriteSize: -2}},
		{Policy: &policy.Policy{MaxFileSize: -2}},
	} {
		_, err := agent.New(vfstest.New(t), &c)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "-1 is no bound")
	}
	_, err := agent.Open(agent.NewStore("none.db", nil), "x", &agent.SessionOptions{CloseTimeout: -1})
	require.ErrorIs(t, err, syscall.EINVAL)
}

// -1 is no bound wherever there is one.
func TestNoBound(t *testing.T) {
	c, err := agent.ParseConfig([]byte(`
profile: module2
caps: {max_tool_result_bytes: -1, max_dir_entries: -1, max_glob_matches: -1, max_grep_file_size: -1}
policy: {max_file_size: -1, max_write_size: -1, max_bytes: -1, max_entries: -1}
`), nil)
	require.NoError(t, err)
	b, fsys := agentkit.Box(t, c)
	long := strings.Repeat("one line\n", 100_000)
	require.NoError(t, agentkit.Try(t, b, "write", agentkit.Args{"path": "/long", "content": long}).Err)
	require.NoError(t, fsys.Truncate(t.Context(), "/long", 200<<20))
	require.Contains(t, agentkit.Try(t, b, "read", agentkit.Args{"path": "/long", "start_line": 99_999, "end_line": 100_000}).Text, "100000")
	require.Contains(t, agentkit.Try(t, b, "find", agentkit.Args{"pattern": "*"}).Text, "/long")
	require.Contains(t, agentkit.Try(t, b, "grep", agentkit.Args{"pattern": "one", "max_results": 1}).Text, "one line")
}

// maxFileSizeMb bounds the files that tools write. A larger file can be read and searched.
func TestMaxFileSizeIsOfWrites(t *testing.T) {
	c, err := agent.ParseConfig([]byte("capabilities: {fs: {maxFileSizeMb: 1}}"), nil)
	require.NoError(t, err)
	b, fsys := agentkit.Box(t, c)
	two := strings.Repeat("needle\n", 2_000_000/7)
	vfstest.Write(t, fsys, "two", two)
	vfstest.Write(t, fsys, "d/two", two)
	vfstest.Write(t, fsys, "small", "x\n")

	require.Contains(t, agentkit.Try(t, b, "workspace_read_file", agentkit.Args{"path": "/two", "limit": 2}).Text, "needle\nneedle")
	require.EqualValues(t, 2, agentkit.Call(t, b, "workspace_grep", agentkit.Args{"pattern": "needle", "maxResults": 2000})["filesScanned"].(float64)+1)
	require.Empty(t, agentkit.Call(t, b, "workspace_grep", agentkit.Args{"pattern": "none"})["skippedPaths"])

	for op, in := range map[string]agentkit.Args{
		"write_file":   {"path": "/small", "content": two},
		"edit_file":    {"path": "/small", "oldText": "x", "newText": two},
		"insert_lines": {"path": "/two", "line": 1, "content": "x"},
		"append_file":  {"path": "/two", "content": "x"},
		"cp":           {"source": "/d", "destination": "/e"},
	} {
		r := agentkit.Try(t, b, "workspace_"+op, in)
		require.ErrorIs(t, r.Err, syscall.EFBIG, op)
		require.Contains(t, r.Text, "above the limit of 1048576", op)
	}
	agentkit.Call(t, b, "workspace_mv", agentkit.Args{"source": "/two", "destination": "/three"})
	agentkit.Call(t, b, "workspace_edit_file", agentkit.Args{"path": "/small", "oldText": "x", "newText": "y"})

	p, err := tool.New(fsys, &tool.Config{Profile: applypatch.Profile, Policy: c.Policy})
	require.NoError(t, err)
	patch := "*** Begin Patch\n*** Add File: big\n+" + strings.Repeat("x", 2_000_000) + "\n*** End Patch"
	require.ErrorIs(t, agentkit.Try(t, p, "apply_patch", agentkit.Args{"input": patch}).Err, syscall.EFBIG)
}

// max_file_size is about reads, too, and grep does not name an argument that cannot help.
func TestMaxFileSizeOfPolicy(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{MaxFileSize: 10}})
	vfstest.Write(t, fsys, "large", "0123456789abc")
	require.ErrorIs(t, agentkit.Try(t, b, "workspace_read_file", agentkit.Args{"path": "large"}).Err, syscall.EFBIG)
	text := agentkit.Try(t, b, "workspace_grep", agentkit.Args{"pattern": "a", "maxGrepFileSizeMb": 5}).Text
	require.Contains(t, text, "0 matches in 0 files searched\n1 file too large to search, this workspace reads none above 10 bytes:\n")
	require.Contains(t, text, "\n/large\n")
}

// newText has to be given, even if it is empty: an edit that leaves it out was cut short somewhere.
func TestEditNeedsNewText(t *testing.T) {
	b, fsys := agentkit.Box(t, nil)
	vfstest.Write(t, fsys, "a", "hello world")
	for _, in := range []agentkit.Args{
		{"path": "/a", "oldText": "hello"},
		{"path": "/a", "oldText": "hello", "newText": nil},
		{"path": "/a", "edits": []agentkit.Args{{"oldText": "hello"}}},
	} {
		r := agentkit.Try(t, b, "workspace_edit_file", in)
		require.ErrorIs(t, r.Err, syscall.EINVAL)
		require.Contains(t, r.Text, "newText")
	}
	r := agentkit.Try(t, b, "workspace_apply", agentkit.Args{"operations": []agentkit.Args{{"tool": "edit_file", "args": agentkit.Args{"path": "/a", "oldText": "hello"}}}})
	require.ErrorIs(t, r.Err, syscall.EINVAL)
	require.Equal(t, "hello world", vfstest.Read(t, fsys, "a"))
	agentkit.Call(t, b, "workspace_edit_file", agentkit.Args{"path": "/a", "oldText": "hello ", "newText": ""})
	require.Equal(t, "world", vfstest.Read(t, fsys, "a"))
}
