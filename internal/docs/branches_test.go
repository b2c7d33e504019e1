package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The session of BRANCHES.md prints what the page shows, block by block: two attempts are forked, tested and merged, a conflict
// is resolved, the result is applied to the directory, and a call is undone.
func TestBranchesSession(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the session is for a POSIX shell")
	}
	program, err := vfsctl()
	require.NoError(t, err)
	page := document(t, "BRANCHES.md")

	const end = "--- end of a block ---\n"
	session := exec.CommandContext(t.Context(), "sh", "-e")
	session.Stdin = strings.NewReader(strings.Join(blocks(page, "sh"), "echo '"+strings.TrimSpace(end)+"'\n"))
	session.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "TMPDIR="+t.TempDir(),
		"VFS_DB=", "VFS_BRANCH=", "GOFLAGS=", "GOWORK=off")
	out, err := session.CombinedOutput()
	require.NoError(t, err, "%s", out)

	printed := strings.Split(string(out), end)
	shown := blocks(page, "text")
	require.Len(t, printed, len(shown), "%s", out)
	for i, text := range shown {
		require.Equal(t, timeless(text), timeless(printed[i]))
	}
	require.True(t, slices.ContainsFunc(shown, func(text string) bool { return strings.Contains(text, "exit code 14") }))
}
