package snapshot_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// call writes a file in a call of its own.
func call(t *testing.T, fsys *vfs.FS, name, text string) {
	t.Helper()
	ctx := vfs.WithCall(t.Context(), &vfs.Call{Tool: "put"})
	require.NoError(t, fsys.WriteFile(ctx, name, []byte(text), 0o644))
}

// past reads a file at a reference.
func past(ctx context.Context, fsys *vfs.FS, text string) (string, error) {
	tree, name, err := snapshot.ResolvePath(ctx, fsys, text)
	if err != nil {
		return "", err
	}
	data, err := tree.Tree().ReadFile(ctx, name)
	return string(data), err
}

// A moment is found by calls back, by its call and by a time, on a fork also before the fork, although its base is dropped.
func TestResolveRef(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	base := vfstest.Branch(t, main, "base")
	var times []string
	for i := range 3 {
		call(t, base, "f", fmt.Sprint("base", i))
		now := time.Now()
		times = append(times, now.UTC().Format(time.RFC3339Nano))
		require.Eventually(t, func() bool { return time.Now().After(now) }, time.Minute, time.Microsecond)
	}
	fork := vfstest.Branch(t, base, "fork")
	require.NoError(t, snapshot.DeleteBranch(ctx, main, "base"))
	call(t, fork, "f", "fork0")
	call(t, fork, "f", "fork1")

	calls, err := main.Store().Calls(ctx, nil)
	require.NoError(t, err)
	require.Len(t, calls, 5)
	for ref, want := range map[string]string{
		"fork": "fork1", "fork@{-1}": "fork0", "fork@{-2}": "base2", "fork@{-3}": "base1", "fork@{-4}": "base0",
		"@{-1}":                                    "fork0",
		"fork@{" + times[0] + "}":                  "base0",
		"fork@{" + times[2] + "}":                  "base2",
		"fork@{0 seconds ago}":                     "fork1",
		fmt.Sprintf("fork@{call %d}", calls[1].ID): "base1",
		fmt.Sprintf("fork@{call %d}", calls[3].ID): "fork0",
		fmt.Sprintf("fork@{call %d}", calls[4].ID): "fork1",
	} {
		got, err := past(ctx, fork, ref+":f")
		require.NoError(t, err, ref)
		require.Equal(t, want, got, ref)
	}
	_, err = past(ctx, fork, "fork@{-5}:f")
	require.ErrorIs(t, err, fs.ErrNotExist, "the file was not there")

	// The past of a snapshot, and of another moment, is counted from there.
	vfstest.Snapshot(t, fork, "s")
	call(t, fork, "f", "fork2")
	got, err := past(ctx, fork, "fork@s@{-1}:f")
	require.NoError(t, err)
	require.Equal(t, "fork0", got)

	// What is asked wrongly.
	for ref, want := range map[string]error{
		"none@{-1}": syscall.ENOENT, "fork@{-100}": syscall.ENOENT, "fork@{call 9999}": syscall.ENOENT, "fork@{2001-01-01}": syscall.ENOENT,
		"fork@{x}": syscall.EINVAL, fmt.Sprintf("main@{call %d}", calls[4].ID): syscall.EINVAL, "fork@{-1}@{-1}": syscall.ENOENT,
	} {
		_, err := snapshot.ResolveRef(ctx, fork, ref)
		require.ErrorIs(t, err, want, ref)
	}
	require.NoError(t, fork.Mkdir(ctx, "d", 0o755))
	jail, err := fork.OpenRoot(ctx, "d")
	require.NoError(t, err)
	_, err = snapshot.ResolveRef(ctx, jail, "@{-1}")
	require.ErrorIs(t, err, syscall.EINVAL)
}

