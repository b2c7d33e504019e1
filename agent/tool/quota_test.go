package tool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/search"
)

// The quota is exact, whatever was added and taken away before, by the tools or by others.
func TestQuotaIsExact(t *testing.T) {
	const maxBytes, maxEntries = 4000, 60
	b, fsys := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{MaxBytes: maxBytes, MaxEntries: maxEntries}})
	ctx := t.Context()
	r := rand.New(rand.NewPCG(1, 2))
	path := func() string { return fmt.Sprintf("/d%d/f%d", r.IntN(6), r.IntN(12)) }
	refused := 0
	for range 3000 {
		text := strings.Repeat("x", r.IntN(200))
		var op string
		var in agentkit.Args
		switch r.IntN(10) {
		case 0, 1, 2:
			op, in = "write_file", agentkit.Args{"path": path(), "content": text}
		case 3:
			op, in = "append_file", agentkit.Args{"path": path(), "content": text}
		case 4:
			op, in = "mkdir", agentkit.Args{"path": path()}
		case 5:
			op, in = "cp", agentkit.Args{"source": fmt.Sprintf("/d%d", r.IntN(6)), "destination": fmt.Sprintf("/d%d/c", r.IntN(6))}
		case 6:
			op, in = "mv", agentkit.Args{"source": path(), "destination": path(), "overwrite": true}
		case 7:
			op, in = "rm", agentkit.Args{"path": fmt.Sprintf("/d%d", r.IntN(6)), "recursive": true}
		case 8: // somebody else, who knows no quota
			_ = fsys.Link(ctx, path(), path())
			_ = fsys.Truncate(ctx, path(), int64(r.IntN(300)))
		case 9:
			_ = fsys.WriteFile(ctx, path(), []byte(text), 0o644)
			_ = fsys.Remove(ctx, path())
		}
		if op == "" {
			continue
		}
		input, err := json.Marshal(in)
		require.NoError(t, err)
		before, err := search.Usage(ctx, fsys, ".")
		require.NoError(t, err)
		err = b.Call(ctx, "workspace_"+op, input).Err
		after, duErr := search.Usage(ctx, fsys, ".")
		require.NoError(t, duErr)
		over := func(u search.Totals) bool {
			return u.Bytes > maxBytes || u.Files+u.Dirs+u.Symlinks+u.Others-1 > maxEntries
		}
		if errors.Is(err, syscall.EDQUOT) {
			refused++
			require.Equal(t, before, after)
			continue
		}
		if err == nil && (after.Bytes > before.Bytes || after.Files+after.Dirs > before.Files+before.Dirs) {
			require.False(t, over(after), "%s %s", op, input)
		}
	}
	require.Positive(t, refused)
}
