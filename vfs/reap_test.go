package vfs_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
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

func reapRows(t *testing.T, fsys *vfs.FS, limit int) (rows, branches int) {
	t.Helper()
	r := gc.NewRowReaper((*tree.Tree)(fsys))
	for {
		step, err := r.Step(t.Context(), limit)
		require.NoError(t, err)
		rows += step.Count
		if step.Done {
			return rows, r.Branches
		}
	}
}

func rowsOf(t *testing.T, fsys *vfs.FS, text string, args ...any) (n int64) {
	t.Helper()
	require.NoError(t, (*tree.Tree)(fsys).DB().View(t.Context(), func(tx *schema.Tx) (err error) {
		n, _, err = tx.Int(text, args...)
		return err
	}))
	return n
}

// The room snapshot is not there for tests of this one.
func restoreTo(t *testing.T, fsys, to *vfs.FS) {
	t.Helper()
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		_, err := (*tree.Tx)(tx).Restore((*tree.Tree)(to))
		return err
	}))
}

func forgetSnapshot(t *testing.T, fsys *vfs.FS, name string) {
	t.Helper()
	require.NoError(t, (*tree.Tree)(fsys).DB().Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`DELETE FROM snapshot WHERE name = ?`, name)
		return err
	}))
}

func forgetBranch(t *testing.T, fsys *vfs.FS, name string) {
	t.Helper()
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		_, err := (*tree.Tx)(tx).DB().Exec(`DELETE FROM snapshot WHERE branch = (SELECT id FROM branch WHERE name = ?)`, name)
		if err != nil {
			return err
		}
		return (*tree.Tx)(tx).DropBranch(name)
	}))
}

// invisible counts rows that no epoch shows, by another way than the reaper's.
const invisible = `SELECT count(*) FROM (
	SELECT branch, born, died FROM inode UNION ALL SELECT branch, born, died FROM dirent) r
	WHERE NOT EXISTS (SELECT 1 FROM branch b WHERE b.id = r.branch AND b.name IS NOT NULL AND r.died = 9223372036854775807)
	AND NOT EXISTS (SELECT 1 FROM snapshot s WHERE s.branch = r.branch AND r.born <= s.epoch AND s.epoch < r.died)
	AND NOT EXISTS (SELECT 1 FROM lineage l WHERE l.ancestor = r.branch AND l.level > 0 AND r.born <= l.epoch AND l.epoch < r.died)`

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
				require.Zero(t, rowsOf(t, fsys, `SELECT count(*) FROM orphan`))
				// Never back-dated: what the late fork may read at its cap is still there.
				require.Zero(t, rowsOf(t, fsys, `SELECT count(*) FROM dirent d JOIN branch b ON b.id = d.branch
					WHERE b.id = ? AND d.parent <> 1024 AND d.died < 9223372036854775807 AND d.died <> b.epoch`, fsys.Moment().Branch))
				reapRows(t, fsys, limit)
				require.Zero(t, rowsOf(t, fsys, invisible))
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
			require.Zero(t, rowsOf(t, fsys, invisible))
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
	require.EqualValues(t, 2, rowsOf(t, fsys, `SELECT count(*) FROM inode`))
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
			require.EqualValues(t, 1, rowsOf(t, fsys, `SELECT count(*) FROM inode WHERE died = 9223372036854775807`), "the root")
			require.Zero(t, rowsOf(t, fsys, `SELECT count(*) FROM dirent WHERE died = 9223372036854775807`))
		})
	}
}

// Rows go once nobody shows them, whatever order heads, snapshots and forks come and go in.
func TestReapRowsKeepsWhatIsShown(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			main := vfstest.New(t, forest...)
			heads := map[string]*vfs.FS{"main": main}
			snaps := map[string]*vfs.FS{}
			branchOf := map[string]string{}
			pick := func(names []string) string { slices.Sort(names); return names[rnd.IntN(len(names))] }
			for i := range 150 {
				head := heads[pick(slices.Collect(maps.Keys(heads)))]
				step(t, head, rnd)
				name := fmt.Sprint("n", i)
				switch rnd.IntN(10) {
				case 0:
					s := vfstest.Snapshot(t, head, name)
					snaps[name], branchOf[name] = s.FS, s.Info.Branch
				case 1:
					heads[name] = vfstest.Branch(t, head, name)
				case 2:
					if len(snaps) > 0 {
						heads[name] = vfstest.Branch(t, snaps[pick(slices.Collect(maps.Keys(snaps)))], name)
					}
				case 3:
					if len(snaps) > 0 {
						gone := pick(slices.Collect(maps.Keys(snaps)))
						forgetSnapshot(t, main, gone)
						delete(snaps, gone)
					}
				case 4:
					if gone := pick(slices.Collect(maps.Keys(heads))); gone != "main" {
						forgetBranch(t, main, gone)
						delete(heads, gone)
						for name := range snaps {
							if branchOf[name] == gone {
								delete(snaps, name)
							}
						}
					}
				case 5:
					if len(snaps) > 0 {
						s := snaps[pick(slices.Collect(maps.Keys(snaps)))]
						restoreTo(t, head, s)
					}
				case 6:
					var before []map[string]string
					all := func(fn func(*vfs.FS)) {
						for _, name := range slices.Sorted(maps.Keys(heads)) {
							fn(heads[name])
						}
						for _, name := range slices.Sorted(maps.Keys(snaps)) {
							fn(snaps[name])
						}
					}
					all(func(fsys *vfs.FS) { before = append(before, vfstest.Dump(t, fsys)) })
					if rnd.IntN(2) == 0 {
						reapOrphans(t, main, 1+rnd.IntN(20), nil)
					}
					reapRows(t, main, 1+rnd.IntN(20))
					require.Zero(t, rowsOf(t, main, invisible))
					all(func(fsys *vfs.FS) {
						require.Equal(t, before[0], vfstest.Dump(t, fsys))
						before = before[1:]
					})
				}
			}
			for name := range heads {
				if name != "main" {
					forgetBranch(t, main, name)
				}
			}
			for name := range snaps {
				forgetSnapshot(t, main, name)
			}
			want := vfstest.Dump(t, main)
			reapOrphans(t, main, 50, nil)
			reapRows(t, main, 50)
			require.Equal(t, want, vfstest.Dump(t, main))
			require.Zero(t, rowsOf(t, main, `SELECT count(*) FROM branch WHERE name IS NULL`))
			require.Zero(t, rowsOf(t, main, `SELECT count(*) FROM inode WHERE died < 9223372036854775807 OR branch <> 1024 OR mode = 0 OR nlink = 0`))
			require.EqualValues(t, len(vfstest.Names(t, main)), rowsOf(t, main, `SELECT count(*) FROM dirent`))
		})
	}
}

// step changes something at random.
func step(t *testing.T, fsys *vfs.FS, rnd *rand.Rand) {
	t.Helper()
	ctx := t.Context()
	name := func() string { return fmt.Sprintf("top/%c/%c", 'w'+rnd.IntN(3), 'a'+rnd.IntN(4)) }
	switch rnd.IntN(6) {
	case 0:
		_ = fsys.Remove(ctx, name())
	case 1:
		_ = fsys.Rename(ctx, name(), name(), vfs.Parents())
	case 2:
		_ = fsys.Link(ctx, name(), name(), vfs.Parents())
	case 3:
		require.NoError(t, fsys.RemoveAll(ctx, fmt.Sprintf("top/%c", 'w'+rnd.IntN(3))))
	default:
		_ = fsys.WriteFile(ctx, name(), []byte(fmt.Sprint(rnd.IntN(100))), 0o644, vfs.Parents())
	}
}
