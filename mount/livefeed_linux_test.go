package mount_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
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

// again opens the store a second time, as another process does.
func again(t *testing.T, fsys *vfs.FS) *vfs.FS {
	t.Helper()
	other, err := vfs.Open(t.Context(), fsys.Store().Path(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	return other
}

// soon waits until fn returns nil.
func soon(t *testing.T, fn func() error) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	err := fn()
	for ; err != nil && time.Now().Before(end); err = fn() {
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, err)
}

// A mount shows what others change, though the kernel keeps what it has seen: other handles of the store, other processes,
// and other mounts.
func TestLiveShowsWhatOthersDo(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "d/e/f", "gone")
	dir, _ := live(t, fsys, nil)
	other := again(t, fsys)
	second, _ := live(t, other, nil)
	dirs := []string{dir, second}

	look := func() {
		for _, dir := range dirs {
			_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					_, _ = os.ReadFile(path)
				}
				return nil
			})
			for _, name := range []string{"new", "d/e/moved", "d2", "d/gone"} {
				_, _ = os.Lstat(filepath.Join(dir, name))
			}
		}
	}
	for _, by := range []*vfs.FS{fsys, other} {
		for _, change := range []func() error{
			func() error { return by.WriteFile(ctx, "a", []byte(fmt.Sprint(by.Name(), time.Now())), 0o640) },
			func() error { return by.WriteFile(ctx, "new", []byte("new"), 0o600) },
			func() error { return by.Rename(ctx, "new", "d/e/moved") },
			func() error { return by.Chmod(ctx, "d/e", 0o700) },
			func() error { return by.Rename(ctx, "d", "d2") },
			func() error { return by.Link(ctx, "d2/e/f", "linked") },
			func() error { return by.Truncate(ctx, "linked", 1<<20) },
			func() error { return by.RemoveAll(ctx, "d2/e") },
			func() error { return by.Remove(ctx, "linked") },
			func() error { return by.Symlink(ctx, "a", "d2/link") },
			func() error { return by.Rename(ctx, "d2", "d") },
			func() error { return by.Remove(ctx, "d/link") },
			func() error { return by.MkdirAll(ctx, "d/e", 0o755) },
			func() error { return by.WriteFile(ctx, "d/e/f", []byte("again"), 0o600) },
		} {
			look()
			require.NoError(t, change())
			for _, dir := range dirs {
				soon(t, func() error { return sameAsHost(by, dir) })
			}
		}
	}

	// What one mount changes the other shows.
	look()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d/e/f"), []byte("by a mount"), 0o600))
	require.NoError(t, os.Rename(filepath.Join(dir, "d/e"), filepath.Join(dir, "new")))
	soon(t, func() error {
		text, err := os.ReadFile(filepath.Join(second, "new/f"))
		if err == nil && string(text) != "by a mount" {
			err = fmt.Errorf("it has %q", text)
		}
		return err
	})
	soon(t, func() error { return sameAsHost(other, second) })
}

// A file that others have made is opened, though the kernel still has that there is none, and O_EXCL is refused. Most of the
// time the kernel does not know of it yet: then it asks the mount to make the file.
func TestLiveOpensWhatOthersMade(t *testing.T) {
	fsys := vfstest.New(t)
	dir, _ := live(t, fsys, nil)
	other := again(t, fsys)

	for i := range 50 {
		name := filepath.Join(dir, fmt.Sprint(i))
		_, err := os.Lstat(name)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.NoError(t, other.WriteFile(t.Context(), fmt.Sprint(i), []byte("others"), 0o644))

		flags, want := os.O_RDWR|os.O_CREATE, error(nil)
		switch i % 3 {
		case 1:
			flags, want = flags|os.O_EXCL, fs.ErrExist
		case 2:
			require.ErrorIs(t, unix.Mknod(name, unix.S_IFREG|0o644, 0), unix.EEXIST)
		}
		f, err := os.OpenFile(name, flags, 0o600)
		require.ErrorIs(t, err, want)
		if err == nil {
			text, err := io.ReadAll(f)
			require.NoError(t, err)
			require.Equal(t, "others", string(text))
			require.NoError(t, f.Close())
		}
	}
}

