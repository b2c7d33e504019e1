package mount

import (
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
)

// lookup asks for a name as the kernel does.
func (a *all) lookup(t *testing.T, dir uint64, name string) (node uint64, code fuse.Status) {
	t.Helper()
	var out fuse.EntryOut
	code = a.Lookup(nil, &fuse.InHeader{NodeId: dir}, name, &out)
	return out.NodeId, code
}

// A snapshot is held while the kernel knows something of it, and no longer. Its numbers stay the same.
func TestSlotsAreForgotten(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/f")
	vfstest.Snapshot(t, fsys, "s")
	a := newAll(ctx, fsys)
	defer a.slots.stop()

	root, code := a.lookup(t, momentsDir, "s")
	require.Equal(t, fuse.OK, code)
	d, code := a.lookup(t, root, "d")
	require.Equal(t, fuse.OK, code)
	for range 3 {
		again, _ := a.lookup(t, d, "f")
		first, _ := a.lookup(t, d, "f")
		require.Equal(t, first, again)
	}
	none, code := a.lookup(t, d, "none")
	require.Equal(t, fuse.OK, code)
	require.Zero(t, none)
	s := a.slots.numbered(root)
	require.EqualValues(t, 8, s.known)

	f, _ := a.lookup(t, d, "f")
	a.Forget(f, 7)
	a.Forget(root, 1)
	require.NotNil(t, s.tree(), "the directory is known still")
	require.NoError(t, snapshot.Delete(ctx, fsys, "s"))
	require.NoError(t, fsys.RemoveAll(ctx, "d"))
	_, err := gc.Run(ctx, fsys, nil)
	require.NoError(t, err)
	again, code := a.lookup(t, d, "f")
	require.Equal(t, fuse.OK, code)
	require.Equal(t, f, again)
	a.Forget(f, 1)
	a.Forget(d, 1)

	require.Nil(t, s.tree())
	_, code = a.lookup(t, d, "f")
	require.Equal(t, fuse.Status(syscall.ESTALE), code)
	gone, code := a.lookup(t, momentsDir, "s")
	require.Equal(t, fuse.OK, code)
	require.Zero(t, gone)
}

// A branch that goes while the kernel knows it is ENOENT or ESTALE, and one of the same name has other numbers.
func TestSlotsOfBranches(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	vfstest.Branch(t, fsys, "try")
	a := newAll(ctx, fsys)
	defer a.slots.stop()

	root, code := a.lookup(t, branchesDir, "try")
	require.Equal(t, fuse.OK, code)
	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "try"))
	_, code = a.lookup(t, root, "f")
	require.Equal(t, fuse.Status(syscall.ESTALE), code)
	gone, code := a.lookup(t, branchesDir, "try")
	require.Equal(t, fuse.OK, code)
	require.Zero(t, gone)

	vfstest.Branch(t, fsys, "try")
	again, code := a.lookup(t, branchesDir, "try")
	require.Equal(t, fuse.OK, code)
	require.NotEqual(t, root, again)
}
