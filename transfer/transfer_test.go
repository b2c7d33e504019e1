package transfer

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/transfer/hostdir"
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
	first := make(map[hostdir.ID]string)
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
		if id, linked := hostdir.Identity(info); linked {
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

// TestSubtree moves the contents of one directory into another.
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