// A file that is open keeps its content when others remove its name, and a collection runs.
func TestLiveUnlinkedByOthers(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "b", "d/e/c")
	dir, _ := live(t, fsys, nil)
	other := again(t, fsys)
	for _, name := range []string{"a", "d/e/c"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("kept"), 0o600))
	}
	open := make(map[string]*os.File)
	for _, name := range []string{"a", "b", "d/e/c"} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0)
		require.NoError(t, err)
		defer f.Close()
		open[name] = f
	}

	d, err := os.Open(dir)
	require.NoError(t, err)
	require.NoError(t, d.Sync())
	require.NoError(t, d.Close())
	require.NoError(t, other.RemoveAll(ctx, "d"))
	require.NoError(t, other.Remove(ctx, "a"))
	require.NoError(t, os.Remove(filepath.Join(dir, "b")))
	_, err = open["b"].WriteAt([]byte("written later"), 0)
	require.NoError(t, err)
	require.NoError(t, open["b"].Sync())
	soon(t, func() error {
		info, err := open["a"].Stat()
		if err == nil && info.Sys().(*syscall.Stat_t).Nlink != 0 {
			err = fmt.Errorf("it has a name still")
		}
		return err
	})
	collect(t, other)

	for name, want := range map[string]string{"a": "kept", "b": "written later", "d/e/c": "kept"} {
		got := make([]byte, len(want))
		_, err := open[name].ReadAt(got, 0)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

// While a mount, the store under it and another process change the same tree, nothing that the kernel keeps is stale in the
// end, and nothing is lost.
func TestLiveBesideOthers(t *testing.T) {
	long := 2 * time.Second
	if os.Getenv("VFS_LONG") != "" {
		long = 10 * time.Minute
	}
	fsys := vfstest.New(t)
	dir, _ := live(t, fsys, nil)
	other := again(t, fsys)

	for began, round := time.Now(), uint64(0); time.Since(began) < long; round++ {
		var g errgroup.Group
		for i, by := range []*vfs.FS{nil, nil, fsys, other} {
			random := rand.New(rand.NewPCG(round, uint64(i)))
			g.Go(func() error {
				for range 60 {
					if by == nil {
						onHost(random, dir)
					} else {
						inStore(t.Context(), random, by)
					}
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
		d, err := os.Open(dir)
		require.NoError(t, err)
		require.NoError(t, d.Sync())
		require.NoError(t, d.Close())
		soon(t, func() error { return sameAsHost(other, dir) })
	}
}

// A name in a small tree.
func drawName(random *rand.Rand) string {
	name := fmt.Sprint("n", random.IntN(6))
	if random.IntN(2) == 0 {
		name = filepath.Join(fmt.Sprint("d", random.IntN(3)), name)
	}
	return name
}

// onHost makes a random change through a directory of the host. It may fail.
func onHost(random *rand.Rand, dir string) {
	a, b := filepath.Join(dir, drawName(random)), filepath.Join(dir, drawName(random))
	switch random.IntN(10) {
	case 0:
		_ = os.Mkdir(filepath.Join(dir, fmt.Sprint("d", random.IntN(3))), 0o755)
	case 1:
		_ = os.Rename(a, b)
	case 2:
		_ = os.Remove(a)
	case 3:
		_ = os.Link(a, b)
	case 4:
		_ = os.Chmod(a, fs.FileMode(random.IntN(0o1000)))
	case 5:
		_ = os.Truncate(a, int64(random.IntN(100_000)))
	case 6:
		_ = os.RemoveAll(filepath.Dir(a) + "/d1")
	case 7:
		_, _ = os.ReadFile(a)
		_, _ = os.ReadDir(filepath.Dir(b))
	case 8:
		if f, err := os.OpenFile(a, os.O_RDWR, 0); err == nil {
			_, _ = f.WriteAt(fmt.Append(nil, random.Uint64()), int64(random.IntN(600_000)))
			_ = f.Close()
		}
	default:
		_ = os.WriteFile(a, make([]byte, random.IntN(5000)), 0o644)
	}
}

// inStore is onHost for a store.
func inStore(ctx context.Context, random *rand.Rand, fsys *vfs.FS) {
	a, b := drawName(random), drawName(random)
	switch random.IntN(10) {
	case 0:
		_ = fsys.Mkdir(ctx, fmt.Sprint("d", random.IntN(3)), 0o755)
	case 1:
		_ = fsys.Rename(ctx, a, b)
	case 2:
		_ = fsys.Remove(ctx, a)
	case 3:
		_ = fsys.Link(ctx, a, b)
	case 4:
		_ = fsys.Chmod(ctx, a, fs.FileMode(random.IntN(0o1000)))
	case 5:
		_ = fsys.Truncate(ctx, a, int64(random.IntN(100_000)))
	case 6:
		_ = fsys.RemoveAll(ctx, "d1")
	case 7:
		_ = fsys.Rename(ctx, "d0", "d2")
	default:
		_ = fsys.WriteFile(ctx, a, fmt.Append(nil, random.Uint64()), 0o644)
	}
}

// What programs append is never overwritten, though another process has just made the file longer and the kernel does not
// know: each record is there once, whole, and in the order of its program.
func TestLiveAppendsBesideOthers(t *testing.T) {
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(t.Context(), "log", nil, 0o600))
	other := again(t, fsys)
	first, _ := live(t, fsys, nil)
	second, _ := live(t, other, nil)
	const records = 100

	add := func(by int, appendTo func(text string) error) func() error {
		return func() error {
			for n := range records {
				if err := appendTo(fmt.Sprintf("by %d: %d\n", by, n)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	var g errgroup.Group
	for by, dir := range []string{first, second} {
		f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		defer f.Close()
		g.Go(add(by, func(text string) error { _, err := f.WriteString(text); return err }))
	}
	g.Go(add(2, func(text string) error {
		return other.Append(t.Context(), "log", []byte(text), 0o600)
	}))
	require.NoError(t, g.Wait())

	for _, dir := range []string{first, second} {
		d, err := os.Open(dir)
		require.NoError(t, err)
		require.NoError(t, d.Sync())
		require.NoError(t, d.Close())
	}
	next := [3]int{}
	for line := range strings.Lines(vfstest.Read(t, fsys, "log")) {
		var by, n int
		_, err := fmt.Sscanf(line, "by %d: %d\n", &by, &n)
		require.NoError(t, err, "%q", line)
		require.Equal(t, next[by], n, "of %d", by)
		next[by]++
	}
	require.Equal(t, [3]int{records, records, records}, next)
	soon(t, func() error { return sameAsHost(fsys, first) })
	soon(t, func() error { return sameAsHost(other, second) })
}
