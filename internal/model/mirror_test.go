package model

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A cache that a mount keeps without any timeout stays true if it drops what the numbers of events name, whatever another
// process does.
func TestMirror(t *testing.T) {
	end := 5 * time.Second
	switch {
	case testing.Short():
		end = time.Second
	case os.Getenv("VFS_LONG") != "":
		end = 3 * time.Minute
	}
	set(t, "rapid.checks", "4")
	set(t, "rapid.steps", "120")
	for began := time.Now(); time.Since(began) < end && !t.Failed(); {
		rapid.Check(t, mirrored)
	}
}

func mirrored(t *rapid.T) {
	dir, err := os.MkdirTemp("", "mirror")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	w := newWriter(t, filepath.Join(dir, "mirror.db"))
	defer w.fsys.Close()
	m := newMirror(t, w.fsys.Name())
	defer m.fsys.Close()

	t.Repeat(map[string]func(*rapid.T){
		"look": m.look,
		"do": func(t *rapid.T) {
			for range rapid.IntRange(1, 3).Draw(t, "at once") {
				w.do(t)
			}
		},
		"": func(t *rapid.T) {
			m.catchUp(t)
			m.compare(t)
			m.look(t)
		},
	})
	for _, f := range w.files {
		f.Close()
	}
}

// A mirror is what a kernel keeps of a mount of main: entries, attributes and contents, by inode numbers.
type mirror struct {
	ctx     context.Context
	fsys    *vfs.FS
	since   int64                   // the last event that it has seen
	entries map[node.Name]node.Ino  // 0: there is no such entry
	nodes   map[node.Ino]attributes // of entries that were looked at
	lists   map[node.Ino][]string   // the names in directories
}

// attributes are what stat returns, and what read does.
type attributes struct {
	mode                uint32
	uid, gid            uint32
	nlink, rdev, size   int64
	mtime, ctime, btime int64
	target              string
	sum                 chunk.Sum
}

func newMirror(t *rapid.T, file string) *mirror {
	m := &mirror{
		ctx: context.Background(), entries: make(map[node.Name]node.Ino), nodes: make(map[node.Ino]attributes), lists: make(map[node.Ino][]string),
	}
	var err error
	m.fsys, err = vfs.Open(m.ctx, file, nil)
	require.NoError(t, err)
	m.since, err = m.fsys.Seq(m.ctx)
	require.NoError(t, err)
	return m
}

// view runs fn on the tree as it is now.
func (m *mirror) view(t *rapid.T, fn func(tx *tree.Tx)) {
	require.NoError(t, m.fsys.View(m.ctx, func(tx *vfs.Tx) error {
		fn((*tree.Tx)(tx))
		return nil
	}))
}

// look fills the caches, as a kernel does on the way down from the root: all, or a part.
func (m *mirror) look(t *rapid.T) {
	part := rapid.IntRange(1, 4).Draw(t, "part")
	seed := rapid.Uint64().Draw(t, "looks")
	skip := func() bool {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed>>33%4) >= part
	}
	m.view(t, func(tx *tree.Tx) { m.lookIn(t, tx, tx.Root(), skip) })
}

func (m *mirror) lookIn(t *rapid.T, tx *tree.Tx, dir node.Ino, skip func() bool) {
	if !skip() {
		m.nodes[dir] = fresh(t, tx, dir)
	}
	if !skip() {
		m.lists[dir] = list(t, tx, dir)
	}
	for _, base := range baseNames {
		// An entry that is cached is not looked up again.
		name := node.Name{Dir: dir, Base: base}
		ino, known := m.entries[name]
		if !known {
			if skip() {
				continue
			}
			d, err := tx.Lookup(name.Dir, name.Base)
			require.NoError(t, err)
			ino = d.Ino
			m.entries[name] = ino
		}
		if ino == 0 {
			continue
		}

		at := fresh(t, tx, ino)
		if at.mode>>12 == node.KindDir {
			m.lookIn(t, tx, ino, skip)
		} else if !skip() {
			m.nodes[ino] = at
		}
	}
}

