// Package vfstest is the test kit of this module: the stores of the public kit, vfsdb/vfstest, a model to compare them
// with, and their logs as text.
//
//	func TestRename(t *testing.T) {
//		fsys := vfstest.New(t, "a", "b", "dir/sub/") // every invariant is checked at the end of the test
//		require.NoError(t, fsys.Rename(t.Context(), "a", "dir/a"))
//		require.Equal(t, []string{"b", "dir/", "dir/a", "dir/sub/"}, vfstest.Names(t, fsys))
//	}
//
// [Dump] describes a whole tree, with the sums of its files as they are read. So one line compares two trees.
//
// A [Model] is the same filesystem, written as plainly as possible: maps of nodes, and a snapshot is a deep copy. The
// test in package model runs the same random verbs on a store and on a Model.
//
// Only tests import this package.
package vfstest
