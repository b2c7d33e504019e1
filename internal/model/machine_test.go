package model

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A machine is a store and what it must be.
type machine struct {
	ctx   context.Context
	file  string
	store *vfs.FS // as opened, on main
	heads map[string]*head
	snaps map[string]*moment
	at    string // the branch that verbs go to
	named int    // for names of snapshots and branches
	open  []*handle
}

// A head is a branch, ours and the model's.
type head struct {
	fsys  *vfs.FS
	model *vfstest.Model
}

// A moment is a snapshot. It never changes.
type moment struct {
	branch string
	model  *vfstest.Model
	name   string // that of an undo is made up, and differs from run to run
}

// A handle is a file that is open for reading, and what it must read, whatever happens to its names.
type handle struct {
	file *vfs.File
	want []byte
}

func newMachine(t *rapid.T, dir string) *machine {
	m := &machine{ctx: context.Background(), file: filepath.Join(dir, "model.db"), at: vfs.MainBranch, snaps: map[string]*moment{}}
	var err error
	m.store, err = vfs.Open(m.ctx, m.file, &vfs.Options{Relaxed: true})
	require.NoError(t, err)
	m.heads = map[string]*head{vfs.MainBranch: {m.store, vfstest.NewModel()}}
	return m
}

// actions are what may happen, in any order. Some are taken more often than others.
var actions = map[string]struct {
	weight int
	do     func(m *machine, t *rapid.T)
}{
	"verb":            {30, (*machine).verb},
	"update":          {10, (*machine).update},
	"write stream":    {2, (*machine).writeStream},
	"write at":        {2, (*machine).writeAt},
	"overwrite":       {4, (*machine).overwrite},
	"open":            {2, (*machine).openFile},
	"read open":       {1, (*machine).readOpen},
	"snapshot":        {6, (*machine).snapshot},
	"restore":         {5, (*machine).restore},
	"diff":            {8, (*machine).diff},
	"delete snapshot": {3, (*machine).deleteSnapshot},
	"branch":          {3, (*machine).branch},
	"deepen":          {1, (*machine).deepen},
	"switch":          {4, (*machine).switchTo},
	"delete branch":   {3, (*machine).deleteBranch},
	"rename branch":   {1, (*machine).renameBranch},
	"gc":              {2, (*machine).collect},
	"compact":         {1, (*machine).compact},
	"check":           {2, (*machine).check},
	"reopen":          {1, (*machine).reopen},
}

var action = evenly(weighted())

func weighted() []string {
	var list []string
	for name, a := range actions {
		list = append(list, slices.Repeat([]string{name}, a.weight)...)
	}
	slices.Sort(list)
	return list
}

// step does one thing.
func (m *machine) step(t *rapid.T) { actions[action.Draw(t, "action")].do(m, t) }

// evenly draws each element as often as any other; [rapid.SampledFrom] prefers the first.
func evenly[T any](list []T) *rapid.Generator[T] {
	return rapid.Map(rapid.Uint64(), func(u uint64) T {
		u *= 0x9e3779b97f4a7c15
		return list[(u^u>>32)%uint64(len(list))]
	})
}

// A verb draws one thing to do. It does it to the model, and returns what does it to the store.
type verb func(t *rapid.T, m *machine, model *vfstest.Model) (ours func(tx *vfs.Tx) error, theirs error)

