package model

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vfsdb/search"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// The log alone rebuilds the tree of each branch, with the sum of each file: it has every change once, in order. The
// changes of a restore are in its snapshot and not in the log, so there is no restore here.
func TestLogReplays(t *testing.T) {
	end := 3 * time.Second
	if testing.Short() {
		end = time.Second
	}
	set(t, "rapid.checks", "4")
	set(t, "rapid.steps", "120")
	for began := time.Now(); time.Since(began) < end && !t.Failed(); {
		rapid.Check(t, replayed)
	}
}

// replayable are the actions that the log records in full. A lineage of more than 16 forks is squashed, and loses some.
var replayable = []string{
	"verb", "verb", "verb", "verb", "update", "write stream", "write at", "snapshot", "branch", "switch", "rename branch", "gc", "reopen",
}

func replayed(t *rapid.T) {
	m, end := startMachine(t)
	defer end()
	draw := evenly(replayable)
	t.Repeat(map[string]func(*rapid.T){"step": func(t *rapid.T) { actions[draw.Draw(t, "action")].do(m, t) }})
	for name, h := range m.heads {
		events, err := h.fsys.Log(m.ctx, nil)
		require.NoError(t, err)
		if slices.ContainsFunc(events, func(e vfs.Event) bool { return e.Op == "restore" }) {
			t.Fatalf("%s: a restore", name)
		}
		require.Equal(t, shownBy(t, m, h.fsys), replay(t, events), name)
	}
	m.check(t)
}

// An object is what names of a replayed tree lead to.
type object struct {
	kind fs.FileMode
	sum  vfs.Sum
}

// replay makes a tree from a log.
func replay(t *rapid.T, events []vfs.Event) map[string]object {
	tree := map[string]*object{}
	drop := func(path string) {
		for name := range tree {
			if name == path || strings.HasPrefix(name, path+"/") {
				delete(tree, name)
			}
		}
	}
	for _, e := range events {
		switch e.Op {
		case "create":
			tree[e.Path] = &object{sum: *e.After}
		case "write", "append", "truncate", "edit":
			require.NotNil(t, tree[e.Path], "%+v", e)
			if e.Before != nil {
				require.Equal(t, tree[e.Path].sum, *e.Before, "%+v", e)
			}
			tree[e.Path].sum = *e.After
		case "mkdir":
			tree[e.Path] = &object{kind: fs.ModeDir}
		case "mknod":
			tree[e.Path] = &object{kind: fs.ModeIrregular}
		case "symlink":
			tree[e.Path] = &object{kind: fs.ModeSymlink}
		case "link":
			tree[e.Path] = tree[e.Arg]
		case "copy":
			like := *tree[e.Arg]
			if e.After != nil {
				like.sum = *e.After
			}
			tree[e.Path] = &like
		case "remove", "removeall":
			require.NotNil(t, tree[e.Path], "%+v", e)
			drop(e.Path)
		case "rename":
			moved := map[string]*object{}
			for name, o := range tree {
				if name == e.Arg || strings.HasPrefix(name, e.Arg+"/") {
					moved[e.Path+name[len(e.Arg):]] = o
				}
			}
			require.NotEmpty(t, moved, "%+v", e)
			drop(e.Path)
			drop(e.Arg)
			for name, o := range moved {
				tree[name] = o
			}
		}
	}
	got := map[string]object{}
	for name, o := range tree {
		got[name] = *o
	}
	return got
}

// shownBy is the tree as it is.
func shownBy(t *rapid.T, m *machine, tree snapshot.Tree) map[string]object {
	got := map[string]object{}
	err := tree.Tree().View(m.ctx, func(tx *vfs.Tx) error {
		all, _, err := search.Find(m.ctx, tx, ".", nil)
		for _, f := range all {
			o := object{kind: f.Info.Mode().Type()}
			switch o.kind {
			case 0:
				if o.sum, err = tx.Sum(f.Path); err != nil {
					return err
				}
			case fs.ModeDir, fs.ModeSymlink:
			default:
				o.kind = fs.ModeIrregular
			}
			got[f.Path] = o
		}
		return err
	})
	require.NoError(t, err)
	return got
}
