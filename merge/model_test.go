package merge_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vfsdb/check"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
	"vfsdb/xattr"
)

// Random trees, forks and merges in all directions keep the laws of merging.
func TestLaws(t *testing.T) {
	was := flag.Lookup("rapid.checks").Value.String()
	if checks := "10"; was == "100" && os.Getenv("VFS_LONG") == "" { // the default of rapid
		require.NoError(t, flag.Set("rapid.checks", checks))
		defer flag.Set("rapid.checks", was)
	}
	if seed := flag.Lookup("rapid.seed").Value; seed.String() == "0" && os.Getenv("VFS_LONG") == "" {
		require.NoError(t, flag.Set("rapid.seed", "12"))
		defer flag.Set("rapid.seed", "0")
	}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		defer w.close()
		t.Repeat(map[string]func(*rapid.T){
			"edit": w.edit,
			"edit more": func(t *rapid.T) {
				for range 4 {
					w.edit(t)
				}
			},
			"fork":     w.fork,
			"merge":    w.merge,
			"cross":    w.cross,
			"past":     w.mergePast,
			"prefer":   w.mergePrefer,
			"open":     w.open,
			"forget":   w.forget,
			"compact":  w.compact,
			"snapshot": w.snapshot,
			"restore":  w.restore,
			"resolve":  w.resolve,
			"drop":     w.drop,
			"collect":  w.collect,
		})
		w.check(t)
	})
}

// A world is a store with some branches.
type world struct {
	ctx      context.Context
	dir      string
	main     *vfs.FS
	branches []*vfs.FS
	moments  []*snapshot.Snapshot
	files    []*vfs.File // open, with writes that are not committed
	count    int
}

func newWorld(t *rapid.T) *world {
	dir, err := os.MkdirTemp("", "merge")
	require.NoError(t, err)
	w := &world{ctx: context.Background(), dir: dir}
	w.main, err = vfs.Open(w.ctx, filepath.Join(dir, "laws.db"), nil)
	require.NoError(t, err)
	w.branches = []*vfs.FS{w.main}
	for range 8 {
		w.edit(t)
	}
	w.fork(t)
	return w
}

func (w *world) close() {
	for _, f := range w.files {
		f.Close()
	}
	w.main.Close()
	os.RemoveAll(w.dir)
}

func (w *world) next(what string) string {
	w.count++
	return fmt.Sprintf("%s%d", what, w.count)
}

func (w *world) some(t *rapid.T, label string) *vfs.FS {
	return rapid.SampledFrom(w.branches).Draw(t, label)
}

var bases = []string{"a", "b", "c", "d"}

func somePath(t *rapid.T, label string) string {
	n := rapid.IntRange(1, 3).Draw(t, label+" depth")
	var path []string
	for range n {
		path = append(path, rapid.SampledFrom(bases).Draw(t, label))
	}
	return strings.Join(path, "/")
}

// edit changes a branch. Many verbs are refused, which is fine. Each line that is written is of its own.
func (w *world) edit(t *rapid.T) {
	fsys := w.some(t, "branch")
	path, other := somePath(t, "path"), somePath(t, "other")
	line := w.next("line ") + "\n"
	switch rapid.IntRange(0, 10).Draw(t, "verb") {
	case 10:
		_ = fsys.Symlink(w.ctx, other, path)
	case 0, 1:
		_ = fsys.WriteFile(w.ctx, path, []byte(line), 0o644, vfs.Parents())
	case 2:
		if data, err := fsys.ReadFile(w.ctx, path); err == nil {
			lines := strings.SplitAfter(string(data), "\n")
			at := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
			_ = fsys.WriteFile(w.ctx, path, []byte(strings.Join(slices.Insert(lines, at, line, "-\n", "-\n"), "")), 0o644)
		}
	case 3:
		_ = fsys.Append(w.ctx, path, []byte(line), 0o644)
	case 4:
		_ = fsys.Mkdir(w.ctx, path, 0o755)
	case 5:
		_ = fsys.Rename(w.ctx, path, other)
	case 6:
		_ = fsys.RemoveAll(w.ctx, path)
	case 7:
		_ = fsys.Link(w.ctx, path, other)
	case 8:
		if data, err := fsys.ReadFile(w.ctx, path); err == nil {
			require.NoError(t, fsys.WriteFile(w.ctx, "temp", append(data, line...), 0o644))
			require.NoError(t, fsys.Rename(w.ctx, "temp", path))
		}
	case 9:
		if rapid.Bool().Draw(t, "mode") {
			_ = fsys.Chmod(w.ctx, path, 0o600)
		} else {
			_ = xattr.Set(w.ctx, fsys, path, true, "user."+rapid.SampledFrom(bases).Draw(t, "attribute"), []byte(line), 0)
		}
	}
}

