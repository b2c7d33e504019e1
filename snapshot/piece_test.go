package snapshot_test

import (
	"context"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A world is the tree then, and the tree now with some changes.
func pieceWorld(t *testing.T) (*vfs.FS, *snapshot.Snapshot) {
	ctx := t.Context()
	fsys := vfstest.New(t, "file", "keep", "dir/a", "dir/b", "dir/sub/deep", "links/one")
	require.NoError(t, fsys.Chmod(ctx, "file", 0o640))
	require.NoError(t, fsys.Chmod(ctx, "dir/sub", 0o711))
	require.NoError(t, fsys.Symlink(ctx, "file", "link"))
	require.NoError(t, fsys.Link(ctx, "links/one", "links/two"))
	require.NoError(t, fsys.Link(ctx, "links/one", "third"))
	require.NoError(t, fsys.Chtimes(ctx, "file", time.Time{}, time.Unix(1000, 7)))
	return fsys, vfstest.Snapshot(t, fsys, "then")
}

// bringBack restores paths of a tree.
func bringBack(t *testing.T, fsys *vfs.FS, from snapshot.Tree, paths ...string) *snapshot.PiecesResult {
	t.Helper()
	var pieces []snapshot.Piece
	for _, p := range paths {
		pieces = append(pieces, snapshot.Piece{From: from, Path: p})
	}
	r, err := snapshot.RestorePieces(t.Context(), fsys, pieces, nil)
	require.NoError(t, err)
	return r
}

// kinds returns what has changed, as kinds with paths.
func kinds(r *snapshot.PiecesResult) []string {
	list := []string{}
	for _, c := range r.Changes {
		path := c.Path
		if c.From != "" {
			path = c.From + ">" + path
		}
		list = append(list, string(c.Kind)+" "+path)
	}
	return list
}

func TestRestorePieces(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(ctx context.Context, fsys *vfs.FS) error
		path   string
		want   []string
	}{
		{"equal file", nil, "file", []string{}},
		{"equal directory", nil, "dir", []string{}},
		{"edited", func(ctx context.Context, fsys *vfs.FS) error {
			return fsys.WriteFile(ctx, "file", []byte("new"), 0o644)
		}, "file", []string{"modified file"}},
		{"replaced by a rename", func(ctx context.Context, fsys *vfs.FS) error {
			if err := fsys.WriteFile(ctx, "temp", []byte("new"), 0o644); err != nil {
				return err
			}
			return fsys.Rename(ctx, "temp", "file")
		}, "file", []string{"modified file"}},
		{"another mode", func(ctx context.Context, fsys *vfs.FS) error { return fsys.Chmod(ctx, "file", 0o777) }, "file", []string{"mode file"}},
		{"removed", func(ctx context.Context, fsys *vfs.FS) error { return fsys.Remove(ctx, "file") }, "file", []string{"added file"}},
		{"moved away: it stays there", func(ctx context.Context, fsys *vfs.FS) error { return fsys.Rename(ctx, "file", "moved") }, "file", []string{"added file"}},
		{"a directory now", func(ctx context.Context, fsys *vfs.FS) error {
			if err := fsys.Remove(ctx, "file"); err != nil {
				return err
			}
			return fsys.WriteFile(ctx, "file/in", nil, 0o644, vfs.Parents())
		}, "file", []string{"type file", "removed file/in"}},
		{"a symlink now", func(ctx context.Context, fsys *vfs.FS) error {
			if err := fsys.Remove(ctx, "file"); err != nil {
				return err
			}
			return fsys.Symlink(ctx, "keep", "file")
		}, "file", []string{"type file"}},
		{"symlink", func(ctx context.Context, fsys *vfs.FS) error { return fsys.Remove(ctx, "link") }, "link", []string{"added link"}},
		{"symlink where a directory is", func(ctx context.Context, fsys *vfs.FS) error {
			if err := fsys.Remove(ctx, "link"); err != nil {
				return err
			}
			return fsys.Mkdir(ctx, "link", 0o755)
		}, "link", []string{"type link"}},
		{
			"directory removed", func(ctx context.Context, fsys *vfs.FS) error { return fsys.RemoveAll(ctx, "dir") }, "dir",
			[]string{"added dir", "added dir/a", "added dir/b", "added dir/sub", "added dir/sub/deep"},
		},
		{
			"one file of a directory that was removed", func(ctx context.Context, fsys *vfs.FS) error { return fsys.RemoveAll(ctx, "dir") }, "dir/sub/deep",
			[]string{"added dir", "added dir/sub", "added dir/sub/deep"},
		},
		{"directory that gained a file, and lost one", func(ctx context.Context, fsys *vfs.FS) error {
			if err := fsys.Remove(ctx, "dir/a"); err != nil {
				return err
			}
			return fsys.WriteFile(ctx, "dir/sub/late/file", nil, 0o644, vfs.Parents())
		}, "dir", []string{"added dir/a", "removed dir/sub/late", "removed dir/sub/late/file"}},
		{
			"renamed within", func(ctx context.Context, fsys *vfs.FS) error { return fsys.Rename(ctx, "dir/a", "dir/sub/c") }, "dir",
			[]string{"renamed dir/sub/c>dir/a"},
		},
		{"nested the other way round", func(ctx context.Context, fsys *vfs.FS) error {
			for _, m := range [][2]string{{"dir/sub", "dir/s"}, {"dir/s", "s"}, {"dir", "s/sub"}, {"s", "dir"}} {
				if err := fsys.Rename(ctx, m[0], m[1]); err != nil {
					return err
				}
			}
			return nil
		}, "dir", nil},
		{
			"directory moved away: it stays there", func(ctx context.Context, fsys *vfs.FS) error { return fsys.Rename(ctx, "dir", "moved") }, "dir",
			[]string{"added dir", "added dir/a", "added dir/b", "added dir/sub", "added dir/sub/deep"},
		},
		{"a file now", func(ctx context.Context, fsys *vfs.FS) error {
			if err := fsys.RemoveAll(ctx, "dir"); err != nil {
				return err
			}
			return fsys.WriteFile(ctx, "dir", nil, 0o644)
		}, "dir", []string{"type dir", "added dir/a", "added dir/b", "added dir/sub", "added dir/sub/deep"}},
		{"names of one file, one edited", func(ctx context.Context, fsys *vfs.FS) error {
			return fsys.WriteFile(ctx, "links/one", []byte("new"), 0o644)
		}, "links", []string{"modified links/one", "modified links/two"}},
		{"names of one file, now of two", func(ctx context.Context, fsys *vfs.FS) error {
			for _, err := range []error{
				fsys.Remove(ctx, "third"), fsys.Remove(ctx, "links/one"), fsys.WriteFile(ctx, "links/one", []byte("1"), 0o644),
				fsys.Remove(ctx, "links/two"), fsys.WriteFile(ctx, "links/two", []byte("2"), 0o644),
			} {
				if err != nil {
					return err
				}
			}
			return nil
		}, "links", []string{"modified links/one", "modified links/two"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := t.Context()
			fsys, then := pieceWorld(t)
			if tt.change != nil {
				require.NoError(t, tt.change(ctx, fsys))
			}
			before, was := vfstest.Shown(t, fsys), vfstest.Shown(t, then.FS)
			r := bringBack(t, fsys, then, tt.path)
			if tt.want != nil {
				require.Equal(t, tt.want, kinds(r))
			}
			vfstest.CheckPiece(t, before, was, vfstest.Shown(t, fsys), tt.path)

			again := bringBack(t, fsys, then, tt.path)
			require.True(t, again.Equal(), kinds(again))
		})
	}
}

