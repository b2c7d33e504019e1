package schema_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
	"vfsdb/schema/hostfile"
)

// patient opens a file for a writer that waits for its turn however long it takes.
func patient(t *testing.T, path string) *schema.DB {
	db := open(t, path, schema.Options{})
	db.SetTurnPatience(time.Minute)
	return db
}

// holdWriter begins a transaction that writes and goes on until end is called, which returns its error.
func holdWriter(t *testing.T, db *schema.DB) (end func() error) {
	began, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- db.Update(t.Context(), func(*schema.Tx) error {
			close(began)
			<-goOn
			return nil
		})
	}()
	<-began
	end = sync.OnceValue(func() error {
		close(goOn)
		return <-done
	})
	t.Cleanup(func() { _ = end() })
	return end
}

// awaitLine waits until n writers wait for their turn.
func awaitLine(t *testing.T, path string, n int) {
	info, err := os.Stat(path + "-wal")
	require.NoError(t, err)
	file := fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile("/proc/locks")
		require.NoError(t, err)
		waiting := 0
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "-> OFDLCK") && strings.Contains(line, file) {
				waiting++
			}
		}
		return waiting == n
	}, time.Minute, time.Millisecond)
}

// Writers of several DBs, which are to each other as processes are, write in the order of asking. A writer that goes on
// writing keeps its turn for some commits only.
func TestTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	first := patient(t, path)
	end := holdWriter(t, first)

	var mu sync.Mutex
	var order []string
	write := func(db *schema.DB, name string) error {
		return db.Update(t.Context(), func(*schema.Tx) error {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, name)
			return nil
		})
	}
	var wg sync.WaitGroup
	for i, name := range []string{"b", "c", "d"} {
		db := patient(t, path)
		wg.Go(func() { require.NoError(t, write(db, name)) })
		awaitLine(t, path, i+1)
	}
	require.NoError(t, end())
	for range 3 * hostfile.TurnCommits {
		require.NoError(t, write(first, "a"))
	}
	wg.Wait()
	require.Less(t, slices.Index(order, "b"), hostfile.TurnCommits)
	require.Equal(t, "bcd", strings.ReplaceAll(strings.Join(order, ""), "a", ""))
}

// Each of four processes that never rest gets its share of the commits.
func TestTurnsOfProcesses(t *testing.T) {
	const processes, total = 4, 800
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, schema.Options{})
	commits, cmds := make(chan int), make([]*exec.Cmd, processes)
	for i := range processes {
		cmd, lines := writer(t, path)
		cmds[i] = cmd
		require.True(t, lines.Scan()) // it has begun
		go func() {
			for lines.Scan() {
				commits <- i
			}
			commits <- -1
		}()
	}
	var counts [processes]int
	for range total {
		counts[<-commits]++
	}
	for _, cmd := range cmds {
		require.NoError(t, cmd.Process.Kill())
	}
	for ended := 0; ended < processes; {
		if <-commits < 0 {
			ended++
		}
	}
	for _, cmd := range cmds {
		_ = cmd.Wait()
	}
	require.Greater(t, 3*slices.Min(counts[:]), slices.Max(counts[:]), "%v", counts)
	require.NoError(t, db.Update(t.Context(), filler(0)))
}

// writer starts a process that writes, see writeEnv.
func writer(t *testing.T, path string) (*exec.Cmd, *bufio.Scanner) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), writeEnv+"="+path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

// A process that is killed leaves the line, whether it is the next one or has others before it.
func TestTurnOfKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	first, last := patient(t, path), patient(t, path)
	end := holdWriter(t, first)
	var waiting []*exec.Cmd
	for i := range 2 {
		cmd, _ := writer(t, path)
		awaitLine(t, path, i+1)
		waiting = append(waiting, cmd)
	}
	done := make(chan error, 1)
	go func() { done <- last.Update(t.Context(), filler(0)) }()
	awaitLine(t, path, 3)
	for i, cmd := range waiting {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		awaitLine(t, path, 2-i)
	}
	require.NoError(t, end())
	require.NoError(t, <-done)
}

// A writer whose context ends does not wait any longer, and those behind it do not wait for it.
func TestTurnGivenUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	first, last := patient(t, path), patient(t, path)
	end := holdWriter(t, first)
	update := func(db *schema.DB, ctx context.Context) error { return db.Update(ctx, filler(0)) }
	join := func(db *schema.DB, ctx context.Context) error { return db.Join(ctx, 0, filler(0)) }

	var given []*schema.DB
	for _, write := range []func(*schema.DB, context.Context) error{update, join} {
		for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
			db := patient(t, path)
			given = append(given, db)
			ctx := &endable{Context: t.Context(), done: make(chan struct{})}
			result := make(chan error, 1)
			go func() { result <- write(db, ctx) }()
			awaitLine(t, path, len(given))
			ctx.end(cause)
			err := <-result
			require.ErrorIs(t, err, cause)
			require.ErrorIs(t, err, syscall.EBUSY)
		}
	}

	done := make(chan error, 1)
	go func() { done <- last.Update(t.Context(), filler(0)) }()
	awaitLine(t, path, len(given)+1)
	for _, db := range given {
		require.NoError(t, db.Close(), "it does not wait for a turn that nobody wants")
	}
	require.NoError(t, end())
	require.NoError(t, <-done)
	require.NoError(t, first.Close())
	require.NoError(t, last.Close())
	require.NoFileExists(t, path+"-wal")
}

// An endable is a context that a test ends, with an error of its choice.
type endable struct {
	context.Context
	done chan struct{}
	err  atomic.Value
}

func (c *endable) end(err error) {
	c.err.Store(err)
	close(c.done)
}

func (c *endable) Done() <-chan struct{} { return c.done }

func (c *endable) Err() error {
	err, _ := c.err.Load().(error)
	return err
}

// Turns are for order only: one that is never passed on keeps nobody from writing.
func TestTurnStuck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, schema.Options{})
	db.SetTurnPatience(time.Millisecond)
	other := hostfile.OpenTurns(path + "-wal")
	require.NotNil(t, other)
	require.NoError(t, other.Take(t.Context()))
	for range 3 {
		require.NoError(t, db.Update(t.Context(), filler(0)))
	}
	other.Close()
	for range 3 {
		require.NoError(t, db.Update(t.Context(), filler(0)))
	}
	require.NoError(t, db.Close())
}
