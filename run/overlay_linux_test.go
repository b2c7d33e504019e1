package run_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// overlay returns a command that runs by overlay, with directories of its own. A host that does not allow it skips the test.
func overlay(t *testing.T, ctx context.Context, fsys *vfs.FS, o run.Options, name string, args ...string) *run.Cmd {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Cleanup(func() {
		require.Eventually(t, func() bool { return len(leftIn(t, dir)) == 0 }, long, tick, "directories of runs are left")
	})
	if o.Via == run.Auto {
		o.Via = run.Overlay
	}
	if err := run.Command(ctx, vfstest.New(t), run.Options{Via: o.Via}, "true").Run(); err != nil {
		if unable := new(run.UnableError); errors.As(err, &unable) {
			t.Skip(err)
		}
		require.NoError(t, err)
	}
	return run.Command(ctx, fsys, o, name, args...)
}

// leftIn returns the directories of runs below a cache.
func leftIn(t *testing.T, cache string) (left []string) {
	for _, names := range []string{"*-*", "trees/*"} {
		list, err := filepath.Glob(filepath.Join(cache, "vfsdb", "run", names))
		require.NoError(t, err)
		left = append(left, list...)
	}
	return left
}

// What a command changes comes into the branch, and every file that was there keeps its number, wherever it is now.
func TestOverlay(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "gone", "d/b", "d/c", "deep/er/x", "deep/er/y", "swap/1", "with/2")
	was := numbers(t, fsys)
	cmd := overlay(t, ctx, fsys, run.Options{}, "/bin/sh", "-ec", `
		cat; cat d/b
		echo new > d/new; rm gone; echo more >> d/b; chmod 751 d/c
		mv a moved; echo a new one > a
		mv deep/er up; rmdir deep; echo y > up/y
		mv swap s; mv with swap; mv s with
		ln d/new linked; ln -s d link; mkfifo pipe
		kill -TERM $$`)
	cmd.Stdin = strings.NewReader("input ")
	out, err := cmd.Output()
	require.Equal(t, "input d/b", string(out))
	var exit *run.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, "SIGTERM", exit.Signal)
	require.Equal(t, 128+int(syscall.SIGTERM), cmd.Result.ExitCode)
	require.Equal(t, run.Overlay, cmd.Result.Engine)

	is := numbers(t, fsys)
	for from, to := range map[string]string{
		"a": "moved", "d/b": "d/b", "d/c": "d/c", "deep/er": "up", "deep/er/x": "up/x", "deep/er/y": "up/y",
		"swap": "with", "swap/1": "with/1", "with": "swap", "with/2": "swap/2",
	} {
		require.Equal(t, was[from], is[to], "%s is %s now", from, to)
	}
	require.Equal(t, []string{
		"a", "d/", "d/b", "d/c", "d/new", "link", "linked", "moved", "pipe", "swap/", "swap/2", "up/", "up/x", "up/y", "with/", "with/1",
	}, vfstest.Names(t, fsys))
	require.Equal(t, is["linked"], is["d/new"])
	require.Equal(t, "d/bmore\n", text(t, fsys, "d/b"))
	require.Equal(t, "a new one\n", text(t, fsys, "a"))
}

// Clean returns when nothing of a run is left on the host.
func TestOverlayClean(t *testing.T) {
	fsys := vfstest.New(t)
	cmd := overlay(t, t.Context(), fsys, run.Options{}, "/bin/sh", "-ec", "mkdir -p a/b c; for i in 1 2 3 4 5 6 7 8 9; do echo $i > a/b/$i; done; chmod 0 a/b c")
	require.NoError(t, cmd.Clean())
	require.NoError(t, cmd.Run())
	require.NoError(t, cmd.Clean())
	require.Empty(t, leftIn(t, os.Getenv("XDG_CACHE_HOME")))
	require.NoError(t, cmd.Clean())
	require.Equal(t, []string{"a/", "a/b/", "a/b/1", "a/b/2", "a/b/3", "a/b/4", "a/b/5", "a/b/6", "a/b/7", "a/b/8", "a/b/9", "c/"}, vfstest.Names(t, fsys))
}