var verbs = map[string]verb{
	"write": func(t *rapid.T, m *machine, model *vfstest.Model) (func(tx *vfs.Tx) error, error) {
		name, data, perm := m.path(t), content(t), perms.Draw(t, "perm")
		return func(tx *vfs.Tx) error { return tx.WriteFile(name, data, perm) }, model.WriteFile(name, data, perm)
	},
	"append": func(t *rapid.T, m *machine, model *vfstest.Model) (func(tx *vfs.Tx) error, error) {
		name, data, perm := m.path(t), content(t), perms.Draw(t, "perm")
		return func(tx *vfs.Tx) error { return tx.Append(name, data, perm) }, model.Append(name, data, perm)
	},
	"truncate": func(t *rapid.T, m *machine, model *vfstest.Model) (func(tx *vfs.Tx) error, error) {
		name, size := m.path(t), sizes.Draw(t, "size")
		return func(tx *vfs.Tx) error { return tx.Truncate(name, int64(size)) }, model.Truncate(name, size)
	},
	"mkdir": func(t *rapid.T, m *machine, model *vfstest.Model) (func(tx *vfs.Tx) error, error) {
		name, perm := m.path(t), perms.Draw(t, "perm")
		return func(tx *vfs.Tx) error { return tx.Mkdir(name, perm) }, model.Mkdir(name, perm)
	},
	"mkdir all": func(t *rapid.T, m *machine, model *vfstest.Model) (func(tx *vfs.Tx) error, error) {
		name, perm := m.path(t), perms.Draw(t, "perm")
		return func(tx *vfs.Tx) error { return tx.MkdirAll(name, perm) }, model.MkdirAll(name, perm)
	},
	"symlink": func(t *rapid.T, m *machine, model *vfstest.Model) (func(tx *vfs.Tx) error, error) {
		target, name := m.path(t), m.path(t)
		return func(tx *vfs.Tx) error { return tx.Symlink(target, name) }, model.Symlink(target, name)
	},
	"link": func(t *rapid.T, m *machine, model *vfstest.Model) (func(tx *vfs.Tx) error, error) {
		from, to := m.path(t), m.path(t)
		return func(tx *vfs.Tx) error { return tx.Link(from, to) }, model.Link(from, to)
	},
	"remove": func(t *rapid.T, m *machine, model *vfstest.Model) (func(tx *vfs.Tx) error, error) {
		name := m.path(t)
		return func(tx *vfs.Tx) error { return tx.Remove(name) }, model.Remove(name)
	},
	"remove all": func(t *rapid.T, m *machine, model *vfstest.Model) (func(tx *vfs.Tx) error, error) {
		name := m.path(t)
		return func(tx *vfs.Tx) error { return tx.RemoveAll(name) }, model.RemoveAll(name)
	},
	"rename": func(t *rapid.T, m *machine, model *vfstest.Model) (func(tx *vfs.Tx) error, error) {
		from, to := m.path(t), m.path(t)
		return func(tx *vfs.Tx) error { return tx.Rename(from, to) }, model.Rename(from, to)
	},
	"copy": func(t *rapid.T, m *machine, model *vfstest.Model) (func(tx *vfs.Tx) error, error) {
		from, to := m.path(t), m.path(t)
		return func(tx *vfs.Tx) error { return tx.Copy(from, to) }, model.Copy(from, to)
	},
	"chmod": func(t *rapid.T, m *machine, model *vfstest.Model) (func(tx *vfs.Tx) error, error) {
		name, perm := m.path(t), perms.Draw(t, "perm")
		return func(tx *vfs.Tx) error { return tx.Chmod(name, perm) }, model.Chmod(name, perm)
	},
}

var verbNames = evenly(slices.Sorted(maps.Keys(verbs)))

// verb runs a verb on the branch that is stood on. What failed must have changed nothing, so the model's try is
// dropped.
func (m *machine) verb(t *rapid.T) {
	h := m.heads[m.at]
	try := h.model.Clone()
	ours, theirs := verbs[verbNames.Draw(t, "verb")](t, m, try)
	requireSame(t, theirs, h.fsys.Update(m.ctx, ours))
	if theirs == nil {
		h.model = try
	}
}

var errRollback = errors.New("rollback")

// update runs several verbs in one transaction. It is rolled back if one fails, and sometimes if none does.
func (m *machine) update(t *rapid.T) {
	h := m.heads[m.at]
	before := h.model
	err := h.fsys.Update(m.ctx, func(tx *vfs.Tx) error {
		for range rapid.IntRange(1, 6).Draw(t, "verbs") {
			try := h.model.Clone()
			ours, theirs := verbs[verbNames.Draw(t, "verb")](t, m, try)
			requireSame(t, theirs, ours(tx))
			if theirs != nil {
				return errRollback
			}
			h.model = try // so that the next path may be in what this verb made
		}
		if rapid.IntRange(0, 3).Draw(t, "rollback") == 0 {
			return errRollback
		}
		return nil
	})
	if err != nil {
		require.ErrorIs(t, err, errRollback)
		h.model = before
	}
}

// writeStream and writeAt are the writes that are more than one transaction.
func (m *machine) writeStream(t *rapid.T) {
	h := m.heads[m.at]
	name, data, perm := m.path(t), content(t), perms.Draw(t, "perm")
	_, err := h.fsys.WriteFrom(m.ctx, name, bytes.NewReader(data), perm)
	requireSame(t, h.model.WriteFile(name, data, perm), err)
}