func (w *world) forkOf(t *rapid.T, base snapshot.Tree) *vfs.FS {
	made, err := snapshot.Branch(w.ctx, w.main, base, w.next("branch"))
	require.NoError(t, err)
	return made
}

func (w *world) fork(t *rapid.T) {
	if len(w.branches) < 5 {
		w.branches = append(w.branches, w.forkOf(t, w.some(t, "base")))
	}
}

func (w *world) snapshot(t *rapid.T) {
	s, err := snapshot.Create(w.ctx, w.some(t, "branch"), w.next("moment"), nil)
	require.NoError(t, err)
	w.moments = append(w.moments, s)
}

func (w *world) restore(t *rapid.T) {
	if len(w.moments) == 0 {
		return
	}
	_, err := snapshot.Restore(w.ctx, w.some(t, "branch"), rapid.SampledFrom(w.moments).Draw(t, "moment"))
	require.NoError(t, err)
}

func (w *world) drop(t *rapid.T) {
	if len(w.branches) < 3 {
		return
	}
	i := rapid.IntRange(1, len(w.branches)-1).Draw(t, "branch")
	name := w.branches[i].Head()
	w.moments = slices.DeleteFunc(w.moments, func(s *snapshot.Snapshot) bool { return s.Info.Branch == name })
	require.NoError(t, snapshot.DeleteBranch(w.ctx, w.main, name))
	w.branches = slices.Delete(w.branches, i, i+1)
}

// open opens a file, or writes to one that is open, or closes it. A branch that was dropped takes no writes.
func (w *world) open(t *rapid.T) {
	i := rapid.IntRange(0, len(w.files)).Draw(t, "file")
	switch {
	case i == len(w.files):
		f, err := w.some(t, "branch").OpenFile(w.ctx, somePath(t, "path"), os.O_RDWR|os.O_CREATE, 0o644)
		if err == nil && len(w.files) < 4 {
			w.files = append(w.files, f)
		} else if err == nil {
			require.NoError(t, f.Close())
		}
	case rapid.Bool().Draw(t, "write"):
		if _, err := w.files[i].Seek(0, io.SeekEnd); err == nil {
			_, _ = w.files[i].Write([]byte(w.next("open ") + "\n"))
		}
	default:
		_ = w.files[i].Close()
		w.files = slices.Delete(w.files, i, i+1)
	}
}

// forget deletes a snapshot, such as one that undoes a merge.
func (w *world) forget(t *rapid.T) {
	list, err := snapshot.List(w.ctx, w.main)
	require.NoError(t, err)
	if len(list) == 0 {
		return
	}
	name := rapid.SampledFrom(list).Draw(t, "snapshot").Name
	require.NoError(t, snapshot.Delete(w.ctx, w.main, name))
	w.moments = slices.DeleteFunc(w.moments, func(s *snapshot.Snapshot) bool { return s.Info.Name == name })
}

func (w *world) compact(t *rapid.T) {
	_, err := gc.Compact(w.ctx, w.main, nil)
	require.NoError(t, err)
}

func (w *world) collect(t *rapid.T) {
	_, err := gc.Run(w.ctx, w.main, nil)
	require.NoError(t, err)
}

func (w *world) resolve(t *rapid.T) {
	fsys := w.some(t, "branch")
	list, err := merge.Conflicts(w.ctx, fsys)
	require.NoError(t, err)
	if len(list) == 0 {
		return
	}
	c := rapid.SampledFrom(list).Draw(t, "conflict")
	side := rapid.SampledFrom([]merge.Side{merge.Base, merge.Ours, merge.Theirs}).Draw(t, "side")
	take := merge.Take{Side: side}
	if rapid.Bool().Draw(t, "by hand") {
		take.Data = []byte(w.next("resolved ") + "\n")
	}
	if err := merge.Resolve(w.ctx, fsys, c.Path, take); err != nil {
		errno, _ := vfs.Errno(err)
		require.NotZero(t, errno, "%v", err)
	}
}

func (w *world) check(t *rapid.T) {
	report, err := check.Run(w.ctx, w.main, nil)
	require.NoError(t, err)
	require.Empty(t, report.Faults)
}

func (w *world) dump(t *rapid.T, fsys *vfs.FS) map[string]string {
	dump, err := vfstest.DumpTree(w.ctx, fsys)
	require.NoError(t, err)
	return dump
}

// lines returns all lines of a tree, with those in its conflicts.
func (w *world) lines(t *rapid.T, fsys *vfs.FS) map[string]bool {
	set := make(map[string]bool)
	add := func(data []byte, err error) {
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			set[line] = true
		}
	}
	for path := range w.dump(t, fsys) {
		if info, err := fsys.Lstat(w.ctx, "/"+path); err == nil && info.Mode().IsRegular() {
			add(fsys.ReadFile(w.ctx, "/"+path))
		}
	}
	list, err := merge.Conflicts(w.ctx, fsys)
	require.NoError(t, err)
	for _, c := range list {
		contents, err := merge.Contents(w.ctx, fsys, c)
		require.NoError(t, err)
		for _, data := range contents {
			add(data, nil)
		}
	}
	return set
}

