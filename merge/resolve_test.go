package merge_test

import (
	"maps"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/merge"
	"vfsdb/vfs"
)

// Where the sides made things of different types under one name, each can be had: theirs comes from its place beside.
func TestResolveType(t *testing.T) {
	ctx := t.Context()
	makers := map[string]func(t *testing.T, fsys *vfs.FS){
		"file":      func(t *testing.T, fsys *vfs.FS) { change(t, fsys, "w a text") },
		"directory": func(t *testing.T, fsys *vfs.FS) { change(t, fsys, "w a/b text") },
		"symlink":   func(t *testing.T, fsys *vfs.FS) { require.NoError(t, fsys.Symlink(ctx, "away", "a")) },
	}
	for ours, makeOurs := range makers {
		for theirs, makeTheirs := range makers {
			if ours == theirs {
				continue
			}
			t.Run(ours+" and "+theirs, func(t *testing.T) {
				main := vfstest.New(t)
				try := fork(t, main, "try")
				makeOurs(t, main)
				makeTheirs(t, try)
				was, want := vfstest.Dump(t, main), vfstest.Dump(t, try)
				require.Len(t, into(t, main, try).Conflicts, 1)
				kept, lost := fork(t, main, "kept"), fork(t, main, "lost")

				require.NoError(t, merge.Resolve(ctx, main, "a", merge.Take{Side: merge.Theirs}))
				require.Empty(t, conflicted(t, main))
				require.Equal(t, names(want), names(vfstest.Dump(t, main)))
				info, err := main.Lstat(ctx, "a")
				require.NoError(t, err)
				theirs, err := try.Lstat(ctx, "a")
				require.NoError(t, err)
				require.Equal(t, theirs.Mode(), info.Mode())

				require.NoError(t, merge.Resolve(ctx, kept, "a", merge.Take{Side: merge.Ours}))
				require.Empty(t, conflicted(t, kept))
				if !theirs.IsDir() {
					require.Equal(t, names(was), names(vfstest.Dump(t, kept)))
				}

				change(t, lost, "rm a~try")
				require.ErrorIs(t, merge.Resolve(ctx, lost, "a", merge.Take{Side: merge.Theirs}), syscall.ENOENT)
				require.Len(t, conflicted(t, lost), 1)
			})
		}
	}
}

func names(dump map[string]string) []string { return slices.Sorted(maps.Keys(dump)) }

// Each way to resolve a conflict.
func TestResolve(t *testing.T) {
	for _, tt := range []struct {
		name         string
		ours, theirs []string
		take         merge.Take
		path         string
		want         []string
	}{
		{"ours", []string{"w a 2"}, []string{"w a 3"}, merge.Take{Side: merge.Ours}, "a", []string{"a=2"}},
		{"theirs", []string{"w a 2"}, []string{"w a 3"}, merge.Take{Side: merge.Theirs}, "a", []string{"a=3"}},
		{"the base", []string{"w a 2"}, []string{"w a 3"}, merge.Take{Side: merge.Base}, "a", []string{"a=1"}},
		{"bytes", []string{"w a 2"}, []string{"w a 3"}, merge.Take{Data: []byte("4")}, "a", []string{"a=4"}},
		{"a removal of theirs", []string{"w a 2"}, []string{"rm a"}, merge.Take{Side: merge.Theirs}, "a", nil},
		{"an edit of ours", []string{"w a 2"}, []string{"rm a"}, merge.Take{Side: merge.Ours}, "a", []string{"a=2"}},
		{"a removal of ours", []string{"rm a"}, []string{"w a 3"}, merge.Take{Side: merge.Ours}, "a", nil},
		{"an edit of theirs", []string{"rm a"}, []string{"w a 3"}, merge.Take{Side: merge.Theirs}, "a", []string{"a=3"}},
		{"ours of two files", []string{"w b 2"}, []string{"w b 3"}, merge.Take{Side: merge.Ours}, "b", []string{"a=1", "b=2"}},
		{"theirs of two files", []string{"w b 2"}, []string{"w b 3"}, merge.Take{Side: merge.Theirs}, "b", []string{"a=1", "b=3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			main := vfstest.New(t)
			change(t, main, "w a 1")
			try := fork(t, main, "try")
			change(t, main, tt.ours...)
			change(t, try, tt.theirs...)
			into(t, main, try)
			require.NoError(t, merge.Resolve(t.Context(), main, tt.path, tt.take))
			require.Equal(t, tt.want, texts(t, main))
			require.Empty(t, conflicted(t, main))
			err := merge.Resolve(t.Context(), main, tt.path, tt.take)
			require.Error(t, err)
		})
	}
}