// Contents come back whole on either side of what waits in memory, alone and together: 8 MiB.
func TestOverlayLarge(t *testing.T) {
	fsys := vfstest.New(t)
	cmd := overlay(t, t.Context(), fsys, run.Options{}, "/bin/sh", "-ec", `
		i=0; while [ $i -lt 12 ]; do head -c 1100000 /dev/urandom > f$i; i=$((i+1)); done
		head -c 9000000 /dev/urandom > large; truncate -s 16M holes; echo end >> holes
		sha256sum *`)
	out, err := cmd.Output()
	require.NoError(t, err)
	sum := func(name string) string {
		f, err := fsys.Open(t.Context(), name)
		require.NoError(t, err)
		defer f.Close()
		h := sha256.New()
		_, err = io.Copy(h, f)
		require.NoError(t, err)
		return fmt.Sprintf("%x  %s\n", h.Sum(nil), name)
	}
	var list strings.Builder
	for _, name := range vfstest.Names(t, fsys) {
		list.WriteString(sum(name))
	}
	require.Equal(t, string(out), list.String())
}

// numbers returns the inode numbers of a tree by path.
func numbers(t *testing.T, fsys *vfs.FS) map[string]vfs.Ino {
	t.Helper()
	list := make(map[string]vfs.Ino)
	for _, name := range vfstest.Names(t, fsys) {
		name = strings.TrimSuffix(name, "/")
		info, err := fsys.Lstat(t.Context(), name)
		require.NoError(t, err)
		list[name] = info.Ino()
	}
	return list
}

// Attributes of the namespace user come back: those that a command set, those that a file had, and without those that the
// command removed. A file in the place of another has its own.
func TestOverlayXattrs(t *testing.T) {
	if _, err := exec.LookPath("setfattr"); err != nil {
		t.Skip(err)
	}
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "less", "other", "d/b")
	for _, name := range []string{"a", "less", "other", "d"} {
		require.NoError(t, (*tree.Tree)(fsys).Update(ctx, func(tx *tree.Tx) error {
			return tx.SetXattr(tree.Place{Dir: tx.Root(), Base: name}, "user.old", []byte("1"), 0)
		}))
	}
	cmd := overlay(t, ctx, fsys, run.Options{}, "/bin/sh", "-ec", "setfattr -x user.old less; echo > new; mv new other; echo >> a; setfattr -n user.new -v 2 a d; echo > c; setfattr -n user.c -v 3 c")
	require.NoError(t, cmd.Run())
	require.Equal(t, map[string]string{"user.old": "1", "user.new": "2"}, xattrs(t, fsys, "a"))
	require.Equal(t, map[string]string{"user.old": "1", "user.new": "2"}, xattrs(t, fsys, "d"))
	require.Empty(t, xattrs(t, fsys, "less"))
	require.Empty(t, xattrs(t, fsys, "other"))
	require.Equal(t, map[string]string{"user.c": "3"}, xattrs(t, fsys, "c"))
}

// A file with several names is parted by a change under one of them: so does overlayfs, and LIMITS.md says it.
func TestOverlayPartsLinks(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	require.NoError(t, fsys.Link(ctx, "a", "b"))
	require.NoError(t, overlay(t, ctx, fsys, run.Options{}, "/bin/sh", "-c", "echo more >> a").Run())
	require.Equal(t, "amore\n", text(t, fsys, "a"))
	require.Equal(t, "a", text(t, fsys, "b"))
}

// xattrs returns the extended attributes of a file.
func xattrs(t *testing.T, fsys *vfs.FS, name string) map[string]string {
	t.Helper()
	info, err := fsys.Lstat(t.Context(), name)
	require.NoError(t, err)
	list := make(map[string]string)
	require.NoError(t, (*tree.Tree)(fsys).View(t.Context(), func(tx *tree.Tx) error {
		n, err := tx.Node(info.Ino())
		if err == nil {
			maps.Insert(list, n.Xattrs.All())
		}
		return err
	}))
	return list
}

// Root of a namespace of users is an ordinary user of the host.
func TestOverlayInNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestOverlay(Xattrs|Base|EndsAll)$", "-test.v", "-test.count=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.Process == nil {
		t.Skip(err)
	}
	require.NoError(t, err, "%s", out)
}
