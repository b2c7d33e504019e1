package mount_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/posixtest"
	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/mount"
	"vfsdb/vfs"
)

// live mounts the head of a branch until the test ends, and returns the directory.
func live(t *testing.T, fsys *vfs.FS, options *mount.LiveOptions) (dir string, m *mount.Mount) {
	t.Helper()
	dir = t.TempDir()
	m, err := mount.Live(t.Context(), fsys, dir, options)
	if errors.Is(err, mount.ErrNotAllowed) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		select {
		case <-m.Done():
		default:
			if err := m.Unmount(); err != nil {
				t.Error(err)
				_ = m.Detach()
			}
		}
	})
	return dir, m
}

// What go-fuse expects of any file system holds.
func TestLivePosix(t *testing.T) {
	for name, test := range posixtest.All {
		t.Run(name, func(t *testing.T) {
			if name == "FcntlFlockLocksFile" {
				t.Skip("it expects a lock to be in the way of the process that has it, as on no host")
			}
			dir, _ := live(t, vfstest.New(t), nil)
			test(t, dir)
		})
	}
}

func TestLive(t *testing.T) {
	fsys := vfstest.New(t, "a", "d/e/f")
	dir, m := live(t, fsys, nil)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d/new"), []byte("hello"), 0o640))
	text, err := os.ReadFile(filepath.Join(dir, "d/new"))
	require.NoError(t, err)
	require.Equal(t, "hello", string(text))
	require.NoError(t, m.Unmount())
	text, err = fsys.ReadFile(t.Context(), "d/new")
	require.NoError(t, err)
	require.Equal(t, "hello", string(text))
}

// If a commit fails, its changes are gone. Nobody sees them any more, and an fsync reports the loss. Data of a file that
// existed before is committed later.
func TestLiveFailedCommit(t *testing.T) {
	fsys := vfstest.New(t, "a", "b", "d/")
	dir, _ := live(t, fsys, &mount.LiveOptions{Gather: time.Hour})
	d, err := os.Open(dir)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Sync())

	require.NoError(t, os.WriteFile(filepath.Join(dir, "d/new"), []byte("new"), 0o600))
	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	b, err := os.OpenFile(filepath.Join(dir, "b"), os.O_WRONLY, 0)
	require.NoError(t, err)
	defer b.Close()
	_, err = b.Write([]byte("written"))
	require.NoError(t, err)

	fsys.Store().SetReadOnly(true)
	require.ErrorIs(t, d.Sync(), syscall.EROFS)
	fsys.Store().SetReadOnly(false)
	soon(t, func() error {
		_, err := os.Lstat(filepath.Join(dir, "a"))
		return err
	})
	soon(t, func() error {
		if _, err := os.Lstat(filepath.Join(dir, "d/new")); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("it is there: %v", err)
		}
		return nil
	})
	require.NoError(t, b.Sync())
	require.Equal(t, "written", vfstest.Read(t, fsys, "b"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d/new"), []byte("again"), 0o600))
	require.NoError(t, d.Sync())
	require.Equal(t, "again", vfstest.Read(t, fsys, "d/new"))
	soon(t, func() error { return sameAsHost(fsys, dir) })
}

// Random changes have the same outcome on a mount and on the host.
func TestLiveBesideHost(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("modes refuse something to a user on the host, and nothing on a mount by this user")
	}
	fsys := vfstest.New(t)
	dir, _ := live(t, fsys, nil)
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	for round := range rounds {
		name := fmt.Sprint("round-", round)
		dirs := []string{filepath.Join(dir, name), filepath.Join(t.TempDir(), name)}
		var lines [2]map[string]string
		for i, dir := range dirs {
			require.NoError(t, os.Mkdir(dir, 0o755))
			random := rand.New(rand.NewPCG(uint64(round), 0))
			for range 120 {
				onHost(random, dir)
			}
			var err error
			lines[i], err = onDir(dir, false)
			require.NoError(t, err)
		}
		require.Equal(t, lines[1], lines[0])
	}
	soon(t, func() error { return sameAsHost(fsys, dir) })
}

// A file that is written to at length is committed while the program goes on, not only at the end of the time.
func TestLiveCommitsMuchEarly(t *testing.T) {
	fsys := vfstest.New(t)
	dir, _ := live(t, fsys, &mount.LiveOptions{Gather: time.Hour})
	f, err := os.Create(filepath.Join(dir, "long"))
	require.NoError(t, err)
	defer f.Close()

	part := make([]byte, 1<<20)
	for i := range 5 {
		part[0] = byte(i)
		_, err := f.Write(part)
		require.NoError(t, err)
	}
	soon(t, func() error {
		info, err := fsys.Lstat(t.Context(), "long")
		if err == nil && info.Size() < 4<<20 {
			err = fmt.Errorf("%d bytes are committed", info.Size())
		}
		return err
	})
}
