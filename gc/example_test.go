package gc_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vfsdb/gc"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// scratch opens a store in a new directory. done closes and removes it.
func scratch(ctx context.Context) (fsys *vfs.FS, done func()) {
	dir, err := os.MkdirTemp("", "gc-example-*")
	if err != nil {
		log.Fatal(err)
	}
	fsys, err = vfs.Open(ctx, filepath.Join(dir, "agent.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	return fsys, func() {
		if err := errors.Join(fsys.Close(), os.RemoveAll(dir)); err != nil {
			log.Fatal(err)
		}
	}
}

// Content that a snapshot shows is not collected, until the snapshot is deleted.
func ExampleRun() {
	ctx := context.Background()
	fsys, done := scratch(ctx)
	defer done()

	if err := fsys.WriteFile(ctx, "big", make([]byte, 1<<20), 0o644); err != nil { // holes: no bytes at all
		log.Fatal(err)
	}
	if err := fsys.WriteFile(ctx, "draft", []byte("a first draft"), 0o644); err != nil {
		log.Fatal(err)
	}
	if _, err := snapshot.Create(ctx, fsys, "monday", nil); err != nil {
		log.Fatal(err)
	}
	if err := fsys.Remove(ctx, "draft"); err != nil {
		log.Fatal(err)
	}
	report, err := gc.Run(ctx, fsys, nil)
	fmt.Println(report.Blobs, report.Bytes, err)

	if err := snapshot.Delete(ctx, fsys, "monday"); err != nil {
		log.Fatal(err)
	}
	report, err = gc.Run(ctx, fsys, nil)
	fmt.Println(report.Blobs, report.Bytes, err)
	// Output:
	// 0 0 <nil>
	// 1 13 <nil>
}

// A dry run counts the garbage and leaves it.
func ExampleRun_dryRun() {
	ctx := context.Background()
	fsys, done := scratch(ctx)
	defer done()
	if err := fsys.WriteFile(ctx, "draft", []byte("a first draft"), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := fsys.Remove(ctx, "draft"); err != nil {
		log.Fatal(err)
	}

	for _, dry := range []bool{true, false, true} {
		report, err := gc.Run(ctx, fsys, &gc.Options{DryRun: dry})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("dry run:", dry, "bytes:", report.Bytes)
	}
	// Output:
	// dry run: true bytes: 13
	// dry run: false bytes: 13
	// dry run: true bytes: 0
}

// Text takes a fraction of its size after a compaction, and reads the same.
func ExampleCompact() {
	ctx := context.Background()
	fsys, done := scratch(ctx)
	defer done()
	text := strings.Repeat("the same line again\n", 10_000)
	if err := fsys.WriteFile(ctx, "notes.md", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}

	report, err := gc.Compact(ctx, fsys, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Blobs, "blob, before:", report.Before, "after, less than a tenth:", report.After < report.Before/10)

	data, err := fsys.ReadFile(ctx, "notes.md")
	fmt.Println("the same:", string(data) == text, err)
	// Output:
	// 1 blob, before: 200000 after, less than a tenth: true
	// the same: true <nil>
}

// A program that stays open collects in the background, and stops that before it closes the store. Before each collection
// it drops old automatic snapshots.
func ExampleAuto() {
	ctx := context.Background()
	fsys, done := scratch(ctx)
	defer done()
	stop := gc.Auto(ctx, fsys, time.Hour, &gc.AutoOptions{Log: slog.Default(), Compact: 64 << 20, Before: func(ctx context.Context) error {
		_, err := snapshot.Prune(ctx, fsys, &snapshot.PruneOptions{All: true})
		return err
	}})
	defer stop()

	err := fsys.WriteFile(ctx, "plan.md", []byte("1. measure\n"), 0o644)
	fmt.Println(err)
	// Output: <nil>
}
