package gc_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// reapOrphans takes steps of a few inodes each until nothing is left, and between calls between.
func reapOrphans(t *testing.T, fsys *vfs.FS, limit int, between func(step int)) (count int) {
	t.Helper()
	r := gc.NewOrphanReaper((*tree.Tree)(fsys), newestOrphan(t, fsys))
	for n := 0; ; n++ {
		step, err := r.Step(t.Context(), limit)
		require.NoError(t, err)
		require.LessOrEqual(t, step.Count, limit+1)
		count += step.Count
		if step.Done {
			return count
		}
		if between != nil {
			between(n)
		}
		require.Less(t, n, 1000)
	}
}

func newestOrphan(t *testing.T, fsys *vfs.FS) (seq int64) {
	t.Helper()
	require.NoError(t, (*tree.Tree)(fsys).DB().View(t.Context(), func(tx *schema.Tx) (err error) {
		seq, err = tree.NewestOrphan(tx)
		return err
	}))
	return seq
}

// restoreTo restores without the snapshot that undoes it, which would keep rows.
func restoreTo(t *testing.T, fsys, to *vfs.FS) {
	t.Helper()
	undo, err := snapshot.Restore(t.Context(), fsys, to)
	require.NoError(t, err)
	require.NoError(t, snapshot.Delete(t.Context(), fsys, undo.Info.Name))
}

var forest = []string{"top/a", "top/b", "top/x/c", "top/x/y/d", "top/x/y/e", "top/z/", "beside"}

// A removed tree goes with all that is in it, in steps of any size.
func TestReapTree(t *testing.T) {
	for _, limit := range []int{1, 2, 3, 1000} {
		for _, history := range []string{"none", "snapshot", "inherited"} {
			t.Run(fmt.Sprint(history, " ", limit), func(t *testing.T) {
				main := vfstest.New(t, forest...)
				fsys := main
				keep := map[*vfs.FS]map[string]string{}
				switch history {
				case "snapshot":
					s := vfstest.Snapshot(t, fsys, "s")
					keep[s.FS] = vfstest.Dump(t, s.FS)
				case "inherited":
					fsys = vfstest.Branch(t, main, "b")
					keep[main] = vfstest.Dump(t, main)
				}
				require.NoError(t, fsys.RemoveAll(t.Context(), "top"))
				want := vfstest.Dump(t, fsys)
				// A fork taken now shows the tree no more, but inherits its rows.
				late := vfstest.Branch(t, fsys, "late")
				keep[late] = want
				require.Equal(t, 9, reapOrphans(t, fsys, limit, func(int) {
					require.Equal(t, want, vfstest.Dump(t, fsys))
					vfstest.Check(t, fsys)
				}))
				require.Zero(t, vfstest.Number(t, fsys, `SELECT count(*) FROM orphan`))
				// Never back-dated: what the late fork may read at its cap is still there.
				require.Zero(t, vfstest.Number(t, fsys, `SELECT count(*) FROM dirent d JOIN branch b ON b.id = d.branch
					WHERE b.id = ? AND d.parent <> 1024 AND d.died < 9223372036854775807 AND d.died <> b.epoch`, fsys.Moment().Branch))
				reapRows(t, fsys, limit)
				require.Zero(t, vfstest.Number(t, fsys, invisible))
				require.Equal(t, want, vfstest.Dump(t, fsys))
				for tree, dump := range keep {
					require.Equal(t, dump, vfstest.Dump(t, tree))
				}
			})
		}
	}
}

