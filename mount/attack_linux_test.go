package mount_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Several programs that list a directory at once, in steps of any size, each see all of it in order.
func TestFrozenListers(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	const entries = 3000
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		for i := range entries {
			if err := tx.WriteFile(fmt.Sprintf("%05d", i), nil, 0o644); err != nil {
				return err
			}
		}
		return nil
	}))

	for range 3 {
		dir, m := frozen(t, fsys)
		var g errgroup.Group
		for i := range 8 {
			g.Go(func() error {
				f, err := os.Open(dir)
				if err != nil {
					return err
				}
				defer f.Close()
				for n := 0; ; {
					names, err := f.Readdirnames(1 + 70*i)
					for _, name := range names {
						if name != fmt.Sprintf("%05d", n) {
							return fmt.Errorf("entry %d is %s", n, name)
						}
						n++
					}
					if len(names) == 0 || err != nil {
						if n != entries {
							return fmt.Errorf("%d entries, and then %w", n, err)
						}
						return nil
					}
				}
			})
		}
		require.NoError(t, g.Wait())
		require.NoError(t, m.Unmount())
	}
}

// A name may be any bytes, as long as the host allows; a path may be deep; a file may be longer than memory.
func TestFrozenExtremes(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	names := []string{strings.Repeat("n", 255), "new\nline", "caf\xe9", " ", "a\\b", "-rf", "..."}
	for _, name := range names {
		require.NoError(t, fsys.WriteFile(ctx, name, []byte(name), 0o644))
	}
	deep := strings.Repeat("deep/", 400) + "file"
	require.NoError(t, fsys.WriteFile(ctx, deep, []byte("deep"), 0o644, vfs.Parents()))

	// A hole, some data across the 4 GiB, a hole, and a last byte.
	const size = 6<<30 + 3
	f, err := fsys.OpenFile(ctx, "long", os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	data := bytes.Repeat([]byte("0123456789"), 100_000)
	_, err = f.WriteAt(data, 4<<30-500_000)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("e"), size-1)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	dir, _ := frozen(t, fsys)

	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, len(names)+2)
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, name, string(text))
	}
	text, err := os.ReadFile(filepath.Join(dir, deep))
	require.NoError(t, err)
	require.Equal(t, "deep", string(text))
	_, err = os.Stat(filepath.Join(dir, strings.Repeat("n", 256)))
	require.ErrorIs(t, err, syscall.ENAMETOOLONG)

	h, err := os.Open(filepath.Join(dir, "long"))
	require.NoError(t, err)
	defer h.Close()
	for _, off := range []int64{4<<30 - 500_001, 4<<30 - 7, 4<<30 + 499_990, size - 2, size, size + 5, 1, 3<<30 + 11} {
		got, want := make([]byte, 33), make([]byte, 33)
		n, err := h.ReadAt(got, off)
		require.Equal(t, max(0, min(33, size-off)), int64(n), off)
		if err != nil {
			require.EqualError(t, err, "EOF")
		}
		for i := range want {
			if at := off + int64(i) - (4<<30 - 500_000); at >= 0 && at < int64(len(data)) {
				want[i] = data[at]
			} else if off+int64(i) == size-1 {
				want[i] = 'e'
			}
		}
		require.Equal(t, want, got, off)
	}

	// The first data lies within a chunk's length before what was written, and ends so behind it.
	const chunk = 512 << 10
	at, err := unix.Seek(int(h.Fd()), 0, unix.SEEK_DATA)
	require.NoError(t, err)
	require.InDelta(t, 4<<30-500_000, at, chunk)
	at, err = unix.Seek(int(h.Fd()), at, unix.SEEK_HOLE)
	require.NoError(t, err)
	require.InDelta(t, 4<<30+500_000, at, chunk)
	_, err = unix.Seek(int(h.Fd()), size, unix.SEEK_DATA)
	require.ErrorIs(t, err, syscall.ENXIO)
}

// A store that is closed under its mount returns errors, at once, and the mount can be ended.
func TestFrozenOfClosedStore(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "store.db")
	fsys, err := vfs.Open(ctx, path, nil)
	require.NoError(t, err)
	require.NoError(t, fsys.WriteFile(ctx, "a", []byte("text"), 0o644))
	dir, m := frozen(t, fsys)
	require.NoError(t, fsys.Close())

	failed := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(filepath.Join(dir, "a"))
		failed <- err
	}()
	select {
	case err := <-failed:
		require.Error(t, err)
	case <-time.After(time.Minute):
		t.Fatal("the read waits")
	}
	require.NoError(t, m.Unmount())
}

// Another user sees what modes and owners allow in a mount by root.
func TestFrozenModes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	ctx := t.Context()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(ctx, "open", []byte("open"), 0o644))
	require.NoError(t, fsys.WriteFile(ctx, "mine", []byte("mine"), 0o600))
	require.NoError(t, fsys.WriteFile(ctx, "theirs", []byte("theirs"), 0o600))
	require.NoError(t, fsys.Chown(ctx, "theirs", 65534, 65534))
	require.NoError(t, fsys.Chmod(ctx, ".", 0o755))
	dir, err := os.MkdirTemp("/tmp", "vfsdb-mount") // whose parents others may enter
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.Remove(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	mountOn(t, fsys, dir)

	for name, want := range map[string]bool{"open": true, "mine": false, "theirs": true} {
		cmd := exec.Command("cat", filepath.Join(dir, name))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		require.True(t, err == nil || errors.As(err, &exit), err)
		require.Equal(t, want, err == nil, "%s: %s", name, out)
	}
}

// A file whose inode is missing is listed beside the others, which can be read; only a look at it is EIO.
func TestFrozenOfDamaged(t *testing.T) {
	ctx := t.Context()
	fsys, err := vfs.Open(ctx, filepath.Join(t.TempDir(), "store.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = fsys.Close() })
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, fsys.WriteFile(ctx, name, []byte(name), 0o644))
	}
	vfstest.Damage(t, fsys, `DELETE FROM inode WHERE ino = $b`)
	dir, _ := frozen(t, fsys)
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 3)
	for _, name := range []string{"a", "b", "c"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if name == "b" {
			require.ErrorIs(t, err, syscall.EIO)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, name, string(text))
	}
}
