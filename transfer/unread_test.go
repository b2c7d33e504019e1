package transfer

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/transfer/hostdir"
	"vfsdb/vfs"
)

// age makes files on the host old, each by another time.
func age(t testing.TB, dir string, names ...string) {
	t.Helper()
	for i, name := range names {
		when := time.Unix(1_700_000_000+int64(i), 123_456_789)
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), when, when))
	}
}

// forge changes a file and leaves it its size and its time.
func forge(t testing.TB, dir, name, content string) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, name))
	require.NoError(t, err)
	require.EqualValues(t, info.Size(), len(content))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	require.NoError(t, os.Chtimes(filepath.Join(dir, name), info.ModTime(), info.ModTime()))
}

func importAgain(t testing.TB, fsys *vfs.FS, dir string, o *ImportOptions) *Report {
	t.Helper()
	report, err := ImportDir(t.Context(), fsys, dir, "to", o)
	require.NoError(t, err)
	return report
}

// TestUnread shows which files of a second import are read, by changes that cannot be seen otherwise.
func TestUnread(t *testing.T) {
	src := t.TempDir()
	names := []string{"same", "size", "time", "mode", "d/forged", "store", "moved"}
	write(t, src, names...)
	write(t, src, "one", "two = one", "d/link -> forged")
	age(t, src, append(names, "one")...)
	fsys := vfstest.New(t)
	report := importAgain(t, fsys, src, nil)
	require.EqualValues(t, 8, report.Files)
	require.Zero(t, report.Unread)

	for _, o := range []*ImportOptions{nil, {Partial: true}, {Checksum: true}} {
		before, err := fsys.Seq(t.Context())
		require.NoError(t, err)
		report = importAgain(t, fsys, src, o)
		require.EqualValues(t, 8, report.Files)
		if o != nil && o.Checksum {
			require.Zero(t, report.Unread)
		} else {
			require.EqualValues(t, 8, report.Unread)
		}
		after, err := fsys.Seq(t.Context())
		require.NoError(t, err)
		require.Equal(t, before, after, "nothing is logged of what is as it was")
	}

	require.NoError(t, os.WriteFile(filepath.Join(src, "size"), []byte("longer than that"), 0o644))
	age(t, src, "", "size")
	forge(t, src, "time", "TIME")
	age(t, src, "", "", "", "time")
	require.NoError(t, os.Chmod(filepath.Join(src, "mode"), 0o400))
	forge(t, src, "d/forged", "D/FORGED")
	vfstest.Write(t, fsys, "to/store", "others")
	require.NoError(t, fsys.Remove(t.Context(), "to/moved"))
	report = importAgain(t, fsys, src, nil)
	require.EqualValues(t, 4, report.Unread)
	for name, want := range map[string]string{
		"same": "same", "size": "longer than that", "time": "TIME", "mode": "mode", "d/forged": "d/forged", "store": "store", "moved": "moved",
	} {
		require.Equal(t, want, vfstest.Read(t, fsys, "to/"+name), name)
	}
	info, err := fsys.Stat(t.Context(), "to/mode")
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o400), info.Mode())

	importAgain(t, fsys, src, &ImportOptions{Checksum: true})
	require.Equal(t, "D/FORGED", vfstest.Read(t, fsys, "to/d/forged"))
}

// TestUnreadLinks shows that a file with several names need not be read if it has the same ones in the store.
func TestUnreadLinks(t *testing.T) {
	src := t.TempDir()
	write(t, src, "a", "b = a", "d/c = a")
	age(t, src, "a")
	fsys := vfstest.New(t)
	importAgain(t, fsys, src, nil)
	ino := func(name string) vfs.Ino {
		info, err := fsys.Stat(t.Context(), "to/"+name)
		require.NoError(t, err)
		return info.Ino()
	}
	was := ino("a")
	for _, o := range []*ImportOptions{nil, {Partial: true}, {Checksum: true}} {
		importAgain(t, fsys, src, o)
		require.Equal(t, was, ino("a"))
		require.Equal(t, was, ino("d/c"))
	}
	require.NoError(t, os.Remove(filepath.Join(src, "b")))
	write(t, src, "b")
	require.Zero(t, importAgain(t, fsys, src, nil).Unread)
	require.Equal(t, ino("a"), ino("d/c"))
	require.NotEqual(t, ino("a"), ino("b"))

	require.NoError(t, fsys.Link(t.Context(), "to/a", "to/further"))
	require.EqualValues(t, 1, importAgain(t, fsys, src, nil).Unread, "only b is as it was")
	require.NotEqual(t, ino("a"), ino("further"))
}

