package xattr_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
	"vfsdb/xattr"
)

// set sets an attribute and fails the test if that fails.
func set(t *testing.T, fsys *vfs.FS, name, attr, value string) {
	t.Helper()
	require.NoError(t, xattr.Set(t.Context(), fsys, name, xattr.Follow, attr, []byte(value), 0))
}

// record returns the op and the path of each event since a number.
func record(t *testing.T, fsys *vfs.FS, since int64) (list []string) {
	t.Helper()
	events, err := fsys.Log(t.Context(), &vfs.LogOptions{Since: since})
	require.NoError(t, err)
	for _, e := range events {
		list = append(list, string(e.Op)+" "+e.Path)
	}
	return list
}

// all returns the attributes of a file.
func all(t *testing.T, fsys *vfs.FS, name string) map[string]string {
	t.Helper()
	got := make(map[string]string)
	require.NoError(t, fsys.View(t.Context(), func(tx *vfs.Tx) error {
		names, err := xattr.ListIn(tx, name, xattr.NoFollow)
		if err != nil {
			return err
		}
		for _, attr := range names {
			value, err := xattr.GetIn(tx, name, xattr.NoFollow, attr)
			if err != nil {
				return err
			}
			got[attr] = string(value)
		}
		return nil
	}))
	return got
}

// An attribute is what it was set to, changes only the ctime, and each change of one is an event.
func TestSet(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "dir/file")
	before, err := fsys.Stat(ctx, "dir/file")
	require.NoError(t, err)
	since, err := fsys.Seq(ctx)
	require.NoError(t, err)

	set(t, fsys, "dir/file", "user.b", "\x00binary\xff")
	set(t, fsys, "dir/file", "user.a", "")
	set(t, fsys, "dir", "user.a", "of a directory")
	set(t, fsys, ".", "user.a", "of the root")
	require.Equal(t, map[string]string{"user.a": "", "user.b": "\x00binary\xff"}, all(t, fsys, "dir/file"))
	require.Equal(t, map[string]string{"user.a": "of a directory"}, all(t, fsys, "dir"))
	require.Equal(t, map[string]string{"user.a": "of the root"}, all(t, fsys, "."))

	after, err := fsys.Stat(ctx, "dir/file")
	require.NoError(t, err)
	require.Equal(t, []string{"user.a", "user.b"}, after.Xattrs())
	require.Equal(t, before.ModTime(), after.ModTime())
	require.True(t, after.ChangeTime().After(before.ChangeTime()))
	require.True(t, after.SameContent(before))

	require.NoError(t, xattr.Remove(ctx, fsys, "dir/file", xattr.Follow, "user.b"))
	require.Equal(t, map[string]string{"user.a": ""}, all(t, fsys, "dir/file"))
	require.Equal(t, []string{
		"xattr dir/file (user.b)", "xattr dir/file (user.a)", "xattr dir (user.a)", "xattr . (user.a)", "xattr dir/file (user.b)",
	}, vfstest.Log(t, fsys, &vfs.LogOptions{Since: since}))
}

// An event has the path that the caller gave, and the number of the inode.
func TestEvent(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "dir/a")
	require.NoError(t, fsys.Link(ctx, "dir/a", "dir/b"))
	require.NoError(t, fsys.Symlink(ctx, "dir/b", "link"))
	since, err := fsys.Seq(ctx)
	require.NoError(t, err)
	set(t, fsys, "link", "user.x", "1")
	jail, err := fsys.OpenRoot(ctx, "dir")
	require.NoError(t, err)
	set(t, jail, "b", "user.x", "2")

	events, err := fsys.Log(ctx, &vfs.LogOptions{Since: since})
	require.NoError(t, err)
	require.Len(t, events, 2)
	info, err := fsys.Stat(ctx, "dir/a")
	require.NoError(t, err)
	for _, e := range events {
		require.Equal(t, vfs.OpXattr, e.Op)
		require.Equal(t, "dir/b", e.Path)
		require.Equal(t, "user.x", e.Arg)
		require.Equal(t, info.Ino(), e.Ino)
		require.Zero(t, e.Dir)
		require.Zero(t, e.Grew)
	}
	require.Equal(t, map[string]string{"user.x": "2"}, all(t, fsys, "dir/a"))
}

