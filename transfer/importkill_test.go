package transfer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// TestKillImport kills processes that import a directory, at random moments: each time all of it is there, or nothing.
func TestKillImport(t *testing.T) {
	if src := os.Getenv("TRANSFER_KILL_SOURCE"); src != "" {
		importUntilKilled(t, src)
		return
	}
	random := rand.New(rand.NewPCG(1, 6))
	src := t.TempDir()
	const files = 300
	for n := range files {
		name := filepath.Join(src, fmt.Sprintf("d%d", n%17), fmt.Sprintf("f%d", n))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, noise(byte(n), 100*n), 0o644))
	}
	file := filepath.Join(t.TempDir(), "killed.db")
	fsys, err := vfs.Open(t.Context(), file, nil)
	require.NoError(t, err)
	require.NoError(t, fsys.Close())

	var whole time.Duration // that one import takes, with its process
	for kill := range vfstest.Kills(t, 10) + 1 {
		child := vfstest.Child(t, "TRANSFER_KILL_SOURCE="+src, "TRANSFER_KILL_STORE="+file, fmt.Sprintf("TRANSFER_KILL_TO=to%d", kill))
		if kill == 0 { // the first one is not killed
			whole = vfstest.KillAfter(t, child, 0)
		} else {
			vfstest.KillAfter(t, child, 1+time.Duration(random.Float64()*float64(whole)))
		}

		fsys, err := vfs.Open(t.Context(), file, nil)
		require.NoError(t, err)
		vfstest.Check(t, fsys)
		there := 0
		for _, name := range fileNames(t, fsys) {
			if strings.HasPrefix(name, fmt.Sprintf("to%d/", kill)) {
				there++
			}
		}
		require.Contains(t, []int{0, files}, there)
		if kill == 0 {
			require.Equal(t, files, there)
		}
		require.NoError(t, fsys.Close())
	}
}

func importUntilKilled(t *testing.T, src string) {
	ctx := context.Background()
	fsys, err := vfs.Open(ctx, os.Getenv("TRANSFER_KILL_STORE"), nil)
	require.NoError(t, err)
	defer fsys.Close()
	_, err = ImportDir(ctx, fsys, src, os.Getenv("TRANSFER_KILL_TO"), nil)
	require.NoError(t, err)
}
