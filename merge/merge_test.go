package merge_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// change runs steps on a tree: "w PATH TEXT", "mv FROM TO", "rm PATH", "mkdir PATH", "ln OLD NEW", "chmod PATH", "save
// PATH TEXT" as an editor does.
func change(t testing.TB, fsys *vfs.FS, steps ...string) {
	t.Helper()
	ctx := t.Context()
	for _, step := range steps {
		f := strings.SplitN(step, " ", 3)
		var err error
		switch f[0] {
		case "w":
			err = fsys.WriteFile(ctx, f[1], []byte(f[2]), 0o644, vfs.Parents())
		case "save":
			if err = fsys.WriteFile(ctx, f[1]+".tmp", []byte(f[2]), 0o644); err == nil {
				err = fsys.Rename(ctx, f[1]+".tmp", f[1])
			}
		case "mv":
			err = fsys.Rename(ctx, f[1], f[2])
		case "rm":
			err = fsys.RemoveAll(ctx, f[1])
		case "mkdir":
			err = fsys.Mkdir(ctx, f[1], 0o755)
		case "ln":
			err = fsys.Link(ctx, f[1], f[2])
		case "chmod":
			err = fsys.Chmod(ctx, f[1], 0o600)
		}
		require.NoError(t, err, step)
	}
}

// texts lists the files of a tree with their texts, and directories that are empty.
func texts(t testing.TB, fsys *vfs.FS) (list []string) {
	t.Helper()
	dump := vfstest.Dump(t, fsys)
	for _, path := range slices.Sorted(maps.Keys(dump)) {
		info, err := fsys.Lstat(t.Context(), "/"+path)
		require.NoError(t, err)
		if !info.IsDir() {
			data, err := fsys.ReadFile(t.Context(), "/"+path)
			require.NoError(t, err)
			list = append(list, path+"="+strings.ReplaceAll(string(data), "\n", "|"))
		} else if entries, err := fsys.ReadDir(t.Context(), "/"+path); err == nil && len(entries) == 0 && path != "." {
			list = append(list, path+"/")
		}
	}
	return list
}

// conflicted lists the conflicts of a tree as path: parts.
func conflicted(t testing.TB, fsys *vfs.FS) (list []string) {
	t.Helper()
	all, err := merge.Conflicts(t.Context(), fsys)
	require.NoError(t, err)
	for _, c := range all {
		list = append(list, c.Path+": "+strings.Join(c.Parts, ","))
	}
	return list
}

func fork(t testing.TB, fsys *vfs.FS, name string) *vfs.FS {
	t.Helper()
	try, err := snapshot.Branch(t.Context(), fsys, fsys, name)
	require.NoError(t, err)
	return try
}

func into(t testing.TB, target *vfs.FS, source snapshot.Tree) *merge.Result {
	t.Helper()
	r, err := merge.Into(t.Context(), target, source, nil)
	require.NoError(t, err)
	return r
}

const five = "1\n2\n3\n4\n5\n"

