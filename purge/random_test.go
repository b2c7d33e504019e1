package purge_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/merge"
	"vfsdb/purge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// Random histories with renames, links, copies, forks of forks, merges and snapshots, from which a random path is purged. All
// trees are as they were, but for the places in the report, and no tree that had a file at the path has one there.
func TestRandom(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { randomPurge(t, seed) })
	}
}

func randomPurge(t *testing.T, seed uint64) {
	ctx := t.Context()
	s := newSecret()
	s.rnd = rand.New(rand.NewPCG(seed, 9))
	path := filepath.Join(t.TempDir(), "store.db")
	main, err := vfs.Open(ctx, path, &vfs.Options{Relaxed: true})
	require.NoError(t, err)
	defer main.Close()

	names := []string{"a", "b", "d/a", "d/b", "e/d/a", "c"}
	name := func() string { return names[s.rnd.IntN(len(names))] }
	heads := []*vfs.FS{main}
	for i := range 150 {
		at := heads[s.rnd.IntN(len(heads))]
		switch k := s.rnd.IntN(20); {
		case k < 7:
			_ = at.WriteFile(call(ctx, i), name(), s.noise(20+s.rnd.IntN(3000)), 0o644, vfs.Parents())
		case k < 8:
			_ = at.WriteFile(ctx, name(), s.noise(100_000), 0o644, vfs.Parents())
		case k < 10:
			_ = at.Append(call(ctx, i), name(), s.noise(200), 0o644)
		case k < 12:
			_ = at.Rename(call(ctx, i), name(), name())
		case k < 13:
			_ = at.Rename(ctx, []string{"d", "e", "e/d"}[s.rnd.IntN(3)], []string{"d", "e", "f"}[s.rnd.IntN(3)])
		case k < 14:
			_ = at.Link(ctx, name(), name())
		case k < 15:
			_ = at.Copy(ctx, name(), name())
		case k < 16:
			_ = at.RemoveAll(call(ctx, i), name())
		case k < 17:
			_, err := snapshot.Create(ctx, at, fmt.Sprint("s", i), nil)
			require.NoError(t, err)
		case k < 18:
			fork, err := snapshot.Branch(ctx, at, at, fmt.Sprint("b", i))
			require.NoError(t, err)
			heads = append(heads, fork)
		case k < 19:
			_, err := merge.Into(call(ctx, i), at, heads[s.rnd.IntN(len(heads))], nil)
			_ = err // of a branch into itself it is an error
		case len(heads) > 2:
			n := 1 + s.rnd.IntN(len(heads)-1)
			require.NoError(t, snapshot.DeleteBranch(ctx, main, heads[n].Head()))
			heads = append(heads[:n:n], heads[n+1:]...)
		}
	}
	if seed%2 == 1 {
		_, err := gc.Compact(ctx, main, nil)
		require.NoError(t, err)
	}

	before := make(map[string]map[string]string)
	s.bytes = nil // what the trees have of the target
	target := name()
	for _, tree := range trees(t, main) {
		before[fmt.Sprint(tree.Moment())] = vfstest.Dump(t, tree)
		if data, err := tree.ReadFile(ctx, target); err == nil {
			s.bytes = append(s.bytes, data)
		}
	}
	require.NoError(t, main.Close())
	o := &purge.Options{Copies: purge.PurgeCopies, Recursive: true}
	if seed%3 == 2 {
		o.Copies = purge.KeepCopies
	}
	report, err := purge.Run(ctx, path, []string{target}, o)
	var found *purge.FoundError
	if err != nil && !errors.As(err, &found) {
		require.ErrorContains(t, err, "no such file")
		return
	}

	sound(t, path)
	if err == nil && o.Copies == purge.PurgeCopies {
		require.Empty(t, s.in(t, path))
	}
	t.Logf("%d contents of %s, %d files, %v", len(s.bytes), target, len(report.Files), err)
	main = open(t, path)
	gone := make(map[string]bool) // by tree and path
	for _, f := range report.Files {
		for _, p := range f.Places {
			gone[p.Branch+"@"+p.Snapshot+":"+p.Path] = true
		}
	}
	check := func(tree *vfs.FS, branch, snap string) {
		want := maps.Clone(before[fmt.Sprint(tree.Moment())])
		require.NotNil(t, want)
		for p := range want {
			if gone[branch+"@"+snap+":"+p] {
				delete(want, p)
			}
		}
		require.Equal(t, want, vfstest.Dump(t, tree), "%s %s", branch, snap)
		if info, err := tree.Lstat(ctx, target); err == nil {
			require.True(t, info.IsDir())
		}
	}
	branches, err := main.Store().Branches(ctx)
	require.NoError(t, err)
	for _, b := range branches {
		head, err := main.Branch(ctx, b.Name)
		require.NoError(t, err)
		check(head, b.Name, "")
	}
	list, err := snapshot.List(ctx, main)
	require.NoError(t, err)
	for _, info := range list {
		past, err := snapshot.At(ctx, main, info)
		require.NoError(t, err)
		check(past.FS, info.Branch, info.Name)
	}
}
