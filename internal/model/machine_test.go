package model

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vfsdb/check"
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

// startMachine makes a machine in a directory of its own. end closes and removes it.
func startMachine(t *rapid.T) (m *machine, end func()) {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		t.Fatal(err)
	}
	m = newMachine(t, dir)
	return m, func() {
		m.store.Close()
		os.RemoveAll(dir)
	}
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
	report, err := check.Run(m.ctx, m.store, nil)
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
