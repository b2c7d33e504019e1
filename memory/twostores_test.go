package memory_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Two stores have one file open, as two processes do, and random verbs run in both at the same time. A goroutine finds
// through both what it wrote last, and when all rest, what each store answers from its caches is what a store answers
// that has just been opened. The seeds are fixed; VFS_SEED runs another one, and VFS_LONG many.
func TestTwoStores(t *testing.T) {
	first, runs, rounds := uint64(1), 2, uint64(30)
	switch text := os.Getenv("VFS_SEED"); {
	case text != "":
		seed, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
		first, runs = seed, 1
	case os.Getenv("VFS_LONG") != "":
		runs = 200
	case testing.Short():
		runs, rounds = 1, 9
	}
	for seed := first; seed < first+uint64(runs); seed++ {
		t.Run(fmt.Sprintf("VFS_SEED=%d", seed), func(t *testing.T) {
			p := newPair(t, seed)
			for round := range rounds {
				p.writers = p.stores[:]
				if n := round % 3; n < 2 { // own commits only, so that entries are carried from one to the next
					p.writers = p.stores[n : n+1]
				}
				p.run(round)
				p.collect()
				switch round % 5 {
				case 0:
					p.writeMany()
				case 1:
					p.dropMoment()
				}
				p.compare(round)
			}
		})
	}
}

// A pair is one file that two stores have open.
type pair struct {
	*testing.T
	seed    uint64
	stores  [2]*vfs.FS
	writers []*vfs.FS    // the stores that write in this round
	paths   []string     // that verbs change
	past    [][2]*vfs.FS // the moments that try was forked at, through both stores
}

func newPair(t *testing.T, seed uint64) *pair {
	p := &pair{T: t, seed: seed}
	p.stores[0] = vfstest.New(t, "a/f", "b/f", "fixed")
	p.stores[1] = vfstest.Open(t, p.stores[0].Name(), &vfs.Options{Relaxed: true})
	for _, dir := range []string{"", "a/", "b/", "a/b/"} {
		for _, name := range []string{"a", "b", "f", "l"} {
			p.paths = append(p.paths, dir+name)
		}
	}
	require.NoError(t, fork(t.Context(), p.stores[0]))
	return p
}

