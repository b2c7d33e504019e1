package vfstest_test

import (
	"fmt"
	"testing"

	kit "vfsdb/internal/vfstest"
	"vfsdb/vfstest"
)

// A store with the files that a test needs. At the end of the test it is checked and closed.
func ExampleFromMap() {
	kit.Example(func(t testing.TB) {
		fsys := vfstest.FromMap(t, map[string]string{"plan.md": "ask first\n", "tmp/": ""})
		if err := fsys.Rename(t.Context(), "plan.md", "tmp/plan.md"); err != nil {
			t.Fatal(err)
		}
		fmt.Println(vfstest.Names(t, fsys))
	})
	// Output:
	// [tmp/ tmp/plan.md]
	// passed: true
}

// A tree as text, to compare with a golden file, see GoldenTree.
func ExampleTree() {
	kit.Example(func(t testing.TB) {
		fsys := vfstest.FromMap(t, map[string]string{"notes/plan.md": "ask first\n"})
		if err := fsys.Symlink(t.Context(), "notes/plan.md", "plan"); err != nil {
			t.Fatal(err)
		}
		fmt.Print(vfstest.Tree(t, fsys))
	})
	// Output:
	// drwxr-xr-x notes/
	// -rw-r--r-- notes/plan.md
	// Lrwxrwxrwx plan -> notes/plan.md
	// -- notes/plan.md --
	// ask first
	// passed: true
}
