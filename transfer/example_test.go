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

// With Partial an import takes every entry that it can, and the Report lists the others. A directory of the host gets
// the result.
func ExampleExportDir() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "transfer-example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	fsys, err := vfs.Open(ctx, filepath.Join(dir, "agent.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()

	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, name := range []string{"readme.md", "../escape"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: 5}); err != nil {
			log.Fatal(err)
		}
		if _, err := w.Write([]byte("hello")); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	in, err := transfer.ImportTar(ctx, fsys, &archive, "/in", &transfer.ImportOptions{Partial: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range in.Refused {
		fmt.Printf("refused: %s: %s\n", r.Path, r.Why)
	}

	out, err := transfer.ExportDir(ctx, fsys, "/in", filepath.Join(dir, "out"), nil)
	if err != nil {
		log.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "out", "readme.md"))
	fmt.Println("out:", out.Files, "file,", string(data), err)
	// Output:
	// refused: ../escape: a name with ..: invalid argument
	// out: 1 file, hello <nil>
}
