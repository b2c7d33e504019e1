//go:build linux

package damage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"vfsdb/check"
	"vfsdb/schema"
	"vfsdb/vfs"
)

// childEnv makes the test binary a child: it holds the path of a damaged store.
const childEnv = "VFS_DAMAGE_CHILD"

const (
	mostMemory = 256 << 20       // that a child may hold at any time
	mostTime   = 4 * time.Minute // after that it is killed; on a quiet machine it takes a tenth of a second
)

func TestMain(m *testing.M) {
	path := os.Getenv(childEnv)
	if path == "" {
		os.Exit(m.Run())
	}
	go bound()
	if err := child(path); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
}

// A result is what an operation of a child came to, one line of its output.
type result struct {
	Op      string
	Done    bool // false in the line before it begins
	Err     string
	Clear   bool // the error is an errno, or that the file is not ours
	Corrupt bool // ErrCorrupt, and EIO
	Wrong   bool // there was no error, and there should have been one
	Late    bool
	Faults  []string // of a check
}

// child runs all operations on a damaged store, and writes what they came to.
func child(path string) error {
	out := json.NewEncoder(os.Stdout)
	dir := filepath.Dir(path)
	for _, o := range append([]op{{"check", nil}, {"quick", nil}}, reading...) {
		if err := one(out, o, path, dir); err != nil {
			return err
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i, o := range writing {
		copied := filepath.Join(dir, strconv.Itoa(i)+".db")
		if err := os.WriteFile(copied, file, 0o644); err != nil {
			return err
		}
		if err := one(out, o, copied, dir); err != nil {
			return err
		}
	}
	return nil
}

// one runs one operation, or if there is nothing to run, a check.
func one(out *json.Encoder, o op, path, dir string) error {
	if err := out.Encode(result{Op: o.name}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r := result{Op: o.name, Done: true}
	err := func() error {
		fsys, err := vfs.Open(ctx, path, &vfs.Options{Relaxed: true})
		if err != nil {
			return fmt.Errorf("open: %w", err)
		}
		defer fsys.Close()
		if o.run != nil {
			return o.run(ctx, fsys, dir)
		}
		report, err := check.Run(ctx, fsys, &check.Options{Quick: o.name == "quick"})
		if report != nil {
			for _, f := range report.Faults[:min(len(report.Faults), 40)] {
				r.Faults = append(r.Faults, f.String())
			}
		}
		return err
	}()
	if err != nil {
		errno, has := vfs.Errno(err)
		r.Err, r.Wrong, r.Late = err.Error(), isWrong(err), errors.Is(err, context.DeadlineExceeded)
		r.Clear = has || errors.Is(err, schema.ErrForeign) || errors.Is(err, schema.ErrTooNew)
		r.Corrupt = errors.Is(err, vfs.ErrCorrupt) && errno == syscall.EIO
	}
	return out.Encode(r)
}

// bound ends a child that takes too much memory, before it takes all there is.
func bound() {
	for range time.Tick(10 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/self/statm")
		fields := bytes.Fields(stat)
		if err != nil || len(fields) < 2 {
			return
		}
		if n, err := strconv.Atoi(string(fields[1])); err == nil && n*os.Getpagesize() > mostMemory {
			fmt.Fprintln(os.Stderr, "child: it holds", n*os.Getpagesize()>>20, "MiB")
			os.Exit(3)
		}
	}
}

// run starts a child on a damaged store, and returns what its operations came to. One that dies, or does not end, fails
// the test, and the operation that it died of is named.
func run(t *testing.T, path string) map[string]result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), mostTime)
	defer cancel()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, binary)
	cmd.Env = append(os.Environ(), childEnv+"="+path, "GOMEMLIMIT=160MiB", "GOMAXPROCS=2")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	results := make(map[string]result)
	last := ""
	for lines := json.NewDecoder(&out); ; {
		var r result
		if lines.Decode(&r) != nil {
			break
		}
		last = r.Op
		if r.Done {
			results[r.Op] = r
		}
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", last, err, head(errs.String()))
	}
	return results
}

// head returns the beginning of the output of a child that dies.
func head(text string) string { return text[:min(len(text), 3000)] }
