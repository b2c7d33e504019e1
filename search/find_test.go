package search_test

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/search"
)

// The pattern is matched on the path relative to the directory. Kind and limit. MatchBase. The
// words.
func TestFind(t *testing.T) {
	fsys := searchStore(t, "workspace/src/a/b.ts", "workspace/src/top.ts", "workspace/src/.hidden.ts", "workspace/b.ts",
		"workspace/src/a.d/x", "workspace/src/a/deep/er/c.TS", "workspace/src/link.ts -> a/b.ts", "workspace/src/down -> a")
	src := "/workspace/src"
	everywhere(t, fsys, func(t *testing.T, s searcher) {
		for _, tt := range []struct {
			name string
			dir  string
			o    *search.FindOptions
			want []string // below workspace/
		}{
			{"everything, as a walk has it", src, nil, []string{
				"src/.hidden.ts", "src/a", "src/a/b.ts", "src/a/deep", "src/a/deep/er", "src/a/deep/er/c.TS",
				"src/a.d", "src/a.d/x", "src/down", "src/link.ts", "src/top.ts",
			}},
			{"at any depth", src, &search.FindOptions{Pattern: "**/*.ts"}, []string{"src/.hidden.ts", "src/a/b.ts", "src/link.ts", "src/top.ts"}},
			{"relative to dir", src, &search.FindOptions{Pattern: "src/**"}, nil},
			{"one level", src, &search.FindOptions{Pattern: "*.ts"}, []string{"src/.hidden.ts", "src/link.ts", "src/top.ts"}},
			{"by base name", src, &search.FindOptions{Pattern: "*.ts", MatchBase: true}, []string{"src/.hidden.ts", "src/a/b.ts", "src/link.ts", "src/top.ts"}},
			{"a slash anchors", src, &search.FindOptions{Pattern: "a/*.ts", MatchBase: true}, []string{"src/a/b.ts"}},
			{"a slash in front anchors", src, &search.FindOptions{Pattern: "/*.ts", MatchBase: true}, []string{"src/.hidden.ts", "src/link.ts", "src/top.ts"}},
			{"a slash at the end does not", "workspace", &search.FindOptions{Pattern: "a*/", MatchBase: true}, []string{"src/a", "src/a.d"}},
			{"files", src, &search.FindOptions{Pattern: "*", MatchBase: true, Kind: "file"}, []string{
				"src/.hidden.ts", "src/a/b.ts", "src/a/deep/er/c.TS", "src/a.d/x", "src/top.ts",
			}},
			{"directories", src, &search.FindOptions{Kind: "directory"}, []string{"src/a", "src/a/deep", "src/a/deep/er", "src/a.d"}},
			{"symlinks", src, &search.FindOptions{Kind: "symlink"}, []string{"src/down", "src/link.ts"}},
			{"not through a symlink", src, &search.FindOptions{Pattern: "down/*"}, nil},
			{"but from one", src + "/down", &search.FindOptions{Pattern: "*.ts"}, []string{"src/a/b.ts"}},
			{"a literal path", "/", &search.FindOptions{Pattern: "workspace/src/a"}, []string{"src/a"}},
			{"what is not there", "/", &search.FindOptions{Pattern: "workspace/none/*"}, nil},
			{"the directory itself is not below", src, &search.FindOptions{Pattern: "."}, nil},
		} {
			t.Run(tt.name, func(t *testing.T) {
				found, more, err := s.Find(tt.dir, tt.o)
				require.NoError(t, err)
				require.False(t, more)
				var want []string
				for _, w := range tt.want {
					want = append(want, "workspace/"+w)
				}
				require.Equal(t, want, paths(found))
			})
		}
	})
}

// The directory is one that the path leads to. It counts by whole segments, no character in it is special, and a symlink
// below it is an entry.
func TestFindFrom(t *testing.T) {
	fsys := searchStore(t, "notes/x", "notes/sub/y", "notes-archive/x", "notes.txt", "empty/", "not*s/z", "link -> notes",
		"notes/sub/up -> ..", "dangling -> nowhere", "loop -> loop", "tofile -> notes/x")
	all := []string{
		"dangling", "empty", "link", "loop", "not*s", "not*s/z", "notes", "notes/sub", "notes/sub/up", "notes/sub/y", "notes/x",
		"notes-archive", "notes-archive/x", "notes.txt", "tofile",
	}
	notes := []string{"notes/sub", "notes/sub/up", "notes/sub/y", "notes/x"}
	everywhere(t, fsys, func(t *testing.T, s searcher) {
		for _, tt := range []struct {
			dir  string
			want []string
			err  error
		}{
			{"notes", notes, nil},
			{"/notes/", notes, nil},
			{"note", nil, syscall.ENOENT},
			{"notes/x", nil, syscall.ENOTDIR},
			{"notes.txt", nil, syscall.ENOTDIR},
			{"empty", nil, nil},
			{"missing", nil, syscall.ENOENT},
			{"notes/x/y", nil, syscall.ENOTDIR},
			{"not*s", []string{"not*s/z"}, nil},
			{"n*", nil, syscall.ENOENT},
			{"", nil, syscall.ENOENT},
			{"/", all, nil},
			{".", all, nil},
			{"link", notes, nil},
			{"dangling", nil, syscall.ENOENT},
			{"loop", nil, syscall.ELOOP},
			{"tofile", nil, syscall.ENOTDIR},
		} {
			t.Run("of "+tt.dir, func(t *testing.T) {
				found, _, err := s.Find(tt.dir, nil)
				require.ErrorIs(t, err, tt.err)
				require.Equal(t, tt.want, paths(found))
			})
		}
	})
}

// A result describes the entry itself.
func TestFindInfo(t *testing.T) {
	fsys := searchStore(t, "d/file", "d/link -> file")
	found, _, err := search.Find(t.Context(), fsys, "d", nil)
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, "file", found[0].Info.Name())
	require.EqualValues(t, len("d/file"), found[0].Info.Size())
	require.Equal(t, fs.ModeSymlink, found[1].Info.Mode().Type())
	require.Equal(t, "file", found[1].Info.Target())
}

// Max stops the search. The result is truncated only if an entry was left out.
func TestFindMax(t *testing.T) {
	fsys := searchStore(t, "a/1", "a/2", "b/3")
	everywhere(t, fsys, func(t *testing.T, s searcher) {
		for _, tt := range []struct {
			max  int
			want []string
			more bool
		}{
			{0, []string{"a/1", "a/2", "b/3"}, false},
			{1, []string{"a/1"}, true},
			{2, []string{"a/1", "a/2"}, true},
			{3, []string{"a/1", "a/2", "b/3"}, false},
			{4, []string{"a/1", "a/2", "b/3"}, false},
		} {
			found, more, err := s.Find("/", &search.FindOptions{Kind: "file", Max: tt.max})
			require.NoError(t, err)
			require.Equal(t, tt.want, paths(found))
			require.Equal(t, tt.more, more)
		}
	})
}

func TestFindRefuses(t *testing.T) {
	fsys := searchStore(t, "a")
	for _, o := range []search.FindOptions{
		{Pattern: "[a"},
		{Pattern: "{a"},
		{Pattern: `a\`},
		{Pattern: "[]"},
		{Pattern: "a}"},
		{Pattern: "[a", MatchBase: true},
		{Kind: "dir"},
		{Kind: "File"},
	} {
		_, _, err := search.Find(t.Context(), fsys, "/", &o)
		require.ErrorIs(t, err, syscall.EINVAL, "%+v", o)
	}
}
