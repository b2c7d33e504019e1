package git_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/git"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

func TestMain(m *testing.M) { vfstest.Main(m) }

// hostGit runs git in a directory, with nobody's configuration.
func hostGit(t *testing.T, dir string, stdin []byte, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann Author", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=Carl", "GIT_COMMITTER_EMAIL=", "GIT_AUTHOR_DATE=1700000000 +0130", "GIT_COMMITTER_DATE=1700000100 -0800", "LC_ALL=C")
	cmd.Stdin = bytes.NewReader(stdin)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, "git %v: %s", args, &errs)
	return strings.TrimSuffix(string(out), "\n")
}

// newRepo makes an empty repository.
func newRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	hostGit(t, dir, nil, "init", "-q", "-b", "main")
	return dir
}

// commitAll commits what is in the directory of a repository.
func commitAll(t *testing.T, dir, message string) string {
	t.Helper()
	hostGit(t, dir, nil, "add", "-A")
	hostGit(t, dir, nil, "commit", "-q", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "-m", message)
	return hostGit(t, dir, nil, "rev-parse", "HEAD")
}

// writeHost writes a file of the host.
func writeHost(t *testing.T, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
}

// export exports trees.
func export(t *testing.T, o *git.ExportOptions, refs ...git.Ref) ([]byte, *git.Report) {
	t.Helper()
	var b bytes.Buffer
	report, err := git.Export(t.Context(), &b, refs, o)
	require.NoError(t, err)
	return b.Bytes(), report
}

// head is the head of a branch, as a ref.
func head(fsys *vfs.FS) git.Ref { return git.Ref{Name: "refs/heads/" + fsys.Head(), Tree: fsys} }

// takeIn feeds a stream to git fast-import, and has git check the repository.
func takeIn(t *testing.T, dir string, stream []byte) {
	t.Helper()
	hostGit(t, dir, stream, "fast-import", "--quiet")
	require.Empty(t, hostGit(t, dir, nil, "fsck", "--strict", "--no-dangling"))
}

// branchOf opens a branch.
func branchOf(t *testing.T, fsys *vfs.FS, name string) *vfs.FS {
	t.Helper()
	b, err := fsys.Branch(t.Context(), name)
	require.NoError(t, err)
	return b
}
