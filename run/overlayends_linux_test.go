package run_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
)

// Processes that a command leaves behind end with the run, and what they did until then is there.
func TestOverlayEndsAll(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	mark := "VFS_TEST_MARK=" + t.TempDir()
	cmd := overlay(t, ctx, fsys, run.Options{Env: []string{mark}}, "/bin/sh", "-ec", `
		(trap 'echo ended > end; exit' TERM; : > waits; while :; do sleep 0.01; done) >/dev/null 2>&1 &
		(trap '' TERM HUP; : > ignores; exec sleep 1000) >/dev/null 2>&1 &
		while ! test -e waits -a -e ignores; do sleep 0.01; done`)
	require.NoError(t, cmd.Run())
	require.Equal(t, "ended\n", text(t, fsys, "end"))
	require.Empty(t, processesOf(mark))
}

// A result that cannot be stored stays on the host, and the error names the directory.
func TestOverlayKept(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	mark := "VFS_TEST_MARK=" + t.TempDir()
	gate := filepath.Join(t.TempDir(), "gate")
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	cmd := overlay(t, ctx, fsys, run.Options{Env: []string{mark}}, "/bin/sh", "-ec", `echo kept > a; while test -e "$1"; do sleep 0.01; done`, "sh", gate)

	done := make(chan error, 1)
	go func() { done <- cmd.Run() }()
	require.Eventually(t, func() bool { return len(processesOf(mark)) > 0 }, long, tick)
	fsys.Store().SetReadOnly(true)
	require.NoError(t, os.Remove(gate))
	err := <-done
	fsys.Store().SetReadOnly(false)

	var kept *run.KeptError
	require.ErrorAs(t, err, &kept)
	require.ErrorIs(t, err, syscall.EROFS)
	text, err := os.ReadFile(filepath.Join(kept.Dir, "a"))
	require.NoError(t, errors.Join(err, os.RemoveAll(filepath.Dir(kept.Dir))))
	require.Equal(t, "kept\n", string(text))
}
