package gc_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"vfsdb/gc"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// What a snapshot keeps is not collected; once it is deleted, it is.
func ExampleRun() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "gc-example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	fsys, err := vfs.Open(ctx, filepath.Join(dir, "agent.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()

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
