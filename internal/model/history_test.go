package model

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

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
