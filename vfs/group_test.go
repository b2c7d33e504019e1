package vfs_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// together has the verbs wait for the write lock at the same time, in this order, so that they share a commit.
func together(t *testing.T, fsys *vfs.FS, verbs ...func() error) []error {
	errs := make([]error, len(verbs))
	var wg sync.WaitGroup
	require.NoError(t, fsys.Update(t.Context(), func(*vfs.Tx) error {
		for i, verb := range verbs {
			wg.Go(func() { errs[i] = verb() })
			synctest.Wait()
		}
		return nil
	}))
	wg.Wait()
	return errs
}

// A verb that fails in a group leaves nothing: no directory that it made on the way, no event, no number, and nothing
// that those after it remember. The others see what those before them did.
func TestGroupFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		fsys := vfstest.New(t, "a", "dir/")
		seq, err := fsys.Seq(ctx)
		require.NoError(t, err)
		gone, cancel := context.WithCancel(ctx)
		data := []byte("data")
		errs := together(t, fsys,
			func() error { return fsys.WriteFile(ctx, "dir/new", data, 0o644) },
			func() error {
				return fsys.WriteFile(ctx, "x/y/z", data, 0o644, vfs.Parents(), vfs.IfSum(vfs.SumOf(nil)))
			},
			func() error { return fsys.Mkdir(ctx, "x", 0o755) },
			func() error { return fsys.WriteFile(ctx, "x/y/z", data, 0o644, vfs.IfAbsent()) },
			func() error {
				return fsys.Rename(ctx, "dir/new", "x/q/moved", vfs.Parents(), vfs.IfSum(vfs.SumOf(nil)))
			},
			func() error { return fsys.Mkdir(ctx, "a", 0o755) },
			func() error { return fsys.Append(ctx, "dir/new", data, 0o644) },
			func() error { return fsys.Remove(gone, "a") },
			func() error { cancel(); return nil },
			func() error {
				_, err := fsys.Edit(ctx, "dir/new", []vfs.Edit{{Old: "datadata", New: "once"}})
				return err
			},
			func() error { return fsys.Rename(ctx, "dir/new", "x/new") },
			func() error { return fsys.Symlink(ctx, "new", "x/link") },
			func() error { return fsys.WriteFile(ctx, "x/link", []byte("last"), 0o644) },
		)
		for i, want := range []error{
			nil, fs.ErrNotExist, nil, fs.ErrNotExist, syscall.ESTALE, fs.ErrExist, nil, context.Canceled, nil, nil, nil, nil, nil,
		} {
			if want == nil {
				require.NoError(t, errs[i], "%d", i)
				continue
			}
			require.ErrorIs(t, errs[i], want, "%d", i)
		}
		require.Equal(t, "last", vfstest.Read(t, fsys, "x/new"))
		require.Equal(t, []string{"a", "dir/", "x/", "x/link", "x/new"}, vfstest.Names(t, fsys))
		events, err := fsys.Log(ctx, &vfs.LogOptions{Since: seq})
		require.NoError(t, err)
		var ops []string
		for i, e := range events {
			require.Equal(t, seq+1+int64(i), e.Seq)
			ops = append(ops, string(e.Op)+" "+e.Path)
		}
		require.Equal(t, []string{
			"create dir/new", "mkdir x", "append dir/new", "edit dir/new", "rename x/new", "symlink x/link", "write x/new",
		}, ops)
	})
}

// A directory that many verbs of a group change is written once, with what each of them has made of it; also if they
// stand on more trees than one connection remembers, and if some that fail come in between.
func TestGroupSharesDirectories(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			fsys := vfstest.New(t)
			trees := []*vfs.FS{fsys}
			for i := range 12 {
				require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
					at, err := (*tree.Tx)(tx).Freeze()
					if err != nil {
						return err
					}
					return (*tree.Tx)(tx).Fork(at, fmt.Sprint("b", i))
				}))
				tree, err := fsys.Branch(ctx, fmt.Sprint("b", i))
				require.NoError(t, err)
				trees = append(trees, tree)
			}
			var verbs []func() error
			for i, tree := range trees {
				require.NoError(t, tree.Mkdir(ctx, "dir", 0o755))
				verbs = append(verbs, func() error { return tree.Chmod(ctx, "dir", fs.FileMode(0o700+i)) })
			}
			for round := range 3 {
				for _, tree := range trees {
					verbs = append(verbs, func() error {
						return tree.WriteFile(ctx, fmt.Sprint("dir/f", round), []byte("data"), 0o644)
					})
					if fails {
						verbs = append(verbs, func() error {
							err := tree.WriteFile(ctx, "dir/new/f", nil, 0o644, vfs.Parents(), vfs.IfSum(vfs.SumOf([]byte("?"))))
							require.ErrorIs(t, err, fs.ErrNotExist)
							return nil
						})
					}
				}
			}
			time.Sleep(time.Second) // by the clock of the bubble
			for _, err := range together(t, fsys, verbs...) {
				require.NoError(t, err)
			}
			for i, tree := range trees {
				dir, err := tree.Lstat(ctx, "dir")
				require.NoError(t, err)
				require.Equal(t, fs.FileMode(0o700+i), dir.Mode().Perm())
				last, err := tree.Lstat(ctx, "dir/f2")
				require.NoError(t, err)
				require.Equal(t, last.ModTime(), dir.ModTime())
				require.Equal(t, []string{"dir/", "dir/f0", "dir/f1", "dir/f2"}, vfstest.Names(t, tree))
			}
		})
	}
}