// What becomes of the changes of two sides.
func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		name               string
		base, ours, theirs []string
		want, conflicts    []string
	}{
		{"files of both", nil, []string{"w a 1"}, []string{"w b 2"}, []string{"a=1", "b=2"}, nil},
		{"lines of both", []string{"w a " + five}, []string{"w a 0\n2\n3\n4\n5\n"}, []string{"w a 1\n2\n3\n4\n6\n"}, []string{"a=0|2|3|4|6|"}, nil},
		{"one line twice", []string{"w a 1\n"}, []string{"w a 2\n"}, []string{"w a 3\n"}, []string{"a=2|"}, []string{"a: content"}},
		{"the same change", []string{"w a 1\n"}, []string{"w a 2\n"}, []string{"w a 2\n"}, []string{"a=2|"}, nil},
		{"a rename and an edit", []string{"w a 1"}, []string{"mv a b"}, []string{"w a 2"}, []string{"b=2"}, nil},
		{"an edit and a rename", []string{"w a 1"}, []string{"w a 2"}, []string{"mv a b"}, []string{"b=2"}, nil},
		{"a renamed directory and a new file", []string{"w d/a 1"}, []string{"mv d e"}, []string{"w d/h 2"}, []string{"e/a=1", "e/h=2"}, nil},
		{"a new file and a renamed directory", []string{"w d/a 1"}, []string{"w d/h 2"}, []string{"mv d e"}, []string{"e/a=1", "e/h=2"}, nil},
		{"two renames", []string{"w a 1"}, []string{"mv a b"}, []string{"mv a c"}, []string{"b=1"}, []string{"b: name"}},
		{"two renames of a directory", []string{"w d/a 1"}, []string{"mv d e"}, []string{"mv d f", "w f/b 2"}, []string{"e/a=1", "e/b=2"}, []string{"e: name"}},
		{"an edit and a removal", []string{"w a 1"}, []string{"w a 2"}, []string{"rm a"}, []string{"a=2"}, []string{"a: name"}},
		{"a removal and an edit", []string{"w a 1"}, []string{"rm a"}, []string{"w a 2"}, []string{"a=2"}, []string{"a: name"}},
		{"a rename and a removal", []string{"w a 1"}, []string{"mv a b"}, []string{"rm a"}, []string{"b=1"}, []string{"b: name"}},
		{"two removals", []string{"w a 1", "w b 1"}, []string{"rm a"}, []string{"rm a"}, []string{"b=1"}, nil},
		{"a removed directory and an edit", []string{"w d/a 1", "w d/b 1", "w d/s/c 1"}, []string{"rm d"}, []string{"w d/b 2"}, []string{"d/b=2"}, []string{"d/b: name"}},
		{"an edit and a removed directory", []string{"w d/a 1", "w d/b 1", "w d/s/c 1"}, []string{"w d/b 2"}, []string{"rm d"}, []string{"d/b=2"}, []string{"d/b: name"}},
		{"a removed directory and a new file", []string{"w d/a 1", "w d/s/c 1"}, []string{"rm d"}, []string{"w d/s/h 2"}, []string{"d/s/h=2"}, nil},
		{"a new file and a removed directory", []string{"w d/a 1", "w d/s/c 1"}, []string{"w d/s/h 2"}, []string{"rm d"}, []string{"d/s/h=2"}, nil},
		{"a removed directory whose file moved out", []string{"w d/a 1", "w d/b 1"}, []string{"rm d"}, []string{"mv d/a c"}, []string{"c=1"}, []string{"c: name"}},
		{"a moved file and its removed directory", []string{"w d/a 1", "w d/b 1"}, []string{"mv d/a c"}, []string{"rm d"}, []string{"c=1"}, []string{"c: name"}},
		{"a renamed directory that was removed", []string{"w d/a 1", "w d/b 1"}, []string{"mv d e"}, []string{"rm d"}, []string{"e/a=1", "e/b=1"}, []string{"e: name"}},
		{"a removed directory that was renamed", []string{"w d/a 1", "w d/s/b 1"}, []string{"rm d"}, []string{"mv d e"}, []string{"e/a=1", "e/s/b=1"}, []string{"e: name"}},
		{"files under one name", nil, []string{"w a 1"}, []string{"w a 2"}, []string{"a=1", "a~try=2"}, []string{"a: content"}},
		{"equal files under one name", nil, []string{"w a 1"}, []string{"w a 1"}, []string{"a=1"}, nil},
		{"directories under one name", nil, []string{"w d/a 1", "w d/s/x 1"}, []string{"w d/b 2", "w d/s/y 2"}, []string{"d/a=1", "d/b=2", "d/s/x=1", "d/s/y=2"}, nil},
		{"a file and a directory under one name", nil, []string{"w a 1"}, []string{"w a/b 2"}, []string{"a=1", "a~try/b=2"}, []string{"a: content"}},
		{"directories moved into each other", []string{"w d/a 1", "w e/b 1"}, []string{"mv d e/d"}, []string{"mv e d/e"}, []string{"e/b=1", "e/d/a=1"}, []string{"e: name"}},
		{"an editor's file and an edit", []string{"w a " + five}, []string{"w a 0\n2\n3\n4\n5\n"}, []string{"save a 1\n2\n3\n4\n6\n"}, []string{"a=0|2|3|4|6|"}, nil},
		{"an edit and an editor's file", []string{"w a " + five}, []string{"save a 0\n2\n3\n4\n5\n"}, []string{"w a 1\n2\n3\n4\n6\n"}, []string{"a=0|2|3|4|6|"}, nil},
		{"editors' files", []string{"w a " + five}, []string{"save a 0\n2\n3\n4\n5\n"}, []string{"save a 1\n2\n3\n4\n6\n"}, []string{"a=0|2|3|4|6|"}, nil},
		{"an editor's file and a rename", []string{"w a 1"}, []string{"save a 2"}, []string{"mv a b"}, []string{"b=2"}, nil},
		{"a rename and an editor's file", []string{"w a 1"}, []string{"mv a b"}, []string{"save a 2"}, []string{"b=2"}, nil},
		{"a rename as removal and new file, and an edit", []string{"w a same"}, []string{"w a other"}, []string{"rm a", "w b same"}, []string{"b=other"}, nil},
		{"a directory made anew and an edit", []string{"w d/a " + five, "w d/b 1"}, []string{"w d/a 0\n2\n3\n4\n5\n"}, []string{"rm d", "w d/a 1\n2\n3\n4\n6\n", "w d/b 1"}, []string{"d/a=0|2|3|4|6|", "d/b=1"}, nil},
		{"an edit and a directory made anew", []string{"w d/a " + five, "w d/b 1"}, []string{"rm d", "w d/a 1\n2\n3\n4\n6\n", "w d/b 1"}, []string{"w d/a 0\n2\n3\n4\n5\n", "w d/c 3"}, []string{"d/a=0|2|3|4|6|", "d/b=1", "d/c=3"}, nil},
		{"links of both", []string{"w a 1"}, []string{"ln a b"}, []string{"ln a c", "w a 2"}, []string{"a=2", "b=2", "c=2"}, nil},
		{"a link out of a removed directory", []string{"w d/a 1", "w d/b 1"}, []string{"ln d/a c"}, []string{"rm d"}, []string{"c=1"}, []string{"c: name"}},
		{"a removed directory and a link out of it", []string{"w d/a 1", "w d/b 1"}, []string{"rm d"}, []string{"ln d/a c"}, []string{"c=1"}, []string{"c: name"}},
		{"each one of two names removed", []string{"w a 1", "ln a b"}, []string{"rm a"}, []string{"rm b"}, []string{"b=1"}, []string{"b: name"}},
		{"a mode and an edit", []string{"w a 1"}, []string{"chmod a"}, []string{"w a 2"}, []string{"a=2"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			main := vfstest.New(t)
			change(t, main, tt.base...)
			try := fork(t, main, "try")
			change(t, main, tt.ours...)
			change(t, try, tt.theirs...)
			before := vfstest.Dump(t, main)

			dry, err := merge.Into(t.Context(), main, try, &merge.Options{DryRun: true})
			require.NoError(t, err)
			require.Equal(t, before, vfstest.Dump(t, main))
			r := into(t, main, try)
			require.Equal(t, tt.want, texts(t, main))
			require.Equal(t, tt.conflicts, conflicted(t, main))
			require.Len(t, dry.Changes, len(r.Changes))
			vfstest.Check(t, main)

			// Again there is nothing to do. The other way it is a fast-forward.
			require.True(t, into(t, main, try).UpToDate)
			if back := into(t, try, main); !back.UpToDate {
				require.True(t, back.FastForward)
			}
			require.Equal(t, vfstest.Dump(t, main), vfstest.Dump(t, try))
			require.Equal(t, tt.conflicts, conflicted(t, try))

			// It can be undone, and done again.
			if r.Undo == "" {
				return
			}
			undo, err := snapshot.Open(t.Context(), main, r.Undo)
			require.NoError(t, err)
			_, err = snapshot.Restore(t.Context(), main, undo)
			require.NoError(t, err)
			require.Equal(t, before, vfstest.Dump(t, main))
		})
	}
}

