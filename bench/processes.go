package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/vfs"
)

// manyProcesses writes small files from several processes at once, beside the host's file system. Each waits until a
// file is durable before it writes the next. In a second set of rows each process also reads all the time.
func manyProcesses(b *bench) error {
	if b.cpu {
		return nil // waiting is no processor time
	}
	for _, readers := range []bool{false, true} {
		for _, n := range []int{1, 4, 8} {
			if err := b.processes(n, readers); err != nil {
				return err
			}
		}
	}
	return nil
}

// processes measures one row: n processes share a number of writes.
func (b *bench) processes(n int, readers bool) error {
	what, writes := fmt.Sprintf("processes, durable, 1 KiB: %d", n), b.size(2000, 16)
	if readers {
		what, writes = fmt.Sprintf("processes that read too, 1 KiB: %d", n), b.size(800, 16)
	}
	db, err := b.openNew(fmt.Sprintf("processes-%d-%t", n, readers))
	if err != nil {
		return err
	}
	defer db.Close()

	// each runs one round, of ours (0) or of the host (1).
	var longest [2][]time.Duration
	each := func(kind int, round int) (time.Duration, error) {
		job := writerJob{Writes: writes / n, Reads: readers}
		var err error
		if job.Dir, err = b.hostDir(); err != nil {
			return 0, err
		}
		if kind == 0 {
			job.Store, job.Dir = db.Store().Path(), fmt.Sprintf("round-%d", round)
		}
		took, waited, err := b.writeAll(n, job)
		longest[kind] = append(longest[kind], waited)
		return took / time.Duration(job.Writes*n), err
	}

	times, err := b.race(b.few(),
		side{"ours", func(round int) (time.Duration, error) { return each(0, round) }},
		side{"fsync", func(round int) (time.Duration, error) { return each(1, round) }},
	)
	if err != nil {
		return err
	}

	// n writes are under way at a time, so each takes n times as long.
	ours, theirs := figures.Median(longest[0]), figures.Median(longest[1])
	means := [2]time.Duration{times[0] * time.Duration(n), times[1] * time.Duration(n)}
	b.add(versus(what, times[0], "create+write+fsync", times[1], 0).with(
		"longest wait %s, %.1f times the mean; the host's %s, %.1f times",
		figures.Of(ours.Seconds(), "s"), float64(ours)/float64(means[0]),
		figures.Of(theirs.Seconds(), "s"), float64(theirs)/float64(means[1])))
	return nil
}

// writerEnv is the environment variable with the job of a process that writes.
const writerEnv = "VFSDB_BENCH_WRITER"

// A writerJob is the work of one process.
type writerJob struct {
	Store  string // "": the host
	Dir    string
	Writes int
	Reads  bool // another goroutine reads until the input ends
}

// A writer is a process that has a job.
type writer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startWriter starts a process and waits until it is ready.
func startWriter(ctx context.Context, job writerJob) (*writer, error) {
	text, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}

	w := &writer{cmd: exec.CommandContext(ctx, self)}
	w.cmd.Env, w.cmd.Stderr = append(os.Environ(), writerEnv+"="+string(text)), os.Stderr
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewReader(out)

	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := w.out.ReadString('\n'); err != nil {
		return nil, errors.Join(fmt.Errorf("child: %w", err), w.end())
	}
	return w, nil
}

// end ends the process, and waits for it.
func (w *writer) end() error { return errors.Join(w.in.Close(), w.cmd.Wait()) }

// writeAll lets n processes begin together, and returns when the last has ended its writes. longest is the time of the
// longest write.
func (b *bench) writeAll(n int, job writerJob) (took, longest time.Duration, err error) {
	var all []*writer
	defer func() {
		for _, w := range all {
			err = errors.Join(err, w.end())
		}
	}()

	dir := job.Dir
	for i := range n {
		job.Dir = filepath.Join(dir, fmt.Sprint("p", i))
		w, err := startWriter(b.ctx, job)
		if err != nil {
			return 0, 0, err
		}
		all = append(all, w)
	}

	took, err = b.timed(func() error {
		for _, w := range all {
			if _, err := io.WriteString(w.in, "go\n"); err != nil {
				return err
			}
		}
		for _, w := range all {
			var t time.Duration
			if _, err := fmt.Fscanln(w.out, &t); err != nil {
				return fmt.Errorf("child: %w", err)
			}
			longest = max(longest, t)
		}
		return nil
	})
	return took, longest, err
}

// writerChild does the job of a process that writes. It reports whether this is one.
func writerChild() bool {
	text := os.Getenv(writerEnv)
	if text == "" {
		return false
	}
	var job writerJob
	err := json.Unmarshal([]byte(text), &job)
	if err == nil {
		err = job.do(context.Background(), bufio.NewReader(os.Stdin), os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench child:", err)
		os.Exit(1)
	}
	return true
}

// do reports when it is ready, begins at the first line of the input, prints the time of the longest write, and ends
// with the input.
func (j writerJob) do(ctx context.Context, in *bufio.Reader, out io.Writer) (err error) {
	write, read := hostCreateSync, os.ReadFile
	if j.Store == "" {
		if err := os.MkdirAll(j.Dir, 0o755); err != nil {
			return err
		}
	} else {
		fsys, err := vfs.Open(ctx, j.Store, nil)
		if err != nil {
			return err
		}
		defer fsys.Close()
		if err := fsys.MkdirAll(ctx, j.Dir, 0o755); err != nil {
			return err
		}
		write = func(name string, data []byte) error { return fsys.WriteFile(ctx, name, data, 0o644) }
		read = func(name string) ([]byte, error) { return fsys.ReadFile(ctx, name) }
	}
	files := makeFiles(j.Writes, 1024, 1024, uint64(os.Getpid()))
	first := filepath.Join(j.Dir, "first")
	if err := write(first, files[0].data); err != nil {
		return err
	}

	fmt.Fprintln(out)
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}

	ended := make(chan struct{})
	var reader sync.WaitGroup
	if j.Reads {
		reader.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
					_, _ = read(first)
				}
			}
		})
	}

	longest := time.Duration(0)
	for i, f := range files {
		began := time.Now()
		if err := write(filepath.Join(j.Dir, fmt.Sprint(i)), f.data); err != nil {
			return err
		}
		longest = max(longest, time.Since(began))
	}
	fmt.Fprintln(out, int64(longest))
	_, _ = io.Copy(io.Discard, in)
	close(ended)
	reader.Wait()
	return nil
}
