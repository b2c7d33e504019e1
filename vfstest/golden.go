package vfstest

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"vfsdb/vfs"
)

var update = flag.Bool("vfstest.update", false, "write the golden files of package vfstest, for review")

// Golden fails the test unless text is the content of a file. With -vfstest.update it writes text to the file instead.
// The name is relative to the directory of the tested package.
func Golden(t testing.TB, file, text string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatalf("vfstest: %v", err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatalf("vfstest: %v", err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("vfstest: %v", err)
	}
	if err != nil || string(want) != text {
		t.Errorf("vfstest: %s differs from what the test gave; -vfstest.update writes it\n%s", file, diff.Diff(file, want, "got", []byte(text)))
	}
}

// GoldenTree is [Golden] of the description of a tree, see [Tree].
func GoldenTree(t testing.TB, file string, fsys *vfs.FS) {
	t.Helper()
	Golden(t, file, Tree(t, fsys))
}
