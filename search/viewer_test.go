package search_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/search"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// searchStore opens a store with one entry for each line: "a/b" is a file that contains its own path, "a/" a
// directory, "a -> b" a symlink, "a = b" a second name of b.
func searchStore(t testing.TB, lines ...string) *vfs.FS {
	t.Helper()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error { return plant(tx, lines) }))
	return fsys
}

func plant(tx *vfs.Tx, lines []string) error {
	for _, line := range lines {
		var err error
		if dir, ok := strings.CutSuffix(line, "/"); ok {
			err = tx.MkdirAll(dir, 0o755)
		} else if name, target, ok := strings.Cut(line, " -> "); ok {
			err = tx.Symlink(target, name, vfs.Parents())
		} else if name, other, ok := strings.Cut(line, " = "); ok {
			err = tx.Link(other, name, vfs.Parents())
		} else {
			err = tx.WriteFile(line, []byte(line), 0o644, vfs.Parents())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A searcher searches one tree.
type searcher struct {
	ctx context.Context
	in  search.Viewer
}

func (s searcher) Find(dir string, o *search.FindOptions) ([]search.Hit, bool, error) {
	return search.Find(s.ctx, s.in, dir, o)
}

func (s searcher) Glob(pattern string) ([]string, error) { return search.Glob(s.ctx, s.in, pattern) }

func (s searcher) Grep(pattern string, o *search.GrepOptions) (*search.GrepResult, error) {
	return search.Grep(s.ctx, s.in, pattern, o)
}

func (s searcher) Usage(name string) (search.Totals, error) { return search.Usage(s.ctx, s.in, name) }

// everywhere runs a test on each kind of tree that looks the same: an FS, a Tx, a branch that inherits all it has, and
// the moment that it was forked from.
func everywhere(t *testing.T, fsys *vfs.FS, test func(t *testing.T, s searcher)) {
	t.Helper()
	var at vfs.Moment
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) (err error) {
		if at, err = (*tree.Tx)(tx).Freeze(); err != nil {
			return err
		}
		return (*tree.Tx)(tx).Fork(at, "fork")
	}))
	branch, err := fsys.Branch(t.Context(), "fork")
	require.NoError(t, err)
	past, err := fsys.At(t.Context(), at)
	require.NoError(t, err)
	t.Run("FS", func(t *testing.T) { test(t, searcher{t.Context(), fsys}) })
	t.Run("Tx", func(t *testing.T) {
		require.NoError(t, fsys.View(t.Context(), func(tx *vfs.Tx) error {
			test(t, searcher{t.Context(), tx})
			return nil
		}))
	})
	t.Run("branch", func(t *testing.T) { test(t, searcher{t.Context(), branch}) })
	t.Run("past", func(t *testing.T) { test(t, searcher{t.Context(), past}) })
}

// verbs calls each search verb on the same path, or on a pattern that leads there.
var verbs = map[string]func(s searcher, name string) error{
	"find": func(s searcher, name string) error { _, _, err := s.Find(name, nil); return err },
	"glob": func(s searcher, name string) error { _, err := s.Glob("**"); return err },
	"grep": func(s searcher, name string) error {
		_, err := s.Grep("x", &search.GrepOptions{Path: name})
		return err
	},
	"du": func(s searcher, name string) error { _, err := s.Usage(name); return err },
}

