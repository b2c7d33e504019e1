package tree

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/history"
	"vfsdb/memory"
	"vfsdb/tree/level"
)

// A look-up that passes over levels by their filters finds what one finds that asks every level: with rows and
// whiteouts of a name at several levels, with names that moved between directories, in a tree whose ancestors were
// written to after the fork, and with levels that have too many rows to be known.
func TestLevelFilters(t *testing.T) {
	ctx := t.Context()
	fsys := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	require.NoError(t, fsys.Update(ctx, func(tx *Tx) error {
		for d := range 12 {
			for f := range 12 {
				require.NoError(t, ByPath(tx).WriteFile(fmt.Sprintf("d%d/f%d", d, f), []byte("base")))
			}
		}
		return nil
	}))
	head := fsys
	for depth := 1; depth <= 12; depth++ {
		name := fmt.Sprintf("b%d", depth)
		var next history.Moment
		require.NoError(t, head.Update(ctx, func(tx *Tx) (err error) {
			if next, err = tx.Freeze(); err == nil {
				err = tx.Fork(next, name)
			}
			return err
		}))
		// The ancestor goes on: none of this is in the fork.
		require.NoError(t, write(ctx, head, fmt.Sprintf("d%d/later", depth%12), nil))
		require.NoError(t, head.Join(ctx, 0, func(tx *Tx) error { return ByPath(tx).Remove(fmt.Sprintf("d%d/f11", depth%12)) }))
		var err error
		head, err = fsys.store.Head(ctx, name)
		require.NoError(t, err)
		require.NoError(t, head.Update(ctx, func(tx *Tx) error {
			hot := "d0/f1" // there and gone by turns
			if depth%2 == 1 {
				require.NoError(t, ByPath(tx).Remove(hot))
			} else {
				require.NoError(t, ByPath(tx).WriteFile(hot, []byte(name)))
			}
			require.NoError(t, ByPath(tx).Rename(fmt.Sprintf("d%d/f2", depth%12), fmt.Sprintf("d%d/from%d", (depth+1)%12, depth)))
			require.NoError(t, ByPath(tx).Chmod(fmt.Sprintf("d%d/f3", depth%12), 0o600))
			if depth == 5 {
				require.NoError(t, ByPath(tx).Rename("d7", "d3/moved"))
				require.NoError(t, ByPath(tx).Rename("d3/moved", "d7"))
			}
			for i := range 2 * level.MaxFiltered {
				if depth == 8 {
					require.NoError(t, ByPath(tx).WriteFile(fmt.Sprintf("d9/many%d", i), nil))
				}
			}
			return nil
		}))
	}
	require.Len(t, head.levels, 13)
	known := 0
	for i, h := range head.filters {
		if h != nil {
			known++
			require.False(t, h.MayHaveIno(1<<40), "level %d", i)
		}
	}
	require.Equal(t, 10, known, "all but the branch itself, the base, and the level with many files")

	all := *head
	all.filters = make([]*level.Filter, len(head.levels))
	want := dumpOf(t, &all)
	require.Contains(t, want, "d9/many3 ")
	require.NotContains(t, want, "later")
	require.Equal(t, want, dumpOf(t, head))

	again, err := fsys.store.Head(ctx, head.Head())
	require.NoError(t, err)
	require.Same(t, head.filters[3], again.filters[3], "made once")
}

// dumpOf lists all that a tree shows, by asking for each name alone, names that are absent included.
func dumpOf(t *testing.T, fsys *Tree) string {
	var b strings.Builder
	require.NoError(t, fsys.View(t.Context(), func(tx *Tx) error {
		tx.db.SetMemo(nil)
		tx.mem = memory.New(fsys.store.db).BeginOwn(tx.db, fsys.at)
		for d := range 12 {
			for _, list := range [][]string{{"later"}, numbered("f", 12), numbered("from", 13), numbered("many", 2*level.MaxFiltered)} {
				for _, base := range list {
					name := fmt.Sprintf("d%d/%s", d, base)
					info, err := ByPath(tx).Lstat(name)
					if err == nil {
						fmt.Fprintf(&b, "%s %v %d %d\n", name, info.Mode(), info.Ino(), info.Nlink())
					} else {
						require.ErrorIs(t, err, fs.ErrNotExist)
					}
				}
			}
			entries, err := ByPath(tx).ReadDir(fmt.Sprintf("d%d", d))
			require.NoError(t, err)
			fmt.Fprintln(&b, entries)
		}
		return nil
	}))
	return b.String()
}

func numbered(stem string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint(stem, i))
	}
	return names
}

// The row of the nearest level is found by the primary key, with one seek for a level and nothing sorted.
func TestNearestPlans(t *testing.T) {
	fsys := openTest(t, filepath.Join(t.TempDir(), "plan.db"))
	require.NoError(t, fsys.View(t.Context(), func(tx *Tx) error {
		most := len(nearestDirents.Texts) - 1
		for text, seek := range map[string]string{
			nearestDirents.Texts[1]:    "SEARCH dirent USING PRIMARY KEY (branch=? AND parent=? AND name=? AND died>?)",
			nearestDirents.Texts[most]: "SEARCH dirent USING PRIMARY KEY (branch=? AND parent=? AND name=? AND died>?)",
			nearestInodes.Texts[most]:  "SEARCH inode USING PRIMARY KEY (branch=? AND ino=? AND died>?)",
			namesMany:                  "SEARCH d USING INDEX dirent_ino (ino=? AND branch=?)",
		} {
			rows := tx.db.Query(`EXPLAIN QUERY PLAN ` + text)
			seeks := 0
			for rows.Next() {
				step := rows.Text(3)
				require.False(t, strings.HasPrefix(step, "SCAN ") || strings.Contains(step, "TEMP B-TREE") || strings.Contains(step, "MERGE"), step)
				if strings.HasPrefix(step, seek) {
					seeks++
				}
			}
			require.NoError(t, rows.Err())
			require.Equal(t, max(1, strings.Count(text, "UNION ALL")+1), seeks, text)
		}
		return nil
	}))
}
