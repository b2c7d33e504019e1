package asuser

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// homeEnv makes the test binary, which root has started in a mount namespace of its own, go on as the user. Its value is a
// directory for the user.
const homeEnv = "VFS_TEST_AS_USER"

// ID is the number of the user and of the group.
const ID = 65534

// Run runs the tests that match a pattern as the user. The user has a home, and a directory for temporary files that belongs
// to nobody else. The test is skipped unless this process is root. It is skipped too if the user's run skips the test called
// needed.
func Run(t *testing.T, pattern, needed string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("root starts it")
	}
	dir, err := os.MkdirTemp("", "as-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}

	args := []string{"-test.run=" + pattern, "-test.v", "-test.count=1", "-test.timeout=5m"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), homeEnv+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		t.Fatalf("as a user: %v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP: "+needed+" "):
		t.Skipf("%s", out)
	case !strings.Contains(string(out), "--- PASS: "+needed+" "):
		t.Fatalf("%s did not run as a user:\n%s", needed, out)
	}
}

// Main is to be called first by the TestMain of a package that calls [Run]. It returns unless Run has started this process.
func Main() {
	if dir := os.Getenv(homeEnv); dir != "" {
		fmt.Fprintln(os.Stderr, become(dir))
		os.Exit(1)
	}
}

// become makes the process go on as the user, who may open /dev/fuse. It returns only if it cannot.
func become(dir string) error {
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
	err := errors.Join(os.Mkdir(home, 0o700), os.Chown(home, ID, ID), os.Chdir(home))
	err = errors.Join(err, syscall.Setgroups(nil), syscall.Setgid(ID), syscall.Setuid(ID))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{homeEnv: "", "HOME": home, "TMPDIR": home, "XDG_CACHE_HOME": ""} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
}