// An error names the operation and the path that was given, and a change that fails changes nothing.
func TestErrors(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	set(t, fsys, "f", "user.x", "1")
	past := vfstest.Snapshot(t, fsys, "past").FS
	before := vfstest.Dump(t, fsys)
	for _, tt := range []struct {
		err  error
		want string
		is   syscall.Errno
	}{
		{xattr.Set(ctx, fsys, "none", true, "user.x", nil, 0), "setxattr none: ", syscall.ENOENT},
		{xattr.Set(ctx, fsys, "f", true, "user.x", nil, xattr.Create), "setxattr f: ", syscall.EEXIST},
		{xattr.Set(ctx, fsys, "f", true, "user.y", nil, xattr.Replace), "setxattr f: ", syscall.ENODATA},
		{xattr.Set(ctx, past, "f", true, "user.x", nil, 0), "setxattr f: ", syscall.EROFS},
		{xattr.Remove(ctx, fsys, "f", true, "user.y"), "removexattr f: ", syscall.ENODATA},
		{xattr.Remove(ctx, past, "f", true, "user.x"), "removexattr f: ", syscall.EROFS},
	} {
		require.Error(t, tt.err)
		var named *fs.PathError
		require.ErrorAs(t, tt.err, &named)
		require.EqualError(t, tt.err, tt.want+tt.is.Error())
	}
	_, err := xattr.Get(ctx, fsys, "none", false, "user.x")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = xattr.List(ctx, fsys, "none", false)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, before, vfstest.Dump(t, fsys))
}

// Attributes belong to the inode: all of its names show them, a file that is written keeps them, and a copy takes them along.
func TestBelongToInode(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "dir/file", "other")
	set(t, fsys, "dir/file", "user.x", "1")
	set(t, fsys, "dir", "user.d", "2")
	require.NoError(t, fsys.Link(ctx, "dir/file", "hard"))
	require.NoError(t, fsys.WriteFile(ctx, "hard", []byte("changed"), 0o644))
	require.NoError(t, fsys.Rename(ctx, "dir/file", "dir/moved"))
	for _, name := range []string{"hard", "dir/moved"} {
		require.Equal(t, map[string]string{"user.x": "1"}, all(t, fsys, name))
	}

	require.NoError(t, fsys.Copy(ctx, "dir", "copy"))
	require.NoError(t, fsys.Copy(ctx, "hard", "other"))
	require.Equal(t, map[string]string{"user.d": "2"}, all(t, fsys, "copy"))
	require.Equal(t, map[string]string{"user.x": "1"}, all(t, fsys, "copy/moved"))
	require.Equal(t, map[string]string{"user.x": "1"}, all(t, fsys, "other"))
	set(t, fsys, "copy/moved", "user.x", "3")
	require.Equal(t, map[string]string{"user.x": "1"}, all(t, fsys, "hard"))

	require.NoError(t, fsys.Remove(ctx, "hard"))
	vfstest.Write(t, fsys, "hard", "new")
	require.Empty(t, all(t, fsys, "hard"))
}

