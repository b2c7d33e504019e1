package gc_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	historian "vfsdb/history"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

func reapRows(t *testing.T, fsys *vfs.FS, limit int) (rows, branches int) {
	t.Helper()
	require.NoError(t, (*tree.Tree)(fsys).DB().Update(t.Context(), func(tx *schema.Tx) error {
		_, err := historian.DropMerges(tx) // as Run does first
		return err
	}))
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

// invisible counts rows that no epoch shows, by another way than the reaper's.
const invisible = `SELECT count(*) FROM (
	SELECT branch, born, died FROM inode UNION ALL SELECT branch, born, died FROM dirent) r
	WHERE NOT EXISTS (SELECT 1 FROM branch b WHERE b.id = r.branch AND b.name IS NOT NULL AND r.died = 9223372036854775807)
	AND NOT EXISTS (SELECT 1 FROM snapshot s WHERE s.branch = r.branch AND r.born <= s.epoch AND s.epoch < r.died)
	AND NOT EXISTS (SELECT 1 FROM lineage l WHERE l.ancestor = r.branch AND l.level > 0 AND r.born <= l.epoch AND l.epoch < r.died)
	AND NOT EXISTS (SELECT 1 FROM merge m WHERE m.source = r.branch AND m.branch <> r.branch AND r.born <= m.cap AND m.cap < r.died)`

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
						require.NoError(t, snapshot.Delete(t.Context(), main, gone))
						delete(snaps, gone)
					}
				case 4:
					if gone := pick(slices.Collect(maps.Keys(heads))); gone != "main" {
						require.NoError(t, snapshot.DeleteBranch(t.Context(), main, gone))
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
					require.Zero(t, vfstest.Number(t, main, invisible))
					all(func(fsys *vfs.FS) {
						require.Equal(t, before[0], vfstest.Dump(t, fsys))
						before = before[1:]
					})
				}
			}
			for name := range heads {
				if name != "main" {
					require.NoError(t, snapshot.DeleteBranch(t.Context(), main, name))
				}
			}
			for name := range snaps {
				if branchOf[name] != "main" {
					continue // it went with its branch
				}
				require.NoError(t, snapshot.Delete(t.Context(), main, name))
			}
			want := vfstest.Dump(t, main)
			reapOrphans(t, main, 50, nil)
			reapRows(t, main, 50)
			require.Equal(t, want, vfstest.Dump(t, main))
			require.Zero(t, vfstest.Number(t, main, `SELECT count(*) FROM branch WHERE name IS NULL`))
			require.Zero(t, vfstest.Number(t, main, `SELECT count(*) FROM inode WHERE died < 9223372036854775807 OR branch <> 1024 OR mode = 0 OR nlink = 0`))
			require.EqualValues(t, len(vfstest.Names(t, main)), vfstest.Number(t, main, `SELECT count(*) FROM dirent`))
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
