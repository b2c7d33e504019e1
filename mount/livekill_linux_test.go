package mount_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/mount"
	"vfsdb/vfs"
)

// serveEnv makes the test binary serve a live mount that commits each change at once, until it is killed. Its value is the
// database, a comma, and the directory.
const serveEnv = "VFS_TEST_SERVE"

func serveUntilKilled() {
	db, dir, ok := strings.Cut(os.Getenv(serveEnv), ",")
	if !ok {
		return
	}
	ctx := context.Background()
	fsys, err := vfs.Open(ctx, db, nil)
	if err == nil {
		_, err = mount.Live(ctx, fsys, dir, &mount.LiveOptions{Gather: -1})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("mounted")
	select {}
}

// With a negative Gather a change that has returned survives a kill of the process, without a sync. VFS_KILLS is how often.
func TestKillAtOnce(t *testing.T) {
	fsys := vfstest.New(t)
	dir, m := live(t, fsys, nil) // or the test is skipped
	require.NoError(t, m.Unmount())
	kills := 5
	if n, err := strconv.Atoi(os.Getenv("VFS_KILLS")); err == nil {
		kills = n
	}
	random := rand.New(rand.NewPCG(3, 4))

	for kill := range kills {
		server := exec.CommandContext(t.Context(), "/proc/self/exe")
		server.Env = append(os.Environ(), serveEnv+"="+fsys.Store().Path()+","+dir)
		out, err := server.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, server.Start())
		t.Cleanup(func() { _ = syscall.Unmount(dir, 2) }) // MNT_DETACH
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "mounted\n", line)

		at := filepath.Join(dir, fmt.Sprint("kill-", kill))
		require.NoError(t, os.Mkdir(at, 0o755))
		var done atomic.Int64
		enough, ended := make(chan struct{}), make(chan struct{})
		target := int64(1 + random.IntN(40))
		go func() {
			defer close(ended)
			for i := int64(1); saved(at, i) == nil; i++ {
				if done.Store(i); i == target {
					close(enough)
				}
			}
		}()
		select {
		case <-enough:
		case <-ended:
			t.Fatal("a change failed before the kill")
		}
		require.NoError(t, server.Process.Kill())
		require.Error(t, server.Wait())
		<-ended

		for n := done.Load(); n > max(0, done.Load()-slotsOfSaved); n-- {
			got, err := strconv.ParseInt(vfstest.Read(t, fsys, fmt.Sprintf("kill-%d/%d", kill, n%slotsOfSaved)), 10, 64)
			require.NoError(t, err)
			require.GreaterOrEqual(t, got, n)
		}
	}
	again, err := mount.Live(t.Context(), fsys, dir, nil) // over the stale one
	require.NoError(t, err)
	require.NoError(t, again.Unmount())
}

// slotsOfSaved is how many files saved writes in turn.
const slotsOfSaved = 8

// saved saves a number in a file, as editors save.
func saved(dir string, i int64) error {
	name := filepath.Join(dir, "new")
	if err := os.WriteFile(name, strconv.AppendInt(nil, i, 10), 0o600); err != nil {
		return err
	}
	return os.Rename(name, filepath.Join(dir, fmt.Sprint(i%slotsOfSaved)))
}
