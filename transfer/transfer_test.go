package transfer

import (
	"context"
	"errors"
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

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

func TestMain(m *testing.M) { vfstest.Main(m) }

// noise is bytes that are the same for the same seed.
func noise(seed byte, n int) []byte {
	p := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(p)
	return p
}

// write makes files in a directory of the host. A name with a slash at its end is a directory, one with " -> " a
// symlink, one with " = " a hard link; any other file holds its own name.
func write(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		link, target, isLink := strings.Cut(name, " -> ")
		other, first, isOther := strings.Cut(name, " = ")
		for _, n := range []string{link, other} {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, n)), 0o755))
		}
		var err error
		switch {
		case isLink:
			err = os.Symlink(target, filepath.Join(dir, link))
		case isOther:
			err = os.Link(filepath.Join(dir, first), filepath.Join(dir, other))
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(filepath.Join(dir, name), 0o755)
		default:
			err = os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644)
		}
		require.NoError(t, err)
	}
}

// host describes a tree of the host: type, permissions, time, and content or target of everything in it, and which
// names are one file.
func host(t testing.TB, dir string) map[string]string {
	t.Helper()
	tree := make(map[string]string)
	first := make(map[fileID]string)
	require.NoError(t, filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		name, err := filepath.Rel(dir, file)
		require.NoError(t, err)
		text := fmt.Sprintf("%v %d", info.Mode(), info.ModTime().UnixNano())
		switch info.Mode().Type() {
		case 0:
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			text += fmt.Sprintf(" %d %v", len(data), chunk.SumOf(data))
		case fs.ModeSymlink:
			target, err := os.Readlink(file)
			require.NoError(t, err)
			text += " -> " + target
		}
		if id, linked := identity(info); linked {
			if first[id] == "" {
				first[id] = name
			}
			text += " = " + first[id]
		}
		tree[name] = text
		return nil
	}))
	return tree
}

// richTree makes a directory with one of everything that this system can hold.
func richTree(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "src")
	write(t, dir, "a", "d/e/f", "empty/", "d/hard = a", "-dash", "sp ace", "new\nline", "b\\s", "ünï", ".hidden",
		"dangling -> no/where", "absolute -> /etc/passwd", "up -> ../../..", "d/dirlink -> e", "link = dangling")
	for name, data := range map[string][]byte{
		"zero": nil, "one": {1}, "chunk-1": noise(1, chunk.Size-1), "chunk": noise(2, chunk.Size), "chunk+1": noise(3, chunk.Size+1),
		"big": noise(4, 5*chunk.Size+99), "hole": make([]byte, 1000), "holes": append(append(noise(5, chunk.Size), make([]byte, 3*chunk.Size)...), noise(6, 9)...),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o640))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sparse"), nil, 0o600))
	require.NoError(t, os.Truncate(filepath.Join(dir, "sparse"), 7*chunk.Size+5))
	richer(t, dir)
	when := time.Unix(1234567890, 123456789)
	for i, name := range []string{"a", "d/e/f", "big", "zero", "d/e", "empty", "d", "."} {
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), when, when.Add(time.Duration(i)*time.Second)))
	}
	require.NoError(t, os.Chtimes(filepath.Join(dir, "one"), when, time.Unix(0, 0)))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "chunk"), when, time.Unix(-86400, 5)))
	return dir
}

func TestDirThereAndBack(t *testing.T) {
	src := richTree(t)
	fsys := vfstest.New(t)
	in, err := ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	require.Empty(t, in.Refused)

	snap := vfstest.Snapshot(t, fsys, "s")
	dest := filepath.Join(t.TempDir(), "made", "here")
	out, err := ExportDir(t.Context(), snap.FS, "/", dest, nil)
	require.NoError(t, err)
	require.Empty(t, out.Refused)
	require.Equal(t, host(t, src), host(t, dest))
	require.Equal(t, in, out)
}

// TestSubtree moves what is inside one directory into another.
func TestSubtree(t *testing.T) {
	src := t.TempDir()
	write(t, src, "x/y", "z")
	fsys := vfstest.New(t, "there/keep", "there/z")
	_, err := ImportDir(t.Context(), fsys, src, "there", nil)
	require.NoError(t, err)
	_, err = ImportDir(t.Context(), fsys, src, "/deep/er/", nil)
	require.NoError(t, err)
	require.Equal(t, "there/keep", vfstest.Read(t, fsys, "there/keep"))
	require.Equal(t, "z", vfstest.Read(t, fsys, "there/z"))
	require.Equal(t, "x/y", vfstest.Read(t, fsys, "deep/er/x/y"))

	require.NoError(t, fsys.Symlink(t.Context(), "deep/er", "link"))
	dest := t.TempDir()
	_, err = ExportDir(t.Context(), fsys, "link", dest, nil)
	require.NoError(t, err)
	require.Equal(t, host(t, src), host(t, dest))

	_, err = ImportDir(t.Context(), fsys, src, "link", nil)
	require.NoError(t, err, "the destination itself may be a symlink")
	require.Equal(t, []string{"deep", "there", "link"}, topNames(t, fsys))
}

