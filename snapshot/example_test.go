package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"vfsdb/search"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// Work on a branch, and take it over when it is good.
func attempt(ctx context.Context) error {
	fsys, err := vfs.Open(ctx, "agent.db", nil) // stands on the branch main; makes the file if it is missing
	if err != nil {
		return err
	}
	defer fsys.Close()
	if err := fsys.WriteFile(ctx, "plan.md", []byte("1. measure\n"), 0o644); err != nil {
		return err // *fs.PathError around a syscall.Errno, as from package os
	}
	base, err := snapshot.Create(ctx, fsys, "", nil) // one row, however large the tree; "" makes up a name
	if err != nil {
		return err
	}
	try, err := snapshot.Branch(ctx, fsys, base, "") // writable, and main does not notice
	if err != nil {
		return err
	}
	err = try.Update(ctx, func(tx *vfs.Tx) error { // several verbs, one commit
		return errors.Join(tx.MkdirAll("src", 0o755), tx.Rename("plan.md", "src/plan.md"), tx.WriteFile("new.md", nil, 0o644))
	})
	if err != nil {
		return err
	}
	for change, err := range snapshot.Diff(ctx, base, try) { // costs what differs
		if err != nil {
			return err
		}
		fmt.Println(change.Kind, change.Path)
	}
	undo, err := snapshot.Restore(ctx, fsys, try) // main takes the state of the attempt
	if err != nil {
		return err
	}
	_, err = snapshot.Restore(ctx, fsys, undo) // and back
	return err
}

func Example() {
	dir, err := os.MkdirTemp("", "snapshot-example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	home, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	defer os.Chdir(home)
	if err := os.Chdir(dir); err != nil {
		log.Fatal(err)
	}
	for range 2 { // what works once works again
		if err := attempt(context.Background()); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// added new.md
	// added src
	// renamed src/plan.md
	// added new.md
	// added src
	// renamed src/plan.md
}

// scratch opens a store in a new directory, with files of which each holds its name; done closes and removes it.
func scratch(ctx context.Context, names ...string) (fsys *vfs.FS, done func()) {
	dir, err := os.MkdirTemp("", "snapshot-example-*")
	if err != nil {
		log.Fatal(err)
	}
	fsys, err = vfs.Open(ctx, filepath.Join(dir, "agent.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range names {
		if err := fsys.WriteFile(ctx, name, []byte(name), 0o644, vfs.Parents()); err != nil {
			log.Fatal(err)
		}
	}
	return fsys, func() {
		if err := errors.Join(fsys.Close(), os.RemoveAll(dir)); err != nil {
			log.Fatal(err)
		}
	}
}

// A branch for each attempt. No attempt sees the changes of another.
func ExampleBranch() {
	ctx := context.Background()
	fsys, done := scratch(ctx, "main.go")
	defer done()
	for _, name := range []string{"attempt-1", "attempt-2"} {
		try, err := snapshot.Branch(ctx, fsys, fsys, name)
		if err != nil {
			log.Fatal(err)
		}
		if err := try.WriteFile(ctx, "main.go", []byte("by "+name), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	for _, name := range []string{"main", "attempt-1", "attempt-2"} {
		head, err := fsys.Branch(ctx, name)
		if err != nil {
			log.Fatal(err)
		}
		data, err := head.ReadFile(ctx, "main.go")
		fmt.Printf("%s: %s %v\n", name, data, err)
	}
	// Output:
	// main: main.go <nil>
	// attempt-1: by attempt-1 <nil>
	// attempt-2: by attempt-2 <nil>
}

func ExampleDiff() {
	ctx := context.Background()
	fsys, done := scratch(ctx, "a.md", "b.md", "c.md")
	defer done()
	base, err := snapshot.Create(ctx, fsys, "monday", &snapshot.Options{Note: "before the holidays"})
	if err != nil {
		log.Fatal(err)
	}
	err = fsys.Update(ctx, func(tx *vfs.Tx) error {
		return errors.Join(tx.Remove("a.md"), tx.Append("b.md", []byte("more"), 0o644), tx.Rename("c.md", "d.md"))
	})
	if err != nil {
		log.Fatal(err)
	}
	for c, err := range snapshot.Diff(ctx, base, fsys) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s %q\n", c.Kind, c.Path, c.From)
	}
	// Output:
	// removed a.md ""
	// modified b.md ""
	// renamed d.md "c.md"
}

// A snapshot brings back a tree that was removed, and another one brings the removal back.
func ExampleRestore() {
	ctx := context.Background()
	fsys, done := scratch(ctx, "src/main.go", "src/main_test.go")
	defer done()
	good, err := snapshot.Create(ctx, fsys, "good", nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := fsys.RemoveAll(ctx, "src"); err != nil {
		log.Fatal(err)
	}
	undo, err := snapshot.Restore(ctx, fsys, good)
	if err != nil {
		log.Fatal(err)
	}
	names, err := search.Glob(ctx, fsys, "**/*.go")
	fmt.Println(names, err)
	if _, err := snapshot.Restore(ctx, fsys, undo); err != nil {
		log.Fatal(err)
	}
	names, err = search.Glob(ctx, fsys, "**/*.go")
	fmt.Println(names, err)
	// Output:
	// [src/main.go src/main_test.go] <nil>
	// [] <nil>
}

// The deeds of a path are the calls that changed it, newest first, also under the name that it had before.
func ExampleDeeds() {
	ctx := context.Background()
	fsys, done := scratch(ctx, "notes/plan.md")
	defer done()

	call := vfs.WithCall(ctx, &vfs.Call{Actor: "a model", Session: "s1", Tool: "write_file"})
	if err := fsys.WriteFile(call, "notes/plan.md", []byte("first\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	call = vfs.WithCall(ctx, &vfs.Call{Actor: "a person", Session: "s2", Tool: "mv"})
	if err := fsys.Rename(call, "notes/plan.md", "notes/done.md"); err != nil {
		log.Fatal(err)
	}

	for deed, err := range snapshot.Deeds(ctx, fsys, &snapshot.DeedOptions{Paths: []string{"notes/done.md"}, Trees: true, Events: -1}) {
		if err != nil {
			log.Fatal(err)
		}
		for _, e := range deed.Events {
			fmt.Println(deed.Actor, deed.Tool, e.Op, e.Path)
		}
	}
	// Output:
	// a person mv rename notes/done.md
	// a model write_file write notes/plan.md
}
