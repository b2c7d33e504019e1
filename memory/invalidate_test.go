package memory_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// After a commit of our own, what it did not change is still cached.
func TestOwnCommitKeepsTheRest(t *testing.T) {
	ctx := t.Context()
	fsys := warmTree(t)
	opened, err := fsys.Open(ctx, "d/f")
	require.NoError(t, err)
	defer opened.Close()
	for _, verb := range readVerbs {
		require.NoError(t, verb(ctx, fsys))
	}
	path := fsys.Store().Path()
	withoutReaders := func(do func()) {
		require.NoError(t, os.Rename(path, path+".moved"))
		defer func() { require.NoError(t, os.Rename(path+".moved", path)) }()
		do()
	}
	require.NoError(t, fsys.View(ctx, func(*vfs.Tx) error {
		for i := range 10 {
			require.NoError(t, fsys.WriteFile(ctx, "other", fmt.Append(nil, i), 0o644))
			withoutReaders(func() {
				for name, verb := range readVerbs {
					require.NoError(t, verb(ctx, fsys), name)
				}
				_, err := fsys.Lstat(ctx, "other")
				require.ErrorIs(t, err, syscall.ESTALE, "what it has changed is asked for, and there is no reader")
			})
		}
		require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return tx.WriteFile("other", nil, 0o644) }))
		withoutReaders(func() {
			_, err := fsys.Lstat(ctx, "d/f")
			require.NoError(t, err, "an Update has not changed it either")
			_, err = fsys.Lstat(ctx, "other")
			require.ErrorIs(t, err, syscall.ESTALE, "but this")
		})
		return nil
	}))
}

// An entry that a transaction reads of a moment that is over is not valid now.
func TestLateEntries(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/f")
	require.NoError(t, fsys.View(ctx, func(tx *vfs.Tx) error {
		require.NoError(t, fsys.WriteFile(ctx, "d/f", []byte("longer"), 0o644))
		require.NoError(t, fsys.Mkdir(ctx, "d/new", 0o755))
		before, err := tx.Lstat("d/f")
		require.NoError(t, err)
		require.EqualValues(t, 3, before.Size())
		_, err = tx.Lstat("d/new")
		require.ErrorIs(t, err, fs.ErrNotExist)
		now, err := fsys.Lstat(ctx, "d/f")
		require.NoError(t, err)
		require.EqualValues(t, 6, now.Size())
		_, err = fsys.Lstat(ctx, "d/new")
		require.NoError(t, err)
		return nil
	}))
}

// What is carried is what another store reads, whose cache is empty: after verbs chosen at random, from one goroutine and
// from many that share commits.
func TestCarriedEntriesAreTrue(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	fresh := vfstest.Open(t, fsys.Store().Path(), nil)
	var paths []string
	for _, dir := range []string{"", "a/", "b/", "a/b/"} {
		for _, name := range []string{"a", "b", "l"} {
			paths = append(paths, dir+name)
		}
	}
	// Most of these fail, which is as good.
	verb := func(r *rand.Rand) {
		from, to := paths[r.IntN(len(paths))], paths[r.IntN(len(paths))]
		switch r.IntN(9) {
		case 0, 1:
			_ = fsys.WriteFile(ctx, from, make([]byte, r.IntN(100)), 0o644)
		case 2:
			_ = fsys.Mkdir(ctx, from, 0o755)
		case 3:
			_ = fsys.Remove(ctx, from)
		case 4:
			_ = fsys.Rename(ctx, from, to)
		case 5:
			_ = fsys.Link(ctx, from, to)
		case 6:
			_ = fsys.Symlink(ctx, to, from)
		case 7:
			_ = fsys.Chmod(ctx, from, fs.FileMode(r.IntN(0o1000)))
		case 8:
			if r.IntN(5) == 0 {
				_ = fsys.RemoveAll(ctx, from)
			}
		}
	}
	look := func(fsys *vfs.FS, path string) string {
		info, err := fsys.Lstat(ctx, path)
		if err != nil {
			return errors.Unwrap(err).Error()
		}
		at, err := fsys.Resolve(ctx, path, true)
		return fmt.Sprint(info.Ino(), info, info.Nlink(), info.ChangeTime(), info.Target(), at, err)
	}
	for round := range 200 {
		var wg sync.WaitGroup
		for g := range 1 + round%2*7 {
			wg.Go(func() { verb(rand.New(rand.NewPCG(uint64(round), uint64(g)))) })
			wg.Go(func() { look(fsys, paths[(round+g)%len(paths)]) })
		}
		wg.Wait()
		for _, path := range paths {
			require.Equal(t, look(fresh, path), look(fsys, path), "%s in round %d", path, round)
		}
	}
}

// The size of one entry is bounded too: what is longer is read each time.
func TestLongEntriesAreNotCached(t *testing.T) {
	ctx := t.Context()
	fsys := warmTree(t)
	targets := map[string]string{"long": strings.Repeat("x/", 1000), "short": strings.Repeat("x/", 100)}
	for name, target := range targets {
		require.NoError(t, fsys.Symlink(ctx, target, name))
		for range 2 {
			got, err := fsys.Readlink(ctx, name)
			require.NoError(t, err)
			require.Equal(t, target, got)
		}
	}
	path := fsys.Store().Path()
	require.NoError(t, fsys.View(ctx, func(*vfs.Tx) error { // the idle reader is in use, and another cannot be opened
		require.NoError(t, os.Rename(path, path+".moved"))
		defer func() { require.NoError(t, os.Rename(path+".moved", path)) }()
		_, err := fsys.Readlink(ctx, "short")
		require.NoError(t, err)
		_, err = fsys.Readlink(ctx, "long")
		require.ErrorIs(t, err, syscall.ESTALE)
		return nil
	}))
}