func (m *machine) writeAt(t *rapid.T) {
	h := m.heads[m.at]
	name, data, off := m.path(t), content(t), sizes.Draw(t, "offset")
	if _, err := h.model.ReadFile(name); err != nil {
		t.Skip("no file there")
	}
	f, err := h.fsys.OpenFile(m.ctx, name, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt(data, int64(off))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, h.model.WriteAt(name, data, off))
}

// overwrite writes a few bytes at a time into a long file, with a commit after each, through two Files in turns. Where
// there is no such file it makes one.
func (m *machine) overwrite(t *rapid.T) {
	h := m.heads[m.at]
	long := slices.DeleteFunc(h.model.Paths(), func(path string) bool {
		data, err := h.model.ReadFile(path)
		return err != nil || len(data) < 80_000
	})
	if len(long) == 0 {
		name, data := m.path(t), dense(rapid.Uint64().Draw(t, "seed"), evenly([]int{80_000, chunk.Size + 70_000}).Draw(t, "length"))
		requireSame(t, h.model.WriteFile(name, data, 0o644), h.fsys.WriteFile(m.ctx, name, data, 0o644))
		return
	}
	name := evenly(long).Draw(t, "path")
	var files [2]*vfs.File
	for i := range files {
		var err error
		files[i], err = h.fsys.OpenFile(m.ctx, name, os.O_RDWR, 0)
		require.NoError(t, err)
	}
	for i := range rapid.IntRange(1, 6).Draw(t, "writes") {
		data, err := h.model.ReadFile(name)
		require.NoError(t, err)
		p := dense(rapid.Uint64().Draw(t, "seed"), evenly([]int{1, 100, 4096, 20_000}).Draw(t, "bytes"))
		off := int(rapid.Uint64().Draw(t, "place") * 0x9e3779b97f4a7c15 % uint64(len(data)+1)) // perhaps past the end
		_, err = files[i%2].WriteAt(p, int64(off))
		require.NoError(t, err)
		require.NoError(t, files[i%2].Sync())
		require.NoError(t, h.model.WriteAt(name, p, off))
	}
	for _, f := range files {
		require.NoError(t, f.Close())
	}
}

// dense returns n bytes that do not compress.
func dense(seed uint64, n int) []byte {
	p := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte(binary.BigEndian.AppendUint64(make([]byte, 24), seed))).Read(p)
	return p
}

// deepen makes a chain of branches, each with a change of its own, so that lineages grow deep enough to be squashed.
func (m *machine) deepen(t *rapid.T) {
	for range depths.Draw(t, "levels") {
		h, name := m.heads[m.at], m.newName("d")
		fsys, err := snapshot.Branch(m.ctx, h.fsys, h.fsys, name)
		require.NoError(t, err)
		m.heads[name] = &head{fsys, h.model.Clone()}
		if m.at != vfs.MainBranch && rapid.Bool().Draw(t, "delete") {
			require.NoError(t, snapshot.DeleteBranch(m.ctx, m.store, m.at))
			delete(m.heads, m.at)
			maps.DeleteFunc(m.snaps, func(_ string, s *moment) bool { return s.branch == m.at })
		}
		m.at = name
		perm := perms.Draw(t, "perm")
		require.NoError(t, fsys.Chmod(m.ctx, ".", perm)) // no level is without a row
		require.NoError(t, m.heads[name].model.Chmod(".", perm))
		m.verb(t)
	}
}

func requireSame(t *rapid.T, want, got error) {
	t.Helper()
	if want == nil {
		require.NoError(t, got)
		return
	}
	require.ErrorIs(t, got, want)
}

var (
	perms  = evenly([]fs.FileMode{0o644, 0o600, 0o755, 0o777 | fs.ModeSetuid, 0o1, 0o755 | fs.ModeSticky})
	depths = evenly([]int{2, 5, 15, 25})
	sizes  = evenly([]int{0, 1, 7, 1000, chunk.Size - 1, chunk.Size, chunk.Size + 1, 2*chunk.Size + 5})
	words  = evenly([]string{"", "x", "hello", "other text", "\x00\x00\x00", "the quick brown fox"})
	kinds  = evenly([]string{"same", "same", "same", "same", "same", "below", "below", "below", "any", "any", "any", "any", "any", "any", "any", "odd"})
	names  = evenly([]string{"a", "b", "c", "d"})
)

// content is mostly short, and rarely long: longer than a chunk, with zeros in it.
func content(t *rapid.T) []byte {
	text := []byte(words.Draw(t, "text"))
	if rapid.IntRange(0, 19).Draw(t, "long") == 0 {
		p := make([]byte, sizes.Draw(t, "length"))
		copy(p[len(p)/2:], text)
		return p
	}
	return text
}

