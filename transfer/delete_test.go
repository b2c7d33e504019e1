package transfer

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// fill makes files in a directory of the store, named as for write, and empty.
func fill(t testing.TB, fsys *vfs.FS, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		var err error
		if link, target, ok := strings.Cut(name, " -> "); ok {
			err = fsys.Symlink(t.Context(), target, to+link, vfs.Parents())
		} else if other, first, ok := strings.Cut(name, " = "); ok {
			err = fsys.Link(t.Context(), to+first, to+other, vfs.Parents())
		} else if dir, ok := strings.CutSuffix(name, "/"); ok {
			err = fsys.MkdirAll(t.Context(), to+dir, 0o755)
		} else {
			err = fsys.WriteFile(t.Context(), to+name, nil, 0o644, vfs.Parents())
		}
		require.NoError(t, err)
	}
}

// longAgo gives everything in a directory of the host one time.
func longAgo(t testing.TB, dir string) {
	t.Helper()
	when := time.Unix(1_700_000_000, 123_456_789)
	require.NoError(t, filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type() != fs.ModeSymlink {
			err = os.Chtimes(file, when, when)
		}
		return err
	}))
}

// TestDelete imports a source, adds files to the destination, and imports the source again, changed.
func TestDelete(t *testing.T) {
	ignore := &ImportOptions{Delete: true, GitIgnore: true}
	exclude := func(globs ...string) *ImportOptions { return &ImportOptions{Delete: true, Exclude: globs} }
	for _, tt := range []struct {
		name   string
		before string // the source, and then
		extra  string // files that the store has besides
		after  string // the source of the second import
		o      *ImportOptions
		want   string // in the destination
		log    []string
	}{
		{"nothing is gone", "a d/b", "", "a d/b", nil, "a d/ d/b", []string{}},
		{"a file", "a b", "", "a", nil, "a", []string{"remove to/b"}},
		{"an empty directory", "a", "e/", "a", nil, "a", []string{"removeall to/e"}},
		{"a directory with all below it", "a", "d/e/f d/g", "a", nil, "a", []string{"removeall to/d"}},
		{"below a directory that stays", "d/a", "d/b d/e/f", "d/a", nil, "d/ d/a", []string{"remove to/d/b", "removeall to/d/e"}},
		{"all", "a d/b", "", "", nil, "", []string{"remove to/a", "removeall to/d"}},
		{"a symlink, and not what it leads to", "a", "l->/out", "a", nil, "a", []string{"remove to/l"}},
		{"one of several names", "a b=a", "", "a", nil, "a", []string{"remove to/b"}},
		{"the last of several names", "a", "x y=x d/z=x", "a", nil, "a", []string{"remove to/d/z", "removeall to/d", "remove to/x", "remove to/y"}},
		{"a directory where a file goes", "f/x", "f/y/z", "f", nil, "f", []string{"removeall to/f", "create to/f"}},
		{"a directory where a symlink goes", "f/x a", "", "f->a a", nil, "a f", []string{"removeall to/f", "symlink to/f (a)"}},
		{"a file where a directory goes", "d", "", "d/x", nil, "d/ d/x", []string{"remove to/d", "mkdir to/d", "create to/d/x"}},
		{"a symlink where a directory goes", "a", "d->/out", "a d/x", nil, "a d/ d/x", []string{"remove to/d", "mkdir to/d", "create to/d/x"}},
		{"a file where a symlink goes", "a l", "", "a l->a", nil, "a l", []string{"remove to/l", "symlink to/l (a)"}},
		{"names that are not UTF-8", "a", "\xff \xfe/\xff", "a", nil, "a", []string{"removeall to/\xfe", "remove to/\xff"}},
		{"names that begin alike", "d/x d-x dx", "d-y dy d0/x", "d/x d-x dx", nil, "d/ d/x d-x dx", []string{"remove to/d-y", "removeall to/d0", "remove to/dy"}},

		{"an excluded name", "a", "x.log y", "a", exclude("*.log"), "a x.log", []string{"remove to/y"}},
		{"an excluded name in a directory that is gone", "a", "d/x.log d/y d/e/z f/y", "a", exclude("*.log"), "a d/ d/x.log", []string{"removeall to/d/e", "remove to/d/y", "removeall to/f"}},
		{"an excluded directory", "a", "out/x d/out/y", "a", exclude("out/"), "a d/ d/out/ d/out/y out/ out/x", []string{}},
		{"a glob for directories alone", "a", "out", "a", exclude("out/"), "a", []string{"remove to/out"}},
		{"a glob with a slash", "a", "d/x e/x", "a", exclude("d/x"), "a d/ d/x", []string{"removeall to/e"}},
		{"an excluded name of the source", "a x.log", "", "a x.log", exclude("*.log"), "a x.log", []string{}},
		{".git", "a", ".git/x d/.git d/y", "a", ignore, ".git/ .git/x a d/ d/.git", []string{"remove to/d/y"}},
		{"the rules of the source", ".gitignore a", "x.log d/x.log d/y e/y", ".gitignore a", ignore, ".gitignore a d/ d/x.log x.log", []string{"remove to/d/y", "removeall to/e"}},
		{"rules of a directory", "s/.gitignore a", "s/x.log x.log", "s/.gitignore a", ignore, "a s/ s/.gitignore s/x.log", []string{"remove to/x.log"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t, "out/", "beside")
			src := oldTree(t, tt.before)
			_, err := ImportDir(t.Context(), fsys, src, "to", nil)
			require.NoError(t, err)
			fill(t, fsys, "to/", fields(tt.extra)...)
			when := time.Unix(1_700_000_000, 123_456_789)
			for _, dir := range []string{"to", "to/d", "to/s"} { // so that the source changes no times of theirs
				if _, err := fsys.Stat(t.Context(), dir); err == nil {
					require.NoError(t, fsys.Chtimes(t.Context(), dir, when, when))
				}
			}
			since, err := fsys.Seq(t.Context())
			require.NoError(t, err)

			o := tt.o
			if o == nil {
				o = &ImportOptions{Delete: true}
			}
			changed := oldTree(t, tt.after)
			planned := planOf(t, fsys, changed, "to", *o)
			before := vfstest.Snapshot(t, fsys, "before")
			report, err := ImportDir(t.Context(), fsys, changed, "to", o)
			require.NoError(t, err)
			var got []string
			for _, name := range vfstest.Names(t, fsys) {
				if inside, ok := strings.CutPrefix(name, "to/"); ok && inside != "" {
					got = append(got, inside)
				}
			}
			require.Equal(t, tt.want, strings.Join(got, " "))
			require.Equal(t, "beside", vfstest.Read(t, fsys, "beside"))

			log := []string{}
			for _, line := range vfstest.Log(t, fsys, &vfs.LogOptions{Since: since}) {
				if !strings.HasPrefix(line, "setattr ") && !strings.HasPrefix(line, "snapshot ") {
					log = append(log, strings.TrimSpace(strings.SplitN(line, " ->", 2)[0]))
				}
			}
			require.Equal(t, tt.log, shortLog(log))
			checkPlan(t, planned, report, before.FS, fsys)
		})
	}
}

