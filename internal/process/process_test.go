package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// childEnv makes the test binary a child: it holds the path of the store, and childID its number.
const (
	childEnv = "VFS_PROCESS_CHILD"
	childID  = "VFS_PROCESS_ID"
)

const (
	processes  = 4
	goroutines = 4
	rounds     = 30
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		work := child
		if os.Getenv(childWatch) != "" {
			work = watchOrWrite
		}
		if os.Getenv(sessionsEnv) != "" {
			work = goOn
		}
		if os.Getenv(groupEnv) != "" {
			work = groupChild
		}
		if os.Getenv(childStale) != "" {
			work = staleChild
		}
		if os.Getenv(childHolds) != "" {
			work = holdingChild
		}
		if os.Getenv(childMedia) != "" {
			work = mediaChild
		}
		if err := work(path, os.Getenv(childID)); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(toolsEnv); path != "" {
		if err := editors(path); err != nil {
			fmt.Fprintln(os.Stderr, "editors:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Four processes with four goroutines each do mixed work on one store: counters kept by compare-and-set, appends,
// streams, renames, snapshots, branches, collections, compactions. At the end nothing is lost and every invariant
// holds.
func TestProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared.db")
	fsys := vfstest.Open(t, path, &vfs.Options{Relaxed: true})
	vfstest.Write(t, fsys, "counter", "0")
	vfstest.Write(t, fsys, "log", "")

	var wg sync.WaitGroup
	for id := range processes {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"="+path, childID+"="+strconv.Itoa(id))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("process %d: %v\n%s", id, err, out)
			}
		})
	}
	wg.Wait()

	const total = processes * goroutines * rounds
	require.Equal(t, strconv.Itoa(total), vfstest.Read(t, fsys, "counter"), "no update is lost")
	lines := bytes.Fields([]byte(vfstest.Read(t, fsys, "log")))
	require.Len(t, lines, total, "no append is lost")
	seen := make(map[string]bool)
	for _, line := range lines {
		require.False(t, seen[string(line)], "%s", line)
		seen[string(line)] = true
	}
	for id := range processes {
		for g := range goroutines {
			data := vfstest.Read(t, fsys, fmt.Sprintf("p%d/g%d/stream", id, g))
			require.Equal(t, content(id, g, rounds-1), []byte(data))
		}
	}
}

func child(path, id string) error {
	ctx := context.Background()
	n, err := strconv.Atoi(id)
	if err != nil {
		return err
	}
	fsys, err := vfs.Open(ctx, path, &vfs.Options{Relaxed: true, MustExist: true})
	if err != nil {
		return err
	}
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() { errs[g] = work(ctx, fsys, n, g) })
	}
	wg.Wait()
	return errors.Join(append(errs, fsys.Close())...)
}

// content is what a goroutine streams in a round: a little more than two chunks, half of them the same for all.
func content(id, g, round int) []byte {
	head := bytes.Repeat([]byte("shared by everybody "), 30000)
	return append(head, bytes.Repeat(fmt.Appendf(nil, "%d %d %d ", id, g, round), 70000)...)
}

func work(ctx context.Context, fsys *vfs.FS, id, g int) error {
	dir := fmt.Sprintf("p%d/g%d", id, g)
	if err := fsys.MkdirAll(ctx, dir, 0o755); err != nil {
		return err
	}
	for round := range rounds {
		if err := count(ctx, fsys); err != nil {
			return fmt.Errorf("count: %w", err)
		}
		if err := fsys.Append(ctx, "log", fmt.Appendf(nil, "%d-%d-%d\n", id, g, round), 0o644); err != nil {
			return err
		}
		if round%10 == 9 {
			if _, err := fsys.WriteFrom(ctx, dir+"/stream", bytes.NewReader(content(id, g, round)), 0o644); err != nil {
				return fmt.Errorf("stream: %w", err)
			}
		}
		name := fmt.Sprintf("%s/f%d", dir, round)
		err := fsys.Update(ctx, func(tx *vfs.Tx) error {
			if err := tx.WriteFile(name+".tmp", []byte(name), 0o644); err != nil {
				return err
			}
			return tx.Rename(name+".tmp", name)
		})
		if err != nil {
			return err
		}
		// This process sees its own acknowledged writes at once, while others write too.
		if data, err := fsys.ReadFile(ctx, name); err != nil || string(data) != name {
			return fmt.Errorf("read back %s: %q, %w", name, data, err)
		}
		if err := history(ctx, fsys, dir, id, g, round); err != nil {
			return fmt.Errorf("history: %w", err)
		}
	}
	return nil
}

// count adds one to the shared counter, against all others.
func count(ctx context.Context, fsys *vfs.FS) error {
	for {
		var sum vfs.Sum
		var data []byte
		err := fsys.View(ctx, func(tx *vfs.Tx) (err error) {
			if sum, err = tx.Sum("counter"); err != nil {
				return err
			}
			data, err = tx.ReadFile("counter")
			return err
		})
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(data))
		if err != nil {
			return err
		}
		err = fsys.WriteFile(ctx, "counter", strconv.AppendInt(nil, int64(n+1), 10), 0o644, vfs.IfSum(sum))
		var stale *vfs.StaleError
		if !errors.As(err, &stale) {
			return err
		}
	}
}

// history takes snapshots, forks, removes, collects and compacts, now and then.
func history(ctx context.Context, fsys *vfs.FS, dir string, id, g, round int) error {
	name := fmt.Sprintf("s-%d-%d-%d", id, g, round)
	switch rand.IntN(8) {
	case 0:
		s, err := snapshot.Create(ctx, fsys, name, nil)
		if err != nil {
			return err
		}
		if _, err := s.Stat(ctx, fmt.Sprintf("%s/f%d", dir, round)); err != nil {
			return err
		}
		return snapshot.Delete(ctx, fsys, name)
	case 1:
		try, err := snapshot.Branch(ctx, fsys, fsys, name)
		if err != nil {
			return err
		}
		if err := try.RemoveAll(ctx, dir); err != nil {
			return err
		}
		if _, err := try.Stat(ctx, dir); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removed in the branch: %w", err)
		}
		if _, err := fsys.Stat(ctx, dir); err != nil {
			return err
		}
		return snapshot.DeleteBranch(ctx, fsys, name)
	case 2:
		if err := fsys.Copy(ctx, dir, dir+".copy"); err != nil {
			return err
		}
		return fsys.RemoveAll(ctx, dir+".copy")
	case 3:
		if g != 0 {
			return nil
		}
		if _, err := gc.Run(ctx, fsys, nil); err != nil && !busy(err) {
			return err
		}
	case 4:
		if g != 1 {
			return nil
		}
		if _, err := gc.Compact(ctx, fsys, nil); err != nil {
			return err
		}
	}
	return nil
}

// busy reports that another process collects already.
func busy(err error) bool {
	errno, ok := vfs.Errno(err)
	return ok && errno == syscall.EBUSY
}
