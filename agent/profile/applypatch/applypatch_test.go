package applypatch_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/profile/applypatch"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
)

// v4a is the input of a patch.
func v4a(lines ...string) agentkit.Args {
	return agentkit.Args{"input": "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"}
}

// partial is a patch that keeps what it did before a failure.
func partial(in agentkit.Args) agentkit.Args {
	in["partial"] = true
	return in
}

func TestApplyPatch(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: applypatch.Profile, Dir: "/repo"}, "repo/")
	agentkit.Put(t, fsys, "repo/modify.txt", "line1\nline2\n")
	agentkit.Put(t, fsys, "repo/delete.txt", "obsolete\n")
	agentkit.Put(t, fsys, "repo/old/name.txt", "from\n")
	agentkit.Put(t, fsys, "repo/there.txt", "there\n")
	agentkit.Put(t, fsys, "repo/plain.txt", "as it is")
	require.NoError(t, fsys.Chmod(t.Context(), "repo/old/name.txt", 0o755))
	agentkit.Says(t, b, "apply_patch", v4a(
		"*** Add File: nested/new.txt", "+created",
		"*** Delete File: delete.txt",
		"*** Update File: modify.txt", "@@", "-line2", "+changed",
		"*** Update File: old/name.txt", "*** Move to: renamed/dir/name.txt", "@@", "-from", "+new content",
		"*** Add File: there.txt", "+replaced",
		"*** Update File: plain.txt", "*** Move to: moved.txt",
	), "Success. Updated the following files:\nA nested/new.txt\nA there.txt\nM modify.txt\nM renamed/dir/name.txt\nM moved.txt\nD delete.txt")
	require.Equal(t, []string{
		"repo/", "repo/modify.txt", "repo/moved.txt", "repo/nested/", "repo/nested/new.txt", "repo/old/",
		"repo/renamed/", "repo/renamed/dir/", "repo/renamed/dir/name.txt", "repo/there.txt",
	}, vfstest.Names(t, fsys))
	require.Equal(t, "line1\nchanged\n", vfstest.Read(t, fsys, "repo/modify.txt"))
	require.Equal(t, "new content\n", vfstest.Read(t, fsys, "repo/renamed/dir/name.txt"))
	require.Equal(t, "replaced\n", vfstest.Read(t, fsys, "repo/there.txt"))
	info, err := fsys.Stat(t.Context(), "repo/renamed/dir/name.txt")
	require.NoError(t, err)
	require.EqualValues(t, 0o755, info.Mode().Perm())
	agentkit.Says(t, b, "apply_patch", v4a("*** Update File: modify.txt", "*** Move to: there.txt", "@@", "-line1"),
		"Success. Updated the following files:\nM there.txt") // it replaces what is there
	require.Equal(t, "changed\n", vfstest.Read(t, fsys, "repo/there.txt"))
}

func TestApplyPatchRefuses(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: applypatch.Profile}, "dir/f")
	agentkit.Put(t, fsys, "a.txt", "one\ntwo\nthree\n")
	agentkit.Put(t, fsys, "bin", "\x00\x01")
	for _, tt := range []struct {
		in    agentkit.Args
		errno error
		want  string
	}{
		{agentkit.Args{}, syscall.EINVAL, "arguments of apply_patch: give input, with the whole patch, or operation"},
		{agentkit.Args{"input": "x", "operation": agentkit.Args{"type": "delete_file", "path": "a.txt"}}, syscall.EINVAL, "arguments of apply_patch: give input, with the whole patch, or operation"},
		{agentkit.Args{"input": "x"}, syscall.EINVAL, "Invalid patch: The first line of the patch must be '*** Begin Patch'"},
		{agentkit.Args{"input": "*** Begin Patch\n*** End Patch"}, syscall.EINVAL, "No files were modified."},
		{v4a("*** Update File: a.txt", "one"), syscall.EINVAL, "Invalid patch hunk on line 3: Unexpected line found in update hunk: 'one'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)"},
		{
			v4a("*** Add File: new", "+x", "*** Update File: a.txt", "@@", " one", "+x", "@@", " 2", "-3", "+y"), syscall.EINVAL,
			"Failed to find expected lines in a.txt (hunk 2 of 2, line 8 of the patch):\n2\n3\nRead the file, and give the lines as they are there.\nNothing was changed.",
		},
		{
			v4a("*** Update File: a.txt", "@@ four", "-one"), syscall.EINVAL,
			"Failed to find context 'four' in a.txt (hunk 1 of 1, line 3 of the patch)\nRead the file, and give the lines as they are there.\nNothing was changed.",
		},
		{
			v4a("*** Update File: a.txt", "@@", "-two", "@@", "-one"), syscall.EINVAL,
			"Failed to find expected lines in a.txt (hunk 2 of 2, line 5 of the patch):\none\nIt is on line 1 of the file: hunks have to follow each other in the order of the file, and *** End of File stands for its last lines.\nNothing was changed.",
		},
		{v4a("*** Add File: new", "+x", "*** Update File: none", "@@", "-x"), syscall.ENOENT, "Failed to read file to update none: there is no such file\nNothing was changed."},
		{v4a("*** Update File: dir", "@@", "-x"), syscall.EISDIR, "Failed to read file to update dir: it is a directory\nNothing was changed."},
		{v4a("*** Update File: bin", "@@", "-x"), syscall.EINVAL, "'/bin' is a binary file of 2 bytes, not text\nNothing was changed."},
		{v4a("*** Update File: a.txt", "*** Move to: dir", "@@", "-one"), syscall.EISDIR, "Failed to write file dir: it is a directory\nNothing was changed."},
		{v4a("*** Delete File: none"), syscall.ENOENT, "Failed to delete file none: there is no such file\nNothing was changed."},
		{v4a("*** Delete File: a.txt/below"), syscall.ENOENT, "Failed to delete file a.txt/below: there is no such file\nNothing was changed."},
		{v4a("*** Delete File: dir"), syscall.EISDIR, "Failed to delete file dir: it is a directory\nNothing was changed."},
		{v4a("*** Add File: dir", "+x"), syscall.EISDIR, "'/dir': is a directory\nNothing was changed."},
	} {
		before := vfstest.Dump(t, fsys)
		agentkit.Refuses(t, b, "apply_patch", tt.in, tt.errno, tt.want)
		require.Equal(t, before, vfstest.Dump(t, fsys))
	}

	// What a partial patch did before it failed stays; a file of which one hunk fails is as it was.
	agentkit.Refuses(t, b, "apply_patch", partial(v4a(
		"*** Add File: created.txt", "+hello", "*** Delete File: dir/f",
		"*** Update File: a.txt", "@@", "-one", "+1", "@@", "-none", "*** Add File: never", "+x",
	)), syscall.EINVAL, "Failed to find expected lines in a.txt (hunk 2 of 2, line 9 of the patch):\nnone\n"+
		"Read the file, and give the lines as they are there.\nThe following files were updated before that:\nA created.txt\nD dir/f")
	require.Equal(t, []string{"a.txt", "bin", "created.txt", "dir/"}, vfstest.Names(t, fsys))
	require.Equal(t, "one\ntwo\nthree\n", vfstest.Read(t, fsys, "a.txt"))
}