// fork makes the branch try anew, from what main is now.
func fork(ctx context.Context, fsys *vfs.FS) error {
	return fsys.Update(ctx, func(tx *vfs.Tx) error {
		if err := (*tree.Tx)(tx).DropBranch("try"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		at, err := (*tree.Tx)(tx).Freeze()
		if err != nil {
			return err
		}
		return (*tree.Tx)(tx).Fork(at, "try")
	})
}

// run has goroutines write, and look at both stores.
func (p *pair) run(round uint64) {
	var wg sync.WaitGroup
	for g := range uint64(5) {
		w := &pairWriter{pair: p, Rand: rand.New(rand.NewPCG(p.seed, round<<8|g)), dir: fmt.Sprint("own/", g), has: make(map[string]string)}
		wg.Go(func() {
			for range 8 {
				fsys := p.writers[w.IntN(len(p.writers))]
				w.verb(p.Context(), fsys)
				w.look(p.Context())
				w.writeOwn(p.Context(), fsys)
			}
		})
	}
	wg.Wait()
}

// collect takes rows away that nothing shows, and a tree that no writer has a model of.
func (p *pair) collect() {
	ctx, fsys := p.Context(), p.writers[0]
	require.NoError(p, fsys.RemoveAll(ctx, "own"))
	var newest int64
	require.NoError(p, vfstest.DB(fsys).View(ctx, func(tx *schema.Tx) (err error) {
		newest, err = tree.NewestOrphan(tx)
		return err
	}))
	orphans, rows := gc.NewOrphanReaper((*tree.Tree)(fsys), newest), gc.NewRowReaper((*tree.Tree)(fsys))
	for _, step := range []func(context.Context, int) (gc.ReapStep, error){orphans.Step, rows.Step} {
		_, err := step(ctx, 20)
		require.NoError(p, err)
	}
}

// writeMany makes a commit that writes more than is listed for invalidation, and at its end a file that is cached.
func (p *pair) writeMany() {
	for _, fsys := range p.stores {
		lookAt(p.Context(), fsys, "fixed")
	}
	require.NoError(p, p.writers[0].Update(p.Context(), func(tx *vfs.Tx) error {
		if err := tx.RemoveAll("many"); err != nil {
			return err
		}
		for i := range 300 {
			if err := tx.WriteFile(fmt.Sprint("many/", i), nil, 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return tx.Append("fixed", []byte("."), 0o644)
	}))
}

// dropMoment has nothing keep the moment any more that try was forked at, which is known to be kept.
func (p *pair) dropMoment() {
	for _, fsys := range p.past[len(p.past)-1] {
		lookAt(p.Context(), fsys, ".")
	}
	require.NoError(p, fork(p.Context(), p.writers[0]))
}

// compare looks at everything through both stores, and through one that has nothing in memory.
func (p *pair) compare(round uint64) {
	ctx := p.Context()
	fresh, err := vfs.Open(ctx, p.stores[0].Name(), &vfs.Options{Relaxed: true})
	require.NoError(p, err)
	defer func() { require.NoError(p, fresh.Close()) }()
	for _, branch := range []string{vfs.MainBranch, "try"} {
		trees := make([]*vfs.FS, 3)
		for i, fsys := range []*vfs.FS{fresh, p.stores[0], p.stores[1]} {
			trees[i], err = fsys.Branch(ctx, branch)
			require.NoError(p, err)
		}
		for _, path := range append(p.paths, ".", "fixed", "many", "many/100", "own") {
			want := lookAt(ctx, trees[0], path)
			require.Equal(p, want, lookAt(ctx, trees[1], path), "%s of %s in round %d", path, branch, round)
			require.Equal(p, want, lookAt(ctx, trees[2], path), "%s of %s in round %d", path, branch, round)
		}
	}
	want := differences(p.T, fresh)
	for _, fsys := range p.stores {
		require.Equal(p, want, differences(p.T, fsys), "in round %d", round)
	}
	p.comparePast(fresh, round)
}

// comparePast looks at the moments that try was forked at: they are there until it is forked at a later one.
func (p *pair) comparePast(fresh *vfs.FS, round uint64) {
	ctx := p.Context()
	try, err := fresh.Branch(ctx, "try")
	require.NoError(p, err)
	var at vfs.Moment
	require.NoError(p, vfstest.DB(fresh).View(ctx, func(db *schema.Tx) error {
		rows := db.Query(`SELECT ancestor, epoch FROM lineage WHERE branch = ? AND level = 1`, try.Moment().Branch)
		defer rows.Close()
		require.True(p, rows.Next())
		at = vfs.Moment{Branch: rows.Int(0), Epoch: rows.Int(1)}
		return nil
	}))
	var now [2]*vfs.FS
	for i, fsys := range p.stores {
		now[i], err = fsys.At(ctx, at)
		require.NoError(p, err)
	}
	p.past = append(p.past, now)
	for _, then := range p.past[max(0, len(p.past)-4):] {
		kept, err := fresh.At(ctx, then[0].Moment())
		for _, fsys := range then {
			if err != nil {
				_, looked := fsys.Lstat(ctx, ".")
				require.ErrorIs(p, looked, errors.Unwrap(err), "%v in round %d", then[0].Moment(), round)
				continue
			}
			require.Equal(p, lookAt(ctx, kept, "a"), lookAt(ctx, fsys, "a"), "%v in round %d", then[0].Moment(), round)
		}
	}
}

// lookAt returns all that a tree says of a path.
func lookAt(ctx context.Context, fsys *vfs.FS, path string) (seen []string) {
	note := func(what any, err error) {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		seen = append(seen, fmt.Sprint(what, " ", err))
	}
	info, err := fsys.Lstat(ctx, path)
	if err == nil {
		note(fmt.Sprint(info.Ino(), info, info.Nlink(), info.ChangeTime(), info.Target()), nil)
	} else {
		note("lstat", err)
	}
	note(fsys.Resolve(ctx, path, true))
	data, err := fsys.ReadFile(ctx, path)
	note(string(data), err)
	entries, err := fsys.ReadDir(ctx, path)
	note(fmt.Sprint(entries), err)
	if info != nil {
		note("", fsys.View(ctx, func(tx *vfs.Tx) error {
			paths, err := (*tree.Tx)(tx).Paths(info.Ino())
			note(paths, err)
			return nil
		}))
	}
	return seen
}

// differences lists where main and try differ, as a store has it.
func differences(t *testing.T, fsys *vfs.FS) (list []string) {
	t.Helper()
	try, err := fsys.Branch(t.Context(), "try")
	require.NoError(t, err)
	require.NoError(t, tree.ViewBoth(t.Context(), (*tree.Tree)(fsys), (*tree.Tree)(try), func(a, b *tree.Tx) error {
		delta, err := tree.Compare(a, b)
		require.NoError(t, err)
		for _, c := range delta.Names {
			list = append(list, fmt.Sprint(c.Name, c.Old, c.New))
		}
		for _, c := range delta.Inodes {
			list = append(list, fmt.Sprint(c.Ino, c.Old == nil, c.New == nil))
		}
		return nil
	}))
	slices.Sort(list)
	return list
}

// A pairWriter is a goroutine that writes. It alone writes below its directory, and knows what it has there.
type pairWriter struct {
	*pair
	*rand.Rand
	dir string
	has map[string]string
}

func (w *pairWriter) path() string { return w.paths[w.IntN(len(w.paths))] }

// verb changes something that others change too. Most verbs fail, which is as good.
func (w *pairWriter) verb(ctx context.Context, fsys *vfs.FS) {
	from, to := w.path(), w.path()
	if w.IntN(4) == 0 {
		if try, err := fsys.Branch(ctx, "try"); err == nil {
			fsys = try
		}
	}
	switch w.IntN(13) {
	case 0, 1:
		_ = fsys.WriteFile(ctx, from, make([]byte, w.IntN(100)), 0o644)
	case 2:
		_ = fsys.Mkdir(ctx, from, 0o755)
	case 3:
		_ = fsys.Remove(ctx, from)
	case 4, 5:
		_ = fsys.Rename(ctx, from, to)
	case 6:
		_ = fsys.Link(ctx, from, to)
	case 7:
		_ = fsys.Symlink(ctx, to, from)
	case 8:
		_ = fsys.Chmod(ctx, from, fs.FileMode(w.IntN(0o1000)))
	case 9:
		if w.IntN(4) == 0 {
			_ = fsys.RemoveAll(ctx, from)
		}
	case 10: // undone, or not
		_ = fsys.Update(ctx, func(tx *vfs.Tx) error {
			return errors.Join(tx.WriteFile(from, []byte("update"), 0o644), tx.Rename(from, to), tx.Chmod(to, 0o600))
		})
	case 11:
		if f, err := fsys.OpenFile(ctx, from, os.O_RDWR, 0); err == nil {
			_, _ = f.WriteAt([]byte("by a File"), 5)
			_ = f.Close()
		}
	case 12:
		if w.IntN(3) == 0 {
			_ = fork(ctx, w.writers[w.IntN(len(w.writers))])
		}
	}
}

// look fills the caches of both stores while others write.
func (w *pairWriter) look(ctx context.Context) {
	for _, fsys := range w.stores {
		lookAt(ctx, fsys, w.path())
	}
	if try, err := w.stores[w.IntN(2)].Branch(ctx, "try"); err == nil {
		lookAt(ctx, try, w.path())
	}

	// One transaction looks at a moment that is over.
	fsys, name := w.stores[w.IntN(2)], w.path()
	_ = fsys.View(ctx, func(tx *vfs.Tx) error {
		_ = fsys.Chmod(ctx, name, fs.FileMode(w.IntN(0o1000)))
		_, err := tx.Lstat(name)
		return err
	})
}

// writeOwn changes something that nobody else changes, and reads all of that through both stores.
func (w *pairWriter) writeOwn(ctx context.Context, fsys *vfs.FS) {
	names := []string{"x", "y", "z"}
	name, to := names[w.IntN(3)], names[w.IntN(3)]
	text := strconv.Itoa(int(w.Int32()))
	_, there := w.has[name]
	switch op := w.IntN(4); {
	case op == 0 && there:
		assert.NoError(w, fsys.Remove(ctx, w.dir+"/"+name))
		delete(w.has, name)
	case op == 1 && there:
		assert.NoError(w, fsys.Rename(ctx, w.dir+"/"+name, w.dir+"/"+to))
		was := w.has[name]
		delete(w.has, name)
		w.has[to] = was
	case op == 2:
		assert.NoError(w, fsys.Append(ctx, w.dir+"/"+name, []byte(text), 0o644, vfs.Parents()))
		w.has[name] += text
	default:
		assert.NoError(w, fsys.WriteFile(ctx, w.dir+"/"+name, []byte(text), 0o644, vfs.Parents()))
		w.has[name] = text
	}
	for _, fsys := range w.stores {
		for _, name := range names {
			data, err := fsys.ReadFile(ctx, w.dir+"/"+name)
			if want, there := w.has[name]; there {
				assert.NoError(w, err)
				assert.Equal(w, want, string(data))
			} else {
				assert.ErrorIs(w, err, fs.ErrNotExist)
			}
		}
	}
}