// shortLog leaves of each line the verb, the path and the target of a symlink.
func shortLog(log []string) []string {
	for i, line := range log {
		if before, _, ok := strings.Cut(line, " '"); ok {
			line = before
		}
		words := strings.Fields(line)
		if words[0] != "symlink" && len(words) > 2 {
			words = words[:2]
		}
		log[i] = strings.Join(words, " ")
	}
	return log
}

// fields splits names at spaces. "l->t" and "a=b" are a symlink and a hard link.
func fields(names string) []string {
	list := strings.Fields(names)
	for i, name := range list {
		name = strings.Replace(name, "->", " -> ", 1)
		list[i] = strings.Replace(name, "=", " = ", 1)
	}
	return list
}

// oldTree makes a directory of the host in which everything is old. Its .gitignore files leave out *.log.
func oldTree(t testing.TB, names string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, fields(names)...)
	for _, name := range fields(names) {
		if path := filepath.Join(dir, name); filepath.Base(path) == ".gitignore" {
			require.NoError(t, os.WriteFile(path, []byte("*.log\n"), 0o644))
		}
	}
	longAgo(t, dir)
	return dir
}

// A directory cannot give way if it holds what must stay. Then the import fails as a whole.
func TestDeleteKeepsWhatIsExcluded(t *testing.T) {
	fsys := vfstest.New(t)
	fill(t, fsys, "to/", "f/x.log", "f/y", "gone")
	before := vfstest.Dump(t, fsys)
	for _, dry := range []bool{true, false} {
		_, err := ImportDir(t.Context(), fsys, oldTree(t, "f"), "to", &ImportOptions{Delete: true, Exclude: []string{"*.log"}, DryRun: dry})
		require.ErrorIs(t, err, syscall.EISDIR)
		require.Equal(t, before, vfstest.Dump(t, fsys))
	}
}

