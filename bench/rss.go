package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/zeebo/blake3"

	"vfsdb/bench/figures"
	"vfsdb/vfs"
)

// The memory of a stream is that of a process that does nothing else, so the program starts itself once more. The child
// finds in its environment how long the stream is, and where to store it.
const (
	childSize = "VFSDB_BENCH_STREAM"
	childDir  = "VFSDB_BENCH_DIR"
)

// A footprint is the report of the child: its peak resident memory in bytes, at the start, after the stream went in,
// and after it came out, and whether the same bytes came out.
type footprint struct {
	Idle, In, Out int64
	Equal         bool
}

// streamRSS streams 4 GiB in and out of a new process, and measures its memory.
func streamRSS(b *bench) error {
	size := int64(b.size(4<<30, 32<<20))
	what := "peak RSS, " + figures.Of(float64(size), "B") + " stream in and out"
	if _, ok := figures.ProcField("/proc/self/status", "VmHWM"); !ok {
		b.add(row{What: what, Unit: "B", Peer: "VmHWM", Absent: true})
		return nil
	}

	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(b.ctx, self)
	cmd.Env = append(os.Environ(), childSize+"="+strconv.FormatInt(size, 10), childDir+"="+b.dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("child: %w", err)
	}

	var f footprint
	if err := json.Unmarshal(out, &f); err != nil {
		return fmt.Errorf("child: %w", err)
	}
	if !f.Equal {
		return errors.New("other bytes came out than went in")
	}
	b.add(under(what, "B", float64(f.Out), 64<<20).aim(32<<20).with("idle %s, after the way in %s; equal by hash",
		figures.Of(float64(f.Idle), "B"), figures.Of(float64(f.In), "B")))
	return nil
}

// child does the work of the other process. It reports whether this is one.
func child() bool {
	text := os.Getenv(childSize)
	if text == "" {
		return false
	}
	size, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		var f footprint
		if f, err = streamBoth(context.Background(), filepath.Join(os.Getenv(childDir), "rss.db"), size); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(f)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench child:", err)
		os.Exit(1)
	}
	return true
}

// streamBoth moves a stream in and out of a new store.
func streamBoth(ctx context.Context, name string, size int64) (f footprint, err error) {
	fsys, err := vfs.Open(ctx, name, nil)
	if err != nil {
		return f, err
	}
	defer fsys.Close()

	source := newNoise(9, size)
	f.Idle = peak()
	went, came := blake3.New(), blake3.New()
	if _, err := fsys.WriteFrom(ctx, "stream", io.TeeReader(source, went), 0o644); err != nil {
		return f, err
	}
	f.In = peak()

	file, err := fsys.Open(ctx, "stream")
	if err != nil {
		return f, err
	}
	defer file.Close()
	if err := drain(file, came, size); err != nil {
		return f, err
	}
	f.Out = peak()
	f.Equal = string(went.Sum(nil)) == string(came.Sum(nil))
	return f, nil
}

// peak returns the most resident memory that this process ever had.
func peak() int64 {
	kib, _ := figures.ProcField("/proc/self/status", "VmHWM")
	return kib << 10
}
