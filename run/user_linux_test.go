package run_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
)

// asUserEnv makes the test binary, which root has started in a mount namespace of its own, go on as an ordinary user, who may
// open /dev/fuse there. Its value is a directory for the user.
const asUserEnv = "VFS_TEST_AS_USER"

const nobody = 65534

// becomeUser does that. It returns only if it cannot.
func becomeUser(dir string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	device := filepath.Join(dir, "fuse")
	if err := unix.Mknod(device, unix.S_IFCHR|0o666, int(unix.Mkdev(10, 229))); err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(device, 0o666), unix.Mount(device, "/dev/fuse", "", unix.MS_BIND, "")); err != nil {
		return err
	}
	home := filepath.Join(dir, "home")
	err := errors.Join(os.Mkdir(home, 0o700), os.Chown(home, nobody, nobody), os.Chdir(home))
	err = errors.Join(err, syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{asUserEnv: "", "HOME": home, "TMPDIR": home, "XDG_CACHE_HOME": ""} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
}

// An ordinary user runs by overlay like root, but for directories of the lower layer, which cannot be renamed.
func TestOverlayAsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("root starts it")
	}
	dir, err := os.MkdirTemp("", "as-user-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^(TestOverlayRandom|TestOverlayBase|TestOfUser)", "-test.v", "-test.count=1", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), asUserEnv+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	if strings.Contains(string(out), "--- SKIP: TestOfUser") {
		t.Skipf("%s", out)
	}
}

// Files that refuse even their owner come back, and so does what was made in directories that do. Files keep owners that the
// user does not see.
func TestOfUser(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("TestOverlayAsUser starts it")
	}
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "theirs", "d/b")
	require.NoError(t, fsys.Lchown(ctx, "theirs", 17, 18))
	require.NoError(t, fsys.Lchown(ctx, "d", 17, 18))
	cmd := overlay(t, ctx, fsys, run.Options{}, "/bin/sh", "-ec", `
		chmod 0 a; echo more >> theirs; mkdir new; echo x > new/x; chmod 0 new/x new; rm d/b; echo c > d/c
		test "$(id -u)" = 65534; grep -q '^CapEff:.0*$' /proc/self/status; test -O theirs; test $$ -lt 100
		`)
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	owners := make(map[string]string)
	for _, name := range []string{"a", "theirs", "d", "d/c", "new", "new/x"} {
		info, err := fsys.Lstat(ctx, name)
		require.NoError(t, err)
		uid, gid := info.Owner()
		owners[name] = fmt.Sprintf("%v %d:%d", info.Mode(), uid, gid)
	}
	was, err := vfstest.New(t, "a").Lstat(ctx, "a")
	require.NoError(t, err)
	uid, gid := was.Owner()
	require.Equal(t, map[string]string{
		"a": fmt.Sprintf("---------- %d:%d", uid, gid), "theirs": "-rw-r--r-- 17:18",
		"d": "drwxr-xr-x 17:18", "d/c": "-rw-r--r-- 65534:65534",
		"new": "d--------- 65534:65534", "new/x": "---------- 65534:65534",
	}, owners)
	require.Equal(t, "theirsmore\n", text(t, fsys, "theirs"))
	require.Equal(t, "x\n", text(t, fsys, "new/x"))
}
