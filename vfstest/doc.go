// Package vfstest is for the tests of programs that use vfs: stores that check themselves, and golden files of trees.
//
//	func TestTidy(t *testing.T) {
//		fsys := vfstest.FromMap(t, map[string]string{"notes/a.md": "one\n", "tmp/": ""})
//		require.NoError(t, tidy(t.Context(), fsys)) // the function under test
//		vfstest.GoldenTree(t, "testdata/tidy.txtar", fsys)
//	}
//
// # Stores
//
// [New], [FromMap] and [FromFS] make a store in a temporary directory of the test and fill it. At the end of the test
// [Check] must find no fault in the store, and then the store is closed. [Open] does the same for a file that the test
// names, to open one twice, for example.
//
// # Golden files
//
// [Tree] describes a tree as text, and [Names] lists its paths. [Golden] compares text with a file, and [GoldenTree]
// compares a tree. The flag -vfstest.update writes these files instead:
//
//	go test ./tidy -run TestTidy -vfstest.update
//
// Read the changes before you commit them. The flag has a prefix because tests often have a flag -update of their own.
//
// # Agents
//
// The kit for tests of tools and agents is package agenttest.
package vfstest
