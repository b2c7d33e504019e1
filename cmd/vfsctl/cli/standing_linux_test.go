package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Where the state directory is another user's, nothing is remembered. A file there that can be seen and not be read is an error.
func TestStandingOfAnotherUser(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	db := filepath.Join(t.TempDir(), "agent.db")
	require.NoError(t, os.WriteFile(db, nil, 0o644))
	for _, open := range []string{filepath.Dir(state), state, filepath.Dir(db)} {
		require.NoError(t, os.Chmod(open, 0o755))
	}
	name, _, err := standingFile(db)
	require.NoError(t, err)
	require.NoError(t, (&standing{Branch: "a"}).save(name))
	dir := filepath.Dir(name)
	t.Cleanup(func() { require.NoError(t, os.Chmod(dir, 0o700)) })

	load := func() (*standing, error) {
		if os.Geteuid() != 0 {
			return loadStanding(db)
		}
		runtime.LockOSThread()
		require.NoError(t, unix.Setfsuid(65534))
		defer func() {
			require.NoError(t, unix.Setfsuid(0))
			runtime.UnlockOSThread()
		}()
		return loadStanding(db)
	}

	require.NoError(t, os.Chmod(dir, 0))
	kept, err := load()
	require.NoError(t, err)
	require.Nil(t, kept)

	for at := dir; at != state; at = filepath.Dir(at) {
		require.NoError(t, os.Chmod(at, 0o755))
	}
	require.NoError(t, os.Chmod(name, 0))
	_, err = load()
	require.ErrorIs(t, err, fs.ErrPermission)
}
