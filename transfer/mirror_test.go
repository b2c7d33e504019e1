package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// newMirror opens a mirror until the test ends.
func newMirror(t *testing.T) *Mirror {
	t.Helper()
	m, err := OpenMirror(filepath.Join(t.TempDir(), "mirror"))
	require.NoError(t, err)
	t.Cleanup(func() {
		m.Close()
		_ = filepath.WalkDir(m.Dir(), func(file string, d fs.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				_ = os.Chmod(file, 0o700) // or only root could remove what is below
			}
			return nil
		})
	})
	return m
}

// fillMirror makes the mirror show the present tree, and verifies that it does.
func fillMirror(t *testing.T, m *Mirror, fsys *vfs.FS) *Report {
	t.Helper()
	snap, err := snapshot.Create(t.Context(), fsys, "", nil)
	require.NoError(t, err)
	report, err := m.Fill(t.Context(), snap.Tree())
	require.NoError(t, err)
	require.Equal(t, exportedHost(t, fsys), host(t, m.Dir()))
	return report
}

// exportedHost is what the host has if the tree is exported.
func exportedHost(t *testing.T, fsys *vfs.FS) map[string]string {
	t.Helper()
	dir := t.TempDir()
	_, err := ExportDir(t.Context(), fsys, "/", dir, &ExportOptions{Owner: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "shut"), 0o700) })
	return host(t, dir)
}

// bring brings changes back, and verifies that the tree is what the mirror shows.
func bring(t *testing.T, m *Mirror, fsys *vfs.FS) *Report {
	t.Helper()
	report, err := m.Bring(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.Equal(t, host(t, m.Dir()), exportedHost(t, fsys))
	return report
}

// settle waits until a file that is written has a later time than those before.
func settle(t *testing.T, m *Mirror) {
	t.Helper()
	before, err := m.at.Clock()
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		now, err := m.at.Clock()
		return err == nil && now > before
	}, time.Minute, time.Millisecond)
}

func TestMirror(t *testing.T) {
	fsys := vfstest.New(t)
	_, err := ImportDir(t.Context(), fsys, richTree(t), "/", nil)
	require.NoError(t, err)
	m := newMirror(t)
	require.NotZero(t, fillMirror(t, m, fsys).Files)
	seq, err := fsys.Seq(t.Context())
	require.NoError(t, err)
	bring(t, m, fsys)
	after, err := fsys.Seq(t.Context())
	require.NoError(t, err)
	require.Equal(t, seq, after, "no commit where nothing was changed")

	settle(t, m)
	fillMirror(t, m, fsys)
	report := fillMirror(t, m, fsys)
	require.Equal(t, Report{Refused: report.Refused}, *report, "nothing is written twice")
}