// The errors of each search for a wrong path.
func TestSearchErrors(t *testing.T) {
	fsys := searchStore(t, "dir/file", "dir/dangling -> nowhere", "loop -> loop")
	long := strings.Repeat("x", 300)
	for _, tt := range []struct {
		verb, name string
		want       error
	}{
		{"find", "missing", syscall.ENOENT},
		{"find", "dir/file", syscall.ENOTDIR},
		{"find", "dir/file/x", syscall.ENOTDIR},
		{"find", "dir/dangling", syscall.ENOENT},
		{"find", "loop", syscall.ELOOP},
		{"find", "", syscall.ENOENT},
		{"find", long, syscall.ENAMETOOLONG},
		{"find", "missing/deeper", syscall.ENOENT},
		{"find", "a\x00b", syscall.EINVAL},
		{"grep", "missing", syscall.ENOENT},
		{"grep", "dir/file/x", syscall.ENOTDIR},
		{"grep", "", nil},
		{"grep", "dir/file", nil},
		{"du", "missing", syscall.ENOENT},
		{"du", "dir/dangling", syscall.ENOENT},
		{"du", "", syscall.ENOENT},
		{"du", "dir/file", nil},
	} {
		t.Run(fmt.Sprintf("%s %.10q", tt.verb, tt.name), func(t *testing.T) {
			err := verbs[tt.verb](searcher{t.Context(), fsys}, tt.name)
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tt.want)
			var pe *fs.PathError
			require.ErrorAs(t, err, &pe)
			require.Equal(t, tt.verb, pe.Op)
			require.Equal(t, tt.name, pe.Path)
		})
	}
}

// A search that was cancelled returns the error of the context, on an FS and inside a transaction.
func TestSearchCancelled(t *testing.T) {
	fsys := searchStore(t, "dir/file")
	for verb, call := range verbs {
		t.Run(verb, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			err := fsys.View(ctx, func(tx *vfs.Tx) error {
				require.NoError(t, call(searcher{ctx, tx}, "/"))
				cancel()
				return call(searcher{ctx, tx}, "/")
			})
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, call(searcher{ctx, fsys}, "/"), context.Canceled)
		})
	}
}

// countdown is a context that ends after it was asked a number of times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Cancellation is looked at for each page of a directory and each file that is searched.
func TestSearchCancelledMidway(t *testing.T) {
	var lines []string
	for i := range 50 {
		lines = append(lines, fmt.Sprintf("d%02d/file", i))
	}
	fsys := searchStore(t, lines...)
	for verb, call := range verbs {
		t.Run(verb, func(t *testing.T) {
			require.ErrorIs(t, call(searcher{&countdown{t.Context(), 40}, fsys}, "/"), context.Canceled)
		})
	}
}

// A file that is removed while a search runs is passed over, at whatever moment that happens.
func TestSearchWhileRemoving(t *testing.T) {
	fsys := searchStore(t)
	for moment := range 40 {
		require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
			return plant(tx, []string{"a/1", "a/2", "b/1", "c"})
		}))
		ctx := &hooked{Context: t.Context(), calls: moment}
		ctx.hook = func() {
			require.NoError(t, fsys.RemoveAll(t.Context(), "b"))
			require.NoError(t, fsys.Remove(t.Context(), "c"))
		}
		got, err := search.Grep(ctx, fsys, "/", nil)
		require.NoError(t, err)
		require.Contains(t, []string{"a/1:1:a/1 a/2:1:a/2", "a/1:1:a/1 a/2:1:a/2 b/1:1:b/1"}, strings.Join(rows(got), " "))
	}
}

// hooked is a context that calls a hook when it has been asked a number of times.
type hooked struct {
	context.Context
	calls int
	hook  func()
}

func (h *hooked) Err() error {
	if h.calls--; h.calls == 0 {
		h.hook()
	}
	return h.Context.Err()
}

// Where a search starts: a path may be written in any way and lead over symlinks; results are named from the root, by
// directories only.
func TestSearchStart(t *testing.T) {
	fsys := searchStore(t, "a/b/file", "a/c/other", "link -> a/b", "a/up -> ..", "abs -> /a/c", "twice -> link", "tofile -> a/b/file")
	everywhere(t, fsys, func(t *testing.T, s searcher) {
		for _, tt := range []struct{ start, want string }{
			{"a/b", "a/b/file"},
			{"/a/b/", "a/b/file"},
			{"./a//./b/.", "a/b/file"},
			{"a/c/../b", "a/b/file"},
			{"../../a/b", "a/b/file"},
			{"link", "a/b/file"},
			{"twice/.", "a/b/file"},
			{"abs", "a/c/other"},
			{"link/../c", "a/c/other"},
			{"a/up/a/up/link", "a/b/file"},
		} {
			t.Run(tt.start, func(t *testing.T) {
				found, more, err := s.Find(tt.start, &search.FindOptions{Kind: "file"})
				require.NoError(t, err)
				require.False(t, more)
				require.Equal(t, []string{tt.want}, paths(found))

				got, err := s.Grep("file", &search.GrepOptions{Path: tt.start})
				require.NoError(t, err)
				for _, m := range got.Matches {
					require.Equal(t, tt.want, m.Path)
				}
				require.Equal(t, 1, got.FilesScanned)
			})
		}
		got, err := s.Grep("file", &search.GrepOptions{Path: "tofile"})
		require.NoError(t, err)
		require.Equal(t, []string{"a/b/file:1:a/b/file"}, rows(got))
	})
}

