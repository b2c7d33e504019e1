package main

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"vfsdb/vfs"
)

// While programs on a live mount, this process and vfsctl change the same tree at random, each commit becomes visible on the
// mount and nothing goes back, nothing is lost, and the file is sound. VFS_LONG is for how long, such as 2m.
func TestMountLong(t *testing.T) {
	long := 2 * time.Second
	if text := os.Getenv("VFS_LONG"); text != "" {
		long = 2 * time.Minute
		if d, err := time.ParseDuration(text); err == nil {
			long = d
		}
	}
	vfsctl, work := binary(t), t.TempDir()
	db, dir := filepath.Join(work, "agent.db"), filepath.Join(work, "mnt")
	require.NoError(t, os.Mkdir(dir, 0o755))
	fsys, err := vfs.Open(t.Context(), db, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fsys.Close()) })
	cmd := mounted(t, vfsctl, db, "main", dir, "--live")

	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	call := func(args ...string) error {
		return exec.Command(vfsctl, append([]string{"--db", db}, args...)...).Run()
	}
	own := [3]int{}
	var g errgroup.Group
	for i, put := range []func(name, text string) error{
		func(name, text string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) },
		func(name, text string) error {
			return fsys.WriteFile(context.WithoutCancel(ctx), name, []byte(text), 0o644)
		},
		func(name, text string) error {
			cmd := exec.Command(vfsctl, "--db", db, "put", "-", name)
			cmd.Stdin = strings.NewReader(text)
			return cmd.Run()
		},
	} {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		g.Go(func() error {
			for n := 1; ctx.Err() == nil; n++ {
				if err := put(fmt.Sprint("own-", i), strconv.Itoa(n)); err != nil {
					return fmt.Errorf("put %d by %d: %w", n, i, err)
				}
				own[i] = n
				churn(random, i, dir, fsys, put, call)
			}
			return nil
		})
	}

	var content, names delays
	g.Go(func() error { return content.follow(ctx, contentClock(fsys, dir)) })
	g.Go(func() error { return names.follow(ctx, nameClock(fsys, dir)) })
	require.NoError(t, g.Wait())
	t.Logf("from a commit to the mount: contents %v; names %v; changes by the mount, the API and vfsctl: %v", &content, &names, own)

	d, err := os.Open(dir)
	require.NoError(t, err)
	require.NoError(t, d.Sync())
	require.NoError(t, d.Close())
	for i, n := range own {
		text, err := fsys.ReadFile(t.Context(), fmt.Sprint("own-", i))
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(n), string(text))
	}
	require.Eventually(t, func() bool {
		return fmt.Sprint(filesOf(fsys.IOFS(t.Context()))) == fmt.Sprint(filesOf(os.DirFS(dir)))
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, cmd.Wait())
	require.NoError(t, call("check"))
}

// churn makes a change in a small tree. It may fail.
func churn(random *rand.Rand, by int, dir string, fsys *vfs.FS, put func(name, text string) error, call func(...string) error) {
	name := func() string {
		return filepath.Join("tree", fmt.Sprint("d", random.IntN(3)), fmt.Sprint("n", random.IntN(5)))
	}
	a, b := name(), name()
	ctx := context.Background()
	switch kind := random.IntN(5); {
	case kind == 0:
		_ = fsys.MkdirAll(ctx, filepath.Dir(a), 0o755)
	case kind == 1 && by == 0:
		_ = os.Rename(filepath.Join(dir, a), filepath.Join(dir, b))
	case kind == 1 && by == 1:
		_ = fsys.Rename(ctx, filepath.Dir(a), filepath.Dir(b))
	case kind == 1:
		_ = call("mv", a, b)
	case kind == 2 && by == 0:
		_ = os.Remove(filepath.Join(dir, a))
	case kind == 2 && by == 1:
		_ = fsys.Remove(ctx, a)
	case kind == 2:
		_ = call("rm", a)
	case kind == 3 && by == 0:
		_ = os.Chmod(filepath.Join(dir, a), fs.FileMode(random.IntN(0o1000)))
	case kind == 3:
		_ = fsys.Link(ctx, a, b)
	default:
		_ = put(a, fmt.Sprint(random.Uint64()))
	}
}

