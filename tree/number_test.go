package tree_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// An operation that has only the number of a directory and a name does what the verb of the path does, refuses what it
// refuses, and records the same.
func TestOperationsByNumber(t *testing.T) {
	type byNumber = func(tx *tree.Tx, at func(path string) tree.Place) error
	mode := func(n *node.Node) { n.Mode = n.Mode&^0o777 | 0o600 }
	for _, tt := range []struct {
		name string
		verb func(tx *vfs.Tx) error
		do   byNumber
	}{
		{"make a directory", func(tx *vfs.Tx) error { return tx.Mkdir("dir/new", 0o755) }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Create(at("dir/new"), tx.NewNode(node.ModeDir|0o755), chunk.Sum{})
		}},
		{"make a directory that exists", func(tx *vfs.Tx) error { return tx.Mkdir("dir/sub", 0o755) }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Create(at("dir/sub"), tx.NewNode(node.ModeDir|0o755), chunk.Sum{})
		}},
		{"make a file", func(tx *vfs.Tx) error { return tx.WriteFile("dir/sub/new", nil, 0o644) }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Create(at("dir/sub/new"), tx.NewNode(node.ModeFile|0o644), chunk.SumOf(nil))
		}},
		{"make a symlink", func(tx *vfs.Tx) error { return tx.Symlink("a", "dir/s") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			n := tx.NewNode(node.ModeLink | 0o777)
			n.Target = "a"
			return tx.Create(at("dir/s"), n, chunk.Sum{})
		}},
		{"make a symlink to nothing", func(tx *vfs.Tx) error { return tx.Symlink("", "dir/s") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Create(at("dir/s"), tx.NewNode(node.ModeLink|0o777), chunk.Sum{})
		}},
		{"link", func(tx *vfs.Tx) error { return tx.Link("a", "dir/l") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Link(at("a"), at("dir/l"))
		}},
		{"link a directory", func(tx *vfs.Tx) error { return tx.Link("dir/sub", "l") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Link(at("dir/sub"), at("l"))
		}},
		{"link over a file", func(tx *vfs.Tx) error { return tx.Link("a", "b") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Link(at("a"), at("b"))
		}},
		{"unlink", func(tx *vfs.Tx) error { return tx.Remove("dir/sub/file") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Unlink(at("dir/sub/file"))
		}},
		{"unlink a full directory", func(tx *vfs.Tx) error { return tx.Remove("dir/sub") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Unlink(at("dir/sub"))
		}},
		{"unlink nothing", func(tx *vfs.Tx) error { return tx.Remove("dir/none") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Unlink(at("dir/none"))
		}},
		{"remove a tree", func(tx *vfs.Tx) error { return tx.RemoveAll("dir") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.RemoveTree(at("dir"))
		}},
		{"remove the root", func(tx *vfs.Tx) error { return tx.RemoveAll(".") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.RemoveTree(tree.Place{Ino: tx.Root()})
		}},
		{"rename", func(tx *vfs.Tx) error { return tx.Rename("dir/sub", "empty/sub") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Rename(at("dir/sub"), at("empty/sub"))
		}},
		{"rename over a file", func(tx *vfs.Tx) error { return tx.Rename("a", "dir/sub/file") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Rename(at("a"), at("dir/sub/file"))
		}},
		{"rename below itself", func(tx *vfs.Tx) error { return tx.Rename("dir", "dir/sub/new") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Rename(at("dir"), at("dir/sub/new"))
		}},
		{"rename onto a directory above", func(tx *vfs.Tx) error { return tx.Rename("dir/sub/file", "dir") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Rename(at("dir/sub/file"), at("dir"))
		}},
		{"rename to itself", func(tx *vfs.Tx) error { return tx.Rename("a", "hard") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.Rename(at("a"), at("hard"))
		}},
		{"set attributes", func(tx *vfs.Tx) error { return tx.Chmod("dir/sub/file", 0o600) }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.SetAttr(at("dir/sub/file"), journal.OpChmod, mode)
		}},
		{"set content", func(tx *vfs.Tx) error { return tx.Truncate("dir/sub/file", 0) }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.SetContent(at("dir/sub/file"), journal.OpTruncate, chunk.Content{}, chunk.SumOf(nil), nil)
		}},
		{"set content of a directory", func(tx *vfs.Tx) error { return tx.Truncate("dir", 0) }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.SetContent(at("dir"), journal.OpTruncate, chunk.Content{}, chunk.SumOf(nil), nil)
		}},
		{"set content by the number alone", func(tx *vfs.Tx) error { return tx.Truncate("dir/sub/file", 0) }, func(tx *tree.Tx, at func(string) tree.Place) error {
			p := at("dir/sub/file")
			d, err := tx.Lookup(p.Dir, p.Base)
			if err != nil {
				return err
			}
			return tx.SetContent(tree.Place{Ino: d.Ino}, journal.OpTruncate, chunk.Content{}, chunk.SumOf(nil), nil)
		}},
		{"copy a tree", func(tx *vfs.Tx) error { return tx.Copy("dir", "empty/copy") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.CopyTree(at("dir"), at("empty/copy"))
		}},
		{"copy a tree below itself", func(tx *vfs.Tx) error { return tx.Copy("dir", "dir/sub/copy") }, func(tx *tree.Tx, at func(string) tree.Place) error {
			return tx.CopyTree(at("dir"), at("dir/sub/copy"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, dir := range []string{".", "jail"} {
				byPath, byNumber := sample(t, dir), sample(t, dir)
				want := errnoOf(byPath.Update(t.Context(), tt.verb))
				got := errnoOf(byNumber.Update(t.Context(), func(tx *vfs.Tx) error {
					return tt.do((*tree.Tx)(tx), func(path string) tree.Place { return placeOf(t, (*tree.Tx)(tx), path) })
				}))

				require.Equal(t, want, got)
				require.Equal(t, vfstest.Dump(t, byPath), vfstest.Dump(t, byNumber))
				require.Equal(t, vfstest.Log(t, byPath, nil), vfstest.Log(t, byNumber, nil))
			}
		})
	}
}