func topNames(t testing.TB, fsys *vfs.FS) []string {
	t.Helper()
	var dirs, others []string
	list, err := fsys.ReadDir(t.Context(), "/")
	require.NoError(t, err)
	for _, e := range list {
		if e.IsDir() {
			dirs = append(dirs, e.Name())
		} else {
			others = append(others, e.Name())
		}
	}
	return append(dirs, others...)
}

// TestImportAgain shows that a file which is as it should be is not touched, and others are brought up to date.
func TestImportAgain(t *testing.T) {
	src := t.TempDir()
	write(t, src, "same", "changed", "mode", "d/in", "kind", "l -> same", "l2 -> same")
	fsys := vfstest.New(t)
	_, err := ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	inos := func() map[string]string {
		all := make(map[string]string)
		for _, name := range []string{"same", "changed", "mode", "d", "d/in", "l", "l2", "kind"} {
			info, err := fsys.Lstat(t.Context(), name)
			require.NoError(t, err)
			all[name] = fmt.Sprint(info.Ino(), info.ChangeTime().UnixNano())
		}
		return all
	}
	before := inos()
	_, err = ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	require.Equal(t, before, inos())

	require.NoError(t, os.WriteFile(filepath.Join(src, "changed"), []byte("news"), 0o644))
	require.NoError(t, os.Chmod(filepath.Join(src, "mode"), 0o400))
	for _, name := range []string{"l2", "kind"} {
		require.NoError(t, os.Remove(filepath.Join(src, name)))
	}
	write(t, src, "l2 -> elsewhere", "kind -> same")
	_, err = ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	after := inos()
	for _, name := range []string{"changed", "mode", "l2", "kind"} {
		require.NotEqual(t, before[name], after[name], name)
		delete(before, name)
		delete(after, name)
	}
	require.Equal(t, before, after)
	require.Equal(t, "news", vfstest.Read(t, fsys, "changed"))
}

// TestLinksPart shows that files which were one in the store and are two outside become two.
func TestLinksPart(t *testing.T) {
	fsys := vfstest.New(t, "a")
	require.NoError(t, fsys.Link(t.Context(), "a", "b"))
	require.NoError(t, fsys.Link(t.Context(), "a", "c"))
	src := t.TempDir()
	write(t, src, "a", "b", "new = b")
	_, err := ImportDir(t.Context(), fsys, src, "/", nil)
	require.NoError(t, err)
	for name, want := range map[string]string{"a": "a", "b": "b", "new": "b", "c": "a"} {
		require.Equal(t, want, vfstest.Read(t, fsys, name), name)
	}
	b, err := fsys.Stat(t.Context(), "b")
	require.NoError(t, err)
	require.Equal(t, 2, b.Nlink())
}

// TestInTheWay is what stands where an import wants to go: nothing changes, and the error names it, or with Partial the
// rest goes in.
func TestInTheWay(t *testing.T) {
	for _, tt := range []struct {
		name    string
		store   []string // " -> " is a symlink
		host    []string
		refused []string
		why     error
	}{
		{"a file where a directory goes", []string{"d"}, []string{"d/x", "ok"}, []string{"d", "d/x"}, syscall.ENOTDIR},
		{"a directory where a file goes", []string{"f/x"}, []string{"f", "ok"}, []string{"f"}, syscall.EISDIR},
		{"a directory where a symlink goes", []string{"f/x"}, []string{"f -> ok", "ok"}, []string{"f"}, syscall.EISDIR},
		{"a symlink where a directory goes", []string{"e/", "d -> e"}, []string{"d/x", "ok"}, []string{"d", "d/x"}, syscall.ENOTDIR},
		{"a symlink out of the destination", []string{"d -> /"}, []string{"d/x", "ok"}, []string{"d", "d/x"}, syscall.ENOTDIR},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t)
			for _, name := range tt.store {
				if link, target, ok := strings.Cut(name, " -> "); ok {
					require.NoError(t, fsys.Symlink(t.Context(), target, "to/"+link, vfs.Parents()))
				} else if dir, ok := strings.CutSuffix(name, "/"); ok {
					require.NoError(t, fsys.MkdirAll(t.Context(), "to/"+dir, 0o755))
				} else {
					require.NoError(t, fsys.WriteFile(t.Context(), "to/"+name, nil, 0o644, vfs.Parents()))
				}
			}
			src := t.TempDir()
			write(t, src, tt.host...)
			before := vfstest.Dump(t, fsys)

			report, err := ImportDir(t.Context(), fsys, src, "to", nil)
			require.ErrorIs(t, err, tt.why)
			require.Nil(t, report)
			var refused *RefusedError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, tt.refused, paths(refused.Refused))
			require.ErrorContains(t, err, fmt.Sprintf("%q", tt.refused[0]))
			require.Equal(t, before, vfstest.Dump(t, fsys))

			report, err = ImportDir(t.Context(), fsys, src, "to", &ImportOptions{Partial: true})
			require.NoError(t, err)
			require.Equal(t, tt.refused, paths(report.Refused))
			require.EqualValues(t, 1, report.Files)
			require.Equal(t, "ok", vfstest.Read(t, fsys, "to/ok"))
			_, err = fsys.Lstat(t.Context(), "x")
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
}

