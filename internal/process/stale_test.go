package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// childStale makes a child the writer of these tests. It takes a step for each line that it reads, and answers when the
// step is committed. With the ID "free" it takes steps until its input ends, without waiting. With "scribble" it only
// damages the index of the log.
const childStale = "VFS_PROCESS_STALE"

// After step k, and at no other time:
//
//	count            holds k
//	cur              is a symlink to v<k>, where the file x holds k
//	dir<k>/f         is there, and was dir<k-1>/f
//	even or odd      is there, as k is
//	the branch b<k>  is dropped
func staleStep(ctx context.Context, fsys *vfs.FS, k int) error {
	err := fsys.Update(ctx, func(tx *vfs.Tx) error {
		text := []byte(strconv.Itoa(k))
		here, last := fmt.Sprintf("v%d", k), fmt.Sprintf("v%d", k-1)
		errs := []error{
			tx.WriteFile("count", text, 0o644),
			tx.WriteFile(here+"/x", text, 0o644, vfs.Parents()),
		}
		if k == 0 {
			errs = append(errs, tx.WriteFile("even", nil, 0o644), tx.WriteFile("dir0/f", nil, 0o644, vfs.Parents()))
		} else {
			errs = append(errs, tx.Remove("cur"), tx.RemoveAll(last), tx.Rename(parity(k-1), parity(k)),
				tx.Rename(fmt.Sprintf("dir%d", k-1), fmt.Sprintf("dir%d", k)))
		}
		return errors.Join(append(errs, tx.Symlink(here, "cur"))...)
	})
	if err != nil {
		return fmt.Errorf("step %d: %w", k, err)
	}
	err = snapshot.DeleteBranch(ctx, fsys, fmt.Sprintf("b%d", k))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if k%7 == 0 { // so that the log is begun anew now and then
		_, err = fsys.Store().Checkpoint(ctx)
		return err
	}
	return nil
}

func parity(k int) string { return []string{"even", "odd"}[k%2] }

func staleChild(path, id string) error {
	ctx := context.Background()
	if id == "scribble" {
		f, err := os.OpenFile(path+"-shm", os.O_RDWR, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt([]byte("torn"), 16)
		return errors.Join(err, f.Close())
	}
	fsys, err := vfs.Open(ctx, path, &vfs.Options{Relaxed: true, MustExist: true})
	if err != nil {
		return err
	}
	in := bufio.NewReader(os.Stdin)
	var ended atomic.Bool
	if id == "free" {
		go func() {
			_, _ = in.ReadString('\n')
			ended.Store(true)
		}()
	}
	for k := 1; !ended.Load(); k++ {
		if id != "free" {
			if _, err := in.ReadString('\n'); err != nil {
				break
			}
		}
		if err := staleStep(ctx, fsys, k); err != nil {
			return err
		}
		if _, err := fmt.Println(k); err != nil {
			return err
		}
	}
	return fsys.Close()
}

// A staleWriter is the other process.
type staleWriter struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func startStaleWriter(t *testing.T, path, id string) *staleWriter {
	cmd := exec.Command(os.Args[0]) // which ends with its input
	cmd.Env = append(os.Environ(), childEnv+"="+path, childStale+"=1", childID+"="+id)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	w := &staleWriter{in, bufio.NewReader(out)}
	t.Cleanup(func() {
		in.Close()
		_, _ = io.Copy(io.Discard, w.out)
		require.NoError(t, cmd.Wait())
	})
	return w
}

// answer waits for the writer to answer with the step that it has committed.
func (w *staleWriter) answer() (int, error) {
	line, err := w.out.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(line))
}

