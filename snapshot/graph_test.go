package snapshot_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// drawn returns the steps of a graph: the tool of each call with its branch, the tools of its parents, and the names on it.
func drawn(t *testing.T, fsys *vfs.FS, o *snapshot.GraphOptions) (lines []string) {
	t.Helper()
	at := make(map[snapshot.StepID]string)
	var steps []snapshot.Step
	for s, err := range snapshot.Graph(t.Context(), fsys, o) {
		require.NoError(t, err)
		steps = append(steps, s)
		at[s.StepID] = s.Deed.Tool
	}
	for _, s := range steps {
		line := s.Branch + " " + s.Deed.Tool
		for _, p := range s.Parents {
			line += " <" + at[p]
		}
		if names := append(s.Heads, s.Snapshots...); len(names) > 0 {
			line += " (" + strings.Join(names, ", ") + ")"
		}
		for _, call := range s.Deed.Undid {
			line += " undoes " + fmt.Sprint(call)
		}
		if s.UndoneBy != 0 {
			line += " undone by " + fmt.Sprint(s.UndoneBy)
		}
		lines = append(lines, line)
	}
	return lines
}

// in makes the context of a call.
func in(t *testing.T, tool string) context.Context {
	return vfs.WithCall(t.Context(), &vfs.Call{Tool: tool})
}

func TestGraph(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	require.Empty(t, drawn(t, main, &snapshot.GraphOptions{All: true}))
	put := func(fsys *vfs.FS, tool string) {
		t.Helper()
		require.NoError(t, fsys.WriteFile(in(t, tool), tool, []byte(tool), 0o644))
	}

	put(main, "m1")
	try := vfstest.Branch(t, main, "try")
	_, err := snapshot.Create(ctx, try, "early", nil)
	require.NoError(t, err)
	put(try, "t1")
	put(main, "m2")
	_, err = snapshot.Create(ctx, main, "s", nil)
	require.NoError(t, err)
	_, err = snapshot.Create(ctx, main, "undo-20260101-000000-00000000", nil)
	require.NoError(t, err)
	require.NoError(t, main.WriteFile(ctx, "plain", nil, 0o644), "as part of no call")
	put(main, "m3")
	vfstest.Branch(t, try, "same")
	empty, err := snapshot.Branch(ctx, main, nil, "empty")
	require.NoError(t, err)
	require.Equal(t, []string{
		"main m3 <m2 (main)", "main m2 <m1 (s)", "try t1 <m1 (try, same)", "main m1 (early)",
	}, drawn(t, main, &snapshot.GraphOptions{All: true}))
	require.Equal(t, []string{"main m3 <m2 (main)", "main m2 <m1 (s)", "main m1"}, drawn(t, main, nil))
	require.Equal(t, []string{"try t1 <m1 (try)", "main m1 (early)"}, drawn(t, try, nil))
	require.Equal(t, []string{"main m3 <m2 (main)", "main m2 < (s)"}, drawn(t, main, &snapshot.GraphOptions{All: true, Max: 2}))
	require.Empty(t, drawn(t, empty, nil))

	// A snapshot has the past up to it.
	s, err := snapshot.Open(ctx, main, "s")
	require.NoError(t, err)
	require.Equal(t, []string{"main m2 <m1 (s)", "main m1"}, drawn(t, s.FS, nil))
}

// A graph is read in batches, and may be left at any step.
func TestGraphOfManySteps(t *testing.T) {
	fsys := vfstest.New(t)
	const many = 700
	for i := range many {
		require.NoError(t, fsys.WriteFile(in(t, fmt.Sprint(i)), "f", fmt.Append(nil, i), 0o644))
	}
	lines := drawn(t, fsys, nil)
	require.Len(t, lines, many)
	require.Equal(t, "main 0", lines[many-1])
	require.Len(t, drawn(t, fsys, &snapshot.GraphOptions{Max: 300}), 300)
	for s, err := range snapshot.Graph(t.Context(), fsys, nil) {
		require.NoError(t, err)
		require.NotZero(t, s.Call)
		break
	}
}
