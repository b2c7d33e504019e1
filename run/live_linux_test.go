package run_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
)

// A command on a live mount changes the branch itself: others see it before the command ends, and no mount is left.
func TestLive(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "d/b")
	t.Setenv("TMPDIR", t.TempDir())
	signs := t.TempDir()
	cmd := shell(t, ctx, fsys, run.Options{Via: run.Live, Dir: "d"}, `
		echo seen > new && cat new && rm ../a && sync new || exit 10
		: > `+signs+`/ready; until test -f `+signs+`/go; do sleep 0.01; done; echo late > late; exit 4`)
	done := started(t, cmd, signs)
	require.Equal(t, "seen\n", text(t, fsys, "d/new"))
	require.NoError(t, os.WriteFile(filepath.Join(signs, "go"), nil, 0o600))

	var exit *run.ExitError
	require.ErrorAs(t, <-done, &exit)
	require.Equal(t, 4, exit.Code)
	require.Equal(t, "late\n", text(t, fsys, "d/late"))
	require.Equal(t, run.Live, cmd.Result.Engine)
	require.Equal(t, "main", cmd.Result.Branch)
	require.Equal(t, 3, cmd.Result.Changed)
	require.Empty(t, leftInTemp(t, os.TempDir()))
}

// leftInTemp returns what runs have left in a directory for temporary files.
func leftInTemp(t *testing.T, temp string) []string {
	left, err := filepath.Glob(filepath.Join(temp, "vfsdb-run-*", "*-*"))
	require.NoError(t, err)
	return left
}