// fresh returns the attributes of an inode as they are now.
func fresh(t *rapid.T, tx *tree.Tx, ino node.Ino) attributes {
	n, err := tx.Node(ino)
	require.NoError(t, err)
	require.NotNil(t, n, "inode %d", ino)
	sum, err := tx.SumOf(n)
	require.NoError(t, err)
	return attributes{
		n.Mode, n.Uid, n.Gid, n.Nlink, n.Rdev, n.Content.Size, n.Mtime, n.Ctime, n.Btime, n.Target, sum,
	}
}

// list returns the names in a directory as they are now.
func list(t *rapid.T, tx *tree.Tx, dir node.Ino) (names []string) {
	children, err := tx.Children(dir)
	require.NoError(t, err)
	for _, c := range children {
		names = append(names, c.Base)
	}
	return names
}

// catchUp takes the events since, and drops what they name.
func (m *mirror) catchUp(t *rapid.T) {
	newest, err := m.fsys.Log(m.ctx, &vfs.LogOptions{Newest: true, Max: 1})
	require.NoError(t, err)
	if len(newest) == 0 || newest[0].Seq <= m.since {
		return
	}
	for e, err := range m.fsys.Watch(m.ctx, "", m.since) {
		require.NoError(t, err)
		m.drop(e)
		if m.since = e.Seq; m.since == newest[0].Seq {
			return
		}
	}
}

// drop drops what an event names.
func (m *mirror) drop(e vfs.Event) {
	if e.Dir != 0 {
		m.dropEntry(node.Name{Dir: e.Dir, Base: path.Base(e.Path)})
	}
	if e.ArgDir != 0 {
		other := e.Path
		if e.Op == vfs.OpRename {
			other = e.Arg
		}
		m.dropEntry(node.Name{Dir: e.ArgDir, Base: path.Base(other)})
	}
	delete(m.nodes, e.Ino)
	delete(m.nodes, e.Displaced)
}

// dropEntry drops an entry, the times of its directory, and what is below it, as d_invalidate does.
func (m *mirror) dropEntry(name node.Name) {
	ino := m.entries[name]
	delete(m.entries, name)
	delete(m.nodes, name.Dir)
	delete(m.lists, name.Dir)
	m.dropBelow(ino)
}

func (m *mirror) dropBelow(dir node.Ino) {
	if dir == 0 {
		return
	}
	delete(m.lists, dir)
	for name, ino := range m.entries {
		if name.Dir == dir {
			delete(m.entries, name)
			m.dropBelow(ino)
		}
	}
}

// compare looks at all that is cached. Inodes that no path leads to are left out: no event names them until a path does.
func (m *mirror) compare(t *rapid.T) {
	m.view(t, func(tx *tree.Tx) {
		for name, ino := range m.entries {
			d, err := tx.Lookup(name.Dir, name.Base)
			require.NoError(t, err)
			require.Equal(t, ino, d.Ino, "entry %q of directory %d", name.Base, name.Dir)
		}
		for ino, known := range m.nodes {
			paths, err := tx.Paths(ino)
			require.NoError(t, err)
			if len(paths) > 0 {
				require.Equal(t, known, fresh(t, tx, ino), "inode %d at %q", ino, paths)
			}
		}
		for dir, names := range m.lists {
			paths, err := tx.Paths(dir)
			require.NoError(t, err)
			if len(paths) > 0 {
				require.Equal(t, names, list(t, tx, dir), "directory %d at %q", dir, paths)
			}
		}
	})
}

// A writer is another process. It does anything, and needs no answers.
type writer struct {
	ctx   context.Context
	fsys  *vfs.FS
	forks []*vfs.FS
	snaps []snapshot.Tree
	files []*vfs.File
}

