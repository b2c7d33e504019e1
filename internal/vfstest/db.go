package vfstest

import (
	"testing"

	"vfsdb/internal/dbtest"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// DB returns the file under a tree, for tests that read rows, or damage them.
func DB(fsys *vfs.FS) *schema.DB { return (*tree.Tree)(fsys).DB() }

// Number returns the number that a query finds in the file under a tree, 0 if it finds none.
func Number(t testing.TB, fsys *vfs.FS, query string, args ...any) int64 {
	t.Helper()
	return dbtest.Number(t, DB(fsys), query, args...)
}

// Exec changes rows of the file under a tree behind the back of the rooms.
func Exec(t testing.TB, fsys *vfs.FS, query string, args ...any) {
	t.Helper()
	dbtest.Exec(t, DB(fsys), query, args...)
}
