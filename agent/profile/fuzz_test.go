package profile_test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/profile"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
)

// FuzzCall gives any tool of any profile any arguments: nothing panics, an error is explained in words, and all
// answers are text. The store stays whole.
func FuzzCall(f *testing.F) {
	fsys := vfstest.New(f, "d/a", "d/b", "e/")
	var boxes []*tool.Toolbox
	for i, p := range profile.All() {
		b, err := tool.New(fsys, &tool.Config{Profile: p, Policy: &policy.Policy{MaxBytes: 8 << 20, MaxEntries: 1000}, Caps: policy.Caps{ResultBytes: 1000}})
		require.NoError(f, err)
		boxes = append(boxes, b)
		for k := range b.Tools() {
			f.Add(i, k, []byte(`{"path":"/d/a","pattern":"**/{a,b}*","old_string":"a","new_string":"b","content":"x"}`))
		}
	}
	f.Add(1, 2, []byte(`{"path":"/d/a","old_string":"d","new_string":"","count":0}`))
	f.Add(2, 4, []byte(`{"directory":"/","pattern":"[a]?**/*","limit":1000,"offset":1000000}`))
	f.Add(3, 5, []byte(`{"pattern":"a","path":"/d","output_mode":"content"}`))
	f.Add(4, 5, []byte(`{"path":"/d/a","edits":[{"oldText":"  d/a\n","newText":"\n\t x"}],"dryRun":true}`))
	f.Fuzz(func(t *testing.T, profile, op int, input []byte) {
		b := boxes[abs(profile)%len(boxes)]
		called := b.Tools()[abs(op)%len(b.Tools())]
		r := b.Call(t.Context(), called.Name, input)
		require.True(t, utf8.ValidString(r.Text))
		if r.Err != nil {
			require.NotEmpty(t, r.Text)
			return
		}
		agentkit.Conforms(t, called, r)
	})
}

func abs(n int) int { return max(n, -(n + 1)) }