// Several pieces, of several trees and one within another, are one commit.
func TestRestoreSeveralPieces(t *testing.T) {
	ctx := t.Context()
	fsys, then := pieceWorld(t)
	vfstest.Write(t, fsys, "dir/a", "second")
	second := vfstest.Snapshot(t, fsys, "second")
	require.NoError(t, fsys.RemoveAll(ctx, "dir"))
	require.NoError(t, fsys.Remove(ctx, "links/one"))
	require.NoError(t, fsys.Remove(ctx, "links/two"))
	require.NoError(t, fsys.Remove(ctx, "third"))
	calls, err := fsys.Store().Calls(ctx, nil)
	require.NoError(t, err)

	r, err := snapshot.RestorePieces(ctx, fsys, []snapshot.Piece{
		{From: then, Path: "dir"},
		{From: second, Path: "dir/a"},
		{From: then, Path: "links/two"},
		{From: then, Path: "third"},
		{From: then, Path: "links/two"},
	}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"added dir", "added dir/a", "added dir/b", "added dir/sub", "added dir/sub/deep", "added links/two", "added third"}, kinds(r))
	require.Equal(t, "second", vfstest.Read(t, fsys, "dir/a"))
	require.Equal(t, "dir/b", vfstest.Read(t, fsys, "dir/b"))
	two, err := fsys.Lstat(ctx, "links/two")
	require.NoError(t, err)
	third, err := fsys.Lstat(ctx, "third")
	require.NoError(t, err)
	require.Equal(t, two.Ino(), third.Ino(), "they are brought back together")
	require.Equal(t, 2, two.Nlink())
	after, err := fsys.Store().Calls(ctx, nil)
	require.NoError(t, err)
	require.Len(t, after, len(calls)+1)
	require.Equal(t, int64(len("second")+len("dir/b")+len("dir/sub/deep")+2*len("links/one")), r.Bytes())

	// Nothing differs now: there is no commit and no call.
	seq, err := fsys.Seq(ctx)
	require.NoError(t, err)
	require.True(t, bringBack(t, fsys, then, "links/two", "third").Equal())
	now, err := fsys.Seq(ctx)
	require.NoError(t, err)
	require.Equal(t, seq, now)
}