// path is one that exists, one below or beside it, or any other.
func (m *machine) path(t *rapid.T) string {
	have := m.heads[m.at].model.Paths()
	switch kind := kinds.Draw(t, "kind"); {
	case kind == "same" && len(have) > 0:
		return evenly(have).Draw(t, "path")
	case kind == "below" && len(have) > 0:
		return evenly(have).Draw(t, "dir") + "/" + names.Draw(t, "base")
	case kind == "odd":
		return evenly([]string{".", "/", "..", "a/..", "b/../..", "a/./b", "/a", "//c//d", "../b"}).Draw(t, "odd path")
	}
	path := names.Draw(t, "name")
	for range rapid.IntRange(0, 2).Draw(t, "depth") {
		path += "/" + names.Draw(t, "name")
	}
	return path
}

// A side is a tree to restore, to compare or to fork: a head, or a snapshot.
type side struct {
	name  string
	tree  snapshot.Tree
	model *vfstest.Model
	snap  bool
}

func (m *machine) side(t *rapid.T) side {
	all := append(slices.Sorted(maps.Keys(m.heads)), slices.Sorted(maps.Keys(m.snaps))...)
	name := evenly(all).Draw(t, "tree")
	if h := m.heads[name]; h != nil {
		return side{name, h.fsys, h.model, false}
	}
	s, err := snapshot.Open(m.ctx, m.store, m.snaps[name].name)
	require.NoError(t, err)
	return side{name, s, m.snaps[name].model, true}
}

func (m *machine) newName(what string) string {
	m.named++
	return fmt.Sprintf("%s%d", what, m.named)
}

func (m *machine) snapshot(t *rapid.T) {
	h := m.heads[m.at]
	s, err := snapshot.Create(m.ctx, h.fsys, m.newName("s"), nil)
	require.NoError(t, err)
	m.snaps[s.Info.Name] = &moment{m.at, h.model.Clone(), s.Info.Name}
}

func (m *machine) branch(t *rapid.T) {
	name := m.newName("b")
	if rapid.IntRange(0, 9).Draw(t, "empty") == 0 {
		fsys, err := snapshot.Branch(m.ctx, m.store, nil, name)
		require.NoError(t, err)
		m.heads[name] = &head{fsys, m.heads[m.at].model.Empty()}
		return
	}
	base := m.side(t)
	fsys, err := snapshot.Branch(m.ctx, m.heads[m.at].fsys, base.tree, name)
	require.NoError(t, err)
	m.heads[name] = &head{fsys, base.model.Clone()}
	m.at = name
}

func (m *machine) switchTo(t *rapid.T) {
	m.at = evenly(slices.Sorted(maps.Keys(m.heads))).Draw(t, "branch")
}

func (m *machine) restore(t *rapid.T) {
	h, to := m.heads[m.at], m.side(t)
	undo, err := snapshot.Restore(m.ctx, h.fsys, to.tree)
	require.NoError(t, err)
	m.snaps[m.newName("u")] = &moment{m.at, h.model, undo.Info.Name}
	h.model = to.model.Clone()
	for _, err := range snapshot.Diff(m.ctx, to.tree, h.fsys) {
		require.NoError(t, err)
		t.Fatalf("restored and differs")
	}
}

func (m *machine) diff(t *rapid.T) {
	a, b := m.side(t), m.side(t)
	var changes []snapshot.Change
	for c, err := range snapshot.Diff(m.ctx, a.tree, b.tree) {
		require.NoError(t, err)
		changes = append(changes, c)
	}
	if err := vfstest.CheckDiff(a.model, b.model, changes); err != nil {
		for _, c := range changes {
			t.Logf("%s %s from %q", c.Kind, c.Path, c.From)
		}
		t.Logf("old: %v", a.model.Dump())
		t.Logf("new: %v", b.model.Dump())
		t.Fatalf("diff %s %s: %v", a.name, b.name, err)
	}
}

func (m *machine) deleteSnapshot(t *rapid.T) {
	if len(m.snaps) == 0 {
		t.Skip("no snapshot")
	}
	name := evenly(slices.Sorted(maps.Keys(m.snaps))).Draw(t, "snapshot")
	require.NoError(t, snapshot.Delete(m.ctx, m.store, m.snaps[name].name))
	delete(m.snaps, name)
}

