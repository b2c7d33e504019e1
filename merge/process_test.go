package merge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/merge"
	"vfsdb/vfs"
)

// worker merges the branch that its environment names into main, and main into that, and writes to it, round after round. It
// ends with the round that the environment names, or is killed.
func worker(t *testing.T, path string) {
	ctx := context.Background()
	main, err := vfs.Open(ctx, path, nil)
	require.NoError(t, err)
	defer main.Close()
	for round := 0; ; round++ {
		try, err := main.Branch(ctx, os.Getenv("VFS_MERGE_FROM"))
		require.NoError(t, err)
		_, err = merge.Into(ctx, main, try, nil)
		require.NoError(t, err)
		if round%3 == 2 {
			_, err = merge.Into(ctx, try, main, nil)
			require.NoError(t, err)
		}
		file := os.Getenv("VFS_MERGE_FROM") + fmt.Sprint(round%7)
		require.NoError(t, try.WriteFile(ctx, "own/"+file, fmt.Appendf(nil, "%d", round), 0o644))
		require.NoError(t, try.WriteFile(ctx, "shared", fmt.Appendf(nil, "%s %d", file, round), 0o644))
		if os.Getenv("VFS_MERGE_ROUNDS") == fmt.Sprint(round) {
			return
		}
	}
}

// workerFor starts a worker on a branch of its own.
func workerFor(t *testing.T, path, from, rounds string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMergeProcesses$")
	cmd.Env = append(os.Environ(), "VFS_MERGE_PATH="+path, "VFS_MERGE_FROM="+from, "VFS_MERGE_ROUNDS="+rounds)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	require.NoError(t, cmd.Start())
	return cmd
}

// Two processes merge branches of theirs and a common one into each other at once. Then they do so again, and are killed: each merge is there or not.
func TestMergeProcesses(t *testing.T) {
	if path := os.Getenv("VFS_MERGE_PATH"); path != "" {
		worker(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "merge.db")
	main := vfstest.Open(t, path, nil)
	change(t, main, "w own/a 1", "w shared 1")
	for _, name := range []string{"x", "y"} {
		fork(t, main, name)
	}

	x, y := workerFor(t, path, "x", "20"), workerFor(t, path, "y", "20")
	require.NoError(t, x.Wait())
	require.NoError(t, y.Wait())
	for _, name := range []string{"x", "y"} {
		try, err := main.Branch(t.Context(), name)
		require.NoError(t, err)
		into(t, main, try)
		for i := range 7 {
			want, err := try.ReadFile(t.Context(), fmt.Sprintf("own/%s%d", name, i))
			require.NoError(t, err)
			is, err := main.ReadFile(t.Context(), fmt.Sprintf("own/%s%d", name, i))
			require.NoError(t, err)
			require.Equal(t, string(want), string(is))
		}
	}
	vfstest.Check(t, main)

	for range 4 {
		x, y := workerFor(t, path, "x", ""), workerFor(t, path, "y", "")
		time.Sleep(time.Duration(100+rand.IntN(400)) * time.Millisecond) // any moment will do
		for _, cmd := range []*exec.Cmd{x, y} {
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
		}
		vfstest.Check(t, main)
		for _, name := range []string{"x", "y"} {
			try, err := main.Branch(t.Context(), name)
			require.NoError(t, err)
			into(t, main, try)
			require.True(t, into(t, main, try).UpToDate)
		}
	}
}