// What comes after the last call, or after a time, is not in its moment: neither the changes of other calls, nor those of none.
func TestResolveRefOfThePresent(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	for _, ref := range []string{"main@{call %d}", "main@{0 seconds ago}"} {
		call(t, fsys, "f", "1")
		calls, err := fsys.Store().Calls(ctx, nil)
		require.NoError(t, err)
		if strings.Contains(ref, "%") {
			ref = fmt.Sprintf(ref, calls[len(calls)-1].ID)
		}
		first, err := snapshot.ResolveRef(ctx, fsys, ref)
		require.NoError(t, err)
		second, err := snapshot.ResolveRef(ctx, fsys, ref)
		require.NoError(t, err)
		require.Equal(t, first.Tree().Moment(), second.Tree().Moment())
		require.True(t, first.Tree().Frozen())
		require.ErrorIs(t, first.Tree().WriteFile(ctx, "f", nil, 0o644), syscall.EROFS)

		require.NoError(t, fsys.WriteFile(ctx, "f", []byte("2"), 0o644))
		call(t, fsys, "f", "3")
		data, err := first.Tree().ReadFile(ctx, "f")
		require.NoError(t, err)
		require.Equal(t, "1", string(data), ref)
	}

	// A store that refuses writes shows what it has.
	call(t, fsys, "f", "4")
	fsys.Store().SetReadOnly(true)
	defer fsys.Store().SetReadOnly(false)
	got, err := past(ctx, fsys, "main@{0 seconds ago}:f")
	require.NoError(t, err)
	require.Equal(t, "4", got)
}

// A moment that nothing keeps can be read, compared, forked and restored until a collection takes something of it. Then it is
// ESTALE, for who stands on it too; what a fork keeps stays.
func TestResolveRefUntilCollected(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	for i := range 5 {
		call(t, fsys, "f", fmt.Sprint(i))
	}
	first, err := snapshot.ResolveRef(ctx, fsys, "main@{-4}")
	require.NoError(t, err)
	third, err := snapshot.ResolveRef(ctx, fsys, "main@{-2}")
	require.NoError(t, err)
	require.True(t, first.Tree().Frozen())
	require.Equal(t, "main@{-2}", third.Tree().Name())
	require.ErrorIs(t, third.Tree().WriteFile(ctx, "f", nil, 0o644), syscall.EROFS)

	require.Equal(t, "modified f", changes(t, first, third))
	fork, err := snapshot.Branch(ctx, fsys, third, "fork")
	require.NoError(t, err)
	_, err = snapshot.Restore(ctx, fsys, first)
	require.NoError(t, err)
	for want, tree := range map[string]*vfs.FS{"0": first.Tree(), "2": third.Tree()} {
		data, err := tree.ReadFile(ctx, "f")
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}

	call(t, fsys, "f", "later")
	_, err = gc.Run(ctx, fsys, nil)
	require.NoError(t, err)
	_, err = first.Tree().ReadFile(ctx, "f")
	require.ErrorIs(t, err, syscall.ESTALE)
	_, err = snapshot.Branch(ctx, fsys, first, "late")
	require.ErrorIs(t, err, syscall.ESTALE)
	for _, tree := range []*vfs.FS{fork, third.Tree()} {
		data, err := tree.ReadFile(ctx, "f")
		require.NoError(t, err)
		require.Equal(t, "2", string(data))
	}

	calls, err := fsys.Store().Calls(ctx, nil)
	require.NoError(t, err)
	vfstest.Snapshot(t, fsys, "near")
	var gone *snapshot.GoneError
	ref := fmt.Sprintf("main@{call %d}", calls[1].ID)
	_, err = snapshot.ResolveRef(ctx, fsys, ref)
	require.ErrorAs(t, err, &gone)
	require.ErrorIs(t, err, syscall.ESTALE)
	require.Equal(t, ref, gone.Ref)
	require.NotEmpty(t, gone.Near)
}

// A reference comes before a path, unless a slash stands before the colon.
func TestResolvePath(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f", "main:f", "none:f", "d/")
	vfstest.Snapshot(t, fsys, "a:b")
	for text, want := range map[string][2]string{
		"f": {"main", "f"}, "main:f": {"main", "f"}, "./main:f": {"main", "./main:f"}, "none:f": {"main", "none:f"},
		"main:": {"main", "/"}, "a:b:f": {"a:b", "f"}, "none@{-1}:f": {"", ""},
	} {
		tree, name, err := snapshot.ResolvePath(ctx, fsys, text)
		if want[0] == "" {
			require.ErrorIs(t, err, fs.ErrNotExist, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, [2]string{snapshot.Label(tree), name}, text)
	}
}