// A file keeps its inode if it was written in place, replaced, or renamed.
func TestMirrorKeepsInodes(t *testing.T) {
	fsys := vfstest.New(t, "in/place", "replaced", "renamed", "dir/below", "linked", "gone", "kept")
	require.NoError(t, fsys.Link(t.Context(), "linked", "in/linked2"))
	ino := func(name string) vfs.Ino {
		info, err := fsys.Lstat(t.Context(), name)
		require.NoError(t, err, name)
		return info.Ino()
	}
	before := make(map[string]vfs.Ino)
	for _, name := range []string{"in/place", "replaced", "renamed", "dir/below", "linked", "kept"} {
		before[name] = ino(name)
	}
	m := newMirror(t)
	fillMirror(t, m, fsys)
	settle(t, m)
	fillMirror(t, m, fsys)

	at := func(name string) string { return filepath.Join(m.Dir(), name) }
	for _, name := range []string{"in/place", "linked"} {
		f, err := os.OpenFile(at(name), os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString("new content")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	require.NoError(t, os.WriteFile(at("tmp"), []byte("other"), 0o600))
	require.NoError(t, os.Rename(at("tmp"), at("replaced")))
	require.NoError(t, os.Mkdir(at("new"), 0o755))
	require.NoError(t, os.Rename(at("renamed"), at("new/name")))
	require.NoError(t, os.Rename(at("dir"), at("new/dir")))
	require.NoError(t, os.Remove(at("gone")))
	report := bring(t, m, fsys)
	require.EqualValues(t, 5, report.Files)
	require.EqualValues(t, 2, report.Deleted, "a file and a directory")

	for was, is := range map[string]string{
		"in/place": "in/place", "replaced": "replaced", "renamed": "new/name", "dir/below": "new/dir/below", "linked": "in/linked2", "kept": "kept",
	} {
		require.Equal(t, before[was], ino(is), was)
	}
	require.Equal(t, "new content", vfstest.Read(t, fsys, "in/linked2"))
	require.Empty(t, fillMirror(t, m, fsys).Refused)
}

// A Check that fails leaves the branch as it was, and the changes for another Bring.
func TestMirrorCheck(t *testing.T) {
	fsys := vfstest.New(t, "f")
	m := newMirror(t)
	fillMirror(t, m, fsys)
	require.NoError(t, os.WriteFile(filepath.Join(m.Dir(), "g"), []byte("g"), 0o644))
	moved := errors.New("moved")
	_, err := m.Bring(t.Context(), fsys, &BringOptions{Check: func(*vfs.Tx) error { return moved }})
	require.ErrorIs(t, err, moved)
	require.Equal(t, []string{"f"}, fileNames(t, fsys))
	bring(t, m, fsys)
	require.Equal(t, []string{"f", "g"}, fileNames(t, fsys))
}

func TestMirrorRefuses(t *testing.T) {
	fsys := vfstest.New(t, "f")
	m := newMirror(t)
	_, err := m.Fill(t.Context(), fsys)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = m.Bring(t.Context(), fsys, nil)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = OpenMirror(filepath.Dir(m.Dir()))
	require.ErrorIs(t, err, syscall.EBUSY)
}

// A memo that is damaged or gone, and one that was saved before the last Fill was killed, cost time and nothing else.
func TestMirrorIsRepaired(t *testing.T) {
	fsys := vfstest.New(t, "a", "d/b", "d/e/c")
	m := newMirror(t)
	fillMirror(t, m, fsys)
	file := filepath.Join(filepath.Dir(m.Dir()), "memo")
	old, err := os.ReadFile(file)
	require.NoError(t, err)
	vfstest.Write(t, fsys, "d/b", "newer")
	require.NoError(t, fsys.RemoveAll(t.Context(), "d/e"))
	fillMirror(t, m, fsys)

	for _, memo := range [][]byte{old, old[:len(old)/2], nil} {
		require.NoError(t, m.Close())
		require.NoError(t, os.WriteFile(file, memo, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(m.Dir(), "half"), []byte("ha"), 0o600))
		require.NoError(t, os.RemoveAll(filepath.Join(m.Dir(), "d")))
		require.NoError(t, os.WriteFile(filepath.Join(m.Dir(), "d"), nil, 0o600))
		m, err = OpenMirror(filepath.Dir(m.Dir()))
		require.NoError(t, err)
		fillMirror(t, m, fsys)
	}
	require.NoError(t, m.Close())
	require.NoError(t, os.RemoveAll(m.Dir()))
	m, err = OpenMirror(filepath.Dir(m.Dir()))
	require.NoError(t, err)
	defer m.Close()
	fillMirror(t, m, fsys)
}

// TestMirrorRandom changes the directory and the tree at random. After each Fill and Bring they are the same.
func TestMirrorRandom(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			fsys := vfstest.New(t)
			m := newMirror(t)
			for range 8 {
				fillMirror(t, m, fsys)
				for range r.IntN(12) {
					changeHost(t, r, m.Dir())
				}
				bring(t, m, fsys)
				for range r.IntN(4) {
					changeTree(t, r, fsys)
				}
			}
		})
	}
}

// changeHost does one thing to a directory of the host, if it can be done.
func changeHost(t *testing.T, r *rand.Rand, dir string) {
	var paths []string
	require.NoError(t, filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		paths = append(paths, file)
		return err
	}))
	some := func() string { return paths[r.IntN(len(paths))] }
	fresh := func() string { return filepath.Join(some(), string(rune('a'+r.IntN(6)))) }
	old := some()
	switch r.IntN(10) {
	case 0:
		_ = os.Mkdir(fresh(), 0o755)
	case 1, 2:
		_ = os.WriteFile(fresh(), noise(byte(r.IntN(5)), r.IntN(3000)), 0o644)
	case 3:
		if info, err := os.Lstat(old); err == nil && info.Mode().IsRegular() {
			_ = os.WriteFile(old, noise(byte(r.IntN(5)), int(info.Size())), 0o644)
		}
	case 4, 5:
		if to := fresh(); old != dir {
			_ = os.Rename(old, to)
		}
	case 6:
		_ = os.Link(old, fresh())
	case 7:
		_ = os.Symlink("to", fresh())
	case 8:
		if old != dir {
			_ = os.RemoveAll(old)
		}
	case 9:
		if info, err := os.Lstat(old); err == nil && info.Mode().Type() != fs.ModeSymlink {
			_ = os.Chmod(old, 0o700|fs.FileMode(r.IntN(64)))
		}
	}
}

// changeTree does one thing to a tree, if it can be done.
func changeTree(t *testing.T, r *rand.Rand, fsys *vfs.FS) {
	names := append(vfstest.Names(t, fsys), ".")
	some := func() string { return names[r.IntN(len(names))] }
	fresh := func() string { return some() + "/" + string(rune('a'+r.IntN(6))) }
	switch r.IntN(6) {
	case 0:
		_ = fsys.Mkdir(t.Context(), fresh(), 0o755)
	case 1:
		_ = fsys.WriteFile(t.Context(), fresh(), noise(byte(r.IntN(5)), r.IntN(3000)), 0o644)
	case 2:
		_ = fsys.Rename(t.Context(), some(), fresh())
	case 3:
		_ = fsys.Link(t.Context(), some(), fresh())
	case 4:
		_ = fsys.RemoveAll(t.Context(), some())
	case 5:
		_ = fsys.Symlink(t.Context(), "to", fresh())
	}
}