// sample returns a small tree: a store, or a directory of one.
func sample(t *testing.T, dir string) *vfs.FS {
	t.Helper()
	fsys := vfstest.New(t, "jail/")
	sub, err := fsys.OpenRoot(t.Context(), dir)
	require.NoError(t, err)
	for _, name := range []string{"a", "b", "dir/sub/file"} {
		require.NoError(t, sub.WriteFile(t.Context(), name, []byte(name), 0o644, vfs.Parents()))
	}
	require.NoError(t, sub.Mkdir(t.Context(), "empty", 0o755))
	require.NoError(t, sub.Link(t.Context(), "a", "hard"))
	return sub
}

// placeOf returns the place of a path as a caller has it that knows only numbers and names.
func placeOf(t *testing.T, tx *tree.Tx, path string) tree.Place {
	t.Helper()
	dir := tx.Root()
	names := strings.Split(path, "/")
	for _, name := range names[:len(names)-1] {
		d, err := tx.Lookup(dir, name)
		require.NoError(t, err)
		dir = d.Ino
	}
	return tree.Place{Dir: dir, Base: names[len(names)-1]}
}

func errnoOf(err error) syscall.Errno {
	errno, _ := vfs.Errno(err)
	return errno
}

// A name that no entry can have, a read-only transaction and a past moment are refused.
func TestOperationsRefuse(t *testing.T) {
	fsys := sample(t, ".")
	for base, want := range map[string]syscall.Errno{
		"": syscall.EINVAL, ".": syscall.EINVAL, "..": syscall.EINVAL, "a/b": syscall.EINVAL, "a\x00": syscall.EINVAL,
		strings.Repeat("x", 256): syscall.ENAMETOOLONG,
	} {
		for name, make := range makers {
			err := fsys.Update(t.Context(), func(tx *vfs.Tx) error {
				return make((*tree.Tx)(tx), tree.Place{Dir: (*tree.Tx)(tx).Root(), Base: base})
			})
			require.ErrorIs(t, err, want, "%s %q", name, base)
		}
	}

	before := vfstest.Dump(t, fsys)
	require.NoError(t, fsys.View(t.Context(), func(tx *vfs.Tx) error {
		for name, err := range operations((*tree.Tx)(tx)) {
			require.ErrorIs(t, err, syscall.EROFS, name)
		}
		return nil
	}))
	past := vfstest.Snapshot(t, fsys, "past")
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		then, err := (*tree.Tx)(tx).On((*tree.Tree)(past.FS))
		require.NoError(t, err)
		for name, err := range operations(then) {
			require.ErrorIs(t, err, syscall.EROFS, name)
		}
		return nil
	}))
	require.Equal(t, before, vfstest.Dump(t, fsys))
}