func newWriter(t *rapid.T, file string) *writer {
	w := &writer{ctx: context.Background()}
	var err error
	w.fsys, err = vfs.Open(w.ctx, file, &vfs.Options{Relaxed: true})
	require.NoError(t, err)
	require.NoError(t, w.fsys.Update(w.ctx, func(tx *vfs.Tx) error {
		for _, name := range []string{"a/a", "a/c/a", "b/b", "c", "d/a"} {
			if err := tx.WriteFile(name, []byte(name), 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return errors.Join(tx.Link("a/a", "b/a"), tx.Link("a/c/a", "d/b"), tx.Link("c", "a/c/c"))
	}))
	return w
}

// do does one thing.
func (w *writer) do(t *rapid.T) {
	var err error
	switch what := rapid.IntRange(0, 39).Draw(t, "what"); {
	case what < 16:
		err = w.fsys.Update(w.ctx, func(tx *vfs.Tx) error { return w.verb(t, tx) })
	case what < 24:
		err = w.several(t)
	case what < 27:
		err = w.open(t)
	case what < 32:
		err = w.useFile(t)
	case what < 34:
		err = w.keep(t)
	case what < 38:
		err = w.restore(t)
	case what == 38:
		_, err = gc.Run(w.ctx, w.fsys, nil)
	default:
		_, err = gc.Compact(w.ctx, w.fsys, nil)
	}
	require.NotErrorIs(t, err, vfs.ErrCorrupt)
}

// several is a transaction of several verbs. Those that fail change nothing; sometimes all are rolled back.
func (w *writer) several(t *rapid.T) error {
	return w.fsys.Update(w.ctx, func(tx *vfs.Tx) error {
		for range rapid.IntRange(2, 6).Draw(t, "verbs") {
			require.NotErrorIs(t, w.verb(t, tx), vfs.ErrCorrupt)
		}
		if rapid.IntRange(0, 7).Draw(t, "rollback") == 0 {
			return errRollback
		}
		return nil
	})
}

// The tree is narrow, so that verbs often meet the same files, and files have many names.
var (
	dirNames  = []string{"a", "b", "a/c", "d"}
	baseNames = []string{"a", "b", "c", "d"}
	bases     = evenly(baseNames)
	verbsHere = evenly([]string{
		"write", "write", "append", "truncate", "edit", "mkdir", "mkdirall", "symlink", "link", "link", "link", "remove", "removeall",
		"rename", "rename", "rename", "copy", "copy", "chmod", "chown", "chtimes", "replace", "by number", "link by number",
	})
)

func (w *writer) path(t *rapid.T) string {
	if rapid.IntRange(0, 2).Draw(t, "depth") == 0 {
		return bases.Draw(t, "name")
	}
	return evenly(dirNames).Draw(t, "dir") + "/" + bases.Draw(t, "name")
}

// verb is one verb of a path, or of a number.
func (w *writer) verb(t *rapid.T, tx *vfs.Tx) error {
	name := w.path(t)
	text := []byte(words.Draw(t, "text"))
	switch verb := verbsHere.Draw(t, "verb"); verb {
	case "write":
		return tx.WriteFile(name, text, perms.Draw(t, "perm"))
	case "append":
		return tx.Append(name, text, 0o644)
	case "truncate":
		return tx.Truncate(name, int64(rapid.IntRange(0, 9).Draw(t, "size")))
	case "edit":
		_, err := tx.Edit(name, []vfs.Edit{{Old: "e", New: "ee", All: true}})
		return err
	case "mkdir":
		return tx.Mkdir(name, 0o755)
	case "mkdirall":
		return tx.MkdirAll(name, 0o755)
	case "symlink":
		return tx.Symlink(w.path(t), name)
	case "link":
		return tx.Link(w.path(t), name)
	case "remove":
		return tx.Remove(name)
	case "removeall":
		return tx.RemoveAll(name)
	case "rename":
		return tx.Rename(w.path(t), name)
	case "copy":
		return tx.Copy(w.path(t), name)
	case "chmod":
		return tx.Chmod(name, perms.Draw(t, "perm"))
	case "chown":
		return tx.Chown(name, 1, rapid.IntRange(0, 3).Draw(t, "group"))
	case "chtimes":
		return tx.Chtimes(name, time.Time{}, time.Unix(int64(rapid.IntRange(0, 3).Draw(t, "time")), 0))
	default:
		return w.byNumber(t, (*tree.Tx)(tx), verb, name)
	}
}

// byNumber is an operation that only a number leads to, or only rooms use.
func (w *writer) byNumber(t *rapid.T, tx *tree.Tx, verb, name string) error {
	ino := node.Ino(1024 + rapid.IntRange(0, 40).Draw(t, "ino"))
	if n, err := tx.Node(ino); err != nil || n == nil {
		return err
	}
	dir, err := (*vfs.Tx)(tx).Lstat(path.Dir(name))
	if err != nil {
		return err
	}
	at := tree.Place{Dir: dir.Ino(), Base: path.Base(name)}
	switch verb {
	case "replace":
		return tx.Replace(at, tx.NewNode(node.ModeFile|0o600), chunk.SumOf(nil))
	case "by number":
		return tx.SetAttr(tree.Place{Ino: ino}, journal.OpChmod, func(n *node.Node) { n.Mode ^= 0o111 })
	}
	return tx.Link(tree.Place{Ino: ino}, at)
}

// open opens a file for writing. It stays open while its names come and go.
func (w *writer) open(t *rapid.T) error {
	if len(w.files) == 4 {
		return nil
	}
	f, err := w.fsys.OpenFile(w.ctx, w.path(t), os.O_RDWR|os.O_CREATE|rapid.SampledFrom([]int{0, os.O_TRUNC}).Draw(t, "flags"), 0o644)
	if err == nil {
		w.files = append(w.files, f)
	}
	return err
}

func (w *writer) useFile(t *rapid.T) error {
	if len(w.files) == 0 {
		return nil
	}
	i := rapid.IntRange(0, len(w.files)-1).Draw(t, "file")
	f := w.files[i]
	var err error
	switch rapid.IntRange(0, 3).Draw(t, "use") {
	case 0:
		_, err = f.WriteAt([]byte("written"), int64(rapid.IntRange(0, 20).Draw(t, "offset")))
	case 1:
		err = f.Truncate(int64(rapid.IntRange(0, 9).Draw(t, "size")))
	case 2:
		err = f.Sync()
	default:
		err = f.Close()
		w.files = append(w.files[:i], w.files[i+1:]...)
	}
	return err
}

// keep makes a snapshot, or a branch with changes of its own.
func (w *writer) keep(t *rapid.T) error {
	if rapid.Bool().Draw(t, "branch") && len(w.forks) < 4 {
		fork, err := snapshot.Branch(w.ctx, w.fsys, w.fsys, fmt.Sprint("fork", len(w.forks)))
		if err != nil {
			return err
		}
		w.forks = append(w.forks, fork)
		w.snaps = append(w.snaps, fork)
		return fork.Update(w.ctx, func(tx *vfs.Tx) error {
			for range 5 {
				require.NotErrorIs(t, w.verb(t, tx), vfs.ErrCorrupt)
			}
			return nil
		})
	}
	s, err := snapshot.Create(w.ctx, w.fsys, fmt.Sprint("s", len(w.snaps)), nil)
	if err == nil {
		w.snaps = append(w.snaps, s)
	}
	return err
}

func (w *writer) restore(t *rapid.T) error {
	if len(w.snaps) == 0 {
		return nil
	}
	to := w.snaps[rapid.IntRange(0, len(w.snaps)-1).Draw(t, "to")]
	_, err := snapshot.Restore(w.ctx, w.fsys, to)
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
