package patch_test

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/patch"
	"vfsdb/snapshot"
	"vfsdb/vfs"
	"vfsdb/vfstest"
)

// What a call changed is shown without what others changed in between, and as long as nothing has taken it.
func TestCall(t *testing.T) {
	fsys := vfstest.New(t)
	call, other := &vfs.Call{Tool: "one"}, &vfs.Call{Tool: "two"}
	put := func(fsys *vfs.FS, c *vfs.Call, name, text string) {
		require.NoError(t, fsys.WriteFile(vfs.WithCall(t.Context(), c), name, []byte(text), 0o644))
	}
	put(fsys, call, "f", "a\n")
	put(fsys, call, "f", "b\n")
	put(fsys, other, "f", "other\n")
	put(fsys, call, "f", "c\n")
	try, err := snapshot.Branch(t.Context(), fsys, fsys, "try")
	require.NoError(t, err)
	put(try, call, "g", "d\n")

	calls, err := fsys.Store().Calls(t.Context(), nil)
	require.NoError(t, err)
	var made string
	show := func(ctx context.Context, id int64) error {
		made = ""
		for f, err := range patch.Call(ctx, fsys, id, nil) {
			if err != nil {
				return err
			}
			made += f.Path + ": " + hunks(f.Text)
		}
		return nil
	}
	require.NoError(t, show(t.Context(), calls[0].ID))
	require.Equal(t, "f: +b\nf: -other\n+c\ng: +d\n", made)
	require.NoError(t, show(t.Context(), calls[1].ID))
	require.Equal(t, "f: -b\n+other\n", made)

	require.ErrorIs(t, show(t.Context(), 4000), syscall.ENOENT)
	for _, err := range patch.Call(t.Context(), vfstest.New(t), 1024, nil) {
		require.EqualError(t, err, "show call 1024: the log has no call: no such file or directory")
	}
	looked := &vfs.Call{Tool: "looks"}
	require.NoError(t, fsys.LogCalls(t.Context(), looked))
	calls, err = fsys.Store().Calls(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, show(t.Context(), calls[len(calls)-1].ID))
	require.Empty(t, made)

	put(fsys, other, "f", "last\n")
	_, err = gc.Run(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.ErrorIs(t, show(t.Context(), calls[0].ID), syscall.ESTALE)
}

// hunks returns the lines of a patch that changed.
func hunks(made []byte) string {
	text := ""
	inside := false
	for line := range strings.Lines(string(made)) {
		inside = inside || line[0] == '@'
		if inside && (line[0] == '+' || line[0] == '-') {
			text += line
		}
	}
	return text
}