// A restore gives the tree its name back, at whatever point it comes; then it is no orphan.
func TestRestoreLinksOrphanAgain(t *testing.T) {
	for n := range 12 {
		t.Run(fmt.Sprint("after ", n), func(t *testing.T) {
			fsys := vfstest.New(t, forest...)
			s := vfstest.Snapshot(t, fsys, "s")
			want := vfstest.Dump(t, fsys)
			require.NoError(t, fsys.RemoveAll(t.Context(), "top"))
			require.NoError(t, fsys.Remove(t.Context(), "beside"))
			restored := false
			reapOrphans(t, fsys, 1, func(step int) {
				if step == n {
					restoreTo(t, fsys, s.FS)
					restored = true
				}
				if restored {
					require.Equal(t, want, vfstest.Dump(t, fsys))
				}
			})
			if !restored {
				restoreTo(t, fsys, s.FS)
			}
			require.Equal(t, want, vfstest.Dump(t, fsys))
			reapRows(t, fsys, 3)
			require.Equal(t, want, vfstest.Dump(t, fsys))
			require.Equal(t, want, vfstest.Dump(t, s.FS))
			require.Zero(t, vfstest.Number(t, fsys, invisible))
		})
	}
}

// A restore moves a directory out of the tree that is being reaped, and leaves the tree without a name.
func TestRestoreMovesDirectoryOut(t *testing.T) {
	for n := range 8 {
		t.Run(fmt.Sprint("after ", n), func(t *testing.T) {
			ctx := t.Context()
			fsys := vfstest.New(t, "top/a/1", "top/a/2", "top/a/3", "top/a/4", "top/b")
			inside := vfstest.Snapshot(t, fsys, "inside")
			require.NoError(t, fsys.Rename(ctx, "top/a", "a"))
			require.NoError(t, fsys.RemoveAll(ctx, "top"))
			s := vfstest.Snapshot(t, fsys, "s") // top is an orphan here, and a is not below it
			want := vfstest.Dump(t, fsys)
			restoreTo(t, fsys, inside.FS)
			require.NoError(t, fsys.RemoveAll(ctx, "top"))
			restored := false
			reapOrphans(t, fsys, 1, func(step int) {
				if step == n {
					restoreTo(t, fsys, s.FS)
					restored = true
				}
			})
			if restored {
				require.Equal(t, want, vfstest.Dump(t, fsys))
			}
			require.Equal(t, want, vfstest.Dump(t, s.FS))
		})
	}
}

// An inode whose tree was linked again and removed again may have been opened in between: its later entry counts.
func TestOrphanTwice(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	s := vfstest.Snapshot(t, fsys, "s")
	require.NoError(t, fsys.Remove(ctx, "f"))
	r := gc.NewOrphanReaper((*tree.Tree)(fsys), newestOrphan(t, fsys))
	restoreTo(t, fsys, s.FS)
	f, err := fsys.OpenFile(ctx, "f", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, fsys.Remove(ctx, "f"))
	for done := false; !done; {
		step, err := r.Step(ctx, 10)
		require.NoError(t, err)
		done = step.Done
	}
	_, err = f.Write([]byte("still here"))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Equal(t, 1, reapOrphans(t, fsys, 10, nil))
}

// What is open for writing, or has a name elsewhere, outlives the tree that it was in.
func TestReapSpares(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, forest...)
	sub, err := fsys.OpenRoot(ctx, "top/x")
	require.NoError(t, err)
	f, err := fsys.OpenFile(ctx, "top/x/y/d", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, (*tree.Tree)(fsys).PublishPins(ctx))
	require.NoError(t, fsys.RemoveAll(ctx, "top"))
	require.ErrorIs(t, sub.Link(ctx, "c", "y/c2"), fs.ErrNotExist, "nothing is written below the cut")
	require.ErrorIs(t, sub.WriteFile(ctx, "new", nil, 0o644), fs.ErrNotExist)
	reapOrphans(t, fsys, 1, nil)
	_, err = sub.ReadDir(ctx, ".")
	require.Error(t, err)
	_, err = f.WriteAt([]byte("T"), 0)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, (*tree.Tree)(fsys).PublishPins(ctx))
	require.Equal(t, 1, reapOrphans(t, fsys, 1, nil))
	require.Equal(t, []string{"beside"}, vfstest.Names(t, fsys))
	require.EqualValues(t, 2, vfstest.Number(t, fsys, `SELECT count(*) FROM inode`))
}

