package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

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

// verb runs a verb on the current branch. A verb that fails must change nothing, so the changed copy of the model is
// then dropped.
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
