package journal_test

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Each verb records the numbers of the inodes and directories that it changes: all of them, and no other.
func TestNumbers(t *testing.T) {
	type does = func(ctx context.Context, fsys *vfs.FS, past *vfs.FS) error
	tx := func(fn func(tx *vfs.Tx) error) does {
		return func(ctx context.Context, fsys, _ *vfs.FS) error { return fsys.Update(ctx, fn) }
	}
	restore := func(ctx context.Context, fsys, past *vfs.FS) error { return vfstest.Restore(ctx, fsys, past) }
	file := func(use func(f *vfs.File) error) does {
		return func(ctx context.Context, fsys, _ *vfs.FS) error {
			f, err := fsys.OpenFile(ctx, "dir/file", os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			if err := use(f); err != nil {
				return err
			}
			return f.Sync()
		}
	}

	// Each event is a line of its op and path, and of its numbers: ino, dir, argdir, displaced. A number stands as a path
	// that leads to it, with a '-' before it if it led there before the verb, and as "0" if it is none.
	for _, tt := range []struct {
		name  string
		first func(tx *vfs.Tx) error // before the verb
		do    does
		want  []string
	}{
		{"create", nil, tx(func(tx *vfs.Tx) error { return tx.WriteFile("dir/new", nil, 0o644) }), []string{"create dir/new: dir/new dir 0 0"}},
		{"create with directories", nil, tx(func(tx *vfs.Tx) error { return tx.WriteFile("x/y/new", nil, 0o644, vfs.Parents()) }), []string{
			"mkdir x: x . 0 0", "mkdir x/y: x/y x 0 0", "create x/y/new: x/y/new x/y 0 0",
		}},
		{"write", nil, tx(func(tx *vfs.Tx) error { return tx.WriteFile("dir/file", []byte("new"), 0o644) }), []string{"write dir/file: dir/file 0 0 0"}},
		{"write through a symlink", nil, tx(func(tx *vfs.Tx) error { return tx.WriteFile("link", []byte("new"), 0o644) }), []string{"write dir/file: dir/file 0 0 0"}},
		{"stream", nil, func(ctx context.Context, fsys, _ *vfs.FS) error {
			_, err := fsys.WriteFrom(ctx, "hard", strings.NewReader("new"), 0o644)
			return err
		}, []string{"write hard: hard 0 0 0"}},
		{"append", nil, tx(func(tx *vfs.Tx) error { return tx.Append("dir/file", []byte("new"), 0o644) }), []string{"append dir/file: dir/file 0 0 0"}},
		{"truncate", nil, tx(func(tx *vfs.Tx) error { return tx.Truncate("dir/file", 1) }), []string{"truncate dir/file: dir/file 0 0 0"}},
		{"edit", nil, func(ctx context.Context, fsys, _ *vfs.FS) error {
			_, err := fsys.Edit(ctx, "dir/file", []vfs.Edit{{Old: "dir", New: "edited"}})
			return err
		}, []string{"edit dir/file: dir/file 0 0 0"}},
		{"mkdir", nil, tx(func(tx *vfs.Tx) error { return tx.Mkdir("dir/new", 0o755) }), []string{"mkdir dir/new: dir/new dir 0 0"}},
		{"mknod", nil, tx(func(tx *vfs.Tx) error { return tx.Mknod("dir/new", fs.ModeNamedPipe|0o600, 0) }), []string{"mknod dir/new: dir/new dir 0 0"}},
		{"symlink", nil, tx(func(tx *vfs.Tx) error { return tx.Symlink("dir", "dir/new") }), []string{"symlink dir/new: dir/new dir 0 0"}},
		{"link", nil, tx(func(tx *vfs.Tx) error { return tx.Link("hard", "dir/new") }), []string{"link dir/new: dir/new dir 0 0"}},

		{"rename", nil, tx(func(tx *vfs.Tx) error { return tx.Rename("dir/file", "other/new") }), []string{"rename other/new: other/new other dir 0"}},
		{"rename in a directory", nil, tx(func(tx *vfs.Tx) error { return tx.Rename("dir/file", "dir/new") }), []string{"rename dir/new: dir/new dir dir 0"}},
		{"rename over a file", nil, tx(func(tx *vfs.Tx) error { return tx.Rename("dir/file", "other/file") }), []string{
			"rename other/file: other/file other dir -other/file",
		}},
		{"rename over a file with other names", nil, tx(func(tx *vfs.Tx) error { return tx.Rename("dir/file", "other/hard") }), []string{
			"rename other/hard: other/hard other dir -hard",
		}},
		{"rename of a directory over another", nil, tx(func(tx *vfs.Tx) error { return tx.Rename("dir", "other/empty") }), []string{
			"rename other/empty: other/empty other . -other/empty",
		}},

		{"remove", nil, tx(func(tx *vfs.Tx) error { return tx.Remove("dir/file") }), []string{"remove dir/file: -dir/file dir 0 0"}},
		{"remove one of several names", nil, tx(func(tx *vfs.Tx) error { return tx.Remove("other/hard") }), []string{"remove other/hard: hard other 0 0"}},
		{"remove a directory", nil, tx(func(tx *vfs.Tx) error { return tx.Remove("other/empty") }), []string{"remove other/empty: -other/empty other 0 0"}},
		{"remove all of a file", nil, tx(func(tx *vfs.Tx) error { return tx.RemoveAll("hard") }), []string{"removeall hard: other/hard . 0 0"}},
		{"remove all", nil, tx(func(tx *vfs.Tx) error { return tx.RemoveAll("dir") }), []string{"removeall dir: -dir . 0 0"}},
		{"remove all, of which some has other names", func(tx *vfs.Tx) error {
			for from, to := range map[string]string{"other/file": "other/twice", "hard": "other/empty/hard"} {
				if err := tx.Link(from, to); err != nil {
					return err
				}
			}
			return nil
		}, tx(func(tx *vfs.Tx) error { return tx.RemoveAll("other") }), []string{
			"remove other/empty/hard: hard -other/empty 0 0", "remove other/hard: hard -other 0 0", "removeall other: -other . 0 0",
		}},

		{"chmod", nil, tx(func(tx *vfs.Tx) error { return tx.Chmod("hard", 0o600) }), []string{"chmod hard: hard 0 0 0"}},
		{"chmod of the root", nil, tx(func(tx *vfs.Tx) error { return tx.Chmod(".", 0o700) }), []string{"chmod .: . 0 0 0"}},
		{"chown", nil, tx(func(tx *vfs.Tx) error { return tx.Chown("dir", 7, 7) }), []string{"chown dir: dir 0 0 0"}},
		{"chtimes", nil, tx(func(tx *vfs.Tx) error { return tx.Chtimes("dir/file", time.Time{}, time.Unix(1, 0)) }), []string{"chtimes dir/file: dir/file 0 0 0"}},

		{"copy", nil, tx(func(tx *vfs.Tx) error { return tx.Copy("dir/file", "other/new") }), []string{"copy other/new: other/new other 0 0"}},
		{"copy over a file with other names", nil, tx(func(tx *vfs.Tx) error { return tx.Copy("dir/file", "other/hard") }), []string{
			"copy other/hard: other/hard other 0 -hard",
		}},
		{"copy of a tree", func(tx *vfs.Tx) error { return tx.Link("dir/file", "dir/twice") }, tx(func(tx *vfs.Tx) error { return tx.Copy("dir", "new") }), []string{
			"copy new: new . 0 0", "copy new/file: new/file new 0 0", "copy new/twice: new/file new 0 0",
		}},
		{"replace", nil, tx(func(tx *vfs.Tx) error {
			root := (*tree.Tx)(tx)
			return root.Replace(tree.Place{Dir: root.Root(), Base: "hard"}, root.NewNode(node.ModeFile|0o600), chunk.SumOf(nil))
		}), []string{"write hard: hard . 0 other/hard"}},
		{"set an attribute by the number", nil, func(ctx context.Context, fsys, _ *vfs.FS) error {
			info, err := fsys.Lstat(ctx, "dir/file")
			if err != nil {
				return err
			}
			return fsys.Update(ctx, func(tx *vfs.Tx) error {
				return (*tree.Tx)(tx).SetAttr(tree.Place{Ino: info.Ino()}, journal.OpChmod, func(n *node.Node) { n.Mode ^= 1 })
			})
		}, []string{"chmod dir/file: dir/file 0 0 0"}},

		{"write to an open file", nil, file(func(f *vfs.File) error {
			_, err := f.Write([]byte("written"))
			return err
		}), []string{"write dir/file: dir/file 0 0 0"}},
		{"truncate an open file", nil, file(func(f *vfs.File) error { return f.Truncate(1) }), []string{"truncate dir/file: dir/file 0 0 0"}},
		{"write to an open file that has moved", nil, func(ctx context.Context, fsys, past *vfs.FS) error {
			return file(func(f *vfs.File) error {
				if _, err := f.Write([]byte("written")); err != nil {
					return err
				}
				return fsys.Rename(ctx, "dir/file", "other/new")
			})(ctx, fsys, past)
		}, []string{"rename other/new: other/new other dir 0", "write other/new: other/new 0 0 0"}},

		{"restore of a file that changed", func(tx *vfs.Tx) error { return tx.WriteFile("hard", nil, 0o644) }, restore, []string{
			"restore hard: hard 0 0 0", "restore other/hard: hard 0 0 0",
		}},
		{"restore of what went", func(tx *vfs.Tx) error { return tx.RemoveAll("dir") }, restore, []string{"restore dir: dir . 0 0"}},
		{"restore of what came", func(tx *vfs.Tx) error { return tx.Link("hard", "dir/new") }, restore, []string{"restore dir/new: hard dir 0 0"}},
		{"restore of a file that was replaced", func(tx *vfs.Tx) error { return tx.Rename("dir/file", "other/hard") }, restore, []string{
			"restore dir/file: dir/file dir 0 0", "restore other/hard: other/hard other 0 -other/hard",
		}},
		{"restore of directories that took turns", func(tx *vfs.Tx) error {
			for _, names := range [][2]string{{"other", "turn"}, {"dir", "other"}, {"turn", "dir"}} {
				if err := tx.Rename(names[0], names[1]); err != nil {
					return err
				}
			}
			for _, name := range []string{"dir/both", "other/both"} {
				if err := tx.WriteFile(name, []byte(name), 0o644); err != nil {
					return err
				}
			}
			return nil
		}, restore, []string{
			"restore dir: dir . 0 -dir", "restore dir/both: -dir/both -dir 0 0", "restore other: other . 0 -other", "restore other/both: -other/both -other 0 0",
		}},
		{"restore of directories that took turns, with what went", func(tx *vfs.Tx) error {
			for _, name := range []string{"dir/file", "other/file"} {
				if err := tx.Remove(name); err != nil {
					return err
				}
			}
			for _, names := range [][2]string{{"other", "turn"}, {"dir", "other"}, {"turn", "dir"}} {
				if err := tx.Rename(names[0], names[1]); err != nil {
					return err
				}
			}
			for _, name := range []string{"dir/file", "other/file"} {
				if err := tx.WriteFile(name, []byte(name), 0o644); err != nil {
					return err
				}
			}
			return nil
		}, restore, []string{
			"restore dir: dir . 0 -dir", "restore dir/file: dir/file dir -dir -dir/file",
			"restore other: other . 0 -other", "restore other/file: other/file other -other -other/file",
		}},
		{"restore of times", func(tx *vfs.Tx) error {
			for _, mode := range []fs.FileMode{0o600, 0o644} {
				if err := tx.Chmod("hard", mode); err != nil {
					return err
				}
			}
			if err := tx.Mkdir("other/empty/x", 0o755); err != nil {
				return err
			}
			return tx.Remove("other/empty/x")
		}, restore, []string{
			"restore hard: hard 0 0 0", "restore other/empty: other/empty 0 0 0", "restore other/hard: hard 0 0 0",
		}},
		{"what names no inode", nil, tx(func(tx *vfs.Tx) error { return (*tree.Tx)(tx).Record("note", "dir", "") }), []string{"note dir: 0 0 0 0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := t.Context()
			fsys := vfstest.New(t, "dir/file", "other/file", "other/empty/", "hard")
			require.NoError(t, fsys.Link(ctx, "hard", "other/hard"))
			require.NoError(t, fsys.Symlink(ctx, "dir/file", "link"))
			past := vfstest.Snapshot(t, fsys, "past").FS
			if tt.first != nil {
				require.NoError(t, fsys.Update(ctx, tt.first))
			}
			since, err := fsys.Seq(ctx)
			require.NoError(t, err)
			before := stateOf(t, fsys)
			require.NoError(t, tt.do(ctx, fsys, past))
			after := stateOf(t, fsys)

			events, err := fsys.Log(ctx, &vfs.LogOptions{Since: since})
			require.NoError(t, err)
			events = slices.DeleteFunc(events, func(e vfs.Event) bool { return e.Op == vfs.OpSnapshot }) // of the state before a restore
			require.Len(t, events, len(tt.want), "%v", events)
			for i, e := range events {
				line, numbers, _ := strings.Cut(tt.want[i], ": ")
				require.Equal(t, line, string(e.Op)+" "+e.Path)
				var want []vfs.Ino
				for _, name := range strings.Fields(numbers) {
					want = append(want, inoAt(t, before, after, name))
				}
				require.Equal(t, want, []vfs.Ino{e.Ino, e.Dir, e.ArgDir, e.Displaced}, "%s: %s", e.Op, e.Path)
			}
			requireExact(t, before, after, events)
		})
	}
}

// A state is a tree by numbers.
type state struct {
	paths   map[string]vfs.Ino
	entries map[node.Name]vfs.Ino
	inodes  map[vfs.Ino]node.Node
}

func stateOf(t *testing.T, fsys *vfs.FS) state {
	s := state{make(map[string]vfs.Ino), make(map[node.Name]vfs.Ino), make(map[vfs.Ino]node.Node)}
	require.NoError(t, fsys.View(t.Context(), func(tx *vfs.Tx) error {
		return fs.WalkDir(tx.IOFS(), ".", func(name string, _ fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := tx.Lstat(name)
			require.NoError(t, err)
			n := *node.NodeOf(info)
			n.Level, n.Born = 0, 0
			s.paths[name], s.inodes[n.Ino] = n.Ino, n
			if name != "." {
				s.entries[node.Name{Dir: s.paths[path.Dir(name)], Base: path.Base(name)}] = n.Ino
			}
			return nil
		})
	}))
	return s
}

// inoAt returns the number that a path leads to, before with a '-'.
func inoAt(t *testing.T, before, after state, name string) vfs.Ino {
	s := after
	if rest, ok := strings.CutPrefix(name, "-"); ok {
		name, s = rest, before
	}
	if name != "0" {
		require.Contains(t, s.paths, name)
	}
	return s.paths[name]
}

// requireExact compares what events name with what changed, in directories and of inodes that were there and still are.
func requireExact(t *testing.T, before, after state, events []vfs.Event) {
	t.Helper()
	both := func(ino vfs.Ino) bool { return before.inodes[ino].Ino != 0 && after.inodes[ino].Ino != 0 }
	changedEntries, changedInodes := make(map[node.Name]bool), make(map[vfs.Ino]bool)
	for _, s := range []state{before, after} {
		for name := range s.entries {
			if both(name.Dir) && before.entries[name] != after.entries[name] {
				changedEntries[name] = true
			}
		}
		for ino := range s.inodes {
			if both(ino) && before.inodes[ino] != after.inodes[ino] {
				changedInodes[ino] = true
			}
		}
	}

	entries, inodes := make(map[node.Name]bool), make(map[vfs.Ino]bool)
	for _, e := range events {
		other := e.Path
		if e.Op == vfs.OpRename {
			other = e.Arg
		}
		for _, name := range []node.Name{{Dir: e.Dir, Base: path.Base(e.Path)}, {Dir: e.ArgDir, Base: path.Base(other)}} {
			if both(name.Dir) {
				entries[name] = true
			}
		}
		for _, ino := range []vfs.Ino{e.Ino, e.Dir, e.ArgDir, e.Displaced} {
			if both(ino) {
				inodes[ino] = true
			}
		}
	}
	require.Equal(t, changedEntries, entries)
	require.Equal(t, changedInodes, inodes)
}

// A row of before version 4 has no numbers, and a file of that version that is only read is read all the same.
func TestNumbersOfOldFile(t *testing.T) {
	data, err := os.ReadFile("../internal/oldfile/testdata/v3.db")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "old.db")
	require.NoError(t, os.WriteFile(file, data, 0o644))

	var events [2][]vfs.Event
	for i, readOnly := range []bool{true, false} {
		fsys := vfstest.Open(t, file, &vfs.Options{ReadOnly: readOnly})
		events[i], err = fsys.Log(t.Context(), nil)
		require.NoError(t, err)
		require.NotEmpty(t, events[i])
		n := 0
		for e, err := range fsys.Watch(t.Context(), "", 0) {
			require.NoError(t, err)
			require.Equal(t, events[i][n], e)
			require.Zero(t, e.Ino+e.Dir+e.ArgDir+e.Displaced)
			if n++; n == len(events[i]) {
				break
			}
		}
	}
	require.Equal(t, events[0], events[1])

	fsys := vfstest.Open(t, file, nil)
	vfstest.Write(t, fsys, "later", "")
	last, err := fsys.Log(t.Context(), &vfs.LogOptions{Newest: true, Max: 1})
	require.NoError(t, err)
	info, err := fsys.Lstat(t.Context(), "later")
	require.NoError(t, err)
	require.Equal(t, info.Ino(), last[0].Ino)
}