func paths(list []Refusal) []string {
	var all []string
	for _, r := range list {
		all = append(all, r.Path)
	}
	return all
}

func TestImportRefusesASource(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file")
	fsys := vfstest.New(t)
	for _, tt := range []struct {
		name, src string
		o         *ImportOptions
		want      error
	}{
		{"nothing", filepath.Join(dir, "none"), nil, fs.ErrNotExist},
		{"a file", filepath.Join(dir, "file"), nil, syscall.ENOTDIR},
		{"a bad pattern", dir, &ImportOptions{Exclude: []string{"[a"}}, syscall.EINVAL},
		{"a file too large", dir, &ImportOptions{MaxFileSize: 3}, syscall.EFBIG},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ImportDir(t.Context(), fsys, tt.src, "/", tt.o)
			require.ErrorIs(t, err, tt.want)
			require.Empty(t, vfstest.Names(t, fsys))
		})
	}
	snap := vfstest.Snapshot(t, fsys, "s")
	_, err := ImportDir(t.Context(), snap.FS, dir, "/", nil)
	require.ErrorIs(t, err, syscall.EROFS)
}

// TestCancelledImport ends an import after some of its files: nothing of it is there.
func TestCancelledImport(t *testing.T) {
	src := t.TempDir()
	for n := range 60 {
		require.NoError(t, os.WriteFile(filepath.Join(src, fmt.Sprint(n)), noise(byte(n), 300_000), 0o644))
	}
	for _, at := range []int64{1, 20, 60} {
		fsys := vfstest.New(t, "before")
		before := vfstest.Dump(t, fsys)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := ImportDir(ctx, fsys, src, "/", &ImportOptions{Progress: func(p Progress) {
			if p.Files == at {
				cancel()
			}
		}})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, before, vfstest.Dump(t, fsys))
	}
}

func TestProgress(t *testing.T) {
	src := t.TempDir()
	write(t, src, "a", "bb", "d/ccc")
	fsys := vfstest.New(t)
	var last Progress
	calls := 0
	tell := func(p Progress) { last, calls = p, calls+1 }
	_, err := ImportDir(t.Context(), fsys, src, "/", &ImportOptions{Progress: tell})
	require.NoError(t, err)
	require.Equal(t, 3, calls)
	require.EqualValues(t, 3, last.Files)
	require.EqualValues(t, len("a")+len("bb")+len("d/ccc"), last.Bytes)
	calls = 0
	_, err = ExportDir(t.Context(), fsys, "/", t.TempDir(), &ExportOptions{Progress: tell})
	require.NoError(t, err)
	require.Equal(t, 3, calls)
	require.EqualValues(t, 3, last.Files)
}

// TestStoreInsideTheSource imports the directory that the store is in, and exports into it.
func TestStoreInsideTheSource(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", "sub/")
	fsys := vfstest.Open(t, filepath.Join(dir, "store.db"), nil)
	vfstest.Write(t, fsys, "old", "old")
	if runtime.GOOS != "windows" {
		write(t, dir, "sub/alias = store.db")
	}
	report, err := ImportDir(t.Context(), fsys, dir, "/", nil)
	require.NoError(t, err)
	require.EqualValues(t, 1, report.Files)
	require.Equal(t, "file", vfstest.Read(t, fsys, "file"))
	_, err = fsys.Stat(t.Context(), "store.db")
	require.ErrorIs(t, err, fs.ErrNotExist)

	vfstest.Write(t, fsys, "store.db", "not a database")
	out, err := ExportDir(t.Context(), fsys, "/", dir, &ExportOptions{Overwrite: true})
	require.NoError(t, err)
	require.Equal(t, []string{"store.db"}, paths(out.Refused))
	data, err := os.ReadFile(filepath.Join(dir, "old"))
	require.NoError(t, err)
	require.Equal(t, "old", string(data))
}

