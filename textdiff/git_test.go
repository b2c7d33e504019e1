package textdiff

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// host runs a program in dir, with no configuration of anybody, and returns its output and its exit code.
func host(t testing.TB, dir string, args ...string) (out []byte, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		require.Empty(t, stderr.String(), "%v", args)
		return out, exit.ExitCode()
	}
	require.NoError(t, err, "%v", args)
	return out, 0
}

// need skips a test on a machine without the program that it compares with.
func need(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not on this machine: %v", program, err)
	}
}

// put writes text to a file in dir.
func write(t testing.TB, dir, name string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
}

// A gitPair is two texts that a test compares by git and by us.
type gitPair struct{ a, b []byte }

// bodies runs git diff once over all pairs and returns what it says of each, behind the lines that name the files.
func bodies(t testing.TB, pairs []gitPair, options ...string) []string {
	t.Helper()
	need(t, "git")
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "b"), 0o700))
	for i, p := range pairs {
		name := fmt.Sprintf("%06d", i)
		write(t, dir, "a/"+name, p.a)
		write(t, dir, "b/"+name, p.b)
	}

	args := append([]string{"git", "diff", "--no-index", "--no-color", "--text", "--no-renames"}, options...)
	out, code := host(t, dir, append(args, "a", "b")...)
	require.LessOrEqual(t, code, 1)
	list := make([]string, len(pairs))
	for section := range strings.SplitSeq("\n"+string(out), "\ndiff --git ") {
		if section == "" || section == "\n" {
			continue
		}
		names, body, _ := strings.Cut(section, "\n@@ ")
		name, _, _ := strings.Cut(strings.TrimPrefix(names, "a/a/"), " ")
		var i int
		_, err := fmt.Sscanf(name, "%d", &i)
		require.NoError(t, err, names)
		list[i] = plain("@@ " + strings.TrimSuffix(body, "\n") + "\n")
	}
	return list
}

// plain is a patch without the functions that git names in its headers.
func plain(patch string) string {
	lines := strings.SplitAfter(patch, "\n")
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, "@@ "); ok {
			place, _, _ := strings.Cut(rest, " @@")
			lines[i] = "@@ " + place + " @@\n"
		}
	}
	return strings.Join(lines, "")
}
