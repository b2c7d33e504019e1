package vfstest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Kills returns how many processes a test kills: as many as VFS_KILLS says, else the given number.
func Kills(t testing.TB, plain int) int {
	t.Helper()
	text := os.Getenv("VFS_KILLS")
	if text == "" {
		return plain
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("vfstest: VFS_KILLS: %v", err)
	}
	return n
}

// Child returns a command that runs the present test once more, in a process of its own and with more variables.
func Child(t testing.TB, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=120s")
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// KillAfter runs a child, which it kills if it still runs after that time; 0 is never. It returns how long the child ran. What
// fails in the child fails the test; that something kills it does not.
func KillAfter(t testing.TB, child *exec.Cmd, after time.Duration) time.Duration {
	t.Helper()
	var out bytes.Buffer
	child.Stdout, child.Stderr = &out, &out
	begun := time.Now()
	if err := child.Start(); err != nil {
		t.Fatalf("vfstest: start a child: %v", err)
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = child.Process.Kill() })
		defer timer.Stop()
	}

	err := child.Wait()
	var exit *exec.ExitError
	killed := errors.As(err, &exit) && (!exit.Exited() || runtime.GOOS == "windows") // where a kill is an exit code
	if err != nil && !killed || strings.Contains(out.String(), "FAIL") {
		t.Fatalf("vfstest: the child: %v\n%s", err, out.String())
	}
	return time.Since(begun)
}
