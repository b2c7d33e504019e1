package agenttest_test

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/profile/module2"
	"vfsdb/agent/tool"
	kit "vfsdb/internal/vfstest"
	"vfsdb/vfstest"
	"vfsdb/vfstest/agenttest"
)

type args = map[string]any

// A session works on a branch of its own, which begins as the store's is, or where the options say.
func TestSession(t *testing.T) {
	fsys := vfstest.New(t, "a")
	s := agenttest.Session(t, fsys, "try", nil)
	agenttest.Call(t, s, "workspace_write_file", args{"path": "/b", "content": ""})
	require.Equal(t, []string{"a", "b"}, vfstest.Names(t, agenttest.Tree(t, s)))
	require.Equal(t, []string{"a"}, vfstest.Names(t, fsys))

	later := agenttest.Session(t, fsys, "later", &agent.SessionOptions{From: "try"})
	require.Equal(t, []string{"a", "b"}, vfstest.Names(t, agenttest.Tree(t, later)))
}

// Each way in which a step can differ fails the test, and the steps behind it are run.
func TestRunFails(t *testing.T) {
	fsys := vfstest.FromMap(t, map[string]string{"a": "hello\n"})
	box := agenttest.Toolbox(t, fsys, &tool.Config{Profile: module2.Profile})
	read := func(path string) agenttest.Step { return agenttest.Step{Tool: "read", Input: args{"path": path}} }
	missing, wanted, allowed, other := read("/none"), read("/a"), read("/a"), read("/none")
	wanted.Want, allowed.Err, other.Err = "goodbye", fs.ErrPermission, syscall.EISDIR

	got := kit.Failures(t, func(t testing.TB) {
		transcript := agenttest.Run(t, box, missing, wanted, allowed, other, agenttest.Step{Tool: "mkdir", Input: args{"path": "/made"}})
		require.Equal(t, 5, strings.Count(transcript, "> "))
	})
	for _, want := range []string{
		"step 1, read {\"path\":\"/none\"}: failed: ", `step 2, read {"path":"/a"}: there is no "goodbye" in it`,
		`step 3, read {"path":"/a"}: succeeded, and should have failed`, `step 4, read {"path":"/none"}: failed: `,
	} {
		require.Contains(t, got, want)
	}
	require.NotContains(t, got, "step 5")
	require.Equal(t, []string{"a", "made/"}, vfstest.Names(t, fsys))
}

func TestHelpersFail(t *testing.T) {
	fsys := vfstest.New(t, "a")
	for name, test := range map[string]func(testing.TB){
		"workspace name \"a b\"": func(t testing.TB) { agenttest.Toolbox(t, fsys, &tool.Config{Name: "a b"}) },
		"no such": func(t testing.TB) {
			agenttest.Tree(t, agenttest.Session(t, fsys, "s", &agent.SessionOptions{From: "none"}))
		},
		"session \"\\x00\"":       func(t testing.TB) { agenttest.Session(t, fsys, "\x00", nil) },
		"ls null: ":               func(t testing.TB) { agenttest.Call(t, agenttest.Toolbox(t, fsys, nil), "ls", args(nil)) },
		"input of ls":             func(t testing.TB) { agenttest.Call(t, agenttest.Toolbox(t, fsys, nil), "ls", func() {}) },
		"answers in text alone":   func(t testing.TB) { agenttest.Decode[args](t, &tool.Result{Text: "x"}) },
		"cannot unmarshal object": func(t testing.TB) { agenttest.Decode[int](t, &tool.Result{Data: args{}}) },
	} {
		require.Contains(t, kit.Failures(t, test), name)
	}
}
