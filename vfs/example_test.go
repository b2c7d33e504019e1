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

// A write that names the sum of the content that it was made from is refused if the file has changed since. The caller
// reads again and repeats its change.
func ExampleIfSum() {
	ctx := context.Background()
	fsys, done := scratch(ctx)
	defer done()
	if err := fsys.WriteFile(ctx, "list", []byte("bread\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	for attempt := 1; ; attempt++ {
		data, err := fsys.ReadFile(ctx, "list")
		if err != nil {
			log.Fatal(err)
		}
		if attempt == 1 { // another writer is faster
			if err := fsys.Append(ctx, "list", []byte("milk\n"), 0o644); err != nil {
				log.Fatal(err)
			}
		}

		err = fsys.WriteFile(ctx, "list", append(data, "tea\n"...), 0o644, vfs.IfSum(vfs.SumOf(data)))
		var stale *vfs.StaleError
		if errors.As(err, &stale) {
			fmt.Println("changed in between")
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		break
	}

	data, err := fsys.ReadFile(ctx, "list")
	fmt.Printf("%s%v\n", data, err)
	// Output:
	// changed in between
	// bread
	// milk
	// tea
	// <nil>
}

// A watcher gets each event once, in order, also those of other processes. The number of the last one that it has seen
// is all that it needs to go on after a restart.
func ExampleFS_Watch() {
	ctx := context.Background()
	fsys, done := scratch(ctx)
	defer done()
	seen, err := fsys.Seq(ctx) // where the record ends now
	if err != nil {
		log.Fatal(err)
	}

	ours := vfs.WithCall(ctx, &vfs.Call{Actor: "agent-7", Tool: "write_file"})
	for _, name := range []string{"notes/plan.md", "other/x", "notes/done.md"} {
		if err := fsys.WriteFile(ours, name, []byte("text"), 0o644, vfs.Parents()); err != nil {
			log.Fatal(err)
		}
	}

	for e, err := range fsys.Watch(ctx, "notes", seen) { // until the context ends
		if err != nil {
			log.Fatal(err)
		}
		seen = e.Seq
		fmt.Println(e.Op, e.Path, "by", e.Actor)
		if e.Path == "notes/done.md" {
			break
		}
	}
	// Output:
	// mkdir notes by agent-7
	// create notes/plan.md by agent-7
	// create notes/done.md by agent-7
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
