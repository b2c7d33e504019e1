package snapshot_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// The rules of the lineage, a test for each. Every test ends with a check of all invariants (vfstest.New).

func fork(t *testing.T, base snapshot.Tree, name string) *vfs.FS {
	t.Helper()
	fsys, err := snapshot.Branch(t.Context(), base.Tree(), base, name)
	require.NoError(t, err)
	return fsys
}

func collect(t *testing.T, fsys *vfs.FS) *gc.Report {
	t.Helper()
	report, err := gc.Run(t.Context(), fsys, nil)
	require.NoError(t, err)
	return report
}

func ino(t *testing.T, fsys *vfs.FS, name string) vfs.Ino {
	t.Helper()
	info, err := fsys.Lstat(t.Context(), name)
	require.NoError(t, err)
	return info.Ino()
}

// The last unlink of an inherited inode hides the inode too, not only the name.
func TestLineageInodeWhiteout(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a", "b")
	gone := ino(t, fsys, "a")
	try := fork(t, fsys, "try")
	require.NoError(t, try.Remove(ctx, "a"))
	collect(t, fsys) // reaps the orphan in the branch
	require.NoError(t, try.View(ctx, func(tx *vfs.Tx) error {
		info, err := (*tree.Tx)(tx).Info(gone)
		require.Nil(t, info, "no ghost in the branch")
		return err
	}))
	require.EqualValues(t, 1, vfstest.Number(t, fsys, `SELECT count(*) FROM inode WHERE ino = ? AND mode = 0`, int64(gone)))
	require.Equal(t, "a", read(t, fsys, "a"), "the ancestor shows it as before")
	require.Equal(t, "removed a", changes(t, fsys, try))

	// Restore to a moment before it existed needs the same.
	early := create(t, try, "early")
	write(t, try, "later", "x")
	sub := fork(t, try, "sub")
	late := ino(t, sub, "later")
	_, err := snapshot.Restore(ctx, sub, early)
	require.NoError(t, err)
	require.NoError(t, sub.View(ctx, func(tx *vfs.Tx) error {
		info, err := (*tree.Tx)(tx).Info(late)
		require.Nil(t, info)
		return err
	}))
}

// Rename over inherited names; the replaced inode loses one link, by a row of the branch's own.
func TestLineageRenameOverInherited(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "src", "dst")
	require.NoError(t, fsys.Link(ctx, "dst", "dst2"))
	try := fork(t, fsys, "try")
	require.NoError(t, try.Rename(ctx, "src", "dst"))
	require.Equal(t, "src", read(t, try, "dst"))
	info, err := try.Stat(ctx, "dst2")
	require.NoError(t, err)
	require.Equal(t, 1, info.Nlink())
	_, err = try.Stat(ctx, "src")
	require.ErrorIs(t, err, fs.ErrNotExist)
	info, err = fsys.Stat(ctx, "dst2")
	require.NoError(t, err)
	require.Equal(t, 2, info.Nlink(), "in main nothing happened")
	require.Equal(t, "src", read(t, fsys, "src"))

	before := vfstest.Dump(t, fsys)
	require.NoError(t, fsys.Rename(ctx, "dst", "dst2"))
	require.Equal(t, before, vfstest.Dump(t, fsys), "two names of one file stay")
}

// A removed name is hidden if an ancestor shows it. It can be made again over the whiteout, any number of times.
func TestLineageRemoveAndRecreate(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a")
	try := fork(t, fsys, "try")
	for i := range 5 {
		require.NoError(t, try.Remove(ctx, "a"))
		_, err := try.Stat(ctx, "a")
		require.ErrorIs(t, err, fs.ErrNotExist)
		if i%2 == 0 {
			create(t, try, fmt.Sprint("s", i)) // an epoch in between
		}
		write(t, try, "a", fmt.Sprint(i))
		require.Equal(t, fmt.Sprint(i), read(t, try, "a"))
		if i%2 == 1 {
			create(t, try, fmt.Sprint("s", i))
		}
		require.NoError(t, try.Remove(ctx, "a"))
		write(t, try, "a", "again")
	}
	require.Equal(t, "a", read(t, fsys, "a"))
}