// TestUnreadRefused shows that a file which is refused when it is read is refused when it need not be.
func TestUnreadRefused(t *testing.T) {
	src := t.TempDir()
	write(t, src, "large", "s")
	age(t, src, "large", "s")
	fsys := vfstest.New(t)
	importAgain(t, fsys, src, nil)
	report := importAgain(t, fsys, src, &ImportOptions{MaxFileSize: 3, Partial: true})
	require.Equal(t, []string{"large"}, paths(report.Refused))
}

// TestYoung changes files right after an import, faster than clocks of file systems tick.
func TestYoung(t *testing.T) {
	src := t.TempDir()
	fsys := vfstest.New(t)
	for n := range 8 {
		for _, content := range []string{"old", "new"} {
			content += fmt.Sprint(n)
			require.NoError(t, os.WriteFile(filepath.Join(src, "f"), []byte(content), 0o644))
			info, err := os.Stat(filepath.Join(src, "f"))
			require.NoError(t, err)
			importAgain(t, fsys, src, &ImportOptions{Progress: func(Progress) {
				require.Greater(t, time.Since(info.ModTime()), hostdir.FineTick, "it is read when its tick has passed")
			}})
			require.Equal(t, content, vfstest.Read(t, fsys, "to/f"))
		}
	}
	require.EqualValues(t, 1, importAgain(t, fsys, src, nil).Unread)

	now := time.Unix(1_700_000_000, 500_000_000)
	for _, tt := range []struct {
		mtime time.Time
		want  bool
	}{
		{now, true},
		{now.Add(-hostdir.FineTick), true},
		{now.Add(-hostdir.FineTick - 1), false},
		{now.Add(hostdir.FineTick), true},
		{now.Add(time.Hour + 1), false},
		{now.Truncate(time.Second), true},
		{now.Truncate(time.Second).Add(-time.Second), true},
		{now.Truncate(time.Second).Add(-2 * time.Second), false},
	} {
		require.Equal(t, tt.want, hostdir.Young(tt.mtime, now), tt.mtime)
	}
}

// TestAlwaysYoung stores a file that is being written all the time so that the next import reads it.
func TestAlwaysYoung(t *testing.T) {
	src := t.TempDir()
	fsys := vfstest.New(t)
	im, err := newImporter(t.Context(), fsys, "/", nil)
	require.NoError(t, err)
	defer im.batch.Close()
	w := &dirWalker{importer: im, last: true}
	top := openTop(t, src)
	write(t, src, "f")
	when := time.Now().Add(hostdir.FineTick / 2) // as if it were written when it is read
	require.NoError(t, os.Chtimes(filepath.Join(src, "f"), when, when))
	e := &entry{path: "f"}
	require.NoError(t, w.load(t.Context(), top, e, true))
	require.Equal(t, when.UnixNano()-1, e.mtime)
	require.NotNil(t, e.data)
}

// TestMovedMeanwhile changes files of the store that need not be read, after the import has looked at them.
func TestMovedMeanwhile(t *testing.T) {
	for _, partial := range []bool{false, true} {
		src := t.TempDir()
		write(t, src, "changed", "chmod", "gone", "kept")
		age(t, src, "changed", "chmod", "gone", "kept")
		fsys := vfstest.New(t)
		importAgain(t, fsys, src, nil)
		report := importAgain(t, fsys, src, &ImportOptions{Partial: partial, Progress: func(p Progress) {
			if p.Path == "kept" {
				vfstest.Write(t, fsys, "to/changed", "changed")
				require.NoError(t, fsys.Chmod(t.Context(), "to/chmod", 0o600))
				require.NoError(t, fsys.Remove(t.Context(), "to/gone"))
			}
		}})
		require.EqualValues(t, 1, report.Unread)
		require.EqualValues(t, 4, report.Files)
		snap := vfstest.Snapshot(t, fsys, "s")
		out := t.TempDir()
		_, err := ExportDir(t.Context(), snap.FS, "to", out, nil)
		require.NoError(t, err)
		require.Equal(t, host(t, src), host(t, out))

		// A file that has to be read after all, and cannot be.
		before := vfstest.Dump(t, fsys)
		_, err = ImportDir(t.Context(), fsys, src, "to", &ImportOptions{Progress: func(p Progress) {
			if p.Path == "kept" {
				require.NoError(t, os.Remove(filepath.Join(src, "gone")))
				require.NoError(t, fsys.Chmod(t.Context(), "to/gone", 0o600))
				before = vfstest.Dump(t, fsys)
			}
		}})
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.Equal(t, before, vfstest.Dump(t, fsys))
	}
}