// What cannot be merged.
func TestMergeRefuses(t *testing.T) {
	ctx := t.Context()
	main, other := vfstest.New(t, "d/a"), vfstest.New(t)
	first, err := snapshot.Create(ctx, main, "first", nil)
	require.NoError(t, err)
	try := fork(t, main, "try")
	sub, err := main.OpenRoot(ctx, "d")
	require.NoError(t, err)

	for _, tt := range []struct {
		name           string
		target, source *vfs.FS
		want           error
	}{
		{"another store", main, other, syscall.EXDEV},
		{"itself", main, main, syscall.EINVAL},
		{"into the past", first.FS, try, syscall.EROFS},
		{"into a directory", sub, try, syscall.EINVAL},
		{"a directory", try, sub, syscall.EINVAL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := merge.Into(ctx, tt.target, tt.source, nil)
			require.ErrorIs(t, err, tt.want)
		})
	}
}

// What is not merged by line conflicts as a whole, and has no marks.
func TestMergeWhole(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	lines := strings.Repeat("\n", merge.MaxLines)
	change(t, main, "w most 1\n"+lines[2:]+"2\n", "w more 1\n"+lines+"2\n", "w binary 1\n\x00\n2\n", "mkdir d", "w plain 1")
	try := fork(t, main, "try")
	change(t, main, "w most 0\n"+lines[2:]+"2\n", "w more 0\n"+lines+"2\n", "w binary 0\n\x00\n2\n", "w d/a 1")
	change(t, try, "w most 1\n"+lines[2:]+"3\n", "w more 1\n"+lines+"3\n", "w binary 1\n\x00\n3\n", "rm d", "w d 1")
	into(t, main, try)
	require.Equal(t, []string{"binary: content", "d: content", "more: content"}, conflicted(t, main))
	text, err := main.ReadFile(ctx, "most")
	require.NoError(t, err)
	require.True(t, string(text) == "0\n"+lines[2:]+"3\n")

	for _, path := range []string{"binary", "d", "more", "plain"} {
		_, err := merge.Markers(ctx, main, path)
		require.ErrorIs(t, err, syscall.EINVAL, path)
	}
	_, err = merge.Content(ctx, main, "d", merge.Ours)
	require.ErrorIs(t, err, syscall.EISDIR)
	_, err = merge.Content(ctx, main, "plain", merge.Ours)
	require.EqualError(t, err, "merge plain: invalid argument: it is not in conflict")
}

