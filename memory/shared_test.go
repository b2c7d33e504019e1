package memory_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// readVerbs are verbs that need no transaction once they have been asked, on a tree that has d/f, with content, and the
// symlink d/l to it.
var readVerbs = map[string]func(ctx context.Context, fsys *vfs.FS) error{
	"lstat":    func(ctx context.Context, fsys *vfs.FS) error { _, err := fsys.Lstat(ctx, "d/f"); return err },
	"stat":     func(ctx context.Context, fsys *vfs.FS) error { _, err := fsys.Stat(ctx, "d/l"); return err },
	"readlink": func(ctx context.Context, fsys *vfs.FS) error { _, err := fsys.Readlink(ctx, "d/l"); return err },
	"resolve":  func(ctx context.Context, fsys *vfs.FS) error { _, err := fsys.Resolve(ctx, "d/l", true); return err },
	"read":     func(ctx context.Context, fsys *vfs.FS) error { _, err := fsys.ReadFile(ctx, "d/f"); return err },
	"range":    func(ctx context.Context, fsys *vfs.FS) error { _, err := fsys.ReadRange(ctx, "d/f", 1, 2); return err },
	"iofs":     func(ctx context.Context, fsys *vfs.FS) error { _, err := fs.Stat(fsys.IOFS(ctx), "d/f"); return err },
	"openroot": func(ctx context.Context, fsys *vfs.FS) error {
		sub, err := fsys.OpenRoot(ctx, "d")
		if err == nil {
			_, err = sub.Lstat(ctx, "f")
		}
		return err
	},
	"open": func(ctx context.Context, fsys *vfs.FS) error {
		f, err := fsys.Open(ctx, "d/f")
		if err != nil {
			return err
		}
		_, err = f.Stat()
		return errors.Join(err, f.Close())
	},
}

func warmTree(t testing.TB) *vfs.FS {
	fsys := vfstest.New(t, "d/f")
	require.NoError(t, fsys.WriteFile(t.Context(), "d/f", []byte("content"), 0o644))
	require.NoError(t, fsys.Symlink(t.Context(), "f", "d/l"))
	return fsys
}

// What was asked before needs no transaction, absent names included. In here no reader can be had: the
// idle one is in use, and another would not find the file.
func TestWarmVerbsNeedNoTransaction(t *testing.T) {
	ctx := t.Context()
	fsys := warmTree(t)
	missing := func() error { _, err := fsys.Lstat(ctx, "d/none"); return err }
	opened, err := fsys.Open(ctx, "d/f") // takes the lease
	require.NoError(t, err)
	defer opened.Close()
	for name, verb := range readVerbs {
		require.NoError(t, verb(ctx, fsys), name)
	}
	require.ErrorIs(t, missing(), fs.ErrNotExist)
	path := fsys.Store().Path()
	require.NoError(t, fsys.View(ctx, func(*vfs.Tx) error {
		require.NoError(t, os.Rename(path, path+".moved"))
		defer func() { require.NoError(t, os.Rename(path+".moved", path)) }()
		_, err := fsys.ReadDir(ctx, "d")
		require.ErrorIs(t, err, syscall.ESTALE, "there is no other reader")
		for name, verb := range readVerbs {
			require.NoError(t, verb(ctx, fsys), name)
		}
		require.ErrorIs(t, missing(), fs.ErrNotExist)
		return nil
	}))
}

// A warm verb is refused like a cold one.
func TestWarmVerbsAreRefused(t *testing.T) {
	ctx := t.Context()
	for _, tt := range []struct {
		name string
		end  func(t *testing.T, fsys, other, tree *vfs.FS) context.Context // what is to be refused from then on
		want error
	}{
		{"cancelled", func(t *testing.T, fsys, other, tree *vfs.FS) context.Context {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx
		}, context.Canceled},
		{"branch dropped", func(t *testing.T, fsys, other, tree *vfs.FS) context.Context {
			require.NoError(t, dropBranch(fsys, "try"))
			return ctx
		}, syscall.ESTALE},
		{"branch dropped elsewhere", func(t *testing.T, fsys, other, tree *vfs.FS) context.Context {
			require.NoError(t, dropBranch(other, "try"))
			return ctx
		}, syscall.ESTALE},
		{"closed", func(t *testing.T, fsys, other, tree *vfs.FS) context.Context {
			require.NoError(t, fsys.Close())
			return ctx
		}, fs.ErrClosed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := warmTree(t)
			other := vfstest.Open(t, fsys.Store().Path(), nil)
			tree := vfstest.Branch(t, fsys, "try")
			for range 2 {
				for name, verb := range readVerbs {
					require.NoError(t, verb(ctx, tree), name)
				}
			}
			until := tt.end(t, fsys, other, tree)
			for name, verb := range readVerbs {
				require.ErrorIs(t, verb(until, tree), tt.want, name)
			}
		})
	}
}

