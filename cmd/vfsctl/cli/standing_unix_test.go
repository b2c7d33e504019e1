//go:build unix

package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/cmd/vfsctl/term"
	"vfsdb/vfs"
)

// Shells that switch at once leave the choice of one of them, and never a file that cannot be read.
func TestSwitchAtOnce(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv(branchEnv, "")
	db := filepath.Join(t.TempDir(), "agent.db")
	fsys, err := vfs.Open(t.Context(), db, nil)
	require.NoError(t, err)
	defer fsys.Close()

	names := []string{"a", strings.Repeat("b", 200), "c"}
	shell := func() *App { return &App{DB: db, Out: term.New(io.Discard), Errs: term.New(io.Discard)} }
	_, err = shell().Switch(t.Context(), fsys, "a")
	require.NoError(t, err)

	var shells sync.WaitGroup
	errs := make(chan error, 2*len(names)*50)
	for _, name := range names {
		shells.Go(func() {
			for range 50 {
				_, err := shell().Switch(t.Context(), fsys, name)
				errs <- err
				kept, err := loadStanding(db)
				if err == nil && kept == nil {
					err = os.ErrNotExist
				}
				errs <- err
			}
		})
	}
	shells.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}

	kept, err := loadStanding(db)
	require.NoError(t, err)
	require.Contains(t, names, kept.Branch)
	name, _, err := standingFile(db)
	require.NoError(t, err)
	left, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	require.Len(t, left, 1)
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
}
