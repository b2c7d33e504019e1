package tree

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/history"
	"vfsdb/memory"
	"vfsdb/node"
	"vfsdb/tree/level"
)

// Whatever two trees are compared, their keys hold every row in which they differ, and what was kept in memory on the
// way is what a look-up finds.
func TestChangedKeys(t *testing.T) {
	trees := randomTrees(t)
	for _, a := range trees {
		for _, b := range trees {
			require.NoError(t, ViewBoth(t.Context(), a, b, func(a, b *Tx) error {
				a.forget()
				b.forget()
				names, inos, err := changedKeys(a, b)
				require.NoError(t, err)
				a.requireKnown(t)
				b.requireKnown(t)
				requireChanged(t, a, b, names, inos)
				return nil
			}))
		}
	}
}

// The same holds if nearly all cached keys are dropped at once.
func TestChangedKeysForgotten(t *testing.T) {
	trees := randomTrees(t)
	store := trees[0].store
	for _, a := range trees {
		for _, b := range trees {
			store.memory = memory.NewSmall(store.db)
			require.NoError(t, ViewBoth(t.Context(), a, b, func(a, b *Tx) error {
				if a.mem.Gen == nil {
					t.Skip("nothing is remembered here")
				}
				names, inos, err := changedKeys(a, b)
				require.NoError(t, err)
				for _, tx := range []*Tx{a, b} {
					for _, name := range names {
						if d, known := tx.mem.Name(name); known {
							found, err := tx.loadDirent(name)
							require.NoError(t, err)
							require.Equal(t, found, d, name)
						}
					}
					for _, ino := range inos {
						if n, known := tx.mem.Node(ino); known {
							found, err := tx.loadInode(ino)
							require.NoError(t, err)
							require.Equal(t, orNil(&found), n, ino)
						}
					}
				}
				return nil
			}))
		}
	}
}

// randomTrees makes branches and past moments of a store, of a few files with much history.
func randomTrees(t *testing.T) []*Tree {
	ctx := t.Context()
	fsys := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	random := rand.New(rand.NewPCG(4, 4))
	trees := []*Tree{fsys}
	heads := []*Tree{fsys}
	for step := range 22 {
		head := heads[random.IntN(len(heads))]
		require.NoError(t, head.Update(ctx, func(tx *Tx) error {
			for range 12 {
				name, other := randomName(random), randomName(random)
				switch random.IntN(5) { // and what fails changes nothing
				case 0:
					_ = ByPath(tx).Remove(name)
				case 1:
					_ = ByPath(tx).Rename(name, other)
				case 2:
					_ = ByPath(tx).Link(name, other)
				case 3:
					_ = ByPath(tx).Chmod(name, 0o600)
				default:
					_ = ByPath(tx).WriteFile(name, []byte(other))
				}
			}
			return nil
		}))
		if step%2 == 1 { // keep the moment, by a fork
			name := fmt.Sprintf("b%d", step)
			var at history.Moment
			require.NoError(t, head.Update(ctx, func(tx *Tx) (err error) {
				if at, err = tx.Freeze(); err == nil {
					err = tx.Fork(at, name)
				}
				return err
			}))
			past, err := fsys.store.At(ctx, at)
			require.NoError(t, err)
			fork, err := fsys.store.Head(ctx, name)
			require.NoError(t, err)
			trees, heads = append(trees, past, fork), append(heads, fork)
		}
	}
	return trees
}

// Inodes and names that are read many at once are those that are read one by one.
func TestFindMany(t *testing.T) {
	trees := randomTrees(t)
	for _, head := range trees {
		require.NoError(t, ViewBoth(t.Context(), head, trees[0], func(tx, _ *Tx) error {
			tx.forget()
			last, _, err := tx.db.Int(`SELECT max(ino) FROM inode`)
			require.NoError(t, err)
			var inos []node.Ino
			for ino := node.Ino(1024); ino <= node.Ino(last)+3; ino++ {
				inos = append(inos, ino)
			}
			require.NoError(t, tx.FindNodes(inos))
			require.Len(t, tx.mem.Own.Nodes, len(inos))
			tx.requireKnown(t)

			require.NoError(t, tx.FindNames(inos))
			for _, ino := range inos[1:] { // the root has no name
				names, known := tx.mem.NamesOf(ino)
				require.True(t, known)
				found, err := tx.loadNames(ino)
				require.NoError(t, err)
				require.ElementsMatch(t, found, names)
			}

			// Levels that have no filter are asked.
			all, err := level.Names(tx.db, tx.tree.levels, make([]*level.Filter, len(tx.tree.levels)), inos, func(name node.Name) (node.Ino, error) {
				return tx.inoAt(Place{Dir: name.Dir, Base: name.Base})
			})
			require.NoError(t, err)
			for _, ino := range inos[1:] {
				names, _ := tx.mem.NamesOf(ino)
				require.ElementsMatch(t, names, all[ino])
			}
			return nil
		}))
	}
}