// A clock has a step that commits, and a look at the mount that finds the number of the newest step.
type clock struct {
	name string
	step func(n int) error
	look func(last int) (n int, err error)
}

// contentClock is a file that counts. Its length stays: a reader reads to the end in two calls, and may see two contents.
func contentClock(fsys *vfs.FS, dir string) clock {
	return clock{
		"contents",
		func(n int) error {
			return fsys.WriteFile(context.Background(), "clock", fmt.Appendf(nil, "%010d", n), 0o644)
		},
		func(int) (int, error) {
			text, err := os.ReadFile(filepath.Join(dir, "clock"))
			if err != nil {
				return 0, unlessGone(err)
			}
			return strconv.Atoi(string(text))
		},
	}
}

// nameClock is a name that was not there before.
func nameClock(fsys *vfs.FS, dir string) clock {
	return clock{
		"names",
		func(n int) error {
			return fsys.Mkdir(context.Background(), fmt.Sprint("at-", n), 0o755)
		},
		func(last int) (int, error) {
			_, err := os.Lstat(filepath.Join(dir, fmt.Sprint("at-", last+1)))
			if err != nil {
				return last, unlessGone(err)
			}
			return last + 1, os.Remove(filepath.Join(dir, fmt.Sprint("at-", last+1)))
		},
	}
}

func unlessGone(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// delays are the times from a commit to the first look that shows it.
type delays struct {
	count        int
	worst, total time.Duration
	slow         int // of more than 10 ms
}

func (d *delays) String() string {
	return fmt.Sprintf("worst %v, mean %v, %d of %d above 10ms", d.worst, d.total/time.Duration(max(1, d.count)), d.slow, d.count)
}

// follow steps a clock until ctx ends, and looks at it until each step was seen. A step that goes back is an error.
func (d *delays) follow(ctx context.Context, c clock) error {
	var mu sync.Mutex
	var commits []time.Time // of the steps
	var g errgroup.Group
	ended := false
	g.Go(func() (err error) {
		for n := 1; ctx.Err() == nil && err == nil; n++ {
			err = c.step(n)
			mu.Lock()
			commits = append(commits, time.Now())
			mu.Unlock()
			time.Sleep(5 * time.Millisecond) // the pace; nothing waits for it
		}
		mu.Lock()
		ended = true
		mu.Unlock()
		return err
	})

	limit := time.Time{}
	for last, seen := 0, 0; ; {
		n, err := c.look(seen)
		now := time.Now()
		if err != nil {
			return err
		}
		if n < seen {
			return fmt.Errorf("the mount shows step %d of %s after step %d", n, c.name, seen)
		}
		seen = n
		mu.Lock()
		for ; last < min(seen, len(commits)); last++ { // a step may be seen before it returns
			delay := max(0, now.Sub(commits[last]))
			d.count, d.total, d.worst = d.count+1, d.total+delay, max(d.worst, delay)
			if delay > 10*time.Millisecond {
				d.slow++
			}
		}
		done := ended && last == len(commits)
		late := ended && !limit.IsZero() && now.After(limit)
		if ended && limit.IsZero() {
			limit = now.Add(time.Minute)
		}
		mu.Unlock()
		switch {
		case done:
			return g.Wait()
		case late:
			return fmt.Errorf("the mount shows step %d of %d of %s", last, len(commits), c.name)
		}
	}
}

// filesOf describes the files of a tree.
func filesOf(tree fs.FS) map[string]string {
	found := make(map[string]string)
	_ = fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		found[name] = info.Mode().String()
		if e.Type().IsRegular() {
			text, err := fs.ReadFile(tree, name)
			found[name] += fmt.Sprintf(" %q %v", text, err)
		}
		return nil
	})
	return found
}
