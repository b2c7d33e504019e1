package run_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
)

// The next run of a branch finds the directory of the last one, brought up to date; a run beside it has another directory, and
// what a run keeps is not in its way.
func TestCopySlots(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "d/b")
	cache := t.TempDir()
	sh := func(o run.Options, script string) (string, *run.Cmd) {
		o.Via, o.Cache = run.Copy, cache
		cmd := shell(t, ctx, fsys, o, script)
		out, err := cmd.Output()
		require.NoError(t, err)
		return string(out), cmd
	}
	first, _ := sh(run.Options{}, "pwd; echo x > c")
	require.NoError(t, fsys.WriteFile(ctx, "later", []byte("later"), 0o644))
	require.NoError(t, fsys.Remove(ctx, "a"))
	dropped, _ := sh(run.Options{ReadOnly: true}, "pwd; echo x > dropped; rm d/b; test ! -e a && cat later > later2")
	require.Equal(t, first, dropped)
	third, _ := sh(run.Options{}, "pwd; ls")
	require.Equal(t, first+"c\nd\nlater\n", third)
	require.Equal(t, []string{"c", "d/", "d/b", "later"}, vfstest.Names(t, fsys))

	kept, cmd := sh(run.Options{Keep: true}, "pwd; echo y > c")
	require.Equal(t, first, kept)
	data, err := os.ReadFile(filepath.Join(cmd.Result.Kept, "c"))
	require.NoError(t, err)
	require.Equal(t, "y\n", string(data))
	again, _ := sh(run.Options{}, "pwd; cat c")
	require.Equal(t, first+"y\n", again)

	// While one runs, another one has a directory of its own.
	signs := t.TempDir()
	slow := run.Command(ctx, fsys, run.Options{Via: run.Copy, Cache: cache}, "/bin/sh", "-c",
		`: > `+signs+`/ready; until test -f `+signs+`/go; do sleep 0.01; done`)
	done := make(chan error, 1)
	go func() { done <- slow.Run() }()
	require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(signs, "ready")); return err == nil }, long, tick)
	beside, _ := sh(run.Options{}, "pwd")
	require.NotEqual(t, first, beside)
	require.NoError(t, os.WriteFile(filepath.Join(signs, "go"), nil, 0o600))
	require.NoError(t, <-done)
}