// merge merges two branches, and looks at the laws.
func (w *world) merge(t *rapid.T) {
	target, source := w.some(t, "target"), w.some(t, "source")
	if target == source {
		return
	}
	for _, f := range w.files {
		_ = f.Sync() // a fork has what is committed, and a merge takes what is not
	}
	ours, theirs := w.lines(t, target), w.lines(t, source)
	other := w.forkOf(t, target) // to merge the other way
	mirror := w.forkOf(t, source)

	r, err := merge.Into(w.ctx, target, source, nil)
	require.NoError(t, err)
	w.check(t)
	result := w.dump(t, target)

	// Each content that a side has made since the fork is in the tree, or in a conflict.
	if len(r.Base) == 1 {
		base, err := w.main.At(w.ctx, r.Base[0])
		require.NoError(t, err)
		was, is := w.lines(t, base), w.lines(t, target)
		for _, side := range []map[string]bool{ours, theirs} {
			for line := range side {
				require.True(t, was[line] || is[line], "%q is lost", line)
			}
		}
	}

	// Again there is nothing to do.
	again, err := merge.Into(w.ctx, target, source, nil)
	require.NoError(t, err)
	require.True(t, again.UpToDate)
	require.Equal(t, result, w.dump(t, target))

	// Back it is the other side's changes only.
	back := w.forkOf(t, source)
	b, err := merge.Into(w.ctx, back, target, nil)
	require.NoError(t, err)
	require.True(t, b.FastForward || b.UpToDate)
	require.Equal(t, result, w.dump(t, back))

	// The other way it is the same tree, where both are clean.
	m, err := merge.Into(w.ctx, mirror, other, nil)
	require.NoError(t, err)
	if len(r.Conflicts)+len(m.Conflicts) == 0 {
		require.Equal(t, result, w.dump(t, mirror))
	}

	// An unmoved side becomes the other one, also without the short way.
	if len(r.Base) == 1 {
		w.mergeUnmoved(t, r.Base[0], source)
	}
	for _, fsys := range []*vfs.FS{other, mirror, back} {
		require.NoError(t, snapshot.DeleteBranch(w.ctx, w.main, fsys.Head()))
	}
}

// cross merges two branches into each other as both were before, so that each takes in the other's past.
func (w *world) cross(t *rapid.T) {
	a, b := w.some(t, "one"), w.some(t, "other")
	if a == b {
		return
	}
	atA, err := snapshot.Create(w.ctx, a, w.next("moment"), nil)
	require.NoError(t, err)
	atB, err := snapshot.Create(w.ctx, b, w.next("moment"), nil)
	require.NoError(t, err)
	w.moments = append(w.moments, atA, atB)
	for _, m := range []struct {
		target *vfs.FS
		source *snapshot.Snapshot
	}{{a, atB}, {b, atA}} {
		_, err := merge.Into(w.ctx, m.target, m.source, nil)
		require.NoError(t, err)
		w.check(t)
	}
}

// mergePast merges what a branch was once.
func (w *world) mergePast(t *rapid.T) {
	if len(w.moments) == 0 {
		return
	}
	target, source := w.some(t, "target"), rapid.SampledFrom(w.moments).Draw(t, "moment")
	_, err := merge.Into(w.ctx, target, source, nil)
	require.NoError(t, err)
	w.check(t)
	again, err := merge.Into(w.ctx, target, source, nil)
	require.NoError(t, err)
	require.True(t, again.UpToDate)
}

// mergePrefer merges with a side that decides what would conflict: no content of a file does then that did not before.
func (w *world) mergePrefer(t *rapid.T) {
	target, source := w.some(t, "target"), w.some(t, "source")
	if target == source {
		return
	}
	side := rapid.SampledFrom([]merge.Side{merge.Ours, merge.Theirs}).Draw(t, "side")
	_, err := merge.Into(w.ctx, target, source, &merge.Options{Prefer: side})
	require.NoError(t, err)
	w.check(t)
}

// mergeUnmoved merges a tree into its own base.
func (w *world) mergeUnmoved(t *rapid.T, at vfs.Moment, source *vfs.FS) {
	base, err := w.main.At(w.ctx, at)
	require.NoError(t, err)
	fresh, err := snapshot.Branch(w.ctx, w.main, base, w.next("fresh"))
	if errors.Is(err, syscall.ESTALE) {
		return // the branch of the base was dropped
	}
	require.NoError(t, err)
	require.NoError(t, fresh.Update(w.ctx, func(tx *vfs.Tx) error { return merge.Three(tx, base, source, "source", nil) }))
	require.Equal(t, w.dump(t, source), w.dump(t, fresh))
	require.NoError(t, snapshot.DeleteBranch(w.ctx, w.main, fresh.Head()))
}