// History keeps them: a snapshot shows the old ones, a branch its own, a diff what differs, and a restore brings them back.
func TestHistory(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "b", "c")
	set(t, fsys, "a", "user.x", "old")
	base := vfstest.Snapshot(t, fsys, "base")
	try := vfstest.Branch(t, base, "try")
	set(t, fsys, "a", "user.x", "new")
	set(t, fsys, "b", "user.x", "new")
	set(t, try, "c", "user.y", "tried")
	require.Equal(t, map[string]string{"user.x": "old"}, all(t, base.FS, "a"))
	require.Equal(t, map[string]string{"user.x": "old"}, all(t, try, "a"))
	require.Empty(t, all(t, base.FS, "b"))
	require.Empty(t, all(t, fsys, "c"))

	diff := func(a, b snapshot.Tree) (list []string) {
		for c, err := range snapshot.Diff(ctx, a, b) {
			require.NoError(t, err)
			list = append(list, fmt.Sprintf("%s %s %v->%v", c.Kind, c.Path, c.Old.Xattrs(), c.New.Xattrs()))
		}
		return list
	}
	require.Equal(t, []string{"mode a [user.x]->[user.x]", "mode b []->[user.x]"}, diff(base, fsys))
	require.Equal(t, []string{"mode c []->[user.y]"}, diff(base, try))

	since, err := fsys.Seq(ctx)
	require.NoError(t, err)
	undo, err := snapshot.Restore(ctx, fsys, base)
	require.NoError(t, err)
	require.Equal(t, []string{"snapshot .", "restore a", "restore b"}, record(t, fsys, since))
	require.Empty(t, diff(base, fsys))
	require.Equal(t, vfstest.Dump(t, base.FS), vfstest.Dump(t, fsys))
	_, err = snapshot.Restore(ctx, fsys, undo)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"user.x": "new"}, all(t, fsys, "a"))
}

// Random changes in branches at random depths, with transactions that fail, beside maps.
func TestLikeMaps(t *testing.T) {
	ctx := t.Context()
	random := rand.New(rand.NewPCG(7, 21))
	files := []string{".", "d", "d/f", "g"}
	type state = map[string]map[string]string
	clone := func(s state) state {
		c := make(state)
		for _, file := range files {
			c[file] = make(map[string]string)
			for k, v := range s[file] {
				c[file][k] = v
			}
		}
		return c
	}
	fsys := vfstest.New(t, "d/f", "g")
	trees, states := []*vfs.FS{fsys}, []state{clone(nil)}
	errUndo := errors.New("undo")

	for i := range 400 {
		k := random.IntN(len(trees))
		head, was := trees[k], states[k]
		switch random.IntN(20) {
		case 0:
			if head.Frozen() {
				continue
			}
			trees, states = append(trees, vfstest.Snapshot(t, head, fmt.Sprint("s", i)).FS), append(states, clone(was))
			continue
		case 1:
			if len(trees) < 12 {
				trees, states = append(trees, vfstest.Branch(t, head, fmt.Sprint("b", i))), append(states, clone(was))
			}
			continue
		}
		if head.Frozen() {
			require.ErrorIs(t, xattr.Set(ctx, head, "g", true, "user.x", nil, 0), syscall.EROFS)
			continue
		}

		next, undo := clone(was), random.IntN(4) == 0
		err := head.Update(ctx, func(tx *vfs.Tx) error {
			for range 1 + random.IntN(4) {
				file, attr := files[random.IntN(len(files))], fmt.Sprint("user.", random.IntN(4))
				if _, have := next[file][attr]; have && random.IntN(3) == 0 {
					require.NoError(t, xattr.RemoveIn(tx, file, true, attr))
					delete(next[file], attr)
					continue
				}
				value := strings.Repeat(fmt.Sprint(i), random.IntN(200))
				require.NoError(t, xattr.SetIn(tx, file, true, attr, []byte(value), 0))
				next[file][attr] = value
			}
			if undo {
				return errUndo
			}
			return nil
		})
		if undo {
			require.ErrorIs(t, err, errUndo)
			next = was
		} else {
			require.NoError(t, err)
		}
		states[k] = next

		// The heads and moments, and a store that knows nothing yet.
		k = random.IntN(len(trees))
		file := files[random.IntN(len(files))]
		require.Equal(t, states[k][file], all(t, trees[k], file))
	}
	for k, head := range trees {
		for _, file := range files {
			require.Equal(t, states[k][file], all(t, head, file))
		}
	}
	again := vfstest.Open(t, fsys.Name(), nil)
	for _, file := range files {
		require.Equal(t, states[0][file], all(t, again, file))
	}
}

