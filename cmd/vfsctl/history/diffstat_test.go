package history

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/cmd/vfsctl/term"
)

// The lines of --stat are those of git, whatever the names and the counts are.
func TestStatAsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("git is not on this machine: %v", err)
	}
	rng := rand.New(rand.NewPCG(13, 2))
	for range 30 {
		list := randomStats(rng)
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		trees := []string{"diff", "--no-renames", "--stat"}
		for side := range 2 {
			for _, s := range list {
				content := strings.Repeat("old\n", s.removed)
				if side == 1 {
					content = strings.Repeat("new\n", s.added)
				}
				if s.binary != "" {
					content = strings.Repeat("\x00", 1+6*side)
				}
				name := filepath.Join(dir, s.name)
				require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
				require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
			}
			git(t, dir, "add", "-A")
			trees = append(trees, strings.TrimSpace(git(t, dir, "write-tree")))
		}

		width := 80
		if rng.IntN(2) == 0 {
			width = 20 + rng.IntN(120)
		}
		trees[2] = fmt.Sprintf("--stat=%d", width)
		var made bytes.Buffer
		out, layout := term.New(&made), layoutOf(list, width)
		added, removed := 0, 0
		for _, s := range list {
			fmt.Fprintln(&made, layout.line(out, s))
			added, removed = added+s.added, removed+s.removed
		}
		fmt.Fprintf(&made, " %s\n", totals(len(list), added, removed))
		require.Equal(t, git(t, dir, trees...), made.String())
	}
}

// randomStats returns files that differ, by name: few or many, with short names or long ones, with few or many lines.
func randomStats(rng *rand.Rand) (list []stat) {
	long, most := 1+rng.IntN(4), 1<<rng.IntN(12)
	for i := range 1 + rng.IntN(12) {
		var parts []string
		for range 1 + rng.IntN(long) {
			parts = append(parts, strings.Repeat(string(rune('a'+rng.IntN(3))), 1+rng.IntN(30)))
		}
		s := stat{name: fmt.Sprintf("%s-%d", strings.Join(parts, "/"), i), added: rng.IntN(most), removed: rng.IntN(most)}
		switch {
		case rng.IntN(8) == 0 && i > 0:
			s.added, s.removed, s.binary = 0, 0, "1 -> 7 bytes"
		case s.added == 0 && s.removed == 0:
			s.added = 1
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b stat) int { return strings.Compare(a.name, b.name) })
	return list
}

// git runs git in a directory, with nobody's configuration, and returns what it prints.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