// The form of the Responses API: one operation, answered with a status.
func TestApplyPatchOperation(t *testing.T) {
	b, fsys := agentkit.Box(t, &tool.Config{Profile: applypatch.Profile})
	answers := func(kind, path, diff, status, output string) {
		t.Helper()
		r := agentkit.Try(t, b, "apply_patch", agentkit.Args{"operation": agentkit.Args{"type": kind, "path": path, "diff": diff}})
		data, err := json.Marshal(r.Data)
		require.NoError(t, err)
		want, err := json.Marshal(map[string]string{"status": status, "output": output})
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(data))
		require.Equal(t, output, r.Text)
		require.Equal(t, status == "failed", r.Err != nil)
	}
	answers("create_file", "src/a.py", "+def f():\n+    pass\n", "completed", "Created src/a.py")
	answers("update_file", "src/a.py", "@@ def f():\n-    pass\n+    return 1\n", "completed", "Updated src/a.py")
	require.Equal(t, "def f():\n    return 1\n", vfstest.Read(t, fsys, "src/a.py"))
	answers("update_file", "src/a.py", "@@\n-gone\n", "failed",
		"Failed to find expected lines in src/a.py (hunk 1 of 1, line 1 of the patch):\ngone\nRead the file, and give the lines as they are there.\nNothing was changed.")
	answers("update_file", "src/a.py", "", "failed", "Invalid patch hunk on line 1: Update file hunk for path 'src/a.py' is empty")
	answers("delete_file", "src/a.py", "", "completed", "Deleted src/a.py")
	answers("delete_file", "src/a.py", "", "failed", "Failed to delete file src/a.py: there is no such file\nNothing was changed.")
	answers("delete_file", "", "", "failed", `arguments of apply_patch: "path" of the operation is empty`)
	require.Equal(t, []string{"src/"}, vfstest.Names(t, fsys))
	require.ErrorIs(t, agentkit.Try(t, b, "apply_patch", agentkit.Args{"operation": agentkit.Args{"type": "move_file", "path": "a"}}).Err, syscall.EINVAL)
}

// A patch goes only where the policy lets it.
func TestApplyPatchPolicy(t *testing.T) {
	whole, _ := agentkit.Box(t, &tool.Config{Profile: applypatch.Profile})
	agentkit.Golden(t, "apply-patch", agentkit.Describe(whole))
	require.Equal(t, tool.High, whole.Tool("apply_patch").Risk)

	b, fsys := agentkit.Box(t, &tool.Config{Profile: applypatch.Profile, Policy: &policy.Policy{
		Paths: []string{"/ok"}, Permissions: []policy.Permission{policy.Read, policy.Write},
	}}, "ok/a", "secret/s")
	require.NoError(t, fsys.Symlink(t.Context(), "/secret", "ok/out"))
	before := vfstest.Dump(t, fsys)
	for _, lines := range [][]string{
		{"*** Add File: ok/new", "+x", "*** Add File: secret/new", "+x"},
		{"*** Update File: ok/out/s", "@@", "-secret/s"},
		{"*** Update File: ok/a", "*** Move to: secret/a"},
		{"*** Update File: ok/../secret/s", "*** Move to: ok/s"},
		{"*** Delete File: ok/a"},
	} {
		var refused *policy.Error
		require.ErrorAs(t, agentkit.Try(t, b, "apply_patch", v4a(lines...)).Err, &refused)
		require.ErrorAs(t, agentkit.Try(t, b, "apply_patch", partial(v4a(lines[len(lines)-1:]...))).Err, new(error))
	}
	require.Equal(t, before, vfstest.Dump(t, fsys))
	require.Equal(t, tool.Medium, b.Tool("apply_patch").Risk)
}