// What one transaction sets of many large attributes, and reads again, is right whatever the caches have room for.
func TestLarge(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	value := strings.Repeat("v", xattr.MaxValue-100)
	const n = 300 // 19 MB
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		for i := range n {
			name := fmt.Sprintf("d/%03d", i)
			if err := tx.WriteFile(name, nil, 0o644, vfs.Parents()); err != nil {
				return err
			}
			if err := xattr.SetIn(tx, name, true, "user.x", []byte(value+fmt.Sprint(i)), 0); err != nil {
				return err
			}
		}
		return nil
	}))
	for i := range n {
		got, err := xattr.Get(ctx, fsys, path.Join("d", fmt.Sprintf("%03d", i)), true, "user.x")
		require.NoError(t, err)
		require.Equal(t, value+fmt.Sprint(i), string(got))
	}
}

// A mount has numbers. An inode without a name keeps its attributes until it is gone, and what happens to it is no event.
func TestByNumber(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	f, err := fsys.Open(ctx, "f")
	require.NoError(t, err)
	defer f.Close()
	info, err := fsys.Stat(ctx, "f")
	require.NoError(t, err)
	at := tree.Place{Ino: info.Ino()}
	since, err := fsys.Seq(ctx)
	require.NoError(t, err)
	require.NoError(t, fsys.Update(ctx, func(vtx *vfs.Tx) error {
		tx := (*tree.Tx)(vtx)
		require.ErrorIs(t, tx.SetXattr(at, "user.x", nil, 4), syscall.EINVAL)
		require.ErrorIs(t, tx.SetXattr(at, "user.x", nil, xattr.Create|xattr.Replace), syscall.ENODATA)
		require.ErrorIs(t, tx.SetXattr(tree.Place{Ino: 5}, "user.x", nil, 0), syscall.ESTALE)
		require.NoError(t, tx.SetXattr(at, "user.x", []byte("1"), xattr.Create))
		require.NoError(t, vtx.Remove("f"))
		require.NoError(t, tx.SetXattr(at, "user.x", []byte("2"), xattr.Replace))
		got, err := tx.Xattr(at, "user.x")
		require.Equal(t, "2", string(got))
		return err
	}))
	require.Equal(t, []string{"xattr f", "remove f"}, record(t, fsys, since))
	require.NoError(t, fsys.View(ctx, func(tx *vfs.Tx) error {
		attrs, err := (*tree.Tx)(tx).Xattrs(at)
		require.Equal(t, []string{"user.x"}, attrs.Names())
		require.ErrorIs(t, (*tree.Tx)(tx).SetXattr(at, "user.x", nil, 0), syscall.EROFS)
		return err
	}))
}

// A row with damaged attributes is EIO, to its readers and to a diff, and nothing else is.
func TestDamaged(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f", "g")
	set(t, fsys, "f", "user.x", "1")
	damage := func(bytes []byte) {
		require.NoError(t, vfstest.DB(fsys).Update(ctx, func(db *schema.Tx) error {
			_, err := db.Exec(`UPDATE inode SET xattrs = ? WHERE xattrs IS NOT NULL`, bytes)
			return err
		}))
	}
	damage([]byte("\x01x\x02\x01"))
	_, err := fsys.Stat(ctx, "f")
	require.ErrorIs(t, err, vfs.ErrCorrupt)
	_, err = xattr.Get(ctx, fsys, "f", true, "user.x")
	require.ErrorIs(t, err, vfs.ErrCorrupt)
	errno, ok := vfs.Errno(err)
	require.True(t, ok)
	require.Equal(t, syscall.EIO, errno)
	require.Equal(t, "g", vfstest.Read(t, fsys, "g"))
	damage([]byte("\x01x\x011"))
	require.Equal(t, map[string]string{"user.x": "1"}, all(t, fsys, "f"))
}