// A handle that is frozen cannot be written to, on a head neither.
func TestOpenFrozenForWriting(t *testing.T) {
	fsys := sample(t, ".")
	info, err := fsys.Stat(t.Context(), "a")
	require.NoError(t, err)
	_, err = (*tree.Tree)(fsys).OpenInode(t.Context(), info.Ino(), tree.HandleMode{Write: true, Frozen: true})
	require.ErrorIs(t, err, syscall.EROFS)
}

// makers are the operations that give a place to an inode.
var makers = map[string]func(*tree.Tx, tree.Place) error{
	"create": func(tx *tree.Tx, p tree.Place) error { return tx.Create(p, tx.NewNode(node.ModeDir), chunk.Sum{}) },
	"replace": func(tx *tree.Tx, p tree.Place) error {
		return tx.Replace(p, tx.NewNode(node.ModeFile), chunk.SumOf(nil))
	},
	"link":      func(tx *tree.Tx, p tree.Place) error { return tx.Link(tree.Place{Dir: tx.Root(), Base: "a"}, p) },
	"rename":    func(tx *tree.Tx, p tree.Place) error { return tx.Rename(tree.Place{Dir: tx.Root(), Base: "a"}, p) },
	"copy tree": func(tx *tree.Tx, p tree.Place) error { return tx.CopyTree(tree.Place{Dir: tx.Root(), Base: "a"}, p) },
}

// A file is no directory for a name, and a file by its number no place for another one.
func TestMakeInFile(t *testing.T) {
	fsys := sample(t, ".")
	before := vfstest.Dump(t, fsys)
	for name, make := range makers {
		err := fsys.Update(t.Context(), func(tx *vfs.Tx) error {
			b, err := (*tree.Tx)(tx).Lookup((*tree.Tx)(tx).Root(), "b")
			require.NoError(t, err)
			require.Error(t, make((*tree.Tx)(tx), tree.Place{Ino: b.Ino}), name)
			require.NotErrorIs(t, make((*tree.Tx)(tx), tree.Place{Ino: b.Ino}), vfs.ErrCorrupt, name)
			return make((*tree.Tx)(tx), tree.Place{Dir: b.Ino, Base: "new"})
		})
		require.ErrorIs(t, err, syscall.ENOTDIR, name)
	}
	require.Equal(t, before, vfstest.Dump(t, fsys))
}

// operations returns the errors of all operations.
func operations(tx *tree.Tx) map[string]error {
	at := func(base string) tree.Place { return tree.Place{Dir: tx.Root(), Base: base} }
	return map[string]error{
		"create":      tx.Create(at("new"), tx.NewNode(node.ModeDir), chunk.Sum{}),
		"replace":     tx.Replace(at("a"), tx.NewNode(node.ModeFile), chunk.SumOf(nil)),
		"link":        tx.Link(at("a"), at("l")),
		"unlink":      tx.Unlink(at("a")),
		"remove tree": tx.RemoveTree(at("dir")),
		"rename":      tx.Rename(at("a"), at("c")),
		"set attr":    tx.SetAttr(at("a"), journal.OpChmod, func(n *node.Node) { n.Mode = 0 }),
		"set content": tx.SetContent(at("a"), journal.OpWrite, chunk.Content{}, chunk.SumOf(nil), nil),
		"copy tree":   tx.CopyTree(at("a"), at("c")),
		"put entry":   tx.PutEntry(node.Name{Dir: tx.Root(), Base: "a"}, tx.Root(), node.KindDir),
		"drop entry":  tx.DropEntry(node.Name{Dir: tx.Root(), Base: "a"}),
		"put node":    tx.PutNodes(&node.Node{Ino: tx.Root()}),
		"drop node":   tx.DropNode(tx.Root()),
	}
}
