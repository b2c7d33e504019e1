package transfer

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	kills, err := strconv.Atoi(os.Getenv("VFS_KILLS"))
	if err != nil {
		kills = 10
	}
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
	for kill := range kills + 1 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKillImport$", "-test.timeout=60s")
		cmd.Env = append(os.Environ(), "TRANSFER_KILL_SOURCE="+src, "TRANSFER_KILL_STORE="+file, fmt.Sprintf("TRANSFER_KILL_TO=to%d", kill))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		begun := time.Now()
		require.NoError(t, cmd.Start())
		if kill > 0 {
			time.Sleep(time.Duration(rand.Float64() * float64(whole)))
			_ = cmd.Process.Kill()
		}
		err := cmd.Wait()
		if kill == 0 {
			require.NoError(t, err, out.String())
			whole = time.Since(begun)
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