// A copy stands beside what is there, and its parents are made.
func TestRestoreElsewhere(t *testing.T) {
	ctx := t.Context()
	fsys, then := pieceWorld(t)
	vfstest.Write(t, fsys, "file", "new")
	for range 2 {
		r, err := snapshot.RestorePieces(ctx, fsys, []snapshot.Piece{{then, "file", "old/copy"}, {then, "links", "old/links"}, {then, ".", "whole"}}, nil)
		require.NoError(t, err)
		require.Equal(t, "file", vfstest.Read(t, fsys, "old/copy"))
		require.Equal(t, "new", vfstest.Read(t, fsys, "file"))
		require.Equal(t, "dir/sub/deep", vfstest.Read(t, fsys, "whole/dir/sub/deep"))
		info, err := fsys.Lstat(ctx, "old/copy")
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o640), info.Mode())
		require.Equal(t, time.Unix(1000, 7), info.ModTime())
		one, err := fsys.Lstat(ctx, "old/links/one")
		require.NoError(t, err)
		require.Equal(t, 2, one.Nlink())
		require.Equal(t, len(r.Changes) == 0, r.Unchanged > 0)
	}
	third, err := fsys.Lstat(ctx, "third")
	require.NoError(t, err)
	require.Equal(t, 3, third.Nlink())
}

// Names of one file are copied together, but a file that is copied twice becomes two.
func TestRestoreLinksElsewhere(t *testing.T) {
	ctx := t.Context()
	fsys, then := pieceWorld(t)
	pieces := []snapshot.Piece{{then, "links/one", "to/one"}, {then, "third", "to/third"}, {then, "links", "to/links"}, {then, "links", "to/again"}}
	for want := range 2 {
		r, err := snapshot.RestorePieces(ctx, fsys, pieces, nil)
		require.NoError(t, err)
		require.Equal(t, want == 1, r.Equal())
		var inos []vfs.Ino
		for _, name := range []string{"to/one", "to/third", "to/links/one", "to/links/two", "to/again/one", "to/again/two", "third"} {
			info, err := fsys.Lstat(ctx, name)
			require.NoError(t, err)
			inos = append(inos, info.Ino())
		}
		for i, together := range []bool{true, false, true, false, true, false} {
			require.Equal(t, together, inos[i] == inos[i+1], "%d: %v", i, inos)
		}
	}
}

// A piece stands where its path leads once those before it are there.
func TestRestorePieceIntoPiece(t *testing.T) {
	ctx := t.Context()
	for _, there := range []func(*vfs.FS) error{
		func(fsys *vfs.FS) error { return fsys.WriteFile(ctx, "dir", nil, 0o644) },
		func(fsys *vfs.FS) error { return fsys.Symlink(ctx, "links", "dir") },
	} {
		fsys, then := pieceWorld(t)
		require.NoError(t, fsys.RemoveAll(ctx, "dir"))
		require.NoError(t, there(fsys))
		_, err := snapshot.RestorePieces(ctx, fsys, []snapshot.Piece{{From: then, Path: "dir"}, {From: then, Path: "keep", To: "dir/sub/keep"}}, nil)
		require.NoError(t, err)
		require.Equal(t, "keep", vfstest.Read(t, fsys, "dir/sub/keep"))
		require.Equal(t, "dir/a", vfstest.Read(t, fsys, "dir/a"))
	}
}

