package textdiff

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// treesEnv makes the test binary a program that writes the patch between the directories a and b below the path it holds.
const treesEnv = "VFS_TEXTDIFF_TREES"

func TestMain(m *testing.M) {
	if dir := os.Getenv(treesEnv); dir != "" {
		w := bufio.NewWriter(os.Stdout)
		err := diffTrees(w, dir)
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// diffTrees writes the patch between two directories of files.
func diffTrees(w io.Writer, dir string) error {
	entries, err := os.ReadDir(filepath.Join(dir, "a"))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		a, err := os.ReadFile(filepath.Join(dir, "a", entry.Name()))
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, "b", entry.Name()))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "--- a/%s\n+++ b/%s\n", entry.Name(), entry.Name()); err != nil {
			return err
		}
		before, after := Lines(a), Lines(b)
		if err := Unified(w, before, after, Compare(before, after), 3); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkTrees writes the patch of 200 changed files of Go's library, by git and by us, each as a program that reads the
// files. Beside the time it reports the processor's: that is what to compare on a busy machine.
func BenchmarkTrees(b *testing.B) {
	need(b, "git")
	dir := b.TempDir()
	require.NoError(b, os.Mkdir(filepath.Join(dir, "a"), 0o700))
	require.NoError(b, os.Mkdir(filepath.Join(dir, "b"), 0o700))
	r := seeded(21)
	for i := range 200 {
		text := source(b, r)
		write(b, dir, fmt.Sprintf("a/%06d", i), text)
		write(b, dir, fmt.Sprintf("b/%06d", i), rewritten(r, text, 1+r.IntN(12)))
	}

	program := func(b *testing.B, env string, args ...string) {
		used := 0.0
		for b.Loop() {
			cmd := exec.CommandContext(b.Context(), args[0], args[1:]...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", env)
			out, _ := cmd.Output() // git says by its code that there are changes
			require.NotEmpty(b, out)
			used += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		}
		b.ReportMetric(used/float64(b.N)*1000, "cpu-ms/op")
	}
	b.Run("git", func(b *testing.B) { program(b, "LC_ALL=C", "git", "diff", "--no-index", "--no-color", "a", "b") })
	b.Run("ours", func(b *testing.B) { program(b, treesEnv+"="+dir, os.Args[0]) })
	b.Run("inside", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, diffTrees(io.Discard, dir))
		}
	})
}

// BenchmarkMerge merges a text of some thousand lines that both sides changed.
func BenchmarkMerge(b *testing.B) {
	r := seeded(22)
	var base []byte
	for len(base) < 100_000 {
		base = append(base, source(b, r)...)
	}
	ours, theirs := rewritten(r, base, 20), rewritten(r, base, 20)
	b.SetBytes(int64(len(base)))
	for b.Loop() {
		Merge(base, ours, theirs)
	}
}