func TestExportRefusesADestination(t *testing.T) {
	fsys := vfstest.New(t, "f", "d/g")
	dir := t.TempDir()
	write(t, dir, "file", "full/x")
	for _, tt := range []struct {
		name, from, dest string
		want             error
	}{
		{"not empty", "/", "full", syscall.ENOTEMPTY},
		{"a file", "/", "file", syscall.ENOTDIR},
		{"from nothing", "none", "new", fs.ErrNotExist},
		{"from a file", "f", "new", syscall.ENOTDIR},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := host(t, dir)
			_, err := ExportDir(t.Context(), fsys, tt.from, filepath.Join(dir, tt.dest), nil)
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, before, host(t, dir))
		})
	}
}

func TestExportOverwrites(t *testing.T) {
	fsys := vfstest.New(t, "f", "d/g", "was-dir", "was-link", "is-dir/x", "link-dir/x")
	require.NoError(t, fsys.Symlink(t.Context(), "target", "l"))
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, "x", "secret")
	write(t, dir, "other", "d/other", "was-dir/", "is-dir", "l", "was-link -> "+filepath.Join(outside, "secret"), "link-dir -> "+outside)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("something much longer"), 0o600))
	untouched := host(t, outside)

	report, err := ExportDir(t.Context(), fsys, "/", dir, &ExportOptions{Overwrite: true})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"was-dir", "is-dir", "link-dir"}, paths(report.Refused))
	for name, want := range map[string]string{"f": "f", "d/g": "d/g", "was-link": "was-link", "other": "other", "d/other": "d/other", "is-dir": "is-dir"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
	target, err := os.Readlink(filepath.Join(dir, "l"))
	require.NoError(t, err)
	require.Equal(t, "target", target)
	require.Equal(t, untouched, host(t, outside), "nothing is written through a symlink")
}

func TestCancelledExport(t *testing.T) {
	fsys := vfstest.New(t)
	for n := range 30 {
		vfstest.Write(t, fsys, fmt.Sprintf("d%d/f", n), "x")
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := ExportDir(ctx, fsys, "/", t.TempDir(), &ExportOptions{Progress: func(Progress) { cancel() }})
	require.ErrorIs(t, err, context.Canceled)
}

// TestExportNames exports names that a host may not be able to store: they are listed, and the rest goes out.
func TestExportNames(t *testing.T) {
	long := strings.Repeat("n", 255)
	fsys := vfstest.New(t, "ok", long, "\xff\xfe", "con:", "d/"+long+"/x")
	dir := t.TempDir()
	report, err := ExportDir(t.Context(), fsys, "/", dir, nil)
	require.NoError(t, err)
	if runtime.GOOS == "linux" {
		require.Empty(t, report.Refused)
	}
	data, err := os.ReadFile(filepath.Join(dir, "ok"))
	require.NoError(t, err)
	require.Equal(t, "ok", string(data))
}

func TestRefusedError(t *testing.T) {
	one := &RefusedError{[]Refusal{{Path: "a\nb", Why: "because"}}}
	require.Equal(t, `"a\nb" is refused: because`, one.Error())
	many := &RefusedError{}
	for n := range 13 {
		many.Refused = append(many.Refused, Refusal{Path: fmt.Sprint(n), Why: "because", err: syscall.ELOOP})
	}
	require.Equal(t, maxNamed+2, len(strings.Split(many.Error(), "\n")))
	require.Contains(t, many.Error(), "13 entries")
	require.Contains(t, many.Error(), "and 3 more")
	require.ErrorIs(t, many, syscall.ELOOP)
	require.False(t, errors.Is(many, syscall.EIO))
}

// A refusal says why, in our words where we have some, and the path only once.
func TestReason(t *testing.T) {
	inner := fmt.Errorf("a name with ..: %w", syscall.EINVAL)
	for _, err := range []error{inner, &fs.PathError{Op: "open", Path: "x", Err: inner}, &os.LinkError{Op: "link", Old: "x", New: "y", Err: inner}} {
		require.Equal(t, "a name with ..: "+syscall.EINVAL.Error(), reason(err))
	}
	require.Equal(t, syscall.EACCES.Error(), reason(&fs.PathError{Op: "open", Path: "x", Err: os.NewSyscallError("openat", syscall.EACCES)}))
}

// fileNames returns the paths of all files, sorted.
func fileNames(t testing.TB, fsys *vfs.FS) []string {
	t.Helper()
	var names []string
	require.NoError(t, fs.WalkDir(fsys.IOFS(t.Context()), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	return names
}
