package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/vfs"
)

// A mount is killed while a thousand files are open that have no name. A later collection takes them all.
func TestKillMountUnlinked(t *testing.T) {
	vfsctl, work := binary(t), t.TempDir()
	db, dir := filepath.Join(work, "agent.db"), filepath.Join(work, "mnt")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, exec.Command(vfsctl, "--db", db, "init").Run())
	cmd := mounted(t, vfsctl, db, "main", dir, "--live")
	const files = 1000
	for i := range files {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		require.NoError(t, err)
		defer f.Close()
		_, err = fmt.Fprintf(f, "content %d", i)
		require.NoError(t, err)
		require.NoError(t, os.Remove(f.Name()))
	}
	syncDir(t, dir)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())

	fsys, err := vfs.Open(t.Context(), db, nil)
	require.NoError(t, err)
	defer fsys.Close()
	report, err := gc.Run(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.EqualValues(t, files, report.Orphans)
	out, err := exec.Command(vfsctl, "--db", db, "check").CombinedOutput()
	require.NoError(t, err, "%s", out)
}
