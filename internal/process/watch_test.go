package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// childWatch makes a child one of these tests: its ID is "write NAME COUNT" or "watch SINCE".
const childWatch = "VFS_PROCESS_WATCH"

func watchOrWrite(path, id string) error {
	ctx := context.Background()
	fsys, err := vfs.Open(ctx, path, &vfs.Options{Relaxed: true, MustExist: true})
	if err != nil {
		return err
	}
	words := strings.Fields(id)
	if words[0] == "watch" {
		since, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil {
			return err
		}
		for e, err := range fsys.Watch(ctx, "", since) {
			if err != nil {
				return err
			}
			fmt.Println(e.Seq, e.Op, e.Path)
		}
	}
	count, err := strconv.Atoi(words[2])
	if err != nil {
		return err
	}
	for i := range count {
		if err := fsys.WriteFile(ctx, fmt.Sprintf("%s-%d", words[1], i), nil, 0o644); err != nil {
			return err
		}
	}
	return fsys.Close()
}

func command(t *testing.T, path, id string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path, childWatch+"=1", childID+"="+id)
	cmd.Stderr = os.Stderr
	return cmd
}

// The commits of two other processes are seen soon, each once, in one order.
func TestWatchAcrossProcesses(t *testing.T) {
	const count = 150
	path := filepath.Join(t.TempDir(), "watched.db")
	fsys := vfstest.Open(t, path, &vfs.Options{Relaxed: true})
	var writers sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		writers.Go(func() {
			if err := command(t, path, fmt.Sprintf("write %s %d", name, count)).Run(); err != nil {
				t.Error(err)
			}
		})
	}
	defer writers.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	next, seen, last := map[string]int{}, 0, int64(0)
	for e, err := range fsys.Watch(ctx, "", 0) {
		require.NoError(t, err)
		require.Greater(t, e.Seq, last)
		last = e.Seq
		name, i, _ := strings.Cut(e.Path, "-")
		require.Equal(t, strconv.Itoa(next[name]), i, "in the order of each writer")
		next[name]++
		if seen++; seen == 2*count {
			break
		}
	}
	seq, err := fsys.Seq(t.Context())
	require.NoError(t, err)
	require.Equal(t, last, seq, "nothing more")
}

// A watcher that is killed again and again, and resumes after the last event that it reported, reports each event once.
func TestWatchResumesAfterKills(t *testing.T) {
	const count = 300
	path := filepath.Join(t.TempDir(), "watched.db")
	fsys := vfstest.Open(t, path, &vfs.Options{Relaxed: true})
	writer := make(chan error, 1)
	go func() {
		for i := range count {
			if err := fsys.WriteFile(t.Context(), fmt.Sprintf("f-%d", i), nil, 0o644); err != nil {
				writer <- err
				return
			}
			time.Sleep(time.Millisecond)
		}
		writer <- nil
	}()
	since, seen := int64(0), 0
	for life := 0; seen < count; life++ {
		watcher := command(t, path, fmt.Sprintf("watch %d", since))
		out, err := watcher.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, watcher.Start())
		told := 0
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				break // it was killed, perhaps in the middle of a line, which does not count
			}
			var op, name string
			_, err = fmt.Sscan(line, &since, &op, &name)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("create f-%d", seen), op+" "+name)
			seen++
			if told++; told == 40 || seen == count {
				require.NoError(t, watcher.Process.Kill())
			}
		}
		_ = watcher.Wait()
		require.Less(t, life, count)
	}
	require.NoError(t, <-writer)
}