// A directory of several pages is searched whole, also where a branch hides, adds and inherits names in it.
func TestSearchPages(t *testing.T) {
	var lines []string
	for i := range 700 {
		lines = append(lines, fmt.Sprintf("d/f%03d", i))
	}
	fsys := searchStore(t, lines...)
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		at, err := (*tree.Tx)(tx).Freeze()
		if err != nil {
			return err
		}
		return (*tree.Tx)(tx).Fork(at, "b")
	}))
	branch, err := fsys.Branch(t.Context(), "b")
	require.NoError(t, err)
	want := lines[550:]
	require.NoError(t, branch.Update(t.Context(), func(tx *vfs.Tx) error {
		for _, line := range lines[:550] {
			if err := tx.Remove(line); err != nil {
				return err
			}
		}
		return plant(tx, []string{"d/g"})
	}))
	want = append(want[:len(want):len(want)], "d/g")
	for _, tt := range []struct {
		name string
		fsys *vfs.FS
		want []string
	}{
		{"main", fsys, lines},
		{"branch", branch, want},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := searcher{t.Context(), tt.fsys}
			files, _, err := s.Find("/", &search.FindOptions{Kind: "file"})
			require.NoError(t, err)
			require.Equal(t, tt.want, paths(files))
			globbed, err := s.Glob("*/*")
			require.NoError(t, err)
			require.Equal(t, tt.want, globbed)
			found, _, err := s.Find("d", nil)
			require.NoError(t, err)
			require.Equal(t, tt.want, paths(found))
			got, err := s.Grep("d/", nil)
			require.NoError(t, err)
			require.Len(t, got.Matches, len(tt.want))
			usage, err := s.Usage(".")
			require.NoError(t, err)
			require.EqualValues(t, len(tt.want), usage.Files)
		})
	}
}

// A search inside an Update sees the changes that the Update has made so far.
func TestSearchInUpdate(t *testing.T) {
	fsys := searchStore(t, "old", "gone")
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		require.NoError(t, plant(tx, []string{"new"}))
		require.NoError(t, tx.Remove("gone"))
		require.NoError(t, tx.WriteFile("old", []byte("newer"), 0o644))
		got, err := search.Grep(t.Context(), tx, "new", nil)
		require.NoError(t, err)
		require.Equal(t, []string{"new:1:new", "old:1:newer"}, rows(got))
		usage, err := search.Usage(t.Context(), tx, "/")
		require.NoError(t, err)
		require.Equal(t, search.Totals{Files: 2, Dirs: 1, Bytes: 8}, usage)
		return nil
	}))
}

// A closed store is closed to searches too.
func TestSearchClosed(t *testing.T) {
	fsys := searchStore(t, "a")
	require.NoError(t, fsys.Close())
	for verb, call := range verbs {
		require.ErrorIs(t, call(searcher{t.Context(), fsys}, "/"), fs.ErrClosed, verb)
	}
}

func paths(found []search.Hit) []string {
	var list []string
	for _, f := range found {
		list = append(list, f.Path)
	}
	return list
}

func rows(r *search.GrepResult) []string {
	var list []string
	for _, m := range r.Matches {
		list = append(list, fmt.Sprintf("%s:%d:%s", m.Path, m.Line, m.Text))
	}
	return list
}