// The same holds of a past moment after which more was born than is read to tell it apart.
func TestFindManyBeforeMuch(t *testing.T) {
	ctx := t.Context()
	head := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	write := func(count int, base string) {
		require.NoError(t, head.Update(ctx, func(tx *Tx) error {
			for i := range count {
				if err := ByPath(tx).WriteFile(fmt.Sprint(base, i), nil); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	write(8, "a")
	var at history.Moment
	require.NoError(t, head.Update(ctx, func(tx *Tx) (err error) {
		if at, err = tx.Freeze(); err != nil {
			return err
		}
		return tx.Fork(at, "fork")
	}))
	require.NoError(t, head.Update(ctx, func(tx *Tx) error { return ByPath(tx).Link("a1", "b") }))
	write(level.MaxFiltered, "c")
	past, err := head.store.At(ctx, at)
	require.NoError(t, err)

	require.NoError(t, ViewBoth(ctx, past, head, func(past, head *Tx) error {
		past.forget()
		var inos []node.Ino
		for i := range 8 {
			d, err := past.Lookup(past.Root(), fmt.Sprint("a", i))
			require.NoError(t, err)
			inos = append(inos, d.Ino)
		}
		require.NoError(t, past.FindNames(inos))
		for i, ino := range inos {
			names, known := past.mem.NamesOf(ino)
			require.True(t, known)
			require.Equal(t, []node.Name{{Dir: past.Root(), Base: fmt.Sprint("a", i)}}, names)
		}
		return nil
	}))
}

func randomName(random *rand.Rand) string {
	name := string(rune('a' + random.IntN(4)))
	for range random.IntN(2) {
		name += "/" + string(rune('a'+random.IntN(4)))
	}
	return name
}

// forget has the transaction know nothing, and learn for itself.
func (tx *Tx) forget() {
	tx.db.SetMemo(nil)
	tx.mem = memory.New(tx.tree.store.db).BeginOwn(tx.db, tx.tree.at)
}

func (tx *Tx) requireKnown(t *testing.T) {
	for key, d := range tx.mem.Own.Names {
		found, err := tx.loadDirent(key)
		require.NoError(t, err)
		require.Equal(t, found, d, key)
	}
	for ino, n := range tx.mem.Own.Nodes {
		found, err := tx.loadInode(ino)
		require.NoError(t, err)
		require.Equal(t, orNil(&found), n, ino)
	}
}

// requireChanged asks both trees for every key that has a row in any branch.
func requireChanged(t *testing.T, a, b *Tx, names []node.Name, inos []node.Ino) {
	rows := a.db.Query(`SELECT DISTINCT parent, name FROM dirent`)
	for rows.Next() {
		name := node.Name{Dir: node.Ino(rows.Int(0)), Base: rows.Text(1)}
		old, err := a.Lookup(name.Dir, name.Base)
		require.NoError(t, err)
		now, err := b.Lookup(name.Dir, name.Base)
		require.NoError(t, err)
		if old.Ino != now.Ino {
			require.Contains(t, names, name)
		}
	}
	require.NoError(t, rows.Err())
	rows = a.db.Query(`SELECT DISTINCT ino FROM inode`)
	for rows.Next() {
		ino := node.Ino(rows.Int(0))
		old, err := a.Node(ino)
		require.NoError(t, err)
		now, err := b.Node(ino)
		require.NoError(t, err)
		if !node.Same(old, now) {
			require.Contains(t, inos, ino)
		}
	}
	require.NoError(t, rows.Err())
}

// What changed is found by the indexes on born and died, and the names of a file at the head by an index alone.
func TestComparePlans(t *testing.T) {
	fsys := openTest(t, filepath.Join(t.TempDir(), "plan.db"))
	require.NoError(t, fsys.View(t.Context(), func(tx *Tx) error {
		for text, plan := range map[string]string{
			standing.dirents: "SEARCH dirent USING PRIMARY KEY (branch=?)",
			standing.inodes:  "SEARCH inode USING PRIMARY KEY (branch=?)",
			bornAfter.dirents: "SEARCH dirent USING COVERING INDEX dirent_born (branch=? AND born>? AND born<?); " +
				"SEARCH dirent USING PRIMARY KEY (branch=? AND parent=? AND name=? AND died=?)",
			bornAfter.inodes: "SEARCH inode USING COVERING INDEX inode_born (branch=? AND born>? AND born<?); " +
				"SEARCH inode USING PRIMARY KEY (branch=? AND ino=? AND died=?)",
			diedUntil.dirents: "CO-ROUTINE (subquery-1); SEARCH dirent USING COVERING INDEX dirent_died (branch=? AND died>? AND died<?); " +
				"USE TEMP B-TREE FOR GROUP BY; SCAN (subquery-1); SEARCH dirent USING PRIMARY KEY (branch=? AND parent=? AND name=? AND died=?)",
			diedUntil.inodes: "CO-ROUTINE (subquery-1); SEARCH inode USING COVERING INDEX inode_died (branch=? AND died>? AND died<?); " +
				"USE TEMP B-TREE FOR GROUP BY; SCAN (subquery-1); SEARCH inode USING PRIMARY KEY (branch=? AND ino=? AND died=?)",
			namesHead: "SEARCH dirent USING COVERING INDEX dirent_ino (ino=? AND branch=?)",
		} {
			rows := tx.db.Query(`EXPLAIN QUERY PLAN ` + text)
			var steps []string
			for rows.Next() {
				steps = append(steps, rows.Text(3))
			}
			require.NoError(t, rows.Err())
			require.Equal(t, plan, strings.Join(steps, "; "), text)
		}
		return nil
	}))
}

// What changed after a moment is found by a seek to that moment: the bound for the sake of the index, born > 2, is compared with
// no row. So a long history before the moment costs nothing.
func TestChangesAreSought(t *testing.T) {
	fsys := openTest(t, filepath.Join(t.TempDir(), "plan.db"))
	require.NoError(t, fsys.View(t.Context(), func(tx *Tx) error {
		for _, text := range []string{changedAfter, bornAfter.dirents, bornAfter.inodes} {
			rows := tx.db.Query(`EXPLAIN ` + text)
			seeks := 0
			for rows.Next() {
				op, first := rows.Text(1), rows.Int(2)
				require.False(t, op == "Integer" && first == 2, "%s: the program of the statement loads the number 2", text)
				if op == "SeekGT" {
					seeks++
				}
			}
			require.NoError(t, rows.Err())
			require.NotZero(t, seeks, text)
		}
		return nil
	}))
}