// manyLinks makes a file that has so many names in the base, and as many more on each of two branches.
func manyLinks(t *testing.T, names int) (main, try *vfs.FS) {
	main = vfstest.New(t)
	link := func(fsys *vfs.FS, side string) {
		require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
			for i := range names {
				if err := tx.Link("a", fmt.Sprint(side, i)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	change(t, main, "w a 1")
	link(main, "base")
	try = fork(t, main, "try")
	link(main, "ours")
	link(try, "theirs")
	change(t, main, "rm base1")
	change(t, try, "rm base2", "w a 2")
	return main, try
}

// A file has thousands of names on both sides.
func TestMergeManyLinks(t *testing.T) {
	main, try := manyLinks(t, 1000)
	into(t, main, try)
	require.Empty(t, conflicted(t, main))
	info, err := main.Stat(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, 2999, info.Nlink())
}

// With four times as many names, a merge uses about four times as much memory in all: it does not read or copy all of them
// for each one.
func TestMergeManyLinksCost(t *testing.T) {
	cost := func(names int) uint64 {
		main, try := manyLinks(t, names)
		var before, after runtime.MemStats
		for range 2 { // the first fills caches
			runtime.ReadMemStats(&before)
			_, err := merge.Into(t.Context(), main, try, &merge.Options{DryRun: true})
			require.NoError(t, err)
			runtime.ReadMemStats(&after)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := cost(250), cost(1000)
	require.Less(t, many, 7*few)
}

// A directory that the base has removed as a whole, and that theirs has again, comes with all that is in it.
func TestMergeRevived(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	change(t, main, "w d/a 1", "w d/s/b 1")
	first, err := snapshot.Create(ctx, main, "first", nil)
	require.NoError(t, err)
	change(t, main, "rm d")
	try := fork(t, main, "try")
	_, err = snapshot.Restore(ctx, try, first)
	require.NoError(t, err)
	change(t, main, "w c 1")
	_, err = gc.Run(ctx, main, nil) // main has no rows of d left
	require.NoError(t, err)
	into(t, main, try)
	require.Equal(t, []string{"c=1", "d/a=1", "d/s/b=1"}, texts(t, main))
	require.Empty(t, conflicted(t, main))
}

// Three merges any trees: with the moment after a change as base, it takes that back.
func TestThreeTakesBack(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	change(t, main, "w a "+five, "w b 1")
	before, err := snapshot.Create(ctx, main, "before", nil)
	require.NoError(t, err)
	change(t, main, "w a 0\n2\n3\n4\n5\n", "rm b", "w c 1")
	after, err := snapshot.Create(ctx, main, "after", nil)
	require.NoError(t, err)
	change(t, main, "w a 0\n2\n3\n4\n6\n", "w d 1")
	require.NoError(t, main.Update(ctx, func(tx *vfs.Tx) error { return merge.Three(tx, after, before, "undo", nil) }))
	require.Equal(t, []string{"a=1|2|3|4|6|", "b=1", "d=1"}, texts(t, main))
	require.Empty(t, conflicted(t, main))
}

// The log names each path that a merge has changed.
func TestMergeIsRecorded(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	change(t, main, "w a 1", "w d/b 1")
	try := fork(t, main, "try")
	change(t, try, "mv d e", "w c 2")
	change(t, main, "w a 2")
	seq, err := main.Seq(ctx)
	require.NoError(t, err)
	into(t, main, try)
	events, err := main.Log(ctx, &vfs.LogOptions{Since: seq})
	require.NoError(t, err)
	var ops []string
	for _, e := range events {
		ops = append(ops, string(e.Op)+" "+e.Path)
	}
	require.Equal(t, []string{"snapshot .", "merge c", "merge d", "merge e"}, ops)
}
