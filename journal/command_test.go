package journal_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// A call of a program has its command line, as a shell reads it, and its exit code, also when that comes later.
func TestCallOfProgram(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	code := 137
	calls := []*vfs.Call{
		{Tool: "run", Command: []string{"go", "test", "./...", "-run=A|B"}, Exit: new(int)},
		{Tool: "run", Command: []string{"sh", "-c", "echo 'it''s' > \"$1\"", "", "é\n"}},
		{Tool: "run", Command: []string{strings.Repeat("x", 70_000)}, Exit: &code},
		{Tool: "put"},
	}
	for i, c := range calls {
		require.NoError(t, fsys.WriteFile(vfs.WithCall(ctx, c), string(rune('a'+i)), nil, 0o644))
	}
	calls[1].Exit = &code
	require.NoError(t, fsys.LogCalls(context.WithoutCancel(ctx), calls[1]))

	list, err := fsys.Store().Calls(ctx, nil)
	require.NoError(t, err)
	require.Len(t, list, len(calls))
	require.Equal(t, "go test ./... '-run=A|B'", list[0].Command)
	require.Zero(t, *list[0].Exit)
	require.Equal(t, `sh -c 'echo '\''it'\'''\''s'\'' > "$1"' '' 'é`+"\n'", list[1].Command)
	require.Equal(t, 137, *list[1].Exit)
	require.Len(t, list[2].Command, 65536)
	require.True(t, strings.HasSuffix(list[2].Command, "x..."))
	require.Empty(t, list[3].Command)
	require.Nil(t, list[3].Exit)
}