// A fork or snapshot of the head ends its epoch; a fork of a past snapshot does not.
func TestLineageEpochs(t *testing.T) {
	fsys := newFS(t, "a")
	epoch := func() int64 { return vfstest.Number(t, fsys, `SELECT epoch FROM branch WHERE name = 'main'`) }
	e := epoch()
	s := create(t, fsys, "s")
	require.Equal(t, e+1, epoch())
	fork(t, fsys, "from-head")
	require.Equal(t, e+2, epoch())
	write(t, fsys, "a", "later")
	old := fork(t, s, "from-past")
	require.Equal(t, e+2, epoch())
	require.Equal(t, "a", read(t, old, "a"))
	require.NoError(t, fsys.Remove(t.Context(), "a"))
	require.Equal(t, "a", read(t, old, "a"), "what dies in the ancestor later stays visible to the descendant")
}

// Collection takes exactly the rows that no retained moment shows.
func TestLineageRowsAreKeptForMoments(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a")
	versions := func() int64 {
		return vfstest.Number(t, fsys, `SELECT count(*) FROM inode WHERE ino = ?`, int64(ino(t, fsys, "a")))
	}
	for i := range 6 {
		create(t, fsys, fmt.Sprint("s", i))
		write(t, fsys, "a", fmt.Sprint(i))
	}
	require.EqualValues(t, 7, versions())
	collect(t, fsys)
	require.EqualValues(t, 7, versions(), "each snapshot keeps one")
	three, err := snapshot.Open(ctx, fsys, "s3")
	require.NoError(t, err)
	fork(t, three, "keeps-s3")
	for _, i := range []int{1, 2, 3, 4} {
		require.NoError(t, snapshot.Delete(ctx, fsys, fmt.Sprint("s", i)))
	}
	collect(t, fsys)
	require.EqualValues(t, 4, versions(), "s0, the fork of s3, s5, and the head")
	for name, want := range map[string]string{"s0": "a", "s5": "4"} {
		s, err := snapshot.Open(ctx, fsys, name)
		require.NoError(t, err)
		require.Equal(t, want, read(t, s.FS, "a"))
	}
	kept, err := fsys.Branch(ctx, "keeps-s3")
	require.NoError(t, err)
	require.Equal(t, "2", read(t, kept, "a"))
}

// A dropped branch's rows live while a descendant needs them, and no longer.
func TestLineageDroppedBranch(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a")
	mid := fork(t, fsys, "mid")
	write(t, mid, "kept", "x")
	leaf := fork(t, mid, "leaf")
	write(t, mid, "late", "after the fork")
	id := mid.Moment().Branch
	rows := func() int64 { return vfstest.Number(t, fsys, `SELECT count(*) FROM dirent WHERE branch = ?`, id) }
	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "mid"))
	collect(t, fsys)
	require.EqualValues(t, 1, rows(), "what was born after the last fork goes")
	require.Equal(t, "x", read(t, leaf, "kept"))
	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "leaf"))
	collect(t, fsys)
	require.Zero(t, rows())
	require.Zero(t, vfstest.Number(t, fsys, `SELECT count(*) FROM branch WHERE id = ?`, id))
}

