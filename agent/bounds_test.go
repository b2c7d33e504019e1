package agent_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/internal/vfstest"
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
	for _, c := range []agent.Config{
		{Caps: agent.Caps{ResultBytes: -5}},
		{Policy: &agent.Policy{MaxWriteSize: -2}},
		{Policy: &agent.Policy{MaxFileSize: -2}},
	} {
		_, err := agent.New(vfstest.New(t), &c)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "-1 is no bound")
	}
	_, err := agent.Open(newStore(t), "x", &agent.SessionOptions{CloseTimeout: -1})
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
	b, fsys := box(t, c)
	long := strings.Repeat("one line\n", 100_000)
	require.NoError(t, try(t, b, "write", args{"path": "/long", "content": long}).Err)
	require.NoError(t, fsys.Truncate(t.Context(), "/long", 200<<20))
	require.Contains(t, try(t, b, "read", args{"path": "/long", "start_line": 99_999, "end_line": 100_000}).Text, "100000")
	require.Contains(t, try(t, b, "find", args{"pattern": "*"}).Text, "/long")
	require.Contains(t, try(t, b, "grep", args{"pattern": "one", "max_results": 1}).Text, "one line")
}

// maxFileSizeMb is about what tools write. What is there can be read and searched, however large it is.
func TestMaxFileSizeIsOfWrites(t *testing.T) {
	c, err := agent.ParseConfig([]byte("capabilities: {fs: {maxFileSizeMb: 1}}"), nil)
	require.NoError(t, err)
	b, fsys := box(t, c)
	two := strings.Repeat("needle\n", 2_000_000/7)
	vfstest.Write(t, fsys, "two", two)
	vfstest.Write(t, fsys, "d/two", two)
	vfstest.Write(t, fsys, "small", "x\n")

	require.Contains(t, try(t, b, "workspace_read_file", args{"path": "/two", "limit": 2}).Text, "needle\nneedle")
	require.EqualValues(t, 2, call(t, b, "workspace_grep", args{"pattern": "needle", "maxResults": 2000})["filesScanned"].(float64)+1)
	require.Empty(t, call(t, b, "workspace_grep", args{"pattern": "none"})["skippedPaths"])

	for tool, in := range map[string]args{
		"write_file":   {"path": "/small", "content": two},
		"edit_file":    {"path": "/small", "oldText": "x", "newText": two},
		"insert_lines": {"path": "/two", "line": 1, "content": "x"},
		"append_file":  {"path": "/two", "content": "x"},
		"cp":           {"source": "/d", "destination": "/e"},
	} {
		r := try(t, b, "workspace_"+tool, in)
		require.ErrorIs(t, r.Err, syscall.EFBIG, tool)
		require.Contains(t, r.Text, "above the limit of 1048576", tool)
	}
	call(t, b, "workspace_mv", args{"source": "/two", "destination": "/three"})
	call(t, b, "workspace_edit_file", args{"path": "/small", "oldText": "x", "newText": "y"})

	p, err := agent.Make(fsys, &agent.Config{Profile: agent.ApplyPatch, Policy: c.Policy})
	require.NoError(t, err)
	patch := "*** Begin Patch\n*** Add File: big\n+" + strings.Repeat("x", 2_000_000) + "\n*** End Patch"
	require.ErrorIs(t, try(t, p, "apply_patch", args{"input": patch}).Err, syscall.EFBIG)
}

// max_file_size is about reads, too, and grep does not name an argument that cannot help.
func TestMaxFileSizeOfPolicy(t *testing.T) {
	b, fsys := box(t, &agent.Config{Policy: &agent.Policy{MaxFileSize: 10}})
	vfstest.Write(t, fsys, "large", "0123456789abc")
	require.ErrorIs(t, try(t, b, "workspace_read_file", args{"path": "large"}).Err, syscall.EFBIG)
	text := try(t, b, "workspace_grep", args{"pattern": "a", "maxGrepFileSizeMb": 5}).Text
	require.Contains(t, text, "0 matches in 0 files searched\n1 file too large to search, this workspace reads none above 10 bytes:\n")
	require.Contains(t, text, "\n/large\n")
}

// newText has to be given, even if it is empty: an edit that leaves it out was cut short somewhere.
func TestEditNeedsNewText(t *testing.T) {
	b, fsys := box(t, nil)
	vfstest.Write(t, fsys, "a", "hello world")
	for _, in := range []args{
		{"path": "/a", "oldText": "hello"},
		{"path": "/a", "oldText": "hello", "newText": nil},
		{"path": "/a", "edits": []args{{"oldText": "hello"}}},
	} {
		r := try(t, b, "workspace_edit_file", in)
		require.ErrorIs(t, r.Err, syscall.EINVAL)
		require.Contains(t, r.Text, "newText")
	}
	r := try(t, b, "workspace_apply", args{"operations": []args{{"tool": "edit_file", "args": args{"path": "/a", "oldText": "hello"}}}})
	require.ErrorIs(t, r.Err, syscall.EINVAL)
	require.Equal(t, "hello world", vfstest.Read(t, fsys, "a"))
	call(t, b, "workspace_edit_file", args{"path": "/a", "oldText": "hello ", "newText": ""})
	require.Equal(t, "world", vfstest.Read(t, fsys, "a"))
}