// A commit of our own invalidates what it wrote and no more, whatever makes it.
func TestOwnCommitsInvalidateWhatTheyWrite(t *testing.T) {
	ctx := t.Context()
	for name, commit := range map[string]func(t *testing.T, fsys *vfs.FS){
		"update": func(t *testing.T, fsys *vfs.FS) {
			require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return tx.WriteFile("other", nil, 0o644) }))
		},
		"update that fails": func(t *testing.T, fsys *vfs.FS) {
			require.ErrorIs(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
				require.NoError(t, tx.WriteFile("d/f", nil, 0o644))
				return io.ErrUnexpectedEOF
			}), io.ErrUnexpectedEOF)
		},
		"moment that a fork keeps": func(t *testing.T, fsys *vfs.FS) {
			vfstest.Branch(t, fsys, "try")
		},
		"write to a fork": func(t *testing.T, fsys *vfs.FS) {
			try := vfstest.Branch(t, fsys, "try")
			require.NoError(t, try.WriteFile(ctx, "d/f", []byte("of the fork"), 0o644))
			require.NoError(t, try.RemoveAll(ctx, "d"))
		},
		"branch renamed": func(t *testing.T, fsys *vfs.FS) {
			vfstest.Branch(t, fsys, "try")
			require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return (*tree.Tx)(tx).RenameBranch("try", "tried") }))
		},
		"stream": func(t *testing.T, fsys *vfs.FS) {
			content := io.LimitReader(rand.NewChaCha8([32]byte{1}), 20<<20)
			_, err := fsys.WriteFrom(ctx, "stream", content, 0o644)
			require.NoError(t, err)
		},
		"file": func(t *testing.T, fsys *vfs.FS) {
			f, err := fsys.Create(ctx, "file")
			require.NoError(t, err)
			_, err = f.Write(make([]byte, 3<<20))
			require.NoError(t, err)
			require.NoError(t, f.Sync())
			require.NoError(t, f.Close())
		},
		"group": func(t *testing.T, fsys *vfs.FS) {
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Go(func() { assert.NoError(t, fsys.WriteFile(ctx, fmt.Sprint("group", i), nil, 0o644)) })
				wg.Go(func() { assert.Error(t, fsys.Remove(ctx, fmt.Sprint("none", i))) })
			}
			wg.Wait()
		},
		"rows that nothing shows": func(t *testing.T, fsys *vfs.FS) {
			try := vfstest.Branch(t, fsys, "try")
			require.NoError(t, try.WriteFile(ctx, "d/g", nil, 0o644))
			require.NoError(t, dropBranch(fsys, "try"))
			reaper := gc.NewRowReaper((*tree.Tree)(fsys))
			for {
				step, err := reaper.Step(ctx, 100)
				require.NoError(t, err)
				if step.Done {
					break
				}
			}
			require.NotZero(t, reaper.Branches)
			_, err := fsys.Lstat(ctx, "other") // that the tree is kept is asked for once
			require.ErrorIs(t, err, fs.ErrNotExist)
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := warmTree(t)
			for _, verb := range readVerbs {
				require.NoError(t, verb(ctx, fsys))
			}
			commit(t, fsys)
			opened, err := fsys.Open(ctx, "d/f")
			require.NoError(t, err)
			defer opened.Close()

			path := fsys.Store().Path()
			require.NoError(t, fsys.View(ctx, func(*vfs.Tx) error { // no other reader can be had
				require.NoError(t, os.Rename(path, path+".moved"))
				defer func() { require.NoError(t, os.Rename(path+".moved", path)) }()
				for name, verb := range readVerbs {
					require.NoError(t, verb(ctx, fsys), name)
				}
				return nil
			}))
		})
	}
}

// What another process commits, and rows that are written past the verbs, invalidate everything.
func TestOtherCommitsInvalidateEverything(t *testing.T) {
	ctx := t.Context()
	fsys := warmTree(t)
	other := vfstest.Open(t, fsys.Store().Path(), nil)
	for name, commit := range map[string]func() error{
		"another store": func() error { return other.WriteFile(ctx, "other", nil, 0o644) },
		"by hand": func() error {
			return (*tree.Tree)(fsys).DB().Update(ctx, func(db *schema.Tx) error {
				_, err := db.Exec(`UPDATE inode SET mtime = mtime + 1 WHERE nlink = 1`)
				return err
			})
		},
		"by hand, after verbs that were refused": func() error {
			return fsys.Update(ctx, func(tx *vfs.Tx) error {
				require.ErrorIs(t, (*tree.Tx)(tx).DropBranch("none"), fs.ErrNotExist)
				require.ErrorIs(t, (*tree.Tx)(tx).RenameBranch("none", "other"), fs.ErrNotExist)
				_, err := (*tree.Tx)(tx).DB().Exec(`UPDATE inode SET mtime = mtime + 1 WHERE nlink = 1`)
				return err
			})
		},
	} {
		before, err := fsys.Lstat(ctx, "d/f")
		require.NoError(t, err)
		require.NoError(t, commit(), name)
		path := fsys.Store().Path()
		require.NoError(t, fsys.View(ctx, func(*vfs.Tx) error { // no other reader can be had
			require.NoError(t, os.Rename(path, path+".moved"))
			defer func() { require.NoError(t, os.Rename(path+".moved", path)) }()
			_, err := fsys.Lstat(ctx, "d/f")
			require.ErrorIs(t, err, syscall.ESTALE, name)
			return nil
		}))
		if now, err := fsys.Lstat(ctx, "d/f"); name != "another store" {
			require.NoError(t, err)
			require.Equal(t, before.ModTime().Add(1), now.ModTime())
		}
	}
}