// TestDeleteRefused has imports that may not delete, and sources that cannot be read whole: nothing is deleted.
func TestDeleteRefused(t *testing.T) {
	fsys := vfstest.New(t)
	fill(t, fsys, "", "gone", "d/gone")
	src := oldTree(t, "a")
	_, err := ImportDir(t.Context(), fsys, src, "/", &ImportOptions{Delete: true, Partial: true})
	require.ErrorIs(t, err, syscall.EINVAL)
	var empty bytes.Buffer
	require.NoError(t, zip.NewWriter(&empty).Close())
	for _, o := range []*ImportOptions{{Delete: true}, {DryRun: true}} {
		_, err = ImportTar(t.Context(), fsys, archive(t, member{name: "a", kind: tar.TypeReg}), "/", o)
		require.ErrorIs(t, err, syscall.EINVAL)
		_, err = ImportZip(t.Context(), fsys, bytes.NewReader(empty.Bytes()), int64(empty.Len()), "/", o)
		require.ErrorIs(t, err, syscall.EINVAL)
	}
	require.Equal(t, []string{"d/", "d/gone", "gone"}, vfstest.Names(t, fsys))
	_, err = ImportDir(t.Context(), fsys, src, "/", &ImportOptions{Delete: true, Progress: func(Progress) {
		_ = os.Remove(filepath.Join(src, "a"))
	}})
	require.NoError(t, err, "the file was read before")
	require.Equal(t, []string{"a"}, vfstest.Names(t, fsys))

	fsys = vfstest.New(t)
	fill(t, fsys, "", "gone", "d/gone")
	before := vfstest.Dump(t, fsys)
	_, err = ImportDir(t.Context(), fsys, oldTree(t, "large small"), "/", &ImportOptions{Delete: true, MaxFileSize: 1})
	require.ErrorIs(t, err, syscall.EFBIG)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = ImportDir(ctx, fsys, oldTree(t, "a b"), "/", &ImportOptions{Delete: true, Progress: func(Progress) { cancel() }})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, vfstest.Dump(t, fsys))
}

// TestDeleteWhere deletes in the root, through a symlink, in a tree that OpenRoot made, and in a destination that is new.
func TestDeleteWhere(t *testing.T) {
	src := oldTree(t, "a d/b")
	for _, tt := range []struct{ name, root, to, want string }{
		{"the root", ".", "/", "a d/ d/b"},
		{"the root of a part", "to", "/", "beside to/ to/a to/d/ to/d/b to2/ to2/x way"},
		{"in a part", ".", "to", "beside to/ to/a to/d/ to/d/b to2/ to2/x way"},
		{"through a symlink", ".", "way", "beside to/ to/a to/d/ to/d/b to2/ to2/x way"},
		{"new", ".", "new/er", "beside new/ new/er/ new/er/a new/er/d/ new/er/d/b to/ to/d/ to/d/x to/y to2/ to2/x way"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t)
			fill(t, fsys, "", "beside", "to/d/x", "to/y", "to2/x", "way -> to")
			part := fsys
			if tt.root != "." {
				var err error
				part, err = fsys.OpenRoot(t.Context(), tt.root)
				require.NoError(t, err)
			}
			before := vfstest.Snapshot(t, fsys, "before")
			planned := planOf(t, part, src, tt.to, ImportOptions{Delete: true})
			report, err := ImportDir(t.Context(), part, src, tt.to, &ImportOptions{Delete: true})
			require.NoError(t, err)
			require.Equal(t, tt.want, strings.Join(vfstest.Names(t, fsys), " "))
			if tt.root == "." {
				checkPlan(t, planned, report, before.FS, fsys)
			}
		})
	}
}