// The directory that the reaper stands in gets another name: the tree is linked again by a restore, renamed inside,
// and removed again, between two of its steps.
func TestReapRenamed(t *testing.T) {
	for n := range 8 {
		t.Run(fmt.Sprint("after ", n), func(t *testing.T) {
			ctx := t.Context()
			fsys := vfstest.New(t, "top/x/y/1", "top/x/y/2", "top/x/y/3", "top/x/a")
			s := vfstest.Snapshot(t, fsys, "s")
			require.NoError(t, fsys.RemoveAll(ctx, "top"))
			reapOrphans(t, fsys, 1, func(step int) {
				if step == n {
					restoreTo(t, fsys, s.FS)
					require.NoError(t, fsys.Rename(ctx, "top/x/y", "top/x/z"))
					require.NoError(t, fsys.RemoveAll(ctx, "top"))
				}
			})
			reapOrphans(t, fsys, 1, nil)
			require.EqualValues(t, 1, vfstest.Number(t, fsys, `SELECT count(*) FROM inode WHERE died = 9223372036854775807`), "the root")
			require.Zero(t, vfstest.Number(t, fsys, `SELECT count(*) FROM dirent WHERE died = 9223372036854775807`))
		})
	}
}

// openFile opens a file until the test ends.
func openFile(t *testing.T, fsys *vfs.FS, name string, flag int) *vfs.File {
	t.Helper()
	f, err := fsys.OpenFile(t.Context(), name, flag, 0o644)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// shows returns what a short open file has in it.
func shows(t *testing.T, f *vfs.File) string {
	t.Helper()
	p := make([]byte, 10)
	n, err := f.ReadAt(p, 0)
	require.Equal(t, io.EOF, err)
	return string(p[:n])
}

// A collection leaves alone what Files have open: inodes without a name, for reading too, and directories.
func TestCollectorLeavesOpenFiles(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f", "d/sub/x")
	f, sub := openFile(t, fsys, "f", os.O_RDONLY), openFile(t, fsys, "d/sub", os.O_RDONLY)
	require.NoError(t, fsys.Remove(ctx, "f"))
	require.NoError(t, fsys.RemoveAll(ctx, "d"))
	require.NoError(t, (*tree.Tree)(fsys).PublishPins(ctx))
	require.Equal(t, 2, reapOrphans(t, fsys, 10, nil), "d and d/sub/x")
	require.Equal(t, "f", shows(t, f))
	info, err := sub.Stat()
	require.NoError(t, err)
	require.True(t, info.IsDir())
	entries, err := sub.ReadDir(-1)
	require.NoError(t, err)
	require.Empty(t, entries)

	require.NoError(t, f.Close())
	require.NoError(t, sub.Close())
	require.NoError(t, (*tree.Tree)(fsys).PublishPins(ctx))
	require.Equal(t, 2, reapOrphans(t, fsys, 10, nil))
}

// So it does of very many that are open, below a directory that was removed.
func TestCollectorLeavesManyOpenFiles(t *testing.T) {
	const many = 600
	ctx := t.Context()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		for i := range many {
			if err := tx.WriteFile(fmt.Sprintf("d/%03d", i), []byte("x"), 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return nil
	}))
	files := make([]*vfs.File, 0, many/2)
	for i := range many / 2 { // every second one
		files = append(files, openFile(t, fsys, fmt.Sprintf("d/%03d", 2*i), os.O_RDONLY))
	}
	require.NoError(t, fsys.RemoveAll(ctx, "d"))
	require.NoError(t, (*tree.Tree)(fsys).PublishPins(ctx))
	require.Equal(t, many/2+1, reapOrphans(t, fsys, 50, nil), "d, and what is not open")
	for _, f := range files {
		require.Equal(t, "x", shows(t, f))
		require.NoError(t, f.Close())
	}
	require.NoError(t, (*tree.Tree)(fsys).PublishPins(ctx))
	require.Equal(t, many/2, reapOrphans(t, fsys, 50, nil))
}
