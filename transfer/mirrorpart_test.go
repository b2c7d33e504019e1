package transfer

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// reopen opens a mirror again, as another process would.
func reopen(t *testing.T, m *Mirror) *Mirror {
	t.Helper()
	require.NoError(t, m.Close())
	again, err := OpenMirror(filepath.Dir(m.Dir()))
	require.NoError(t, err)
	t.Cleanup(func() { again.Close() })
	return again
}

// What a Fill that failed has left is not brought back, by this process or another one, and the next Fill repairs it.
func TestMirrorPart(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "b", "d/c")
	m := newMirror(t)
	_, err := m.Bring(ctx, fsys, nil)
	require.ErrorIs(t, err, syscall.EINVAL, "never filled")
	fillMirror(t, m, fsys)
	vfstest.Write(t, fsys, "b", "newer")
	require.NoError(t, fsys.Remove(ctx, "a"))
	require.NoError(t, m.at.Begin()) // as a Fill does, before it changes anything
	for range 2 {
		_, err = m.Bring(ctx, fsys, nil)
		require.ErrorIs(t, err, syscall.EINVAL)
		m = reopen(t, m)
	}
	require.Equal(t, []string{"b", "d/", "d/c"}, vfstest.Names(t, fsys))
	fillMirror(t, m, fsys)
	require.NoError(t, os.WriteFile(filepath.Join(m.Dir(), "new"), nil, 0o600))
	m = reopen(t, m)
	bring(t, m, fsys)

	// A Fill that finds nothing to do after one that died at its very end is enough.
	settle(t, m)
	fillMirror(t, m, fsys)
	require.NoError(t, m.at.Begin())
	m = reopen(t, m)
	fillMirror(t, m, fsys)
	bring(t, m, fsys)
}

// A Bring whose commit fails can be tried again; one that was killed in its commit cannot.
func TestMirrorBringDies(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	m := newMirror(t)
	fillMirror(t, m, fsys)
	require.NoError(t, os.WriteFile(filepath.Join(m.Dir(), "new"), nil, 0o600))
	fails := errors.New("fails")
	_, err := m.Bring(ctx, fsys, &BringOptions{Check: func(*vfs.Tx) error {
		require.False(t, m.at.Filled())
		return fails
	}})
	require.ErrorIs(t, err, fails)
	m = reopen(t, m)
	bring(t, m, fsys)
	require.Equal(t, []string{"a", "new"}, vfstest.Names(t, fsys))
}

// Check is not called for files that were written in the same tick of the clock in which they were filled, if they are the same.
func TestMirrorCheckIsForChanges(t *testing.T) {
	fsys := vfstest.New(t, "a", "d/b", "l1")
	require.NoError(t, fsys.Link(t.Context(), "l1", "l2"))
	require.NoError(t, fsys.Symlink(t.Context(), "a", "s"))
	m := newMirror(t)
	called := errors.New("called")
	o := &BringOptions{Check: func(*vfs.Tx) error { return called }}
	for range 20 {
		vfstest.Write(t, fsys, "d/b", "other")
		vfstest.Write(t, fsys, "l1", "other")
		fillMirror(t, m, fsys)
		m.at.Unsettle()
		_, err := m.Bring(t.Context(), fsys, o)
		require.NoError(t, err)
		m.at.Unsettle()
		require.NoError(t, os.WriteFile(filepath.Join(m.Dir(), "l2"), []byte("changed"), 0o644))
		_, err = m.Bring(t.Context(), fsys, o)
		require.ErrorIs(t, err, called)
		m.at.Unsettle()
		bring(t, m, fsys)
	}
}

// Clear leaves nothing of the tree on the host, and the mirror can be filled again.
func TestMirrorClear(t *testing.T) {
	fsys := vfstest.New(t, "a", "d/b", "shut/c")
	require.NoError(t, fsys.Chmod(t.Context(), "shut", 0))
	m := newMirror(t)
	fillMirror(t, m, fsys)
	require.NoError(t, m.Clear())
	_, err := os.Lstat(m.Dir())
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = m.Bring(t.Context(), fsys, nil)
	require.ErrorIs(t, err, syscall.EINVAL)
	fillMirror(t, m, fsys)
	bring(t, m, fsys)
}
