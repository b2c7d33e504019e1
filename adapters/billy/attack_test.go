package billyfs_test

import (
	"context"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5"
	"github.com/stretchr/testify/require"

	"vfsdb/adapters/billy"
	"vfsdb/internal/adaptertest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
	"vfsdb/vfstest"
)

func TestAttack(t *testing.T) {
	adaptertest.Run(t, func(ctx context.Context, fsys *vfs.FS) adaptertest.Adapter {
		b := billyfs.New(ctx, fsys)
		return adaptertest.Of[billy.File](b, b.Symlink)
	})
}

func TestCapabilities(t *testing.T) {
	fsys := vfstest.New(t)
	require.True(t, billy.CapabilityCheck(billyfs.New(t.Context(), fsys), billy.AllCapabilities))
	s, err := snapshot.Create(t.Context(), fsys, "now", nil)
	require.NoError(t, err)
	past, err := fsys.At(t.Context(), s.Moment())
	require.NoError(t, err)
	require.False(t, billy.CapabilityCheck(billyfs.New(t.Context(), past), billy.WriteCapability))
}

// A lock keeps out other open files of the same file, under any name and through any Filesystem, until it is given back.
func TestLock(t *testing.T) {
	fsys := vfstest.New(t, "a", "b")
	require.NoError(t, fsys.Link(t.Context(), "a", "link"))
	branch, err := snapshot.Branch(t.Context(), fsys, fsys, "try")
	require.NoError(t, err)
	open := func(ctx context.Context, fsys *vfs.FS, name string) billy.File {
		f, err := billyfs.New(ctx, fsys).OpenFile(name, os.O_RDWR, 0)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		return f
	}

	a := open(t.Context(), fsys, "a")
	require.NoError(t, a.Lock())
	require.NoError(t, a.Lock(), "it has it already")
	require.NoError(t, open(t.Context(), fsys, "b").Lock())
	require.NoError(t, open(t.Context(), branch, "a").Lock(), "the file of another branch")

	ctx, cancel := context.WithCancel(t.Context())
	impatient := open(ctx, fsys, "link")
	cancel()
	require.Error(t, impatient.Lock())

	for _, release := range []func() error{a.Unlock, a.Close} {
		other := open(t.Context(), fsys, "link")
		locked := make(chan error, 1)
		go func() { locked <- other.Lock() }()
		select {
		case <-locked:
			t.Fatal("two have the lock")
		case <-time.After(10 * time.Millisecond): // a wait that is too short finds too little, and never fails wrongly
		}
		require.NoError(t, release())
		require.NoError(t, <-locked)
		require.NoError(t, other.Close())
		_ = a.Lock()
	}
	require.ErrorIs(t, a.Lock(), fs.ErrClosed)
	require.NoError(t, a.Unlock())
}
