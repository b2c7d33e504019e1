package snapshot_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A restore records the paths whose entry, or whose inode, is another afterwards, with the contents that they had and
// have: also those in directories that the restore moves, and all names of a file.
func TestRestoreRecordsEachPath(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a/x", "a/b/y", "c/z", "d/")
	random := rand.New(rand.NewPCG(8, 15))
	vfstest.Scramble(t, fsys, random)
	var moments []*vfs.FS
	for i := range 12 {
		moments = append(moments, vfstest.Snapshot(t, fsys, fmt.Sprintf("s%d", i)).FS)
		vfstest.Scramble(t, fsys, random)
	}
	for range 40 {
		before := lookAll(t, fsys)
		since, err := fsys.Seq(ctx)
		require.NoError(t, err)
		require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
			_, err := snapshot.RestoreIn(tx, moments[random.IntN(len(moments))], "", "")
			return err
		}))
		after := lookAll(t, fsys)
		told := make(map[string][2]vfs.Sum)
		events, err := fsys.Log(ctx, &vfs.LogOptions{Since: since})
		require.NoError(t, err)
		for _, e := range events {
			if e.Op == vfs.OpSnapshot {
				continue // the state that was replaced
			}
			require.Equal(t, vfs.OpRestore, e.Op)
			told[e.Path] = [2]vfs.Sum{orZero(e.Before), orZero(e.After)}
		}
		require.Equal(t, restored(before, after), told)
		if random.IntN(3) == 0 {
			vfstest.Scramble(t, fsys, random)
		}
	}
}

// A seen is what a path shows.
type seen struct {
	dir, ino vfs.Ino
	isDir    bool
	mode     fs.FileMode
	changed  time.Time
	sum      vfs.Sum
	times    [2]time.Time
	nlink    int
}

// lookAll walks a tree.
func lookAll(t *testing.T, fsys *vfs.FS) map[string]seen {
	all := make(map[string]seen)
	require.NoError(t, fsys.View(t.Context(), func(tx *vfs.Tx) error {
		return fs.WalkDir(tx.IOFS(), ".", func(name string, _ fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := tx.Lstat(name)
			require.NoError(t, err)
			s := seen{ino: info.Ino(), isDir: info.IsDir(), mode: info.Mode(), nlink: info.Nlink()}
			s.times = [2]time.Time{info.ModTime(), info.ChangeTime()}
			if name != "." {
				s.dir = all[path.Dir(name)].ino
			}
			if !s.isDir {
				s.changed = info.ModTime()
				s.sum, err = tx.Sum(name)
				require.NoError(t, err)
			}
			all[name] = s
			return nil
		})
	}))
	return all
}

// restored returns the contents before and after of the paths of all entries and files that differ.
func restored(before, after map[string]seen) map[string][2]vfs.Sum {
	type key struct {
		dir  vfs.Ino
		base string
	}
	alike := func(a, b seen) bool {
		a.times, a.nlink, b.times, b.nlink = [2]time.Time{}, 0, [2]time.Time{}, 0
		return a == b
	}
	entries := func(tree map[string]seen) (map[key]vfs.Ino, map[vfs.Ino]seen) {
		names, nodes := make(map[key]vfs.Ino), make(map[vfs.Ino]seen)
		for p, s := range tree {
			names[key{s.dir, path.Base(p)}] = s.ino
			s.dir = 0
			nodes[s.ino] = s
		}
		return names, nodes
	}
	oldNames, oldNodes := entries(before)
	newNames, newNodes := entries(after)

	// Times, and the number of names, have no event of their own if that of an entry names the inode.
	noted := make(map[vfs.Ino]bool)
	for _, tree := range []map[string]seen{before, after} {
		for p, s := range tree {
			if k := (key{s.dir, path.Base(p)}); oldNames[k] != newNames[k] {
				noted[s.ino], noted[s.dir] = true, true
			}
		}
	}

	list := make(map[string][2]vfs.Sum)
	for i, tree := range []map[string]seen{before, after} {
		for _, p := range slices.Sorted(maps.Keys(tree)) {
			s := tree[p]
			k := key{s.dir, path.Base(p)}
			was, had := oldNodes[s.ino]
			is, has := newNodes[s.ino]
			if oldNames[k] != newNames[k] || had && has && was != is && !(alike(was, is) && noted[s.ino]) {
				sums := list[p]
				sums[i] = s.sum
				list[p] = sums
			}
		}
	}
	return list
}

func orZero(sum *vfs.Sum) vfs.Sum {
	if sum == nil {
		return vfs.Sum{}
	}
	return *sum
}