// A deletion is one commit together with the names: a reader sees all of it or nothing.
func TestDeleteIsOneCommit(t *testing.T) {
	fsys := vfstest.New(t)
	_, err := ImportDir(t.Context(), fsys, oldTree(t, "a b d/c e/f"), "to", nil)
	require.NoError(t, err)
	states := make(map[string]bool)
	look := func() {
		require.NoError(t, fsys.View(context.WithoutCancel(t.Context()), func(tx *vfs.Tx) error {
			state := ""
			for _, name := range []string{"a", "b", "d/c", "d/l", "e/f", "g"} {
				if _, err := tx.Lstat("to/" + name); err == nil {
					state += " " + name
				}
			}
			states[state] = true
			return nil
		}))
	}

	look()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				look()
			}
		}
	}()
	report, err := ImportDir(t.Context(), fsys, oldTree(t, "a d/c d/l->c g"), "to", &ImportOptions{Delete: true})
	close(stop)
	<-stopped
	look()
	require.NoError(t, err)
	require.EqualValues(t, 2, report.Deleted)
	require.Equal(t, map[string]bool{" a b d/c e/f": true, " a d/c d/l g": true}, states)
}

// What others add to the destination while the source is read goes as well.
func TestDeleteDecidesInTheCommit(t *testing.T) {
	fsys := vfstest.New(t)
	src := oldTree(t, "a d/b")
	report, err := ImportDir(t.Context(), fsys, src, "to", &ImportOptions{Delete: true, Progress: func(p Progress) {
		if p.Files == 1 {
			fill(t, fsys, "to/", "new", "d/new", "e/new")
		}
	}})
	require.NoError(t, err)
	require.EqualValues(t, 3, report.Deleted)
	require.Equal(t, []string{"to/", "to/a", "to/d/", "to/d/b"}, vfstest.Names(t, fsys))
}

// The files of the store itself are in the source, so a file of their name stays.
func TestDeleteBesideTheStore(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a")
	fsys := vfstest.Open(t, filepath.Join(dir, "store.db"), nil)
	fill(t, fsys, "", "store.db", "gone")
	_, err := ImportDir(t.Context(), fsys, dir, "/", &ImportOptions{Delete: true})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "store.db"}, vfstest.Names(t, fsys))
}

// TestDeleteIsTheHost imports one random tree and then, into the same directory, another. What is exported afterwards is
// the other, and the dry run before has listed the difference.
func TestDeleteIsTheHost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs symlinks")
	}
	r := rand.New(rand.NewPCG(11, 4))
	fsys := vfstest.New(t)
	for round := range 25 {
		src := t.TempDir()
		randomTree(t, r, src, 0)
		o := ImportOptions{Delete: true, Checksum: round%3 == 0}
		planned := planOf(t, fsys, src, "to", o)
		before := vfstest.Snapshot(t, fsys, fmt.Sprint("r", round))
		report, err := ImportDir(t.Context(), fsys, src, "to", &o)
		require.NoError(t, err)
		checkPlan(t, planned, report, before.FS, fsys)

		out := t.TempDir()
		_, err = ExportDir(t.Context(), vfstest.Snapshot(t, fsys, fmt.Sprint("s", round)).FS, "to", out, nil)
		require.NoError(t, err)
		require.Equal(t, host(t, src), host(t, out), "round %d", round)
	}
}

// randomTree fills a directory of the host with a few of the same names each time, each of any type. All times are old.
func randomTree(t testing.TB, r *rand.Rand, dir string, depth int) {
	t.Helper()
	var files []string
	for _, name := range []string{"a", "b", "c", "d-e", "d", "\u00fc"} {
		path := filepath.Join(dir, name)
		switch kind := r.IntN(10); {
		case kind < 3 && depth < 3:
			require.NoError(t, os.Mkdir(path, 0o755))
			randomTree(t, r, path, depth+1)
		case kind < 6:
			content := byte(r.IntN(3))
			require.NoError(t, os.WriteFile(path, noise(content, []int{0, 5, 5, 700_000}[r.IntN(4)]), 0o600+fs.FileMode(r.IntN(2)*0o44)))
			when := time.Unix(1_700_000_000+3*r.Int64N(3)+int64(content), 5) // another content, another time
			require.NoError(t, os.Chtimes(path, when, when))
			files = append(files, path)
		case kind == 6:
			require.NoError(t, os.Symlink([]string{"a", "b", "/"}[r.IntN(3)], path))
		case kind == 7 && len(files) > 0:
			require.NoError(t, os.Link(files[r.IntN(len(files))], path))
		}
	}
	when := time.Unix(1_700_000_000+r.Int64N(3), 5)
	require.NoError(t, os.Chtimes(dir, when, when))
}
