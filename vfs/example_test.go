package vfs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"vfsdb/chunk"
	"vfsdb/search"
	"vfsdb/vfs"
)

// scratch opens a store in a new directory; done closes it and removes it.
func scratch(ctx context.Context) (fsys *vfs.FS, done func()) {
	dir, err := os.MkdirTemp("", "vfs-example-*")
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

func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "vfs-example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "agent.db")

	_, err = vfs.Open(ctx, path, &vfs.Options{MustExist: true})
	fmt.Println("there is none:", errors.Is(err, os.ErrNotExist))

	fsys, err := vfs.Open(ctx, path, nil) // makes it
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()
	if err := fsys.WriteFile(ctx, "notes/todo.md", []byte("read the source\n"), 0o644, vfs.Parents()); err != nil {
		log.Fatal(err)
	}
	data, err := fsys.ReadFile(ctx, "/notes/todo.md") // the same file, slash or not
	fmt.Printf("%s%v\n", data, err)
	// Output:
	// there is none: true
	// read the source
	// <nil>
}

// Several verbs are one commit. When the function fails, none of them happened.
func ExampleFS_Update() {
	ctx := context.Background()
	fsys, done := scratch(ctx)
	defer done()
	if err := fsys.WriteFile(ctx, "plan.md", []byte("first\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	err := fsys.Update(ctx, func(tx *vfs.Tx) error {
		if err := tx.Rename("plan.md", "plan.old.md"); err != nil {
			return err
		}
		return tx.WriteFile("plan.md", []byte("second\n"), 0o644)
	})
	fmt.Println(err)

	err = fsys.Update(ctx, func(tx *vfs.Tx) error {
		if err := tx.RemoveAll("plan.md"); err != nil {
			return err
		}
		return tx.Remove("no/such/file")
	})
	fmt.Println(err)

	names, err := search.Glob(ctx, fsys, "**/*.md")
	fmt.Println(names, err)
	// Output:
	// <nil>
	// remove no/such/file: no such file or directory
	// [plan.md plan.old.md] <nil>
}

// A stream of any length becomes a file in one commit at its end, or not at all.
func ExampleFS_WriteFrom() {
	ctx := context.Background()
	fsys, done := scratch(ctx)
	defer done()

	n, err := fsys.WriteFrom(ctx, "in/big.csv", strings.NewReader(strings.Repeat("a,b,c\n", 1_000_000)), 0o644, vfs.Parents())
	fmt.Println(n, err)

	broken := io.MultiReader(strings.NewReader("the first half"), errorReader{errors.New("connection lost")})
	_, err = fsys.WriteFrom(ctx, "in/big.csv", broken, 0o644)
	fmt.Println(err)

	tail, err := fsys.ReadRange(ctx, "in/big.csv", n-6, 6)
	fmt.Printf("%q %v\n", tail, err)
	// Output:
	// 6000000 <nil>
	// write in/big.csv: connection lost
	// "a,b,c\n" <nil>
}

type errorReader struct{ error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.error }

// Whoever changes a file says which content was read. A change in between is refused, with the sum that is there now.
func ExampleIfSum() {
	ctx := context.Background()
	fsys, done := scratch(ctx)
	defer done()
	if err := fsys.WriteFile(ctx, "counter", []byte("1"), 0o644); err != nil {
		log.Fatal(err)
	}
	read, err := fsys.Sum(ctx, "counter")
	if err != nil {
		log.Fatal(err)
	}

	// Somebody else is faster.
	if err := fsys.WriteFile(ctx, "counter", []byte("2"), 0o644); err != nil {
		log.Fatal(err)
	}

	err = fsys.WriteFile(ctx, "counter", []byte("one more than 1"), 0o644, vfs.IfSum(read))
	var stale *vfs.StaleError
	fmt.Println(errors.As(err, &stale) && stale.Sum == chunk.SumOf([]byte("2")))
	// Output: true
}

// The standard library reads a tree as an fs.FS: here, a web server.
func ExampleFS_IOFS() {
	ctx := context.Background()
	fsys, done := scratch(ctx)
	defer done()
	if err := fsys.WriteFile(ctx, "index.html", []byte("<h1>It works</h1>\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(http.FileServerFS(fsys.IOFS(ctx)))
	defer server.Close()

	answer, err := http.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	fmt.Printf("%s %s%v\n", answer.Status, body, err)
	// Output:
	// 200 OK <h1>It works</h1>
	// <nil>
}
