package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// twoMounts mounts one branch twice for writing, each time by a process of its own.
func twoMounts(t *testing.T) (vfsctl, db string, dirs [2]string) {
	t.Helper()
	vfsctl, work := binary(t), t.TempDir()
	db = filepath.Join(work, "agent.db")
	require.NoError(t, exec.Command(vfsctl, "--db", db, "init").Run())
	for i := range dirs {
		dirs[i] = filepath.Join(work, fmt.Sprint("mnt-", i))
		require.NoError(t, os.Mkdir(dirs[i], 0o755))
		cmd := mounted(t, vfsctl, db, "main", dirs[i], "--live")
		t.Cleanup(func() {
			_ = cmd.Process.Signal(syscall.SIGINT)
			_ = cmd.Wait()
			out, err := exec.Command(vfsctl, "--db", db, "check").CombinedOutput()
			if err != nil {
				t.Errorf("check: %v: %s", err, out)
			}
		})
	}
	return vfsctl, db, dirs
}

// Two mounts of a branch and vfsctl make, rename, append to and lock files of one tree. No file is lost, no record that was
// appended, and no name is made twice. In the end both mounts and the store show the same.
func TestMountTwice(t *testing.T) {
	vfsctl, db, dirs := twoMounts(t)
	const rounds = 60
	for _, dir := range []string{"new", "moved", "lock"} {
		require.NoError(t, os.Mkdir(filepath.Join(dirs[0], dir), 0o755))
	}
	for _, dir := range dirs {
		require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, "lock")); return err == nil }, time.Minute, time.Millisecond)
	}

	var won [2]int
	var g errgroup.Group
	for i, dir := range dirs {
		g.Go(func() error { // files come, and are renamed by the other mount too
			for n := range rounds {
				name := fmt.Sprintf("%d-%d", i, n)
				if err := os.WriteFile(filepath.Join(dir, "new", name), []byte(name), 0o600); err != nil {
					return err
				}
				for j := range 2 {
					name := fmt.Sprintf("%d-%d", j, n)
					_ = os.Rename(filepath.Join(dir, "new", name), filepath.Join(dir, "moved", name))
				}
			}
			return nil
		})
		g.Go(func() error { // records are appended to one file
			for n := range rounds {
				f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(f, "%d-%d\n", i, n)
				if err := errors.Join(err, f.Close()); err != nil {
					return err
				}
			}
			return nil
		})
		g.Go(func() error { // each lock is taken by one of both
			for n := range rounds {
				f, err := os.OpenFile(filepath.Join(dir, "lock", fmt.Sprint(n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
				switch {
				case errors.Is(err, fs.ErrExist):
					continue
				case err != nil:
					return err
				}
				won[i]++
				if err := f.Close(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		for n := range rounds / 10 {
			cmd := exec.Command(vfsctl, "--db", db, "put", "-", fmt.Sprint("put-", n))
			cmd.Stdin = strings.NewReader("put")
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("put: %w: %s", err, out)
			}
		}
		return nil
	})
	require.NoError(t, g.Wait())
	require.Equal(t, rounds, won[0]+won[1])

	for _, dir := range dirs {
		syncDir(t, dir)
	}
	shown := func() string { return fmt.Sprint(filesOf(os.DirFS(dirs[0]))) }
	require.Eventually(t, func() bool { return shown() == fmt.Sprint(filesOf(os.DirFS(dirs[1]))) }, time.Minute, 10*time.Millisecond)
	list := filesOf(os.DirFS(dirs[1]))
	text, err := exec.Command(vfsctl, "--db", db, "cat", "log").Output()
	require.NoError(t, err)
	onMount, err := os.ReadFile(filepath.Join(dirs[1], "log"))
	require.NoError(t, err)
	require.Equal(t, string(text), string(onMount))
	for i := range dirs {
		for n := range rounds {
			name := fmt.Sprintf("%d-%d", i, n)
			require.True(t, (list["new/"+name] == "") != (list["moved/"+name] == ""), name)
			require.Equal(t, 1, bytes.Count(text, []byte(name+"\n")), name)
		}
	}
}

func syncDir(t *testing.T, dir string) {
	t.Helper()
	d, err := os.Open(dir)
	require.NoError(t, err)
	require.NoError(t, d.Sync())
	require.NoError(t, d.Close())
}

// What a program writes to its mapping of a file on one mount shows in a mapping of the file on the other one, after msync.
// Both may write, each to pages of its own.
func TestMountTwiceMapped(t *testing.T) {
	_, _, dirs := twoMounts(t)
	const pages = 8
	page := os.Getpagesize()
	require.NoError(t, os.WriteFile(filepath.Join(dirs[0], "f"), make([]byte, pages*page), 0o600))
	syncDir(t, dirs[0])
	var mapped [2][]byte
	for i, dir := range dirs {
		var f *os.File
		require.Eventually(t, func() (ok bool) {
			var err error
			f, err = os.OpenFile(filepath.Join(dir, "f"), os.O_RDWR, 0)
			return err == nil
		}, time.Minute, time.Millisecond)
		var err error
		mapped[i], err = unix.Mmap(int(f.Fd()), 0, pages*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		require.NoError(t, err)
		defer func() { require.NoError(t, unix.Munmap(mapped[i])) }()
		require.NoError(t, f.Close())
	}
	for round := byte(1); round < 20; round++ {
		for i := range dirs {
			for p := i; p < pages; p += 2 {
				mapped[i][p*page+int(round)] = round
			}
			require.NoError(t, unix.Msync(mapped[i], unix.MS_SYNC))
		}
		for i := range dirs {
			for p := range pages {
				require.Eventually(t, func() bool { return mapped[i][p*page+int(round)] == round }, time.Minute, time.Millisecond,
					"mount %d, page %d, round %d", i, p, round)
			}
		}
	}
}

// within runs fn, which must return nil within a minute.
func within(t *testing.T, fn func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- fn() }()
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Fatal("it waits")
	}
}

// refused returns an error unless err says that the database is another one, or damaged.
func refused(err error) error {
	if !errors.Is(err, syscall.ESTALE) && !errors.Is(err, syscall.EIO) {
		return fmt.Errorf("%w, and not ESTALE or EIO", err)
	}
	return nil
}

// The database is removed, replaced, or cut short under a live mount. What can be no more is an error, nothing waits, and the
// mount can be ended.
func TestMountLosesDatabase(t *testing.T) {
	for name, harm := range map[string]func(db string) error{
		"removed":  os.Remove,
		"renamed":  func(db string) error { return os.Rename(db, db+".old") },
		"replaced": replaceFile,
		"cut":      func(db string) error { return os.Truncate(db, 8192) },
		"emptied":  func(db string) error { return os.Truncate(db, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			vfsctl, work := binary(t), t.TempDir()
			db, dir := filepath.Join(work, "agent.db"), filepath.Join(work, "mnt")
			require.NoError(t, os.Mkdir(dir, 0o755))
			require.NoError(t, exec.Command(vfsctl, "--db", db, "init").Run())
			for n := range 20 {
				put := exec.Command(vfsctl, "--db", db, "put", "-", fmt.Sprint("old-", n))
				put.Stdin = bytes.NewReader(bytes.Repeat([]byte(strconv.Itoa(n)), 50_000))
				require.NoError(t, put.Run())
			}
			cmd := mounted(t, vfsctl, db, "main", dir, "--live")
			f, err := os.Create(filepath.Join(dir, "open"))
			require.NoError(t, err)
			defer f.Close()
			require.NoError(t, f.Sync())

			require.NoError(t, harm(db))
			within(t, func() error {
				_, err := f.WriteString("text")
				return refused(errors.Join(err, f.Sync()))
			})
			within(t, func() error {
				err := os.WriteFile(filepath.Join(dir, "new"), []byte("text"), 0o600)
				return refused(errors.Join(err, f.Sync()))
			})
			within(t, func() error { // what the kernel has cached, and the log still has, is right
				for n := range 20 {
					text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("old-", n)))
					if err == nil && !bytes.Equal(text, bytes.Repeat([]byte(strconv.Itoa(n)), 50_000)) {
						return fmt.Errorf("old-%d has wrong bytes", n)
					}
				}
				return nil
			})
			require.NoError(t, f.Close())
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
			within(t, func() error {
				if cmd.Wait() == nil {
					return errors.New("the command reports no loss")
				}
				return nil
			})
			require.Contains(t, cmd.Stderr.(*warnings).String(), "changes are lost", "of the file that is open")
			list, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, list)
		})
	}
}

func replaceFile(db string) error {
	if err := os.WriteFile(db+".other", []byte("another file"), 0o600); err != nil {
		return err
	}
	return os.Rename(db+".other", db)
}
