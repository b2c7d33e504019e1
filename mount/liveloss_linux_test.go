package mount_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/mount"
	"vfsdb/vfs"
	kit "vfsdb/vfstest"
)

// A file that was lost with its batch shares nothing with one that is made later, though that has the same number: neither
// what was written to it, nor what a program writes that has it open.
func TestLiveNumberAgain(t *testing.T) {
	fsys := vfstest.New(t, "a")
	dir, _ := live(t, fsys, &mount.LiveOptions{Gather: time.Hour})
	d, err := os.Open(dir)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Sync())

	lost, err := os.Create(filepath.Join(dir, "lost"))
	require.NoError(t, err)
	defer lost.Close()
	_, err = lost.WriteString("lost with its batch")
	require.NoError(t, err)
	fsys.Store().SetReadOnly(true)
	require.ErrorIs(t, d.Sync(), syscall.EROFS)
	fsys.Store().SetReadOnly(false)
	soon(t, func() error {
		if _, err := os.Lstat(lost.Name()); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("it is there: %v", err)
		}
		return nil
	})

	f, err := os.Create(filepath.Join(dir, "new"))
	require.NoError(t, err)
	defer f.Close()
	_, err = lost.WriteString("and later")
	require.Error(t, err)
	require.NoError(t, f.Sync())
	require.Empty(t, vfstest.Read(t, fsys, "new"))
	soon(t, func() error { return sameAsHost(fsys, dir) })
}

// What was written to a file, and became a part of a batch because of a change of its attributes, survives the batch.
func TestLiveFoldedWriteSurvives(t *testing.T) {
	fsys := vfstest.New(t, "a")
	dir, _ := live(t, fsys, &mount.LiveOptions{Gather: time.Hour})
	f, err := os.OpenFile(filepath.Join(dir, "a"), os.O_WRONLY|os.O_TRUNC, 0)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteString("written")
	require.NoError(t, err)
	require.NoError(t, f.Chmod(0o600))
	fsys.Store().SetReadOnly(true)
	require.ErrorIs(t, f.Sync(), syscall.EROFS)
	fsys.Store().SetReadOnly(false)
	require.NoError(t, f.Sync())
	require.Equal(t, "written", vfstest.Read(t, fsys, "a"))
	soon(t, func() error { return sameAsHost(fsys, dir) })
}

// What could not be committed is committed as soon as it can be, with no request of the kernel.
func TestLiveCommitsLater(t *testing.T) {
	fsys := vfstest.New(t, "a")
	dir, _ := live(t, fsys, nil)
	f, err := os.OpenFile(filepath.Join(dir, "a"), os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	fsys.Store().SetReadOnly(true)
	_, err = f.WriteString("written")
	require.NoError(t, err)
	time.Sleep(300 * time.Millisecond) // it is tried meanwhile
	fsys.Store().SetReadOnly(false)
	soon(t, func() error {
		if got := vfstest.Read(t, fsys, "a"); got != "written" {
			return fmt.Errorf("it has %q", got)
		}
		return nil
	})
}

// What was written to a file shows, though the kernel has forgotten the file before it was committed.
func TestLiveForgottenWrite(t *testing.T) {
	fsys := vfstest.New(t, "d/a")
	dir, _ := live(t, fsys, &mount.LiveOptions{Gather: time.Hour})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d/a"), []byte("written"), 0o600))
	require.NoError(t, fsys.Rename(t.Context(), "d", "moved"))
	soon(t, func() error {
		_, err := os.Lstat(filepath.Join(dir, "moved"))
		return err
	})
	text, err := os.ReadFile(filepath.Join(dir, "moved/a"))
	require.NoError(t, err)
	require.Equal(t, "written", string(text))

	d, err := os.Open(dir)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Sync())
	require.Equal(t, "written", vfstest.Read(t, fsys, "moved/a"))
	soon(t, func() error { return sameAsHost(fsys, dir) })
}

// On a disk without room each change that is lost is an error of the program that makes it, and all others are there.
func TestLiveFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=12m"); err != nil {
		t.Skipf("tmpfs cannot be mounted: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	fsys, err := vfs.Open(t.Context(), filepath.Join(disk, "agent.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = fsys.Close() })
	dir, m := live(t, fsys, nil)

	random := rand.NewChaCha8([32]byte{})
	kept := make(map[string][]byte)
	failed := 0
	for i := 0; i < 200 && failed < 5; i++ {
		name, data := fmt.Sprint("file-", i), make([]byte, 100_000)
		_, _ = random.Read(data)
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC)
			failed++
			continue
		}
		kept[name] = data
	}
	require.Equal(t, 5, failed)
	require.NotEmpty(t, kept)
	for name, data := range kept {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.True(t, string(data) == string(got), name)
	}

	// With room again, all is well.
	require.NoError(t, unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=64m"))
	soon(t, func() error { return os.WriteFile(filepath.Join(dir, "last"), []byte("last"), 0o600) })
	kept["last"] = []byte("last")
	d, err := os.Open(dir)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Sync(), "each failure was reported by the call that failed")
	require.NoError(t, d.Close())
	require.NoError(t, m.Unmount())
	for name, data := range kept {
		require.True(t, vfstest.Read(t, fsys, name) == string(data), name)
	}
	kit.Check(t, fsys)
}

// Where each change is a commit of its own, one that is refused keeps no writer waiting.
func TestLiveRefusedAtOnce(t *testing.T) {
	fsys := vfstest.New(t, "d/a")
	dir, _ := live(t, fsys, &mount.LiveOptions{Gather: -1})
	require.ErrorIs(t, syscall.Rmdir(filepath.Join(dir, "d")), syscall.ENOTEMPTY)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, again(t, fsys).WriteFile(ctx, "new", nil, 0o600))
}
