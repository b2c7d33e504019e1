// Package agenttest is for tests of tools and of the agents that call them: it stands in for the model.
//
//	func TestRename(t *testing.T) {
//		fsys := vfstest.FromMap(t, map[string]string{"main.go": "package old\n"})
//		box := agenttest.Toolbox(t, fsys, &tool.Config{Policy: policy})
//		transcript := agenttest.Run(t, box,
//			agenttest.Step{Tool: "workspace_read_file", Input: map[string]any{"path": "/main.go"}, Want: "package old"},
//			agenttest.Step{Tool: "workspace_rm", Input: map[string]any{"path": "/"}, Err: fs.ErrPermission},
//		)
//		vfstest.Golden(t, "testdata/rename.txt", transcript)
//		vfstest.GoldenTree(t, "testdata/rename.txtar", fsys)
//	}
//
// [Toolbox] makes tools over the store of a test, and [Session] a session whose branch is forked from it. [Call] makes
// one call, with a Go value as its input, and [Decode] reads the structured result. [Run] is a scripted agent: it makes
// calls in order, checks each result, and returns the transcript.
//
// A tool of your own needs no more than a tree: a store of package vfstest, or the [Tree] of a session.
package agenttest