// Parents come back with the modes that they had; what stands in the place of one is refused, and nothing changes.
func TestRestoreParents(t *testing.T) {
	ctx := t.Context()
	fsys, then := pieceWorld(t)
	require.NoError(t, fsys.RemoveAll(ctx, "dir"))
	bringBack(t, fsys, then, "dir/sub/deep")
	info, err := fsys.Lstat(ctx, "dir/sub")
	require.NoError(t, err)
	require.Equal(t, os.ModeDir|0o711, info.Mode())

	require.NoError(t, fsys.RemoveAll(ctx, "dir"))
	require.NoError(t, fsys.Symlink(ctx, "links", "dir"))
	seq, err := fsys.Seq(ctx)
	require.NoError(t, err)
	jail, err := fsys.OpenRoot(ctx, "links")
	require.NoError(t, err)
	for _, tt := range []struct {
		fsys  *vfs.FS
		piece snapshot.Piece
		want  error
	}{
		{fsys, snapshot.Piece{From: then, Path: "dir/sub/deep"}, syscall.ENOTDIR},
		{fsys, snapshot.Piece{From: then, Path: "none"}, syscall.ENOENT},
		{fsys, snapshot.Piece{From: then, Path: "file/below"}, syscall.ENOTDIR},
		{fsys, snapshot.Piece{From: then, Path: ""}, syscall.ENOENT},
		{fsys, snapshot.Piece{From: then, Path: "."}, syscall.EINVAL},
		{fsys, snapshot.Piece{From: then, Path: "file", To: "/"}, syscall.EINVAL},
		{fsys, snapshot.Piece{From: then, Path: "file", To: "keep/x"}, syscall.ENOTDIR},
		{fsys, snapshot.Piece{From: vfstest.New(t, "file"), Path: "file"}, syscall.EXDEV},
		{jail, snapshot.Piece{From: then, Path: "file"}, syscall.EINVAL},
		{then.FS, snapshot.Piece{From: then, Path: "file"}, syscall.EROFS},
	} {
		_, err := snapshot.RestorePieces(ctx, tt.fsys, []snapshot.Piece{{From: then, Path: "dir/../keep", To: "made"}, tt.piece}, nil)
		require.ErrorIs(t, err, tt.want, "%v", tt.piece)
	}
	now, err := fsys.Seq(ctx)
	require.NoError(t, err)
	require.Equal(t, seq, now)

	// The error names what is wrong: the piece, or its place.
	for to, want := range map[string]string{"": "restore then:dir/a: dir is in the way: not a directory", "keep/x": "restore keep/x: not a directory"} {
		_, err := snapshot.RestorePieces(ctx, fsys, []snapshot.Piece{{From: then, Path: "dir/a", To: to}}, nil)
		require.EqualError(t, err, want)
	}
}

// A dry run finds out the same, and changes nothing.
func TestRestorePiecesDryRun(t *testing.T) {
	ctx := t.Context()
	fsys, then := pieceWorld(t)
	require.NoError(t, fsys.RemoveAll(ctx, "dir"))
	before := vfstest.Dump(t, fsys)
	pieces := []snapshot.Piece{{From: then, Path: "dir"}}
	dry, err := snapshot.RestorePieces(ctx, fsys, pieces, &snapshot.PieceOptions{DryRun: true})
	require.NoError(t, err)
	require.Equal(t, before, vfstest.Dump(t, fsys))
	r, err := snapshot.RestorePieces(ctx, fsys, pieces, nil)
	require.NoError(t, err)
	require.Equal(t, kinds(r), kinds(dry))
	require.Equal(t, vfstest.Dump(t, then.FS), vfstest.Dump(t, fsys))
}