// A restore is exact, times and all, from a sibling, an ancestor, a descendant or the past.
func TestLineageRestoreIsExact(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a", "d/b")
	s := create(t, fsys, "s")
	left, right := fork(t, s, "left"), fork(t, fsys, "right")
	write(t, left, "a", "left")
	require.NoError(t, left.RemoveAll(ctx, "d"))
	require.NoError(t, right.Rename(ctx, "d", "e"))
	require.NoError(t, right.Link(ctx, "a", "e/link"))
	write(t, fsys, "d/main", "main")
	for _, to := range []snapshot.Tree{left, right, s, fsys} {
		work := fork(t, right, "")
		_, err := snapshot.Restore(ctx, work, to)
		require.NoError(t, err)
		require.NoError(t, tree.ViewBoth(ctx, (*tree.Tree)(to.Tree()), (*tree.Tree)(work), func(a, b *tree.Tx) error {
			delta, err := tree.Compare(a, b)
			require.NoError(t, err)
			require.Empty(t, delta.Names)
			require.Empty(t, delta.Inodes, "times included")
			return nil
		}))
		require.Equal(t, vfstest.Dump(t, to.Tree()), vfstest.Dump(t, work))
	}
}

// A lineage deeper than 16 is squashed at the fork: the middle levels become one, base and head stay.
func TestLineageSquash(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "base", "gone")
	main := fsys
	for i := range 16 {
		fsys = fork(t, fsys, fmt.Sprint("g", i))
		write(t, fsys, fmt.Sprint("f", i), fmt.Sprint(i))
	}
	require.NoError(t, fsys.Remove(ctx, "gone"))
	want := vfstest.Dump(t, fsys)
	deep := fork(t, fsys, "deep")
	require.EqualValues(t, 3, vfstest.Number(t, main, `SELECT count(*) FROM lineage WHERE branch = ?`, deep.Moment().Branch))
	require.Equal(t, want, vfstest.Dump(t, deep))
	require.Empty(t, changes(t, fsys, deep), "a diff across the squash")
	write(t, deep, "f3", "changed")
	require.Equal(t, "modified f3", changes(t, fsys, deep))
	for i := range 16 {
		require.NoError(t, snapshot.DeleteBranch(ctx, main, fmt.Sprint("g", i)))
	}
	collect(t, main)
	require.Equal(t, "5", read(t, deep, "f5"))
}

// Look-ups in a level that cannot change are cached, and stay right while the ancestor goes on.
func TestLineageAncestorsGoOn(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a", "d/b")
	try := fork(t, fsys, "try")
	want := vfstest.Dump(t, try) // fills what is kept
	write(t, fsys, "a", "changed")
	write(t, fsys, "d/new", "new")
	require.NoError(t, fsys.Remove(ctx, "d/b"))
	create(t, fsys, "s")
	require.NoError(t, fsys.RemoveAll(ctx, "d"))
	collect(t, fsys)
	require.Equal(t, want, vfstest.Dump(t, try))
	again, err := fsys.Branch(ctx, "try")
	require.NoError(t, err)
	require.Equal(t, want, vfstest.Dump(t, again), "with nothing kept")
}

// Each tree has its own names of an inode, through renames and links.
func TestLineageNamesOfInode(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "d/a")
	n := ino(t, fsys, "d/a")
	try := fork(t, fsys, "try")
	require.NoError(t, try.Rename(ctx, "d", "e"))
	require.NoError(t, try.Link(ctx, "e/a", "top"))
	paths := func(fsys *vfs.FS) (list []string) {
		require.NoError(t, fsys.View(ctx, func(tx *vfs.Tx) (err error) {
			list, err = (*tree.Tx)(tx).Paths(n)
			return err
		}))
		return list
	}
	require.Equal(t, []string{"d/a"}, paths(fsys))
	require.Equal(t, []string{"e/a", "top"}, paths(try))
	require.NoError(t, try.RemoveAll(ctx, "e"))
	require.Equal(t, []string{"top"}, paths(try))
}