func dropBranch(fsys *vfs.FS, name string) error {
	return fsys.Update(context.Background(), func(tx *vfs.Tx) error { return (*tree.Tx)(tx).DropBranch(name) })
}

// A past moment is refused once nothing keeps it, and a tree below a directory once that is gone.
func TestWarmTreesEnd(t *testing.T) {
	ctx := t.Context()
	fsys := warmTree(t)
	other := vfstest.Open(t, fsys.Store().Path(), nil)
	vfstest.Branch(t, fsys, "keeps")
	past, err := fsys.At(ctx, vfs.Moment{Branch: fsys.Moment().Branch, Epoch: schema.FirstEpoch})
	require.NoError(t, err)
	below, err := fsys.OpenRoot(ctx, "d")
	require.NoError(t, err)
	for range 2 {
		for name, verb := range readVerbs {
			require.NoError(t, verb(ctx, past), name)
		}
		_, err = below.Lstat(ctx, "f")
		require.NoError(t, err)
	}
	require.NoError(t, other.RemoveAll(ctx, "d"))
	_, err = below.Lstat(ctx, "f")
	require.ErrorIs(t, err, fs.ErrNotExist)
	for name, verb := range readVerbs {
		require.NoError(t, verb(ctx, past), name)
	}
	require.NoError(t, dropBranch(other, "keeps"))
	for name, verb := range readVerbs {
		require.ErrorIs(t, verb(ctx, past), syscall.ESTALE, name)
	}
}

// A write that fails, alone or among others, leaves nothing in the shared cache.
func TestWarmVerbsAfterARollback(t *testing.T) {
	ctx := t.Context()
	fsys := warmTree(t)
	for range 3 {
		data, err := fsys.ReadFile(ctx, "d/f")
		require.NoError(t, err)
		require.Equal(t, "content", string(data))
		require.ErrorIs(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
			require.NoError(t, tx.WriteFile("d/f", []byte("undone"), 0o644))
			require.NoError(t, tx.Rename("d", "e"))
			_, err := tx.Lstat("e/f")
			require.NoError(t, err)
			_, err = fsys.Lstat(ctx, "d/f") // not this transaction's
			require.NoError(t, err)
			return io.ErrUnexpectedEOF
		}), io.ErrUnexpectedEOF)
	}
}

// Goroutines that read while others write never get less than what was acknowledged before they asked, nor parts
// of two moments.
func TestWarmVerbsAreNeverStale(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	step := func(k int64) error {
		return fsys.Update(ctx, func(tx *vfs.Tx) error {
			dir := fmt.Sprintf("v%d", k)
			if err := errors.Join(tx.Mkdir(dir, 0o755), tx.WriteFile(dir+"/x", strconv.AppendInt(nil, k, 10), 0o644)); err != nil {
				return err
			}
			if k > 0 {
				if err := errors.Join(tx.Remove("cur"), tx.RemoveAll(fmt.Sprintf("v%d", k-1))); err != nil {
					return err
				}
			}
			return tx.Symlink(dir, "cur")
		})
	}
	require.NoError(t, step(0))
	var acked atomic.Int64
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				want := acked.Load()
				data, err := fsys.ReadFile(ctx, "cur/x")
				if err != nil {
					t.Errorf("after %d: %v", want, err)
					return
				}
				if got, err := strconv.ParseInt(string(data), 10, 64); err != nil || got < want {
					t.Errorf("after %d: %q, %v", want, data, err)
					return
				}
				path, err := fsys.Resolve(ctx, "cur", true)
				if err != nil || len(path) < 2 {
					t.Errorf("after %d: %q, %v", want, path, err)
					return
				}
				if got, err := strconv.ParseInt(path[1:], 10, 64); err != nil || got < want {
					t.Errorf("after %d: %q, %v", want, path, err)
					return
				}
			}
		})
	}
	for k := int64(1); k <= 300; k++ {
		require.NoError(t, step(k))
		acked.Store(k)
		_, err := fsys.Lstat(ctx, fmt.Sprintf("v%d/x", k))
		require.NoError(t, err)
		_, err = fsys.Lstat(ctx, fmt.Sprintf("v%d/x", k-1))
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	close(stop)
	wg.Wait()
}

// A store may be closed while warm verbs run: each is answered, or fails with fs.ErrClosed.
func TestCloseDuringWarmVerbs(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "a.db")
	for range 10 {
		fsys, err := vfs.Open(ctx, path, nil)
		require.NoError(t, err)
		require.NoError(t, fsys.WriteFile(ctx, "f", []byte("content"), 0o644))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					data, err := fsys.ReadFile(ctx, "f")
					if errors.Is(err, fs.ErrClosed) {
						return
					}
					if err != nil || string(data) != "content" {
						t.Errorf("%q, %v", data, err)
						return
					}
				}
			})
		}
		_, err = fsys.Lstat(ctx, "f")
		require.NoError(t, err)
		require.NoError(t, fsys.Close())
		wg.Wait()
	}
}