// Each step of another process is seen whole by any verb, once that process has reported it as done. That holds after
// the log was restarted too, and after its index was rebuilt.
func TestStepsOfAnotherProcess(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "shared.db")
	fsys := vfstest.Open(t, path, &vfs.Options{Relaxed: true})
	require.NoError(t, staleStep(ctx, fsys, 0))
	w := startStaleWriter(t, path, "steps")
	number := func(name string) (int, error) {
		data, err := fsys.ReadFile(ctx, name)
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(string(data))
	}
	for k := 1; k <= 120; k++ {
		try, err := snapshot.Branch(ctx, fsys, fsys, fmt.Sprintf("b%d", k))
		require.NoError(t, err)
		is := func(n int, err error) error {
			if err == nil && n != k {
				err = fmt.Errorf("it is %d", n)
			}
			return err
		}
		gone := func(err, want error) error {
			if errors.Is(err, want) {
				return nil
			}
			return fmt.Errorf("not %w: %w", want, err)
		}
		questions := []func() error{
			func() error { return is(number("count")) },
			func() error { return is(number("cur/x")) },
			func() error { _, err := fsys.Lstat(ctx, parity(k)); return err },
			func() error { _, err := fsys.Lstat(ctx, parity(k-1)); return gone(err, fs.ErrNotExist) },
			func() error { _, err := fsys.Lstat(ctx, fmt.Sprintf("dir%d/f", k)); return err },
			func() error {
				_, err := fsys.Lstat(ctx, fmt.Sprintf("dir%d/f", k-1))
				return gone(err, fs.ErrNotExist)
			},
			func() error { _, err := try.Lstat(ctx, "count"); return gone(err, syscall.ESTALE) },
			func() error {
				at, err := fsys.Resolve(ctx, "cur", true)
				if err == nil && at != fmt.Sprintf("v%d", k) {
					err = fmt.Errorf("it is %s", at)
				}
				return err
			},
			func() error {
				f, err := fsys.Open(ctx, "count")
				if err != nil {
					return err
				}
				defer f.Close()
				data, err := io.ReadAll(f)
				if err != nil {
					return err
				}
				return is(strconv.Atoi(string(data)))
			},
		}
		// All that is about to change is warm.
		for range 2 {
			for _, q := range questions {
				_ = q()
			}
			_, err := try.Lstat(ctx, "count")
			require.NoError(t, err)
		}
		_, err = w.in.Write([]byte("\n"))
		require.NoError(t, err)
		told, err := w.answer()
		require.NoError(t, err)
		require.Equal(t, k, told)
		if k%10 == 0 {
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"="+path, childStale+"=1", childID+"=scribble")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
		for i := range questions {
			which := (i + k) % len(questions) // another one comes first each time
			require.NoError(t, questions[which](), "question %d after step %d", which, k)
		}
	}
}

// While another process writes as fast as it can, goroutines read. An answer is never older than the last acknowledged
// step at the time of the call, never older than an earlier answer, and never of two moments. That holds while this
// process writes other files too, and so keeps its cache over these commits.
func TestNeverStale(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "shared.db")
	fsys := vfstest.Open(t, path, &vfs.Options{Relaxed: true})
	require.NoError(t, staleStep(ctx, fsys, 0))
	w := startStaleWriter(t, path, "free")
	var acked atomic.Int64
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for id := range 3 {
		wg.Go(func() {
			for last := int64(0); ; {
				select {
				case <-stop:
					return
				default:
				}
				want := max(last, acked.Load())
				got, err := newest(ctx, fsys, []string{"count", "cur/x", "cur"}[id])
				if err != nil || got < want {
					t.Errorf("after %d: %d, %v", want, got, err)
					return
				}
				last = got
			}
		})
	}
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := fsys.WriteFile(ctx, "ours", strconv.AppendInt(nil, int64(i), 10), 0o644); err != nil {
				t.Error(err)
				return
			}
			if got, err := newest(ctx, fsys, "ours"); err != nil || got != int64(i) {
				t.Errorf("ours: %d, %v, not %d", got, err, i)
				return
			}
		}
	})
	for acked.Load() < 400 {
		k, err := w.answer()
		require.NoError(t, err)
		acked.Store(int64(k))
	}
	close(stop)
	wg.Wait()
}

// newest returns the step of a file, or of the target of a symlink.
func newest(ctx context.Context, fsys *vfs.FS, name string) (int64, error) {
	if name == "cur" {
		at, err := fsys.Resolve(ctx, name, true)
		if err != nil {
			return 0, err
		}
		return strconv.ParseInt(strings.TrimPrefix(at, "v"), 10, 64)
	}
	data, err := fsys.ReadFile(ctx, name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(data), 10, 64)
}