// Each verb of a group is attributed to its own call, and several of one call to one row of it.
func TestGroupCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := vfstest.New(t, "a")
		var verbs []func() error
		for i := range 9 {
			var c *vfs.Call
			if i%3 != 2 {
				c = &vfs.Call{Tool: fmt.Sprint("tool", i)}
			}
			ctx := t.Context()
			if c != nil {
				ctx = vfs.WithCall(ctx, c)
			}
			verbs = append(verbs,
				func() error { return fsys.Mkdir(ctx, fmt.Sprint("d", i), 0o755) },
				func() error {
					err := fsys.Mkdir(ctx, "a", 0o755)
					require.ErrorIs(t, err, fs.ErrExist)
					return nil
				},
				func() error { return fsys.Chmod(ctx, fmt.Sprint("d", i), 0o700) })
		}
		for _, err := range together(t, fsys, verbs...) {
			require.NoError(t, err)
		}
		calls, err := fsys.Store().Calls(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, calls, 6)
		for _, c := range calls {
			require.EqualValues(t, 2, c.Changes)
		}
		events, err := fsys.Log(t.Context(), nil)
		require.NoError(t, err)
		for _, e := range events {
			var i int
			if n, _ := fmt.Sscanf(e.Path, "d%d", &i); n == 1 {
				want := ""
				if i%3 != 2 {
					want = fmt.Sprint("tool", i)
				}
				require.Equal(t, want, e.Tool)
			}
		}
	})
}

// Whatever many goroutines do at the same time, what was acknowledged is there once, and what failed is not: an append
// to a file that all share is a line in it, and an entry of the log.
func TestGroupOfMany(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "dir/")
	const goroutines, rounds = 16, 20
	appended := make([][]string, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			own := fmt.Sprint("dir/", g)
			for i := range rounds {
				line := fmt.Sprintf("%d.%d\n", g, i)
				if assert.NoError(t, fsys.Append(ctx, "all", []byte(line), 0o644)) {
					appended[g] = append(appended[g], line)
				}
				switch (g + i) % 5 {
				case 0: // fails when it has made directories
					err := fsys.WriteFile(ctx, "new/"+own, nil, 0o644, vfs.Parents(), vfs.IfSum(vfs.SumOf([]byte(line))))
					assert.ErrorIs(t, err, fs.ErrNotExist)
				case 1: // fails before it has made anything
					assert.ErrorIs(t, fsys.Mkdir(ctx, "dir", 0o755), fs.ErrExist)
				case 2:
					assert.NoError(t, fsys.WriteFile(ctx, own, []byte(line), 0o644))
				case 3:
					assert.NoError(t, fsys.Chmod(ctx, "dir", fs.FileMode(0o700+g)))
				default:
					assert.NoError(t, fsys.WriteFile(ctx, own+".new", []byte(line), 0o644))
					assert.NoError(t, fsys.Rename(ctx, own+".new", own))
				}
			}
		})
	}
	wg.Wait()
	var want []string
	for _, lines := range appended {
		want = append(want, lines...)
	}
	lines := strings.SplitAfter(vfstest.Read(t, fsys, "all"), "\n")
	require.ElementsMatch(t, append(want, ""), lines)
	require.NotContains(t, vfstest.Names(t, fsys), "new/")
	events, err := fsys.Log(ctx, &vfs.LogOptions{Path: "all"})
	require.NoError(t, err)
	require.Len(t, events, len(want))
}

// A verb that is refused at its commit has no effect on its caller either: no text was replaced, and an open File stays at
// its offset.
func TestRefusedAtTheCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		fsys := vfstest.New(t, "a")
		f, err := fsys.OpenFile(ctx, "a", os.O_RDWR|os.O_APPEND, 0)
		require.NoError(t, err)
		defer f.Close()
		var wg sync.WaitGroup
		require.ErrorIs(t, fsys.Update(ctx, func(*vfs.Tx) error {
			wg.Go(func() {
				n, err := fsys.Edit(ctx, "a", []vfs.Edit{{Old: "a", New: "b"}})
				require.ErrorIs(t, err, syscall.EROFS)
				require.Zero(t, n)
			})
			wg.Go(func() {
				_, err := f.Write([]byte("more"))
				require.ErrorIs(t, err, syscall.EROFS)
			})
			synctest.Wait()
			fsys.Store().SetReadOnly(true)
			return nil
		}), syscall.EROFS)
		wg.Wait()
		fsys.Store().SetReadOnly(false)
		at, err := f.Seek(0, io.SeekCurrent)
		require.NoError(t, err)
		require.Zero(t, at)
		_, err = f.Write([]byte("more"))
		require.NoError(t, err)
		at, err = f.Seek(0, io.SeekCurrent)
		require.NoError(t, err)
		require.EqualValues(t, 5, at)
	})
}