// RemoveAll is one cut, whatever hangs below. The reaper takes the rest, unless a restore has linked it again.
func TestLineageRemoveAllIsACut(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t)
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		for i := range 300 {
			if err := tx.WriteFile(fmt.Sprintf("tree/d%d/f%d", i%10, i), []byte(fmt.Sprint(i)), 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return nil
	}))
	whole := vfstest.Dump(t, fsys)
	entries := vfstest.Number(t, fsys, `SELECT count(*) FROM dirent`)
	s := create(t, fsys, "s")
	require.NoError(t, fsys.RemoveAll(ctx, "tree"))
	require.Equal(t, entries, vfstest.Number(t, fsys, `SELECT count(*) FROM dirent`), "not one row more or less: one died")

	// Linked again before the reaper came.
	_, err := snapshot.Restore(ctx, fsys, s)
	require.NoError(t, err)
	collect(t, fsys)
	require.Equal(t, whole, vfstest.Dump(t, fsys))

	// Reaped half, then restored.
	require.NoError(t, fsys.RemoveAll(ctx, "tree"))
	_, err = gc.NewOrphanReaper((*tree.Tree)(fsys), 1<<62).Step(ctx, 50)
	require.NoError(t, err)
	vfstest.Check(t, fsys)
	_, err = snapshot.Restore(ctx, fsys, s)
	require.NoError(t, err)
	require.Equal(t, whole, vfstest.Dump(t, fsys))

	// Nothing keeps it: every row goes.
	require.NoError(t, fsys.RemoveAll(ctx, "tree"))
	list, err := snapshot.List(ctx, fsys)
	require.NoError(t, err)
	for _, info := range list {
		require.NoError(t, snapshot.Delete(ctx, fsys, info.Name))
	}
	collect(t, fsys)
	require.Zero(t, vfstest.Number(t, fsys, `SELECT count(*) FROM dirent`))
	require.EqualValues(t, 1, vfstest.Number(t, fsys, `SELECT count(*) FROM inode`), "the root")
	require.Zero(t, vfstest.Number(t, fsys, `SELECT count(*) FROM blob`))

	// A second link below survives.
	write(t, fsys, "t/in", "linked")
	require.NoError(t, fsys.Link(ctx, "t/in", "out"))
	require.NoError(t, fsys.RemoveAll(ctx, "t"))
	collect(t, fsys)
	info, err := fsys.Stat(ctx, "out")
	require.NoError(t, err)
	require.Equal(t, 1, info.Nlink())
	require.Equal(t, "linked", read(t, fsys, "out"))
}

// An open file without a name is inherited by a fork, and Check allows it; it can still be written in its branch.
func TestLineageOpenOrphan(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "f")
	f, err := fsys.OpenFile(ctx, "f", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, fsys.Remove(ctx, "f"))
	try := fork(t, fsys, "try")
	collect(t, fsys)
	_, err = f.WriteAt([]byte("G"), 0)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	got := make([]byte, 1)
	_, err = f.ReadAt(got, 0)
	if err != io.EOF {
		require.NoError(t, err)
	}
	require.Equal(t, "G", string(got))
	vfstest.Check(t, try)
	require.NoError(t, f.Close())
	collect(t, fsys)
}

// A lineage stays at most 17 levels deep, and each generation shows all that those before it left.
func TestDeepLineage(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "base")
	want := []string{"base"}
	for i := range 40 {
		next, err := snapshot.Branch(ctx, fsys, fsys, fmt.Sprintf("gen%d", i))
		require.NoError(t, err)
		fsys = next
		name := fmt.Sprintf("f%02d", i)
		write(t, fsys, name, name)
		want = append(want, name)
		if i%3 == 0 && i > 0 {
			gone := want[1]
			want = append(want[:1], want[2:]...)
			require.NoError(t, fsys.Remove(ctx, gone))
		}
	}
	var got []string
	entries, err := fsys.ReadDir(ctx, ".")
	require.NoError(t, err)
	for _, e := range entries {
		got = append(got, e.Name())
		require.Equal(t, e.Name(), read(t, fsys, e.Name()))
	}
	require.Equal(t, want, got)
	list, err := fsys.Store().Branches(ctx)
	require.NoError(t, err)
	for _, b := range list {
		require.LessOrEqual(t, b.Depth, 17, b.Name)
	}
}
