package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// What a tool call costs beside the verb that it runs: arguments checked, paths resolved, the policy asked, the result
// encoded.
func BenchmarkCall(b *testing.B) {
	fsys := vfstest.New(b)
	content := []byte(strings.Repeat("a line of text in a file of ten KiB\n", 290))
	if err := fsys.WriteFile(b.Context(), "d/e/f", content, 0o644, vfs.Parents()); err != nil {
		b.Fatal(err)
	}
	box, err := agent.New(fsys, &tool.Config{Policy: &policy.Policy{Paths: []string{"/d"}}})
	if err != nil {
		b.Fatal(err)
	}
	write, err := json.Marshal(map[string]string{"path": "/d/e/g", "content": string(content)})
	if err != nil {
		b.Fatal(err)
	}
	op := func(name string, input []byte) func(*testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				if r := box.Call(b.Context(), name, input); r.Err != nil {
					b.Fatal(r.Err)
				}
			}
		}
	}
	b.Run("read/verb", func(b *testing.B) {
		for b.Loop() {
			if _, err := fsys.ReadFile(b.Context(), "d/e/f"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read/tool", op("workspace_read_file", []byte(`{"path":"/d/e/f"}`)))
	b.Run("write/verb", func(b *testing.B) {
		for b.Loop() {
			if err := fsys.WriteFile(b.Context(), "d/e/g", content, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("write/tool", op("workspace_write_file", write))
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			if _, err := agent.New(fsys, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
