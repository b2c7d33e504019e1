// Package vfstest is for the tests of programs that use vfs: stores that check themselves, and golden files of trees.
//
//	func TestTidy(t *testing.T) {
//		fsys := vfstest.FromMap(t, map[string]string{"notes/a.md": "one\n", "tmp/": ""})
//		require.NoError(t, tidy(t.Context(), fsys)) // what is tested
//		vfstest.GoldenTree(t, "testdata/tidy.txtar", fsys)
//	}
//
// # Stores
//
// [New], [FromMap] and [FromFS] make a store in a directory of the test's own and fill it. When the test ends,
// [vfs.Check] must find nothing in the store, whatever the test did; then it is closed. [Open] does the same for a file
// that the test names, to open one twice, for example.
//
// # Golden files
//
// [Tree] describes a tree as text, [Names] lists its paths. [Golden] compares text with a file, [GoldenTree] a tree. The
// flag -vfstest.update writes these files instead:
//
//	go test ./tidy -run TestTidy -vfstest.update
//
// Read what it changed before you commit it. The flag has a prefix because tests often have an -update of their own.
//
// # Agents
//
// Tests of tools and of agents find theirs in package agenttest.
package vfstest
