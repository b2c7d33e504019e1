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
	shown := playPage(t, "BRANCHES.md")
	require.True(t, slices.ContainsFunc(shown, func(text string) bool { return strings.Contains(text, "exit code 14") }))
}

// The session of REVIEW.md prints what the page shows: changes are read, one file comes back, a secret is purged, and the
// result goes on to git.
func TestReviewSession(t *testing.T) {
	shown := playPage(t, "REVIEW.md")
	require.True(t, slices.ContainsFunc(shown, func(text string) bool { return strings.Contains(text, "purged 1 file") }))
}

// playPage runs the commands of a page in one shell, compares what each block prints with what the page shows, and returns
// that.
func playPage(t *testing.T, name string) []string {
	if runtime.GOOS == "windows" {
		t.Skip("the session is for a POSIX shell")
	}
	program, err := vfsctl()
	require.NoError(t, err)
	page := document(t, name)

	const end = "--- end of a block ---\n"
	session := exec.CommandContext(t.Context(), "sh", "-e")
	session.Stdin = strings.NewReader(strings.Join(blocks(page, "sh"), "echo '"+strings.TrimSpace(end)+"'\n"))
	session.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "TMPDIR="+t.TempDir(),
		"XDG_STATE_HOME="+t.TempDir(), "VFS_DB=", "VFS_BRANCH=", "GOFLAGS=", "GOWORK=off")
	out, err := session.CombinedOutput()
	require.NoError(t, err, "%s", out)

	printed := strings.Split(string(out), end)
	shown := blocks(page, "text")
	require.Len(t, printed, len(shown), "%s", out)
	for i, text := range shown {
		require.Equal(t, timeless(text), timeless(printed[i]))
	}
	return shown
}
