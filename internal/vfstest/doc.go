// Package vfstest is the test kit of this module: the stores of the public one, vfsdb/vfstest, and what is of use only
// here: a model to compare them with, and what their logs say.
//
//	func TestRename(t *testing.T) {
//		fsys := vfstest.New(t, "a", "b", "dir/sub/") // every invariant is checked at the end of the test
//		require.NoError(t, fsys.Rename(t.Context(), "a", "dir/a"))
//		require.Equal(t, []string{"b", "dir/", "dir/a", "dir/sub/"}, vfstest.Names(t, fsys))
//	}
//
// [Dump] describes a whole tree, down to the sums of its files as they are read, so two trees can be compared in one line.
//
// A [Model] is the same filesystem written down as plainly as possible: maps of nodes, a snapshot is a deep copy. The
// test in package model does the same random things to a store and to a Model.
//
// Only tests import this package.
package vfstest