// TestAgainIsFresh edits a tree of the host at random, and imports it after each edit. The imported tree is the same as
// in a new store.
func TestAgainIsFresh(t *testing.T) {
	src := t.TempDir()
	edits := &hostEdits{t: t, dir: src, rand: rand.New(rand.NewPCG(4, 20))}
	fsys := vfstest.New(t)
	unread := int64(0)
	for round := range 25 {
		for range 1 + edits.rand.IntN(12) {
			edits.one()
		}
		o := &ImportOptions{Partial: round%5 == 4}
		report := importAgain(t, fsys, src, o)
		require.Empty(t, report.Refused)
		unread += report.Unread
		fresh := vfstest.New(t)
		again := importAgain(t, fresh, src, nil)
		require.Equal(t, again.Files, report.Files)
		require.Equal(t, again.Bytes, report.Bytes)

		want, got := described(t, fresh), described(t, fsys)
		for name := range got {
			if _, ok := want[name]; !ok {
				delete(got, name) // it is gone from the host, and stays
			}
		}
		require.Equal(t, want, got, "round %d", round)
		require.NoError(t, fresh.Close())
	}
	require.Greater(t, unread, int64(100))
}

// described describes every file of a tree, by path. Of a file with several names it has the first one.
func described(t testing.TB, fsys *vfs.FS) map[string]string {
	t.Helper()
	all := vfstest.Dump(t, fsys)
	firsts := make(map[vfs.Ino]string)
	for name := range all {
		info, err := fsys.Lstat(t.Context(), "/"+name)
		require.NoError(t, err)
		uid, gid := info.Owner()
		all[name] += fmt.Sprintf(" %d:%d", uid, gid)
		if name != "." {
			all[name] += fmt.Sprint(" ", info.ModTime().UnixNano())
		}
		if first, ok := firsts[info.Ino()]; !ok || name < first {
			firsts[info.Ino()] = name
		}
	}
	for name := range all {
		info, err := fsys.Lstat(t.Context(), "/"+name)
		require.NoError(t, err)
		all[name] += " = " + firsts[info.Ino()]
	}
	return all
}

// hostEdits changes a tree of the host. A directory stays one, and no other file becomes one.
type hostEdits struct {
	t    testing.TB
	dir  string
	rand *rand.Rand
}

// name is one of a few files.
func (h *hostEdits) name() string {
	return filepath.Join(h.dir, fmt.Sprintf("d%d", h.rand.IntN(3)), fmt.Sprintf("e%d", h.rand.IntN(2)), fmt.Sprintf("f%d", h.rand.IntN(5)))
}

// one makes one edit. Many do nothing, because the file that they would change is missing.
func (h *hostEdits) one() {
	name, other := h.name(), h.name()
	require.NoError(h.t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(h.t, os.MkdirAll(filepath.Dir(other), 0o755))
	info, _ := os.Lstat(name)
	file := info != nil && info.Mode().IsRegular()
	switch h.rand.IntN(11) {
	case 0, 1, 2, 3:
		if file || info == nil {
			require.NoError(h.t, os.WriteFile(name, noise(byte(h.rand.IntN(256)), []int{0, 9, 9, 9, 2000, 700_000}[h.rand.IntN(6)]), 0o644))
		}
	case 4:
		if file {
			require.NoError(h.t, os.Truncate(name, int64(h.rand.IntN(20))))
		}
	case 5:
		if file {
			require.NoError(h.t, os.Chmod(name, fs.FileMode(0o600+h.rand.IntN(0o200))))
		}
	case 6:
		if file {
			when := time.Unix(h.rand.Int64N(1_700_000_000), h.rand.Int64N(2)*h.rand.Int64N(1_000_000_000))
			require.NoError(h.t, os.Chtimes(name, when, when))
		}
	case 7:
		if info != nil {
			require.NoError(h.t, os.Rename(name, other))
		}
	case 8:
		if info != nil {
			require.NoError(h.t, os.Remove(name))
		}
	case 9:
		if file {
			_ = os.Remove(other)
			if name != other {
				require.NoError(h.t, os.Link(name, other))
			}
		}
	case 10:
		_ = os.Remove(name)
		require.NoError(h.t, os.Symlink(fmt.Sprint("to", h.rand.IntN(3)), name))
	}
}