// Open files go on: the one that is in place shows what is restored, one that was replaced what it had.
func TestRestoreOpenFiles(t *testing.T) {
	ctx := t.Context()
	fsys, then := pieceWorld(t)
	vfstest.Write(t, fsys, "temp", "replaced")
	require.NoError(t, fsys.Rename(ctx, "temp", "file"))
	vfstest.Write(t, fsys, "keep", "edited")
	var open []*vfs.File
	for _, name := range []string{"file", "keep"} {
		f, err := fsys.OpenFile(ctx, name, os.O_RDWR, 0)
		require.NoError(t, err)
		defer f.Close()
		_, err = f.WriteAt([]byte("W"), 0)
		require.NoError(t, err)
		open = append(open, f)
	}
	bringBack(t, fsys, then, "file", "keep")
	for i, want := range []string{"Weplaced", "keep"} {
		got, err := io.ReadAll(io.NewSectionReader(open[i], 0, 100))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	require.Equal(t, "file", vfstest.Read(t, fsys, "file"))
	require.Equal(t, "keep", vfstest.Read(t, fsys, "keep"))
}

// On a fork, of a branch that is dropped, and after a collection that has taken what was removed.
func TestRestorePiecesOnFork(t *testing.T) {
	ctx := t.Context()
	fsys, then := pieceWorld(t)
	fork := vfstest.Branch(t, then, "fork")
	require.NoError(t, fork.RemoveAll(ctx, "dir"))
	vfstest.Write(t, fork, "file", "forked")
	mine := vfstest.Snapshot(t, fork, "mine")
	require.NoError(t, fork.RemoveAll(ctx, "links"))
	_, err := gc.Run(ctx, fsys, nil)
	require.NoError(t, err)
	bringBack(t, fork, then, "dir", "links")
	require.Equal(t, "dir/sub/deep", vfstest.Read(t, fork, "dir/sub/deep"))
	require.Equal(t, "forked", vfstest.Read(t, fork, "file"))

	// Of another branch, as it is now and as it was.
	require.NoError(t, fsys.RemoveAll(ctx, "dir"))
	bringBack(t, fsys, fork, "dir")
	bringBack(t, fsys, mine, "file")
	require.Equal(t, "dir/sub/deep", vfstest.Read(t, fsys, "dir/sub/deep"))
	require.Equal(t, "forked", vfstest.Read(t, fsys, "file"))
	_, err = gc.Run(ctx, fsys, nil)
	require.NoError(t, err)
}

// The log has an event for each path that changes, as of a whole restore.
func TestRestorePiecesAreRecorded(t *testing.T) {
	ctx := t.Context()
	fsys, then := pieceWorld(t)
	require.NoError(t, fsys.RemoveAll(ctx, "dir"))
	vfstest.Write(t, fsys, "keep", "edited")
	since, err := fsys.Seq(ctx)
	require.NoError(t, err)
	bringBack(t, fsys, then, "dir", "keep", "file")
	content := func(text string) string {
		sum := chunk.SumOf([]byte(text))
		return vfstest.Content(&sum)
	}
	require.Equal(t, []string{
		"restore dir", "restore dir/a ->" + content("dir/a") + " +5", "restore dir/b ->" + content("dir/b") + " +5", "restore dir/sub",
		"restore dir/sub/deep ->" + content("dir/sub/deep") + " +12", "restore keep " + content("edited") + "->" + content("keep") + " -2",
	}, vfstest.Log(t, fsys, &vfs.LogOptions{Since: since}))
}

// CopyIn follows the rules of Copy.
func TestCopyIn(t *testing.T) {
	ctx := t.Context()
	fsys, then := pieceWorld(t)
	vfstest.Write(t, fsys, "file", "new")
	for _, tt := range []struct {
		from, to string
		want     error
	}{
		{"file", "copy", nil},
		{"file", "file", nil},
		{"dir", "copied", nil},
		{"dir", "dir", syscall.EEXIST},
		{"dir", "keep", syscall.ENOTDIR},
		{"file", "dir", syscall.EISDIR},
		{"none", "x", syscall.ENOENT},
		{"file", "none/x", syscall.ENOENT},
	} {
		err := fsys.Update(ctx, func(tx *vfs.Tx) error { return snapshot.CopyIn(tx, then, tt.from, tt.to) })
		require.ErrorIs(t, err, tt.want, "%s to %s", tt.from, tt.to)
	}
	require.Equal(t, "file", vfstest.Read(t, fsys, "copy"))
	require.Equal(t, "file", vfstest.Read(t, fsys, "file"))
	require.Equal(t, "dir/sub/deep", vfstest.Read(t, fsys, "copied/sub/deep"))
	a, err := fsys.Lstat(ctx, "dir/a")
	require.NoError(t, err)
	b, err := fsys.Lstat(ctx, "copied/a")
	require.NoError(t, err)
	require.NotEqual(t, a.Ino(), b.Ino())
}
