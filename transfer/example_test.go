package transfer_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"vfsdb/transfer"
	"vfsdb/vfs"
)

// A directory goes in in one commit, and comes out as a tar stream.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "transfer-example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	src := filepath.Join(dir, "src")
	if err := os.MkdirAll(filepath.Join(src, "docs"), 0o755); err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"main.go", "debug.log", "docs/index.md"} {
		if err := os.WriteFile(filepath.Join(src, name), []byte(name), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	fsys, err := vfs.Open(ctx, filepath.Join(dir, "agent.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()

	in, err := transfer.ImportDir(ctx, fsys, src, "/project", &transfer.ImportOptions{Exclude: []string{"*.log"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("in:", in.Files, "files", in.Bytes, "bytes")

	var out bytes.Buffer
	if _, err := transfer.ExportTar(ctx, fsys, "/project", &out, nil); err != nil {
		log.Fatal(err)
	}
	for r := tar.NewReader(&out); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("out:", h.Name)
	}
	// Output:
	// in: 2 files 20 bytes
	// out: ./
	// out: docs/
	// out: docs/index.md
	// out: main.go
}
