package journal_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// One row stands for a call however many commits it makes, and none for a call that was rolled back.
func TestCalls(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	digest := vfs.SumOf([]byte("input"))
	call := &vfs.Call{Actor: "model", Session: "s1", Tool: "write_file", Ref: "r", Digest: digest}
	under := vfs.WithCall(ctx, call)
	require.Error(t, fsys.Update(under, func(tx *vfs.Tx) error {
		require.NoError(t, tx.WriteFile("x", nil, 0o644))
		return errors.New("rolled back")
	}))
	list, err := fsys.Store().Calls(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, list)
	other := &vfs.Call{Actor: "somebody", Session: "s2"}
	require.NoError(t, fsys.WriteFile(vfs.WithCall(ctx, other), "first", nil, 0o644)) // takes the number that was rolled back

	call.Result = 7
	require.NoError(t, fsys.MkdirAll(under, "d/e", 0o755))
	require.NoError(t, fsys.WriteFile(under, "d/f", nil, 0o644))
	require.NoError(t, fsys.WriteFile(ctx, "nobody", nil, 0o644))
	call.Took, call.Error = time.Second, "in the end"
	idle := &vfs.Call{Session: "s1", Tool: "ls"}
	require.NoError(t, fsys.LogCalls(ctx, call, idle, idle))
	require.NoError(t, fsys.LogCalls(ctx))

	list, err = fsys.Store().Calls(ctx, &vfs.CallOptions{Session: "s1"})
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.WithinDuration(t, time.Now(), list[0].At, time.Minute)
	require.Equal(t, vfs.CallRecord{
		ID: 1025, At: list[0].At, Branch: "main", Actor: "model", Session: "s1", Tool: "write_file", Ref: "r", Digest: &digest,
		Result: 7, Took: time.Second, Error: "in the end", First: 1025, Last: 1027, Changes: 3,
	}, list[0])
	require.Equal(t, "ls", list[1].Tool)
	list, err = fsys.Store().Calls(ctx, &vfs.CallOptions{Newest: true, Max: 1})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.EqualValues(t, 1026, list[0].ID)

	events, err := fsys.Log(ctx, &vfs.LogOptions{Session: "s1", Newest: true, Max: 1})
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Equal(t, "d/f model write_file 1025", fmt.Sprintf("%s %s %s %d", events[0].Path, events[0].Actor, events[0].Tool, events[0].Call))
	events, err = fsys.Log(ctx, &vfs.LogOptions{Path: "nobody"})
	require.NoError(t, err)
	require.Zero(t, events[0].Call)
}