func (m *machine) otherBranch(t *rapid.T) string {
	if len(m.heads) == 1 {
		t.Skip("no branch but main")
	}
	list := slices.DeleteFunc(slices.Sorted(maps.Keys(m.heads)), func(s string) bool { return s == vfs.MainBranch })
	return evenly(list).Draw(t, "branch")
}

func (m *machine) deleteBranch(t *rapid.T) {
	name := m.otherBranch(t)
	gone := m.heads[name].fsys
	require.NoError(t, snapshot.DeleteBranch(m.ctx, m.store, name))
	_, err := gone.ReadDir(m.ctx, ".")
	require.Error(t, err)
	delete(m.heads, name)
	maps.DeleteFunc(m.snaps, func(_ string, s *moment) bool { return s.branch == name })
	if m.at == name {
		m.at = vfs.MainBranch
	}
}

func (m *machine) renameBranch(t *rapid.T) {
	from, to := m.otherBranch(t), m.newName("r")
	require.NoError(t, snapshot.RenameBranch(m.ctx, m.store, from, to))
	m.heads[to] = m.heads[from]
	delete(m.heads, from)
	for _, s := range m.snaps {
		if s.branch == from {
			s.branch = to
		}
	}
	if m.at == from {
		m.at = to
	}
	fsys, err := m.store.Branch(m.ctx, to)
	require.NoError(t, err)
	m.heads[to].fsys = fsys
}

func (m *machine) collect(t *rapid.T) {
	_, err := gc.Run(m.ctx, m.store, nil)
	require.NoError(t, err)
}

func (m *machine) compact(t *rapid.T) {
	_, err := gc.Compact(m.ctx, m.store, nil)
	require.NoError(t, err)
}

func (m *machine) reopen(t *rapid.T) {
	m.closeFiles(t)
	require.NoError(t, m.store.Close())
	var err error
	m.store, err = vfs.Open(m.ctx, m.file, &vfs.Options{Relaxed: true, MustExist: true})
	require.NoError(t, err)
	for name, h := range m.heads {
		h.fsys, err = m.store.Branch(m.ctx, name)
		require.NoError(t, err)
	}
	m.heads[vfs.MainBranch].fsys = m.store
}

func (m *machine) openFile(t *rapid.T) {
	h, name := m.heads[m.at], m.path(t)
	want, err := h.model.ReadFile(name)
	if err != nil || len(m.open) > 3 {
		t.Skip("no file there, or enough are open")
	}
	f, err := h.fsys.OpenFrozen(m.ctx, name)
	require.NoError(t, err)
	m.open = append(m.open, &handle{f, want})
}

func (m *machine) readOpen(t *rapid.T) {
	if len(m.open) == 0 {
		t.Skip("no file is open")
	}
	m.closeFiles(t)
}

// closeFiles reads the open files once more.
func (m *machine) closeFiles(t *rapid.T) {
	for _, h := range m.open {
		got := make([]byte, len(h.want)+1)
		n, _ := h.file.ReadAt(got, 0)
		require.True(t, bytes.Equal(h.want, got[:n]), "an open file changed")
		require.NoError(t, h.file.Close())
	}
	m.open = nil
}

func (m *machine) check(t *rapid.T) {
	report, err := vfs.Check(m.ctx, m.store, nil)
	require.NoError(t, err)
	for _, f := range report.Faults {
		t.Errorf("check: %v", f)
	}
	if !report.OK() {
		t.FailNow()
	}
	require.EqualValues(t, len(m.heads), report.Branches)
	require.EqualValues(t, len(m.snaps), report.Snapshots)
}

func (m *machine) compareHead(t *rapid.T) {
	m.compare(t, m.at, m.heads[m.at].fsys, m.heads[m.at].model)
}

func (m *machine) compare(t *rapid.T, name string, fsys *vfs.FS, model *vfstest.Model) {
	got, err := vfstest.DumpTree(m.ctx, fsys)
	require.NoError(t, err, name)
	if want := model.Dump(); !maps.Equal(want, got) {
		require.Equal(t, want, got, name)
	}
}

// finish compares all that is left.
func (m *machine) finish(t *rapid.T) {
	m.check(t)
	m.reopen(t)
	for name, h := range m.heads {
		m.compare(t, name, h.fsys, h.model)
	}
	for name, want := range m.snaps {
		s, err := snapshot.Open(m.ctx, m.store, want.name)
		require.NoError(t, err)
		m.compare(t, name, s.FS, want.model)
	}
	m.collect(t)
	m.check(t)
}
