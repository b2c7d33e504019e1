package mount_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/mount"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// frozen mounts a tree until the test ends, and returns the directory.
func frozen(t *testing.T, fsys *vfs.FS) (dir string, m *mount.Mount) {
	t.Helper()
	dir = t.TempDir()
	return dir, mountOn(t, fsys, dir)
}

// mountOn mounts a tree on a directory until the test ends.
func mountOn(t *testing.T, fsys *vfs.FS, dir string) *mount.Mount {
	t.Helper()
	m, err := mount.Frozen(t.Context(), fsys, dir)
	skipNotAllowed(t, err)
	t.Cleanup(func() {
		if t.Failed() { // nothing stays behind, whatever still uses it
			_ = m.Detach()
			return
		}
		require.NoError(t, m.Unmount())
	})
	return m
}

func skipNotAllowed(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, mount.ErrNotAllowed) {
		t.Skip(err)
	}
	require.NoError(t, err)
}

func mkdir(t *testing.T, dir string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return dir
}

// A mount shows the tree as it was, to every look of the host: names, kinds, modes, owners, times, links, contents.
func TestFrozen(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "d/e/f", "empty/")
	random := rand.New(rand.NewPCG(1, 2))
	long := make([]byte, 3<<20+7)
	for i := range long {
		long[i] = byte(random.Uint32())
	}
	require.NoError(t, fsys.WriteFile(ctx, "d/long", long, 0o640))
	require.NoError(t, fsys.Link(ctx, "d/long", "linked"))
	require.NoError(t, fsys.Symlink(ctx, "d/e", "link"))
	require.NoError(t, fsys.Chmod(ctx, "a", 0o755|fs.ModeSetuid))
	require.NoError(t, fsys.Truncate(ctx, "d/e/f", 5<<20))
	dir, _ := frozen(t, fsys)

	require.NoError(t, fsys.WriteFile(ctx, "d/long", []byte("later"), 0o600))
	require.NoError(t, fsys.WriteFile(ctx, "later", nil, 0o600))
	require.NoError(t, fsys.RemoveAll(ctx, "d/e"))

	var names []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		name, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		names = append(names, name)
		return nil
	}))
	require.Equal(t, []string{".", "a", "d", "d/e", "d/e/f", "d/long", "empty", "link", "linked"}, names)

	text, err := os.ReadFile(filepath.Join(dir, "linked"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(long, text))
	target, err := os.Readlink(filepath.Join(dir, "link"))
	require.NoError(t, err)
	require.Equal(t, "d/e", target)
	info, err := os.Lstat(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.Equal(t, 0o755|fs.ModeSetuid, info.Mode())
	zeros, err := os.ReadFile(filepath.Join(dir, "link/f"))
	require.NoError(t, err)
	require.Len(t, zeros, 5<<20)

	_, err = os.Lstat(filepath.Join(dir, "later"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, os.WriteFile(filepath.Join(dir, "new"), nil, 0o600), syscall.EROFS)
	require.ErrorIs(t, os.Remove(filepath.Join(dir, "a")), syscall.EROFS)

	var st syscall.Stat_t
	require.NoError(t, syscall.Stat(filepath.Join(dir, "linked"), &st))
	require.EqualValues(t, 2, st.Nlink)
	was := st.Ino
	require.NoError(t, syscall.Stat(filepath.Join(dir, "d/long"), &st))
	require.Equal(t, was, st.Ino)
}

// A listing of many entries is whole, in order, and can be read again from any place.
func TestFrozenManyEntries(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		for i := range 5000 {
			if err := tx.WriteFile(fmt.Sprintf("file-with-a-long-name-%05d", i), []byte("x"), 0o644); err != nil {
				return err
			}
		}
		return nil
	}))
	dir, _ := frozen(t, fsys)

	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 5000)

	f, err := os.Open(dir)
	require.NoError(t, err)
	defer f.Close()
	for range 2 {
		names, err := f.Readdirnames(777)
		require.NoError(t, err)
		require.Len(t, names, 777)
		_, err = f.Seek(0, 0)
		require.NoError(t, err)
	}
}

// Many readers at once see right bytes.
func TestFrozenReaders(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	random := rand.New(rand.NewPCG(3, 4))
	want := map[string][]byte{}
	for i := range 40 {
		text := make([]byte, random.IntN(2<<20))
		for j := range text {
			text[j] = byte(random.Uint32())
		}
		name := fmt.Sprint(i)
		want[name] = text
		require.NoError(t, fsys.WriteFile(ctx, name, text, 0o600))
	}
	dir, _ := frozen(t, fsys)
	var g errgroup.Group
	for range 3 {
		for name, text := range want {
			g.Go(func() error {
				got, err := os.ReadFile(filepath.Join(dir, name))
				if err == nil && !bytes.Equal(text, got) {
					err = fmt.Errorf("%s is not what was written", name)
				}
				return err
			})
		}
	}
	require.NoError(t, g.Wait())
}

// While a program uses the directory it cannot be unmounted, and goes on.
func TestFrozenBusy(t *testing.T) {
	fsys := vfstest.New(t, "a")
	dir, m := frozen(t, fsys)
	f, err := os.Open(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.ErrorIs(t, m.Unmount(), syscall.EBUSY)
	_, err = os.ReadDir(dir)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// A mount keeps its moment: neither a removal of the snapshot that it shows, nor a collection by another store, takes
// what it has not yet read. After the mount has ended a collection takes it.
func TestFrozenIsKept(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	want := bytes.Repeat([]byte("kept"), 300_000)
	require.NoError(t, fsys.WriteFile(ctx, "d/f", want, 0o600, vfs.Parents()))
	s := vfstest.Snapshot(t, fsys, "one")
	head, _ := frozen(t, fsys)
	past, m := frozen(t, s.FS)

	require.NoError(t, fsys.RemoveAll(ctx, "d"))
	require.NoError(t, snapshot.Delete(ctx, fsys, "one"))
	other, err := vfs.Open(ctx, fsys.Store().Path(), nil)
	require.NoError(t, err)
	defer other.Close()
	_, err = gc.Run(ctx, other, nil)
	require.NoError(t, err)

	for _, dir := range []string{head, past} {
		text, err := os.ReadFile(filepath.Join(dir, "d/f"))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, text))
	}
	require.NoError(t, m.Unmount())
	_, err = os.ReadFile(filepath.Join(past, "d/f"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// What cannot be mounted on is refused, and nothing is left behind.
func TestFrozenRefused(t *testing.T) {
	fsys := vfstest.New(t, "a")
	dir, _ := frozen(t, fsys)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))

	for where, want := range map[string]error{
		filepath.Join(dir, "none"):        syscall.ENOENT,
		file:                              syscall.ENOTDIR,
		filepath.Dir(fsys.Store().Path()): syscall.EINVAL,
		"/":                               syscall.EINVAL,
	} {
		_, err := mount.Frozen(t.Context(), fsys, where)
		require.ErrorIs(t, err, want, where)
	}
}
