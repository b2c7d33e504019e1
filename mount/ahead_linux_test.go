package mount

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// counted counts the requests for contents and closes.
type counted struct {
	*frozen
	reads, flushes atomic.Int64
}

func (c *counted) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	c.reads.Add(1)
	return c.frozen.Read(cancel, in, buf)
}

func (c *counted) Flush(cancel <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	c.flushes.Add(1)
	return c.frozen.Flush(cancel, in)
}

// countedMount mounts a tree until the test ends.
func countedMount(t *testing.T, fsys *vfs.FS) (dir string, c *counted) {
	t.Helper()
	if err := allowed(); err != nil {
		t.Skip(err)
	}
	held, release, err := (*tree.Tree)(fsys).Hold(t.Context())
	require.NoError(t, err)
	t.Cleanup(release)
	dir = t.TempDir()
	c = &counted{frozen: newFrozen(t.Context(), held)}
	server, err := fuse.NewServer(c, dir, mountOptions())
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve()
		c.pushes.stop()
	}()
	t.Cleanup(func() {
		_ = unmount(dir, unix.MNT_DETACH)
		<-served
	})
	require.NoError(t, server.WaitMount())
	return dir, c
}

// many stores files of several directories whose contents differ.
func many(t *testing.T, dirs, files int) *vfs.FS {
	t.Helper()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for d := range dirs {
			if err := tx.Mkdir(fmt.Sprintf("d%02d", d), 0o755); err != nil {
				return err
			}
			for i := range files {
				name := fmt.Sprintf("d%02d/f%03d", d, i)
				text := make([]byte, 1+(i*997)%9000)
				copy(text, name)
				text[len(text)-1] = 'z'
				if err := tx.WriteFile(name, text, 0o644); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	return fsys
}

// idle waits until no push runs.
func (c *counted) idle(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		c.ahead.mu.Lock()
		defer c.ahead.mu.Unlock()
		return !c.ahead.busy
	}, time.Minute, time.Millisecond)
}

// Files that are read in order are in the kernel before it asks, and are what was written. What was read once, is never
// asked for again; nor are closes.
func TestReadAhead(t *testing.T) {
	const files = 100
	fsys := many(t, 3, files)
	dir, c := countedMount(t, fsys)
	require.NoError(t, exec.Command("ls", "-lR", dir).Run())

	cat := func(d, i int) {
		name := fmt.Sprintf("d%02d/f%03d", d, i)
		got, err := exec.Command("cat", filepath.Join(dir, name)).Output()
		require.NoError(t, err)
		want, err := fsys.ReadFile(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, want, got)
		c.idle(t)
	}
	for i := range files {
		cat(0, i)
	}
	require.Less(t, c.reads.Load(), int64(files/3))
	for d := 1; d < 3; d++ {
		for i := range files {
			cat(d, i)
		}
	}
	require.Less(t, c.reads.Load(), int64(files/2))

	// A host that drops its caches meanwhile has one pass ask again.
	again := func() int64 {
		reads := c.reads.Load()
		for i := range files {
			cat(1, i)
		}
		return c.reads.Load() - reads
	}
	for pass := 1; again() > 0; pass++ {
		require.Less(t, pass, 5)
	}
	require.LessOrEqual(t, c.flushes.Load(), int64(1))
}

// Files that programs read here and there do not start a read of their directories.
func TestReadAheadNot(t *testing.T) {
	fsys := many(t, 2, 60)
	dir, c := countedMount(t, fsys)
	require.NoError(t, exec.Command("ls", "-lR", dir).Run())

	for i, name := range []string{"d00/f050", "d01/f007", "d00/f020", "d01/f030", "d01/f001", "d00/f059", "d00/f003"} {
		require.NoError(t, exec.Command("cat", filepath.Join(dir, name)).Run())
		c.idle(t)
		require.EqualValues(t, i+1, c.reads.Load())
	}
	require.Zero(t, c.ahead.window)
}

// Pushes and reads of the same files at the same time return what was written, and nothing waits for good.
func TestReadAheadBesideReaders(t *testing.T) {
	const dirs, files = 4, 150
	fsys := many(t, dirs, files)
	dir, _ := countedMount(t, fsys)
	out, err := exec.Command("sh", "-c", `cd "$1" && ls -lR >/dev/null && for n in 1 2 3 4; do (cat d*/* | cksum) & done; wait`, "sh", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)

	host := t.TempDir()
	for d := range dirs {
		for i := range files {
			name := fmt.Sprintf("d%02d/f%03d", d, i)
			text, err := fsys.ReadFile(t.Context(), name)
			require.NoError(t, err)
			require.NoError(t, os.MkdirAll(filepath.Join(host, filepath.Dir(name)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(host, name), text, 0o600))
		}
	}
	want, err := exec.Command("sh", "-c", `cd "$1" && cat d*/* | cksum`, "sh", host).Output()
	require.NoError(t, err)
	require.Equal(t, string(want)+string(want)+string(want)+string(want), string(out))
}

// The marker of a window has the next one pushed, also while the push of its own still runs. A file that is read before its
// push has come does not end the order.
func TestAheadMarker(t *testing.T) {
	var a ahead
	n := node.Node{Mode: node.ModeFile | 0o644, Content: chunk.Content{Size: 1, Blob: 1}}
	for i := range 200 {
		n.Ino = node.Ino(i + 1)
		a.known(1, &n)
	}
	take := func(push []node.Ino) {
		for _, ino := range push {
			require.True(t, a.take(ino), ino)
		}
	}
	require.Empty(t, a.read(1))
	require.Empty(t, a.read(2))
	push := a.read(3)
	require.Equal(t, []node.Ino{4, 5, 6, 7, 8, 9, 10, 11}, push)
	take(push)
	require.Empty(t, a.pushed(true))

	push = a.read(12)
	require.Len(t, push, 15)
	require.NotContains(t, push, node.Ino(21))
	require.Empty(t, a.read(13), "its push is on its way")
	require.False(t, a.waits(13))
	require.Empty(t, a.read(21), "the push still runs")
	take(push[1:])
	push = a.pushed(true)
	require.Len(t, push, 31)
	require.Equal(t, node.Ino(29), push[0])
	take(push)
	require.Empty(t, a.pushed(true))

	marker := a.marker
	require.True(t, a.waits(marker))
	push = a.read(marker)
	require.Len(t, push, 63)
	require.Equal(t, node.Ino(61), push[0])
	require.Empty(t, a.pushed(false))
	require.Empty(t, a.read(a.marker), "what is not of use ends")
}

// The memory for what the kernel knows is bounded.
func TestAheadIsBounded(t *testing.T) {
	var a ahead
	n := node.Node{Mode: node.ModeFile | 0o644, Content: chunk.Content{Size: 1, Blob: 1}}
	for i := range 2*maxUnread + 10 {
		n.Ino = node.Ino(i)
		a.known(node.Ino(i%7), &n)
	}
	require.Len(t, a.unread, 10)
	require.LessOrEqual(t, len(a.lists), 7)
}
