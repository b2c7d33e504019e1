package search_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"vfsdb/search"
	"vfsdb/vfs"
)

// project opens a store with a few files, and returns what removes it.
func project(ctx context.Context) (fsys *vfs.FS, done func()) {
	dir, err := os.MkdirTemp("", "search")
	if err != nil {
		log.Fatal(err)
	}
	if fsys, err = vfs.Open(ctx, filepath.Join(dir, "project.db"), nil); err != nil {
		log.Fatal(err)
	}

	for name, text := range map[string]string{
		"README.md":        "# A project\n",
		"docs/design.md":   "# Design\n",
		"src/main.go":      "package main\n\nfunc main() {}\n",
		"src/main_test.go": "package main\n",
	} {
		if err := fsys.WriteFile(ctx, name, []byte(text), 0o644, vfs.Parents()); err != nil {
			log.Fatal(err)
		}
	}
	return fsys, func() {
		fsys.Close()
		os.RemoveAll(dir)
	}
}

func ExampleGrep() {
	ctx := context.Background()
	fsys, done := project(ctx)
	defer done()

	result, err := search.Grep(ctx, fsys, `^func \w+`, &search.GrepOptions{Regex: true, Include: []string{"*.go"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range result.Matches {
		fmt.Printf("%s:%d: %s\n", m.Path, m.Line, m.Text)
	}
	// Output: src/main.go:3: func main() {}
}

func ExampleFind() {
	ctx := context.Background()
	fsys, done := project(ctx)
	defer done()

	hits, more, err := search.Find(ctx, fsys, "src", &search.FindOptions{Pattern: "*_test.go", MatchBase: true, Max: 10})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range hits {
		fmt.Println(hit.Path, hit.Info.Size(), more)
	}
	// Output: src/main_test.go 13 false
}

func ExampleGlob() {
	ctx := context.Background()
	fsys, done := project(ctx)
	defer done()

	paths, err := search.Glob(ctx, fsys, "**/*.md")
	fmt.Println(paths, err)
	// Output: [README.md docs/design.md] <nil>
}

// Inside a transaction a search sees one moment, and the changes of the transaction.
func ExampleUsage_tx() {
	ctx := context.Background()
	fsys, done := project(ctx)
	defer done()

	err := fsys.Update(ctx, func(tx *vfs.Tx) error {
		if err := tx.RemoveAll("src"); err != nil {
			return err
		}
		totals, err := search.Usage(ctx, tx, ".")
		fmt.Println(totals.Files, "files,", totals.Dirs, "directories,", totals.Bytes, "bytes")
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 2 files, 2 directories, 21 bytes
}
