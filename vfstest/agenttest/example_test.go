package agenttest_test

import (
	"fmt"
	"io/fs"
	"testing"

	"vfsdb/agent"
	"vfsdb/agent/profile/dofs"
	"vfsdb/agent/profile/module2"
	"vfsdb/agent/tool"
	kit "vfsdb/internal/vfstest"
	"vfsdb/vfstest"
	"vfsdb/vfstest/agenttest"
)

// One call of a tool, with a Go value as input and one as output.
func ExampleCall() {
	kit.Example(func(t testing.TB) {
		fsys := vfstest.FromMap(t, map[string]string{"src/a.go": "", "src/b.md": ""})
		box := agenttest.Toolbox(t, fsys, &tool.Config{Profile: dofs.Profile})
		r := agenttest.Call(t, box, "ls", map[string]any{"prefix": "/src"})
		files := agenttest.Decode[struct{ Paths []string }](t, r)
		fmt.Println(files.Paths)
	})
	// Output:
	// [/src/a.go /src/b.md]
	// passed: true
}

// A scripted agent: its calls, what they have to give, and the tree it leaves.
func ExampleRun() {
	kit.Example(func(t testing.TB) {
		fsys := vfstest.FromMap(t, map[string]string{"port.txt": "8080\n"})
		s := agenttest.Session(t, fsys, "attempt-1", &agent.SessionOptions{Config: tool.Config{Profile: module2.Profile}})
		transcript := agenttest.Run(t, s,
			agenttest.Step{Tool: "edit", Input: map[string]any{"path": "/port.txt", "old_string": "8080", "new_string": "9090"}, Want: "1 9090"},
			agenttest.Step{Tool: "rm", Input: map[string]any{"path": "/none"}, Err: fs.ErrNotExist},
		)
		fmt.Print(transcript)
		fmt.Print(vfstest.Tree(t, agenttest.Tree(t, s)))
	})
	// Output:
	// > edit {"new_string":"9090","old_string":"8080","path":"/port.txt"}
	// {"path":"/port.txt","replacements":1,"preview":"1 9090\n"}
	// > rm {"path":"/none"}
	// {"success":false,"error":"'/none': no such file or directory"}
	// -rw-r--r-- port.txt
	// -- port.txt --
	// 9090
	// passed: true
}
